"Batches that grow by the epoch, of a curriculum that grows, too."
import os, torch
from torch.utils.data import DataLoader, TensorDataset, Subset

torch.manual_seed(2)
N = 480
X = torch.linspace(-2, 2, N).unsqueeze(1)
ds = TensorDataset(X, X ** 3)
model = torch.nn.Sequential(torch.nn.Linear(1, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1))
opt = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=.9)
start_epoch, consumed, step = 0, 0, 0

if os.path.exists('grow.pt'):
    s = torch.load('grow.pt')
    model.load_state_dict(s['m']); opt.load_state_dict(s['o'])
    start_epoch, consumed, step = s['epoch'], s['consumed'], s['step']

for epoch in range(start_epoch, 4):
    bs = 8 * 2 ** epoch
    pool = N * (epoch + 1) // 4                          # easy ones first
    perm = torch.randperm(pool, generator=torch.Generator().manual_seed(epoch))
    for x, y in DataLoader(Subset(ds, perm[consumed:].tolist()), batch_size=bs):
        loss = torch.nn.functional.smooth_l1_loss(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        step += 1; consumed += len(x)
        if step % 4 == 0:
            torch.save({'m': model.state_dict(), 'o': opt.state_dict(), 'epoch': epoch, 'consumed': consumed, 'step': step}, 'grow.pt.tmp')
            os.replace('grow.pt.tmp', 'grow.pt')
    consumed = 0
