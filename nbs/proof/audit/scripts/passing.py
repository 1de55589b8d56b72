"""A class whose batches come from a method of its own, epoch after epoch, until it has done its steps."""
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

class Worker:
    path, size, total, every = 'worker.pt', 12, 40, 8

    def __init__(self):
        x = torch.randn(144, 4, generator=torch.Generator().manual_seed(5))
        self.rows = TensorDataset(x, x.abs().sum(1, keepdim=True))
        torch.manual_seed(6)
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))
        self.opt = torch.optim.SGD(self.net.parameters(), 1e-2, momentum=0.9)
        self.step = 0

    def batches(self):
        epoch, done = divmod(self.step, len(self.rows)//self.size)
        while True:
            order = torch.randperm(len(self.rows), generator=torch.Generator().manual_seed(epoch)).tolist()
            rest = Subset(self.rows, order[done*self.size:])
            for batch in DataLoader(rest, batch_size=self.size, generator=torch.Generator()):
                yield batch
            epoch, done = epoch + 1, 0

    def save(self):
        torch.save(dict(net=self.net.state_dict(), opt=self.opt.state_dict(), step=self.step,
                        rng=torch.get_rng_state()), self.path + '.new')
        os.replace(self.path + '.new', self.path)

    def restore(self):
        if not os.path.exists(self.path): return
        kept = torch.load(self.path)
        self.net.load_state_dict(kept['net'])
        self.opt.load_state_dict(kept['opt'])
        self.step = kept['step']
        torch.set_rng_state(kept['rng'])

    def run(self):
        self.restore()
        for x, y in self.batches():
            if self.step >= self.total: break
            loss = nn.functional.l1_loss(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.step += 1
            if self.step % self.every == 0: self.save()

if __name__ == '__main__': Worker().run()
