"""Two tasks side by side, each with its own batches; every second step is of the other one."""
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def task(seed, rows):
    x = torch.randn(rows, 5, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(x, (x.sum(1, keepdim=True)*seed).cos())

class Feed:
    "Batches of a task, epoch after epoch, which goes on where it was."
    def __init__(self, data, seed):
        self.data, self.seed, self.epoch, self.taken, self.batches = data, seed, 0, 0, None

    def begin(self):
        order = torch.Generator().manual_seed(1000*self.seed + self.epoch)
        self.batches = iter(DataLoader(self.data, batch_size=12, shuffle=True, generator=order))
        for _ in range(self.taken): next(self.batches)

    def next(self):
        if self.batches is None: self.begin()
        batch = next(self.batches, None)
        if batch is None:
            self.epoch, self.taken = self.epoch + 1, 0
            self.begin()
            batch = next(self.batches)
        self.taken += 1
        return batch

torch.manual_seed(0)
body, ends = nn.Sequential(nn.Linear(5, 16), nn.Tanh()), nn.ModuleList([nn.Linear(16, 1), nn.Linear(16, 1)])
opt = torch.optim.Adam([*body.parameters(), *ends.parameters()], 3e-3)
feeds = [Feed(task(seed, rows), seed) for seed, rows in ((1, 96), (2, 60))]
step = 0
if os.path.exists('sides.pt'):
    old = torch.load('sides.pt')
    body.load_state_dict(old['body'])
    ends.load_state_dict(old['ends'])
    opt.load_state_dict(old['opt'])
    for feed, (epoch, taken) in zip(feeds, old['feeds']): feed.epoch, feed.taken = epoch, taken
    step = old['step']

while step < 40:
    x, y = feeds[step % 2].next()
    loss = (ends[step % 2](body(x)) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    step += 1
    if step % 6 == 0:
        torch.save(dict(body=body.state_dict(), ends=ends.state_dict(), opt=opt.state_dict(), step=step,
                        feeds=[(f.epoch, f.taken) for f in feeds]), 'sides.tmp')
        os.replace('sides.tmp', 'sides.pt')
