"Lightning. Try it: ecrl audit try -- python lit.py"
import os, sys, torch, ecrl.audit, lightning as L
from ecrl.audit.adapters import lightning_callback
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(0)
x = torch.randn(203, 8, generator=torch.Generator().manual_seed(0))
data = ecrl.audit.WithIds(TensorDataset(x, x.sum(1)))
class Net(L.LightningModule):
    def __init__(self): super().__init__(); self.line = torch.nn.Linear(8, 1)
    def training_step(self, batch, _):
        a, b = batch.item                     # a sample carries its id: batch.ids
        return (self.line(a).squeeze(1) - b).square().mean()
    def configure_optimizers(self): return torch.optim.AdamW(self.parameters(), 1e-2)

audit = ecrl.audit('job', epoch_size=len(data), tail='keep', shuffle=True)
if 'stateful' in sys.argv:
    from torchdata.stateful_dataloader import StatefulDataLoader as DataLoader
loader = DataLoader(data, batch_size=16, shuffle=True)
save = ModelCheckpoint('out', every_n_train_steps=5, save_last=True, save_top_k=0)
trainer = L.Trainer(max_epochs=3, accelerator='cpu', logger=False, enable_progress_bar=False, enable_model_summary=False,
                    callbacks=[lightning_callback(audit), save])
trainer.fit(Net(), loader, ckpt_path='out/last.ckpt' if os.path.exists('out/last.ckpt') else None, weights_only=False)
