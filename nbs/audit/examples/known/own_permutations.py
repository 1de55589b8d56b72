"accelerate#4204: with a stateful loader, ranks whose seeds differ draw a permutation each. No failure is needed."
import os, sys, torch, ecrl
from accelerate import Accelerator, DataLoaderConfiguration
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ['RANK']))             # as set_seed(..., device_specific=True) does
accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(
    use_stateful_dataloader='plain' not in sys.argv))
data = ecrl.audit.WithIds(TensorDataset(torch.randn(64, 8)))
model = torch.nn.Linear(8, 1)
opt = torch.optim.SGD(model.parameters(), 1e-2)
model, opt, loader = accelerator.prepare(model, opt, DataLoader(data, batch_size=8, shuffle=True, num_workers=2))
audit = ecrl.audit('job', optimizer=opt, epoch_size=64, tail='keep', shuffle=True)
for epoch in range(2):
    for (a,) in audit.tap(loader, epoch=epoch):
        opt.zero_grad(), accelerator.backward(model(a).square().mean()), opt.step()
