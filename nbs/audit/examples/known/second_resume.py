"datasets#8308: after a resume the state of a stream stands still, so the second resume begins the stream again."
import os, torch, ecrl
from datasets import Dataset
from torch.utils.data import DataLoader

torch.manual_seed(0)
rows = Dataset.from_dict(dict(id=[*range(200)], x=torch.randn(200, 8).tolist()))
stream = rows.to_iterable_dataset().with_format('torch')
model = torch.nn.Linear(8, 1)
opt = torch.optim.AdamW(model.parameters(), 1e-2)
audit = ecrl.audit('job', optimizer=opt, ids='id', epoch_size=200, tail='keep')
done = 0
if os.path.exists('ckpt.pt'):
    c = torch.load('ckpt.pt', weights_only=False)
    model.load_state_dict(c['model']), opt.load_state_dict(c['opt']), stream.load_state_dict(c['stream'])
    done, _ = c['done'], audit.resumed(c['audit'], model=model, opt=opt)
for batch in audit.tap(DataLoader(stream, batch_size=8), epoch=0):
    loss = model(batch['x']).square().mean()
    opt.zero_grad(), loss.backward(), opt.step()
    done += 1
    if done % 5 == 0:
        torch.save(dict(model=model.state_dict(), opt=opt.state_dict(), stream=stream.state_dict(), done=done,
                        audit=audit.token(model=model, opt=opt)), 'ckpt.tmp')
        os.replace('ckpt.tmp', 'ckpt.pt'), audit.saved('ckpt.pt')
