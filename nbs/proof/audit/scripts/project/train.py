"A trainer that saves itself; its data and its network are in modules."
import argparse
import torch
from datasets import get_dataloaders
from trainer import Trainer
import networks

def parse():
    p = argparse.ArgumentParser()
    p.add_argument('--epochs', type=int, default=4)
    p.add_argument('--out', default='out')
    return p.parse_args()

if __name__ == '__main__':
    args = parse()
    torch.manual_seed(5)
    loaders = get_dataloaders(batch_size=8)
    t = Trainer(networks.MLP(), loaders, args)
    t.fit()
