"""A part for training and a part for validation, drawn at random; saves after each epoch."""
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

x = torch.randn(200, 5, generator=torch.Generator().manual_seed(1))
everything = TensorDataset(x, x.prod(1, keepdim=True).sign())
train, held_out = random_split(everything, [0.8, 0.2], generator=torch.Generator().manual_seed(2))

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
shuffle = torch.Generator().manual_seed(7)
loader = DataLoader(train, batch_size=16, shuffle=True, generator=shuffle)
begin = 0
if os.path.exists('last.pth'):
    last = torch.load('last.pth')
    model.load_state_dict(last['model'])
    optimizer.load_state_dict(last['optimizer'])
    shuffle.set_state(last['shuffle'])
    begin = last['epoch']

for epoch in range(begin, 4):
    model.train()
    for a, b in loader:
        loss = (model(a) - b).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad(): print(epoch, sum((model(a) - b).square().sum().item() for a, b in DataLoader(held_out, 40)))
    torch.save(dict(model=model.state_dict(), optimizer=optimizer.state_dict(), shuffle=shuffle.get_state(),
                    epoch=epoch + 1), 'last.pth')
