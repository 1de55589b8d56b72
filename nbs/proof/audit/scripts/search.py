"A search over learning rates: each has its model, its optimizer and its checkpoint."
import json, os
import torch
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
data = TensorDataset(x, x.sum(1, keepdim=True))

def train(lr, epochs=3):
    path = f'lr_{lr}.pt'
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    start = 0
    if os.path.exists(path):
        state = torch.load(path)
        net.load_state_dict(state['net'])
        optimizer.load_state_dict(state['optimizer'])
        start = state['epoch'] + 1
    loss = torch.tensor(0.)
    for epoch in range(start, epochs):
        order = torch.Generator().manual_seed(epoch)
        for a, b in DataLoader(data, batch_size=20, shuffle=True, generator=order):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(net(a), b)
            loss.backward()
            optimizer.step()
        torch.save({'net': net.state_dict(), 'optimizer': optimizer.state_dict(), 'epoch': epoch}, path)
    return loss.item()

found = json.load(open('found.json')) if os.path.exists('found.json') else {}
for lr in (0.1, 0.03, 0.01):
    if str(lr) in found:
        continue
    found[str(lr)] = train(lr)
    with open('found.json', 'w') as f:
        json.dump(found, f)
