from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.f = nn.Linear(5, 1)
    def forward(self, x): return self.f(x)
unused = 1
