"A manager that saves whatever it is given; an endless generator of batches."
from dataclasses import dataclass
import torch, os, glob
from torch.utils.data import Dataset, DataLoader

@dataclass
class Config:
    lr: float = 1e-3
    bs: int = 8
    steps: int = 40
    save_every: int = 7
    dir: str = 'ckpts'

class DS(Dataset):
    def __len__(self): return 96
    def __getitem__(self, i): return {'x': torch.full((3,), float(i)), 'y': torch.tensor(float(i % 2))}

def infinite(loader_fn):
    epoch = 0
    while True:
        for batch in loader_fn(epoch): yield batch
        epoch += 1

class CheckpointManager:
    def __init__(self, d): self.d = d; os.makedirs(d, exist_ok=True)
    def latest(self):
        fs = sorted(glob.glob(f'{self.d}/ck_*.pt'), key=lambda f: int(f.split('_')[-1][:-3]))
        return fs[-1] if fs else None
    def save(self, step, **objs):
        path = f'{self.d}/ck_{step}.pt'
        torch.save({'step': step, **{k: v.state_dict() for k, v in objs.items()}}, path + '.tmp')
        os.rename(path + '.tmp', path)
    def restore(self, **objs):
        path = self.latest()
        if path is None: return 0
        ck = torch.load(path)
        for k, v in objs.items(): v.load_state_dict(ck[k])
        return ck['step']

def main(cfg=Config()):
    torch.manual_seed(0)
    ds = DS()
    model = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr)
    mgr = CheckpointManager(cfg.dir)
    step = mgr.restore(model=model, opt=opt)
    per = len(ds) // cfg.bs
    def loader(e): return DataLoader(ds, cfg.bs, shuffle=True, generator=torch.Generator().manual_seed(e))
    data = infinite(loader)
    for _ in range(step): next(data)
    while step < cfg.steps:
        b = next(data)
        loss = (model(b['x']).squeeze() - b['y']).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        step += 1
        if step % cfg.save_every == 0: mgr.save(step, model=model, opt=opt)
if __name__ == '__main__': main()
