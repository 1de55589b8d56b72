"""A plain PyTorch loop that keeps a ledger; the lines with `audit` are all that it takes. Put yours here.
To kill it by plan, start it again and compare: ecrl audit try -- python train.py"""
import os, torch, ecrl
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.linspace(-3, 3, 600)[:, None]
data, model = TensorDataset(x, torch.sin(2*x)), torch.nn.Sequential(
    torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), 3e-3)
audit = ecrl.audit('runs/job', optimizer=opt, epoch_size=len(data), tail='keep', shuffle=True)
step, every, size = 0, 5, 50

if os.path.exists('checkpoint.pt'):                       # a restart goes on where the checkpoint stands
    c = torch.load('checkpoint.pt')
    model.load_state_dict(c['model']); opt.load_state_dict(c['opt']); step = c['step']
    audit.resumed(c['audit'], model=model, opt=opt)

per_epoch = len(data)//size
for epoch in range(step//per_epoch, 3):
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(epoch)).tolist()
    rest = order[size*(step - epoch*per_epoch):]          # without what this epoch has had; try it with `order`
    for a, b in audit.tap(DataLoader(ecrl.audit.WithIds(data), size, sampler=rest), epoch=epoch):
        loss = (model(a) - b).square().mean()
        opt.zero_grad(); loss.backward()
        audit.note(loss=loss)                             # of the step that now comes
        opt.step(); step += 1
        if step % every == 0:
            token = audit.token(model=model, opt=opt)
            torch.save(dict(model=model.state_dict(), opt=opt.state_dict(), step=step, audit=token), 'checkpoint.tmp')
            os.replace('checkpoint.tmp', 'checkpoint.pt'); audit.saved('checkpoint.pt')
print(f'step {step}, loss {loss.item():.4f}')
