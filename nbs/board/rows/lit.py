"Lightning: a Trainer, ModelCheckpoint every 10 steps, and ckpt_path to go on. Word: stateful, for torchdata's loader."
import os, sys, torch, lightning as L
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader
from ecrl.audit.adapters import lightning_callback
from ecrl.board.job import the_job
from ecrl.board.workload import Net, ledger, lightning_saves, loss_of, samples

job, data = the_job(), samples(the_job())
L.seed_everything(job.seed, verbose=False)
class Model(L.LightningModule):
    def __init__(self): super().__init__(); self.net = Net()
    def training_step(self, batch, _):
        loss = loss_of(self.net, *batch.item)
        audit.note(loss=loss)
        return loss
    def configure_optimizers(self): return torch.optim.AdamW(self.parameters(), 1e-3)

audit = ledger(job)
if 'stateful' in sys.argv:
    from torchdata.stateful_dataloader import StatefulDataLoader
    from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler
    sampler = StatefulDistributedSampler(data, job.world, job.rank, shuffle=job.shuffle, seed=job.seed, drop_last=True)
    loader = StatefulDataLoader(data, sampler=sampler, **job.loader)
else: loader = DataLoader(data, shuffle=job.shuffle, **job.loader)
saves = [ModelCheckpoint('out', every_n_train_steps=job.every, save_last=True, save_top_k=0)]
if job.boundary: saves += [ModelCheckpoint('out', filename='end', every_n_epochs=1, save_on_train_epoch_end=True, save_last=True,
                                           save_top_k=0)]
trainer = L.Trainer(max_epochs=job.epochs, accelerator='cpu', strategy='ddp', devices=job.world, logger=False,
                    accumulate_grad_batches=job.accumulate, enable_progress_bar=False, enable_model_summary=False,
                    callbacks=[lightning_callback(audit), lightning_saves(audit), *saves])
last = 'out/last.ckpt'
trainer.fit(Model(), loader, ckpt_path=last if os.path.exists(last) else None, weights_only=False)
