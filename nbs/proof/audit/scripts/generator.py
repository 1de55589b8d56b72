"Its own order and its own batches; a generator for each, and NumPy noise."
import os
import numpy as np
import torch
from torch import nn

N, BS, EPOCHS = 120, 10, 3
torch.manual_seed(1)
gen = torch.Generator()
gen.manual_seed(42)
rng = np.random.default_rng(99)
data = np.random.RandomState(5).randn(N, 8).astype('float32')
labels = (data.sum(1) > 0).astype('int64')

net = nn.Linear(8, 2)
optim = torch.optim.Adam(net.parameters(), lr=3e-3)
state = {'epoch': 0, 'pos': 0, 'perm': None}

if os.path.exists('model.ckpt'):
    saved = torch.load('model.ckpt', weights_only=False)
    net.load_state_dict(saved['net'])
    optim.load_state_dict(saved['optim'])
    gen.set_state(saved['gen'])
    rng.bit_generator.state = saved['rng']
    state = saved['state']

while state['epoch'] < EPOCHS:
    if state['perm'] is None:
        state['perm'] = torch.randperm(N, generator=gen)
    while state['pos'] < N:
        idx = state['perm'][state['pos']:state['pos'] + BS].numpy()
        xb = data[idx] + rng.normal(0, 0.1, size=(len(idx), 8)).astype('float32')
        loss = nn.functional.cross_entropy(net(torch.from_numpy(xb)), torch.from_numpy(labels[idx]))
        optim.zero_grad()
        loss.backward()
        optim.step()
        state['pos'] += BS
        if state['pos'] % 40 == 0:
            torch.save({'net': net.state_dict(), 'optim': optim.state_dict(), 'gen': gen.get_state(),
                        'rng': rng.bit_generator.state, 'state': state}, 'model.ckpt.new')
            os.replace('model.ckpt.new', 'model.ckpt')
    state['epoch'] += 1
    state['pos'] = 0
    state['perm'] = None
