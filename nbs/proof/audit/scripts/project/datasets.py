import torch
from torch.utils.data import Dataset, DataLoader

class Toy(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 6, generator=g); self.y = self.x[:, :1].sin()
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return {'x': self.x[i], 'y': self.y[i]}

def get_dataloaders(batch_size):
    train = Toy(90, 1)
    val = Toy(30, 2)
    return {'train': DataLoader(train, batch_size, shuffle=True, generator=torch.Generator().manual_seed(9)),
            'val': DataLoader(val, batch_size)}
