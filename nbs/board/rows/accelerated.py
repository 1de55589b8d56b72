"Accelerate as its checkpointing guide has it: save_state, load_state, skip_first_batches. Words: seedable, stateful."
import sys, torch
from accelerate import Accelerator, DataLoaderConfiguration
from torch.utils.data import DataLoader
from ecrl.board.job import the_job
from ecrl.board.workload import Net, ledger, loss_of, samples

job, words = the_job(), sys.argv[1:]
torch.manual_seed(job.seed)
how = (dict(use_seedable_sampler=True, data_seed=job.seed) if 'seedable' in words else
       dict(use_stateful_dataloader=True) if 'stateful' in words else {})
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=job.accumulate, dataloader_config=DataLoaderConfiguration(**how))
model = Net()
opt = torch.optim.AdamW(model.parameters(), 1e-3)
model, opt, loader = accelerator.prepare(model, opt, DataLoader(samples(job), shuffle=job.shuffle, **job.loader))
audit, net, first, done = ledger(job, opt), accelerator.unwrap_model(model), 0, 0
if got := job.found():
    (first, done, folder), token = got
    accelerator.load_state(folder)
    audit.resumed(token, model=net, opt=opt)
else: audit.resumed(None)

def save(epoch, done):
    folder = f'ckpt/{audit.attempt}.{audit.steps}'
    accelerator.save_state(folder)
    job.save(audit, (epoch, done, folder), model=net, opt=opt)

for epoch in range(first, job.epochs):
    if 'seedable' in words: loader.set_epoch(epoch)
    rest = accelerator.skip_first_batches(loader, done) if done and 'stateful' not in words else loader
    for x, y in audit.tap(rest, epoch=epoch):
        with accelerator.accumulate(model):
            loss = loss_of(model, x, y)
            accelerator.backward(loss)
            audit.note(loss=loss)
            opt.step(), opt.zero_grad()
        done += 1
        if accelerator.sync_gradients and audit.steps % job.every == 0: save(epoch, done)
    done = 0
    if job.boundary and epoch + 1 < job.epochs: save(epoch + 1, 0)
