"A gradient scaler whose first steps overflow, several batches a step, a sampler that can skip."
import os
import torch
from torch import nn, amp
from torch.utils.data import DataLoader, Dataset, Sampler

class Squares(Dataset):
    def __len__(self): return 288
    def __getitem__(self, i):
        x = torch.tensor([i / 288., (i * i % 97) / 97.])
        return x, 50 * (x[:1] * x[1:]).float()

class ResumableSampler(Sampler):
    def __init__(self, n, seed): self.n, self.seed, self.epoch, self.skip = n, seed, 0, 0
    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        idx = torch.randperm(self.n, generator=g).tolist()
        skip, self.skip = self.skip, 0
        return iter(idx[skip:])
    def __len__(self): return self.n - self.skip

ACC = 4; BS = 8; EPOCHS = 3
torch.manual_seed(1)
ds = Squares()
sampler = ResumableSampler(len(ds), 7)
train_loader = DataLoader(ds, batch_size=BS, sampler=sampler, num_workers=0)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler = amp.GradScaler('cpu', init_scale=2.**122, growth_interval=6)
start_epoch, start_batch = 0, 0
if os.path.exists('amp.pth'):
    checkpoint = torch.load('amp.pth')
    model.load_state_dict(checkpoint['model'])
    optimizer.load_state_dict(checkpoint['optimizer'])
    scaler.load_state_dict(checkpoint['scaler'])
    start_epoch, start_batch = checkpoint['epoch'], checkpoint['batch']

for epoch in range(start_epoch, EPOCHS):
    sampler.epoch = epoch
    sampler.skip = start_batch * BS
    for b, (x, y) in enumerate(train_loader, start=start_batch):
        with amp.autocast('cpu', dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(x), y) / ACC
        scaler.scale(loss).backward()
        if (b + 1) % ACC == 0:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
        if (b + 1) % 12 == 0:
            torch.save({'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'scaler': scaler.state_dict(),
                        'epoch': epoch, 'batch': b + 1}, 'amp.pth.tmp')
            os.replace('amp.pth.tmp', 'amp.pth')
    start_batch = 0
