"The HF Trainer. Try it: ecrl audit try --world 2,1 -- torchrun --standalone --nproc-per-node={world} trainer.py"
import os, torch, ecrl
from ecrl.audit.adapters import audit_trainer
from transformers import Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

x = torch.randn(203, 8, generator=torch.Generator().manual_seed(0))
class Rows(torch.utils.data.Dataset):
    def __len__(self): return len(x)
    def __getitem__(self, i): return dict(a=x[i], labels=x[i].sum())
class Net(torch.nn.Module):
    def __init__(self): super().__init__(); self.line, self.drop = torch.nn.Linear(8, 1), torch.nn.Dropout(0.1)
    def forward(self, a, labels): return dict(loss=(self.drop(self.line(a)).squeeze(1) - labels).square().mean())

torch.manual_seed(0)
last = get_last_checkpoint('out') if os.path.isdir('out') else None
accumulate = 4//int(os.environ.get('WORLD_SIZE', 1))               # a global batch is 16 on any number of ranks
args = TrainingArguments('out', num_train_epochs=3, per_device_train_batch_size=4, save_steps=5, use_cpu=True,
                         gradient_accumulation_steps=accumulate, ddp_backend='gloo', report_to=[], disable_tqdm=True,
                         remove_unused_columns=False, dataloader_drop_last=True, seed=1)
trainer = Trainer(Net(), args, train_dataset=Rows())
audit = ecrl.audit('job', epoch_size=len(x), tail='drop', shuffle=True)
audit_trainer(trainer, audit)
trainer.train(resume_from_checkpoint=last)
