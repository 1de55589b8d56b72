"torchdata's StatefulDataLoader. Try it: ecrl audit try -- python stateful.py"
import os, sys, torch, ecrl.audit
from torch.utils.data import TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader

torch.manual_seed(0)
x = torch.randn(203, 8, generator=torch.Generator().manual_seed(0))
data = ecrl.audit.WithIds(TensorDataset(x, x.sum(1)))
model = torch.nn.Linear(8, 1)
opt = torch.optim.AdamW(model.parameters(), 1e-2)
loader = StatefulDataLoader(data, batch_size=16, shuffle=True, num_workers=2)
audit = ecrl.audit('job', optimizer=opt, epoch_size=len(data), tail='keep', shuffle=True)
done, per_epoch, wrong = 0, len(loader), sys.argv[1:]
if os.path.exists('ckpt.pt'):
    c = torch.load('ckpt.pt', weights_only=False)
    model.load_state_dict(c['model']), opt.load_state_dict(c['opt'])
    if 'loader' not in wrong: loader.load_state_dict(c['loader'])
    torch.set_rng_state(c['rng'])
    done, _ = c['done'], audit.resumed(c['audit'], model=model, opt=opt)
while done < 3*per_epoch:
    for a, b in audit.tap(loader, epoch=done//per_epoch):
        loss = (model(a).squeeze(1) - b).square().mean()
        opt.zero_grad(), loss.backward(), opt.step()
        done += 1
        if done % 5 == 0:
            torch.save(dict(model=model.state_dict(), opt=opt.state_dict(), loader=loader.state_dict(), done=done,
                            rng=torch.get_rng_state(), audit=audit.token(model=model, opt=opt)), 'ckpt.tmp')
            os.replace('ckpt.tmp', 'ckpt.pt'), audit.saved('ckpt.pt')
