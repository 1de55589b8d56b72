"""Cross-validation: a model for each fold; after a crash it goes on in the fold and the epoch where it was."""
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

FOLDS, EPOCHS = 3, 2
x = torch.randn(120, 6, generator=torch.Generator().manual_seed(3))
data = TensorDataset(x, x.sum(1, keepdim=True).tanh())
order = torch.randperm(len(data), generator=torch.Generator().manual_seed(4))
parts = [order[k::FOLDS].tolist() for k in range(FOLDS)]

state = torch.load('folds.pt') if os.path.exists('folds.pt') else None
first = state['fold'] if state else 0
for fold in range(first, FOLDS):
    torch.manual_seed(fold)
    net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    start = 0
    if state and fold == first:
        net.load_state_dict(state['net'])
        opt.load_state_dict(state['opt'])
        start = state['epoch']
    rest = [i for k, part in enumerate(parts) if k != fold for i in part]
    for epoch in range(start, EPOCHS):
        shuffled = torch.Generator().manual_seed(10*fold + epoch)
        for a, b in DataLoader(Subset(data, rest), batch_size=20, shuffle=True, generator=shuffled):
            loss = nn.functional.mse_loss(net(a), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
        torch.save({'net': net.state_dict(), 'opt': opt.state_dict(), 'fold': fold, 'epoch': epoch + 1}, 'folds.tmp')
        os.replace('folds.tmp', 'folds.pt')
    with torch.no_grad():
        a, b = data[parts[fold]]
        print(fold, nn.functional.mse_loss(net(a), b).item())
