"The HF Trainer: save_steps, and resume_from_checkpoint with the newest one."
import os, torch
from transformers import Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint
from ecrl.board.job import the_job
from ecrl.board.workload import Net, hf_ledger, ledger, loss_of, samples

job = the_job()
torch.manual_seed(job.seed)
class Model(torch.nn.Module):
    def __init__(self): super().__init__(); self.net = Net()
    def forward(self, x, labels): return dict(loss=loss_of(self.net, x, labels))

def collate(items): return dict(x=torch.stack([x for x, _ in items]), labels=torch.stack([y for _, y in items]))

args = TrainingArguments(
    'out', num_train_epochs=job.epochs, per_device_train_batch_size=job.micro, gradient_accumulation_steps=job.accumulate,
    save_strategy='epoch' if job.boundary else 'steps', save_steps=job.every, logging_strategy='no', use_cpu=True,
    ddp_backend='gloo', report_to=[], disable_tqdm=True, remove_unused_columns=False, seed=job.seed, dataloader_drop_last=True,
    dataloader_num_workers=job.workers, dataloader_persistent_workers=job.persistent)
trainer = Trainer(Model(), args, train_dataset=samples(job), data_collator=collate)
hf_ledger(trainer, ledger(job))
trainer.train(resume_from_checkpoint=get_last_checkpoint('out') if os.path.isdir('out') else None)
