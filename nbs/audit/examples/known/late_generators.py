"transformers#46628: batches are fetched before the generators are restored, and augmentation differs after a resume."
import os, sys, torch, ecrl
from ecrl.audit.adapters import audit_trainer
from transformers import Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

x = torch.randn(208, 8, generator=torch.Generator().manual_seed(0))
noise = 0. if 'plain' in sys.argv else 0.1
class Rows(torch.utils.data.Dataset):
    def __len__(self): return len(x)
    def __getitem__(self, i): return dict(a=x[i] + noise*torch.randn(8), labels=x[i].sum())
class Net(torch.nn.Module):
    def __init__(self): super().__init__(); self.line = torch.nn.Linear(8, 1)
    def forward(self, a, labels):
        loss = (self.line(a).squeeze(1) - labels).square().mean()
        audit.note(loss=loss.detach())
        return dict(loss=loss)

torch.manual_seed(0)
last = get_last_checkpoint('out') if os.path.isdir('out') else None
args = TrainingArguments('out', num_train_epochs=2, per_device_train_batch_size=16, save_steps=5, use_cpu=True,
                         report_to=[], disable_tqdm=True, remove_unused_columns=False, seed=1)
trainer = Trainer(Net(), args, train_dataset=Rows())
audit = ecrl.audit('job', epoch_size=len(x), tail='keep', shuffle=True, deterministic=True)
audit_trainer(trainer, audit)
trainer.train(resume_from_checkpoint=last)
