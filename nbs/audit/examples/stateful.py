"torchdata's StatefulDataLoader. Try it: ecrl audit try --world 2,1 -- torchrun --nproc-per-node={world} stateful.py"
import os, torch, torch.distributed as dist, ecrl
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader

dist.init_process_group('gloo')
torch.manual_seed(0)
rank, world, B = dist.get_rank(), dist.get_world_size(), 16        # B: global batch
x = torch.randn(203, 8, generator=torch.Generator().manual_seed(0))
data = ecrl.audit.WithIds(TensorDataset(x, x.sum(1)))
model = torch.nn.Linear(8, 1)
opt = torch.optim.AdamW(model.parameters(), 1e-2)
audit = ecrl.audit('job', optimizer=opt, epoch_size=len(data), tail='drop', shuffle=True)
done, per_epoch = 0, len(data)//B

class Window(torch.utils.data.Sampler):
    "This rank's part of each global batch. The loader counts batches, so its state fits any number of ranks."
    def __iter__(self):
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(done//per_epoch)).tolist()
        return iter([order[k*B:(k + 1)*B][rank::world] for k in range(per_epoch)])
loader = StatefulDataLoader(data, batch_sampler=Window(), num_workers=1)
if os.path.exists('ckpt.pt'):
    c = torch.load('ckpt.pt', weights_only=False)
    model.load_state_dict(c['model']), opt.load_state_dict(c['opt']), torch.set_rng_state(c['rng'])
    loader.load_state_dict(c['loader'])
    done, _ = c['done'], audit.resumed(c['audit'], model=model, opt=opt)
ddp = DDP(model)
while done < 3*per_epoch:
    for a, b in audit.tap(loader, epoch=done//per_epoch):
        loss = (ddp(a).squeeze(1) - b).square().mean()
        opt.zero_grad(), loss.backward(), opt.step()
        done += 1
        if done % 5 == 0:
            token, _ = audit.token(model=model, opt=opt), dist.barrier()      # every rank has recorded this step
            if rank == 0:
                torch.save(dict(model=model.state_dict(), opt=opt.state_dict(), rng=torch.get_rng_state(), done=done,
                                loader=loader.state_dict(), audit=token), 'ckpt.tmp')
                os.replace('ckpt.tmp', 'ckpt.pt'), audit.saved('ckpt.pt')
dist.destroy_process_group()
