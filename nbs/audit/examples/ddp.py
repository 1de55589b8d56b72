"A plain DDP script. Try it: ecrl audit try --world 2,1 -- torchrun --standalone --nproc-per-node={world} ddp.py"
import os, torch, torch.distributed as dist, ecrl
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group('gloo')
torch.manual_seed(0)
rank, world, B = dist.get_rank(), dist.get_world_size(), 16        # B: global batch
x = torch.randn(203, 8, generator=torch.Generator().manual_seed(0))
data = ecrl.audit.WithIds(TensorDataset(x, x.sum(1)))
model = torch.nn.Linear(8, 1)
opt = torch.optim.AdamW(model.parameters(), 1e-2)
audit = ecrl.audit('job', optimizer=opt, epoch_size=len(data), tail='drop', shuffle=True)
done, per_epoch = 0, len(data)//B
if os.path.exists('ckpt.pt'):
    c = torch.load('ckpt.pt')
    model.load_state_dict(c['model']), opt.load_state_dict(c['opt']), torch.set_rng_state(c['rng'])
    done, _ = c['done'], audit.resumed(c['audit'], model=model, opt=opt)
ddp = DDP(model)
class Window(torch.utils.data.Sampler):
    "This rank's part of each global batch, from where the epoch stands: the same order on any number of ranks."
    def __init__(self, epoch, skip):
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(epoch)).tolist()
        self.steps = [order[k*B:(k + 1)*B][rank::world] for k in range(skip, per_epoch)]
    def __iter__(self): return iter(self.steps)

while done < 3*per_epoch:
    epoch, skip = divmod(done, per_epoch)
    for a, b in audit.tap(DataLoader(data, batch_sampler=Window(epoch, skip), num_workers=1), epoch=epoch):
        loss = (ddp(a).squeeze(1) - b).square().mean()
        opt.zero_grad(), loss.backward(), opt.step()
        done += 1
        if done % 5 == 0:
            token = audit.token(model=model, opt=opt)
            dist.barrier()                    # every rank has recorded this step before the checkpoint exists
            if rank == 0:
                torch.save(dict(model=model.state_dict(), opt=opt.state_dict(), rng=torch.get_rng_state(), done=done,
                                audit=token), 'ckpt.tmp')
                os.replace('ckpt.tmp', 'ckpt.pt'), audit.saved('ckpt.pt')
dist.destroy_process_group()
