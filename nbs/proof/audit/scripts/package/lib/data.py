import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

def toy(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 5, generator=g)
    return TensorDataset(x, x.sum(1, keepdim=True))

def build_loaders(batch):
    train, val = toy(120, 1), toy(40, 2)
    sampler = DistributedSampler(train, shuffle=True, seed=3)
    train_loader = DataLoader(train, batch_size=batch, sampler=sampler)
    val_loader = DataLoader(val, batch_size=batch)
    return train_loader, val_loader, sampler

def debug_loader():
    return DataLoader(toy(9, 3), batch_size=3)
