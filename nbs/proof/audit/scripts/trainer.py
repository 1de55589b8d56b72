"A class with fit, save and load; a best checkpoint beside the last one, and averaged weights."
import argparse, copy, os
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

class Spirals(Dataset):
    def __init__(self, n=144):
        g = torch.Generator().manual_seed(7)
        self.x = torch.randn(n, 4, generator=g)
        self.y = (self.x[:, 0] * self.x[:, 1] > 0).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

class EMA:
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)

class Trainer:
    def __init__(self, model, train_set, out='checkpoints', epochs=4, bs=12, save_every=4):
        self.model = model
        self.train_set = train_set
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=15, gamma=0.5)
        self.ema = EMA(model)
        self.loss_fn = nn.CrossEntropyLoss()
        self.out = out
        self.epochs, self.bs, self.save_every = epochs, bs, save_every
        self.epoch = 0
        self.batch_in_epoch = 0
        self.global_step = 0
        self.best = float('inf')
        os.makedirs(out, exist_ok=True)

    def make_loader(self, epoch):
        g = torch.Generator()
        g.manual_seed(1000 + epoch)
        return DataLoader(self.train_set, batch_size=self.bs, shuffle=True, generator=g, drop_last=True)

    def save(self, name):
        state = {
            'model': self.model.state_dict(),
            'optimizer': self.optimizer.state_dict(),
            'scheduler': self.scheduler.state_dict(),
            'ema': self.ema.shadow.state_dict(),
            'epoch': self.epoch,
            'batch_in_epoch': self.batch_in_epoch,
            'global_step': self.global_step,
            'best': self.best,
        }
        path = os.path.join(self.out, name)
        torch.save(state, path + '.part')
        os.replace(path + '.part', path)

    def load(self, name='last.pt'):
        path = os.path.join(self.out, name)
        if not os.path.isfile(path):
            return False
        state = torch.load(path, weights_only=False)
        self.model.load_state_dict(state['model'])
        self.optimizer.load_state_dict(state['optimizer'])
        self.scheduler.load_state_dict(state['scheduler'])
        self.ema.shadow.load_state_dict(state['ema'])
        self.epoch = state['epoch']
        self.batch_in_epoch = state['batch_in_epoch']
        self.global_step = state['global_step']
        self.best = state['best']
        return True

    def train_step(self, x, y):
        self.model.train()
        self.optimizer.zero_grad()
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.ema.update(self.model)
        return loss.item()

    def fit(self):
        while self.epoch < self.epochs:
            loader = self.make_loader(self.epoch)
            skip = self.batch_in_epoch
            loss = 0.0
            for i, (x, y) in enumerate(loader):
                if i < skip:
                    continue
                loss = self.train_step(x, y)
                self.global_step += 1
                self.batch_in_epoch = i + 1
                if self.global_step % self.save_every == 0:
                    if loss < self.best:
                        self.best = loss
                        self.save('best.pt')
                    self.save('last.pt')
            self.epoch += 1
            self.batch_in_epoch = 0

def main():
    p = argparse.ArgumentParser()
    p.add_argument('--out', default='checkpoints')
    args = p.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    t = Trainer(model, Spirals(), out=args.out)
    if t.load():
        print('resumed')
    t.fit()

if __name__ == '__main__':
    main()
