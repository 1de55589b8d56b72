"Averaged weights, and batches of an order of its own."
import copy, os, torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, TensorDataset

def make_order(n, epoch):
    return torch.randperm(n, generator=torch.Generator().manual_seed(42 * epoch + 1)).tolist()

def update_ema(ema, net, decay=.95):
    with torch.no_grad():
        for pe, p in zip(ema.parameters(), net.parameters()):
            pe.mul_(decay).add_(p, alpha=1 - decay)

device = 'cuda' if torch.cuda.is_available() else 'cpu'
torch.manual_seed(0)
xs = torch.rand(320, 3)
trainset = TensorDataset(xs, (xs.prod(1, keepdim=True) > .1).float())
net = nn.Sequential(nn.Linear(3, 24), nn.SiLU(), nn.Dropout(0.0), nn.Linear(24, 1)).to(device)
ema = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
global_step, epoch, pos = 0, 0, 0
ckpt_path = 'ema_ckpt.pt'
if os.path.exists(ckpt_path):
    ckpt = torch.load(ckpt_path, map_location=device)
    net.load_state_dict(ckpt['net'])
    ema.load_state_dict(ckpt['ema'])
    optimizer.load_state_dict(ckpt['optimizer'])
    global_step, epoch, pos = ckpt['global_step'], ckpt['epoch'], ckpt['pos']

while epoch < 3:
    batches = [b for b in BatchSampler(make_order(len(trainset), epoch), 32, drop_last=False)]
    for x, y in DataLoader(trainset, batch_sampler=batches[pos:]):
        x, y = x.to(device), y.to(device)
        loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_ema(ema, net)
        global_step += 1
        pos += 1
        if global_step % 6 == 0:
            tmp = ckpt_path + '.part'
            torch.save(dict(net=net.state_dict(), ema=ema.state_dict(), optimizer=optimizer.state_dict(),
                            global_step=global_step, epoch=epoch, pos=pos), tmp)
            os.rename(tmp, ckpt_path)
    epoch, pos = epoch + 1, 0
