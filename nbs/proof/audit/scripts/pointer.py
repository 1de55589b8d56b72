"A file names the newest of some checkpoints."
from pathlib import Path
import torch
from torch.utils.data import DataLoader, TensorDataset

CKPTS = Path('checkpoints')
KEEP = 3

def save_checkpoint(state, step):
    CKPTS.mkdir(exist_ok=True)
    path = CKPTS / f'step_{step}.pt'
    tmp = path.with_suffix('.tmp')
    torch.save(state, tmp)
    tmp.replace(path)
    latest = CKPTS / 'latest.tmp'
    latest.write_text(path.name)
    latest.replace(CKPTS / 'latest')
    for old in sorted(CKPTS.glob('step_*.pt'), key=lambda p: int(p.stem.split('_')[1]))[:-KEEP]:
        old.unlink()

def latest_checkpoint():
    pointer = CKPTS / 'latest'
    return CKPTS / pointer.read_text() if pointer.exists() else None

def main():
    torch.manual_seed(9)
    X = torch.randn(640, 4)
    train_data = TensorDataset(X, X.abs().sum(1))
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1), torch.nn.Flatten(0))
    opt = torch.optim.Adam(model.parameters())
    step = 0
    path = latest_checkpoint()
    if path is not None:
        state = torch.load(path)
        model.load_state_dict(state['model'])
        opt.load_state_dict(state['opt'])
        step = state['step']
    bs, epochs = 16, 3
    per_epoch = len(train_data) // bs
    for epoch in range(step // per_epoch, epochs):
        g = torch.Generator().manual_seed(epoch)
        idx = torch.randperm(len(train_data), generator=g)[(step % per_epoch) * bs:]
        for x, y in DataLoader(train_data, bs, sampler=idx.tolist()):
            loss = (model(x) - y).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 15 == 0:
                save_checkpoint({'model': model.state_dict(), 'opt': opt.state_dict(), 'step': step}, step)

if __name__ == '__main__':
    main()
