"Two optimizers; the rest of an epoch is a part of the data."
import os, torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, Subset

torch.manual_seed(3)
real = torch.randn(240, 2) @ torch.tensor([[1., .4], [0., .6]]) + 1
dataset = TensorDataset(real)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(.2), nn.Linear(16, 1))
optG = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(.5, .999))
optD = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(.5, .999))
bce = nn.BCEWithLogitsLoss()
BATCH, EPOCHS, CKPT = 16, 3, 'gan.pt'
it = 0
if os.path.isfile(CKPT):
    state = torch.load(CKPT)
    G.load_state_dict(state['G']); D.load_state_dict(state['D'])
    optG.load_state_dict(state['optG']); optD.load_state_dict(state['optD'])
    it = state['it']
    torch.set_rng_state(state['rng'])
per_epoch = len(dataset) // BATCH
for epoch in range(it // per_epoch, EPOCHS):
    g = torch.Generator(); g.manual_seed(1000 + epoch)
    perm = torch.randperm(len(dataset), generator=g).tolist()
    done = it - epoch * per_epoch
    loader = DataLoader(Subset(dataset, perm[done * BATCH:]), batch_size=BATCH, drop_last=True)

    for (x,) in loader:
        z = torch.randn(x.size(0), 4, generator=torch.Generator().manual_seed(it))
        # discriminator
        optD.zero_grad()
        lossD = bce(D(x), torch.ones(x.size(0), 1)) + bce(D(G(z).detach()), torch.zeros(x.size(0), 1))
        lossD.backward(); optD.step()
        # generator
        optG.zero_grad()
        lossG = bce(D(G(z)), torch.ones(x.size(0), 1))
        lossG.backward(); optG.step()
        it += 1
        if it % 8 == 0:
            torch.save({'G': G.state_dict(), 'D': D.state_dict(), 'optG': optG.state_dict(),
                        'optD': optD.state_dict(), 'it': it, 'rng': torch.get_rng_state()}, CKPT + '.new')
            os.replace(CKPT + '.new', CKPT)
