import os, torch
from .nets import unused

def keep(path, net, opt, sched, epoch):
    torch.save({"net": net.module.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "epoch": epoch}, path + ".tmp")
    os.replace(path + ".tmp", path)

def restore(path, net, opt, sched):
    c = torch.load(path, map_location="cpu")
    net.module.load_state_dict(c["net"])
    opt.load_state_dict(c["opt"])
    sched.load_state_dict(c["sched"])
    return c["epoch"]

def export(net, path):
    torch.save(net.state_dict(), path)
