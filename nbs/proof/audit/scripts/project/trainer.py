import os, shutil
import torch
import torch.nn.functional as F

class Trainer:
    def __init__(self, model, loaders, args):
        self.model, self.loaders, self.args = model, loaders, args
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, args.epochs)
        self.epoch, self.best = 0, float('inf')
        os.makedirs(args.out, exist_ok=True)
        self.path = os.path.join(args.out, 'last.pt')
        if os.path.exists(self.path):
            self._load()

    def _save(self, best):
        state = dict(model=self.model.state_dict(), optimizer=self.optimizer.state_dict(),
                     scheduler=self.scheduler.state_dict(), epoch=self.epoch, best=self.best,
                     rng=torch.get_rng_state(), gen=self.loaders['train'].generator.get_state())
        torch.save(state, self.path + '.tmp')
        os.replace(self.path + '.tmp', self.path)
        if best:
            shutil.copyfile(self.path, os.path.join(self.args.out, 'best.pt'))

    def _load(self):
        state = torch.load(self.path, weights_only=False)
        self.model.load_state_dict(state['model'])
        self.optimizer.load_state_dict(state['optimizer'])
        self.scheduler.load_state_dict(state['scheduler'])
        self.epoch, self.best = state['epoch'], state['best']
        torch.set_rng_state(state['rng'])
        self.loaders['train'].generator.set_state(state['gen'])

    def _train_epoch(self):
        self.model.train()
        for batch in self.loaders['train']:
            self.optimizer.zero_grad()
            loss = F.mse_loss(self.model(batch['x']), batch['y'])
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def _validate(self):
        self.model.eval()
        return sum(F.mse_loss(self.model(b['x']), b['y']).item() for b in self.loaders['val'])

    def fit(self):
        while self.epoch < self.args.epochs:
            self._train_epoch()
            self.scheduler.step()
            v = self._validate()
            better = v < self.best
            self.best = min(v, self.best)
            self.epoch += 1
            self._save(better)
            print(self.epoch, v)
