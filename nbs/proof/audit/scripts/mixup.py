"Augmented by workers and by mixing; noise that follows from the epoch, the sample and the step."
import os
import numpy as np
import torch
from torch.utils.data import Dataset, DataLoader

class Augmented(Dataset):
    """Noise by NumPy; a sample's noise depends on the epoch and its index alone."""
    def __init__(self, n=240):
        r = np.random.default_rng(0)
        self.x = r.normal(size=(n, 8)).astype('float32')
        self.y = self.x.sum(1, keepdims=True)
        self.epoch = 0
    def __len__(self): return len(self.x)
    def __getitem__(self, i):
        r = np.random.default_rng([self.epoch, i])
        return self.x[i] + .1 * r.normal(size=8).astype('float32'), self.y[i]

def mixup(x, y, step, alpha=.2):
    r = np.random.default_rng([99, step])
    lam = float(r.beta(alpha, alpha))
    p = torch.from_numpy(r.permutation(len(x)))
    return lam * x + (1 - lam) * x[p], lam * y + (1 - lam) * y[p]

def main():
    torch.manual_seed(0)
    ds = Augmented()
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    BS, EPOCHS, step = 12, 3, 0
    if os.path.exists('mix.pt'):
        c = torch.load('mix.pt')
        model.load_state_dict(c['model']); opt.load_state_dict(c['opt']); step = c['step']
    spe = len(ds) // BS
    while step < spe * EPOCHS:
        epoch = ds.epoch = step // spe
        order = np.random.default_rng(epoch).permutation(len(ds))[(step % spe) * BS:].tolist()
        for x, y in DataLoader(ds, BS, sampler=order, num_workers=2):
            x, y = mixup(x, y, step)
            loss = torch.nn.functional.mse_loss(model(x), y)
            opt.zero_grad(); loss.backward(); opt.step()
            step += 1
            if step % 10 == 0:
                torch.save({'model': model.state_dict(), 'opt': opt.state_dict(), 'step': step}, 'mix.tmp')
                os.replace('mix.tmp', 'mix.pt')

if __name__ == '__main__':
    main()
