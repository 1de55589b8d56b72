"Ranks that share each batch, in functions."
import os
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

CKPT = 'snapshot.pt'

def setup():
    dist.init_process_group('gloo')
    return dist.get_rank(), dist.get_world_size()

def get_data():
    g = torch.Generator().manual_seed(3)
    x = torch.randn(180, 6, generator=g)
    return TensorDataset(x, x @ torch.arange(6.).view(6, 1))

def save_snapshot(model, optimizer, epoch, batch):
    snap = {'MODEL': model.module.state_dict(), 'OPT': optimizer.state_dict(), 'EPOCH': epoch, 'BATCH': batch}
    torch.save(snap, CKPT + '.tmp')
    os.replace(CKPT + '.tmp', CKPT)

def load_snapshot(model, optimizer):
    if not os.path.exists(CKPT):
        return 0, 0
    snap = torch.load(CKPT, map_location='cpu')
    model.module.load_state_dict(snap['MODEL'])
    optimizer.load_state_dict(snap['OPT'])
    return snap['EPOCH'], snap['BATCH']

def run_epoch(model, optimizer, loader, sampler, epoch, first, rank):
    sampler.set_epoch(epoch)
    for i, (source, targets) in enumerate(loader):
        if i < first:
            continue
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(source), targets)
        loss.backward()
        optimizer.step()
        if (i + 1) % 5 == 0:
            dist.barrier()
            if rank == 0:
                save_snapshot(model, optimizer, epoch, i + 1)

def main():
    rank, world = setup()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dataset = get_data()
    sampler = DistributedSampler(dataset, shuffle=True, seed=11)
    loader = DataLoader(dataset, batch_size=6, sampler=sampler)
    model = DDP(nn.Linear(6, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    start, first = load_snapshot(model, optimizer)
    for epoch in range(start, 3):
        run_epoch(model, optimizer, loader, sampler, epoch, first, rank)
        first = 0
    dist.destroy_process_group()

if __name__ == '__main__':
    main()
