import torch
from torch.nn.functional import mse_loss

def train_one_epoch(net, loader, opt):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        loss = mse_loss(net(x), y)
        loss.backward()
        opt.step()

@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    return sum(mse_loss(net(x), y).item() for x, y in loader)
