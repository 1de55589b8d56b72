"Accelerate. Try it: ecrl audit try --world 2,1 -- torchrun --standalone --nproc-per-node={world} accelerated.py"
import os, torch, ecrl
from accelerate import Accelerator, DataLoaderConfiguration
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(
    use_seedable_sampler=True, data_seed=1, split_batches=True))      # batches are global, on any number of ranks
x = torch.randn(203, 8, generator=torch.Generator().manual_seed(0))
data = ecrl.audit.WithIds(TensorDataset(x, x.sum(1)))
model = torch.nn.Linear(8, 1)
opt = torch.optim.AdamW(model.parameters(), 1e-2)
model, opt, loader = accelerator.prepare(model, opt, DataLoader(data, batch_size=16, shuffle=True))
bare = accelerator.unwrap_model(model)                              # has the same names on any number of ranks
audit = ecrl.audit('job', optimizer=opt, epoch_size=len(data), tail='pad', shuffle=True)
done, per_epoch = 0, len(loader)
if os.path.exists('ckpt/meta.pt'):
    accelerator.load_state('ckpt')
    c = torch.load('ckpt/meta.pt')
    done, _ = c['done'], audit.resumed(c['audit'], model=bare)
for epoch in range(done//per_epoch, 3):
    skip = done - epoch*per_epoch
    loader.set_epoch(epoch)
    rest = accelerator.skip_first_batches(loader, skip) if skip else loader
    for a, b in audit.tap(rest, epoch=epoch):
        loss = (model(a).squeeze(1) - b).square().mean()
        opt.zero_grad(), accelerator.backward(loss), opt.step()
        done += 1
        if done % 5 == 0:
            token = audit.token(model=bare)
            accelerator.save_state('ckpt')                            # waits for all ranks
            if accelerator.is_main_process:
                torch.save(dict(done=done, audit=token), 'ckpt/meta.tmp')
                os.replace('ckpt/meta.tmp', 'ckpt/meta.pt'), audit.saved('ckpt')
