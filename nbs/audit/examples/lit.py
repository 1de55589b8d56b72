"Lightning. Try it: ecrl audit try --world 2,1 -- torchrun --standalone --nproc-per-node={world} lit.py"
import os, torch, ecrl.audit, lightning as L
from ecrl.audit.adapters import lightning_callback
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import Sampler, TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader

L.seed_everything(0)
rank, world, B = int(os.environ.get('RANK', 0)), int(os.environ.get('WORLD_SIZE', 1)), 16        # B: global batch
x = torch.randn(203, 8, generator=torch.Generator().manual_seed(0))
data = ecrl.audit.WithIds(TensorDataset(x, x.sum(1)))
per_epoch = len(data)//B
class Window(Sampler):
    "This rank's part of each global batch of an epoch. Its state is epoch and place: a resume draws the same order."
    epoch, at, sampler = 0, 0, property(lambda self: self)      # Lightning sets the epoch of a batch sampler's sampler
    def set_epoch(self, n): self.epoch = n
    def state_dict(self): return dict(epoch=self.epoch, at=self.at)
    def load_state_dict(self, c): self.epoch, self.at = c['epoch'], c['at']
    def __len__(self): return per_epoch
    def __iter__(self):
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(self.epoch)).tolist()
        for k in range(self.at % per_epoch, per_epoch):
            self.at = k + 1
            yield order[k*B:(k + 1)*B][rank::world]
class Net(L.LightningModule):
    def __init__(self): super().__init__(); self.line = torch.nn.Linear(8, 1)
    def training_step(self, batch, _):
        a, b = batch.item                     # a sample carries its id: batch.ids
        return (self.line(a).squeeze(1) - b).square().mean()
    def configure_optimizers(self): return torch.optim.AdamW(self.parameters(), 1e-2)

audit = ecrl.audit('job', rank=rank, world_size=world, epoch_size=len(data), tail='drop', shuffle=True)
loader = StatefulDataLoader(data, batch_sampler=Window())       # its place in the epoch goes into the checkpoint
save = ModelCheckpoint('out', every_n_train_steps=5, save_last=True, save_top_k=0)
trainer = L.Trainer(max_epochs=3, accelerator='cpu', strategy='ddp', devices=world, use_distributed_sampler=False,
                    logger=False, enable_progress_bar=False, enable_model_summary=False,
                    callbacks=[lightning_callback(audit), save])
trainer.fit(Net(), loader, ckpt_path='out/last.ckpt' if os.path.exists('out/last.ckpt') else None, weights_only=False)
