"DDP; loaders, loop and checkpoints are in a package beside it."
import argparse, os
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from lib.data import build_loaders
from lib import ckpt
from lib.engine import train_one_epoch, evaluate
from lib.nets import Net as Model


def main():
    p = argparse.ArgumentParser(); p.add_argument("--epochs", type=int, default=3); args = p.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    train_loader, val_loader, sampler = build_loaders(8)
    net = DDP(Model())
    opt = torch.optim.AdamW(net.parameters(), 1e-2)
    sched = torch.optim.lr_scheduler.StepLR(opt, 1, 0.7)
    start = 0
    if os.path.exists("last.pt"):
        start = ckpt.restore("last.pt", net, opt, sched)
    for epoch in range(start, args.epochs):
        sampler.set_epoch(epoch)
        train_one_epoch(net, train_loader, opt)
        sched.step()
        print(epoch, evaluate(net, val_loader))
        if dist.get_rank() == 0:
            ckpt.keep("last.pt", net, opt, sched, epoch + 1)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
