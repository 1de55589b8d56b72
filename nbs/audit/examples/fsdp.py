"FSDP with distributed checkpoints. Try it: ecrl audit try --world 2,1 -- torchrun --standalone --nproc-per-node={world} fsdp.py"
import os, torch, torch.distributed as dist, torch.distributed.checkpoint as dcp, ecrl
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group('gloo')
torch.manual_seed(0)
rank, world, B = dist.get_rank(), dist.get_world_size(), 16        # B: global batch
x = torch.randn(203, 8, generator=torch.Generator().manual_seed(0))
data = ecrl.audit.WithIds(TensorDataset(x, x.sum(1)))
mesh = dist.init_device_mesh('cpu', (world,))
model = fully_shard(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)), mesh=mesh)
opt = torch.optim.AdamW(model.parameters(), 1e-2)
audit = ecrl.audit('job', optimizer=opt, epoch_size=len(data), tail='drop', shuffle=True)
done, per_epoch = 0, len(data)//B
def whole(): return get_state_dict(model, opt, options=StateDictOptions(full_state_dict=True))       # on every rank
if os.path.exists('latest.pt'):
    c, parts = torch.load('latest.pt'), get_state_dict(model, opt)
    dcp.load(dict(model=parts[0], opt=parts[1]), checkpoint_id=c['folder'])       # each rank reads its shards
    set_state_dict(model, opt, model_state_dict=parts[0], optim_state_dict=parts[1])
    done, _ = c['done'], audit.resumed(c['audit'], job=whole)

while done < 3*per_epoch:
    epoch, skip = divmod(done, per_epoch)
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(epoch)).tolist()
    mine = [order[k*B:(k + 1)*B][rank::world] for k in range(skip, per_epoch)]          # of each global batch
    for a, b in audit.tap(DataLoader(data, batch_sampler=mine), epoch=epoch):
        loss = (model(a).squeeze(1) - b).square().mean()
        opt.zero_grad(), loss.backward(), opt.step()
        done += 1
        if done % 5 == 0:
            token, parts = audit.token(job=whole), get_state_dict(model, opt)
            dcp.save(dict(model=parts[0], opt=parts[1]), checkpoint_id=f'ckpt-{done}')     # waits for all ranks
            if rank == 0:                     # a folder counts from here on: it is whole
                torch.save(dict(folder=f'ckpt-{done}', done=done, audit=token), 'latest.tmp')
                os.replace('latest.tmp', 'latest.pt'), audit.saved(f'ckpt-{done}')
dist.destroy_process_group()
