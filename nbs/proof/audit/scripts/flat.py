"A flat script: what was trained of an epoch is skipped."
import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 0
EPOCHS = 3
CKPT = 'ckpt.pt'

torch.manual_seed(SEED)
g = torch.Generator().manual_seed(123)
X = torch.randn(160, 10, generator=g)
Y = (X.sum(1) > 0).long()
ds = TensorDataset(X, Y)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=100)
crit = nn.CrossEntropyLoss()

start_epoch, start_batch, step = 0, 0, 0
if os.path.exists(CKPT):
    ck = torch.load(CKPT, weights_only=False)
    model.load_state_dict(ck['model'])
    opt.load_state_dict(ck['opt'])
    sched.load_state_dict(ck['sched'])
    torch.set_rng_state(ck['rng'])
    start_epoch, start_batch, step = ck['epoch'], ck['batch'], ck['step']

for epoch in range(start_epoch, EPOCHS):
    shuffle = torch.Generator().manual_seed(SEED + epoch)
    loader = DataLoader(ds, batch_size=16, shuffle=True, generator=shuffle)
    for i, (x, y) in enumerate(loader):
        if epoch == start_epoch and i < start_batch:
            continue
        loss = crit(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        step += 1
        if step % 4 == 0:
            torch.save({'model': model.state_dict(), 'opt': opt.state_dict(), 'sched': sched.state_dict(),
                        'rng': torch.get_rng_state(), 'epoch': epoch, 'batch': i + 1, 'step': step}, CKPT + '.tmp')
            os.replace(CKPT + '.tmp', CKPT)
