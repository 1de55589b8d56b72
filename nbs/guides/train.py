"A loop that resumes exactly: 2 epochs of 40 samples, 4 a step, a save at every third step."
import os, torch, ecrl
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(40, 4, generator=torch.Generator().manual_seed(1))
data = ecrl.audit.WithIds(TensorDataset(x, x.sum(1, keepdim=True)))
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), 0.02)
audit = ecrl.audit('job', optimizer=opt, epoch_size=40, tail='keep', shuffle=True)
epoch, place = 0, 0                                     # place: samples of the epoch that were trained
if os.path.exists('ckpt.pt'):
    c = torch.load('ckpt.pt')
    model.load_state_dict(c['model']), opt.load_state_dict(c['opt'])
    epoch, place = c['epoch'], c['place']
    audit.resumed(c['audit'], model=model, opt=opt)
for epoch in range(epoch, 2):
    order = torch.randperm(40, generator=torch.Generator().manual_seed(epoch)).tolist()
    loader = DataLoader(data, batch_size=4, sampler=order[place:])
    for i, (a, b) in enumerate(audit.tap(loader, epoch=epoch), 1):
        loss = (model(a) - b).square().mean()
        opt.zero_grad(), loss.backward(), audit.note(loss=loss), opt.step()
        if i % 3 == 0:
            torch.save(dict(model=model.state_dict(), opt=opt.state_dict(), epoch=epoch, place=place + i*4,
                            audit=audit.token(model=model, opt=opt)), 'ckpt.tmp')
            os.replace('ckpt.tmp', 'ckpt.pt'), audit.saved('ckpt.pt')
    place = 0
