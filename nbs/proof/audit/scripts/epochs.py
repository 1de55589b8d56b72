"Saved at the end of an epoch, resumed when asked."
import os, random, argparse
import numpy as np, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

p = argparse.ArgumentParser()
p.add_argument('--epochs', type=int, default=6)
p.add_argument('--batch-size', type=int, default=20)
p.add_argument('--resume', default='', help='checkpoint to resume from')
p.add_argument('--auto', action='store_true')
args = p.parse_args()

def seed_all(s):
    random.seed(s); np.random.seed(s); torch.manual_seed(s)

seed_all(3)
X = torch.randn(120, 3, generator=torch.Generator().manual_seed(1))
train = TensorDataset(X, X.prod(1, keepdim=True))
train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
model = nn.Sequential(nn.Linear(3, 16), nn.GELU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
start_epoch = 0
if args.auto and os.path.isfile('checkpoint.pth'):
    args.resume = 'checkpoint.pth'
if args.resume:
    ckpt = torch.load(args.resume, weights_only=False)
    start_epoch = ckpt['epoch']
    model.load_state_dict(ckpt['state_dict'])
    optimizer.load_state_dict(ckpt['optimizer'])
    scheduler.load_state_dict(ckpt['scheduler'])
    torch.set_rng_state(ckpt['rng'])
for epoch in range(start_epoch, args.epochs):
    for x, y in train_loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    torch.save({'epoch': epoch + 1, 'state_dict': model.state_dict(), 'optimizer': optimizer.state_dict(),
                'scheduler': scheduler.state_dict(), 'rng': torch.get_rng_state()}, 'checkpoint.pth.tmp')
    os.replace('checkpoint.pth.tmp', 'checkpoint.pth')
