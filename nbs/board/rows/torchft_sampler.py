"torchft's sampler, a replica group for each rank, in torchdata's loader as its training example has it."
from torchdata.stateful_dataloader import StatefulDataLoader
from torchft.data import DistributedSampler
from ecrl.board.job import the_job

job = the_job()
sampler = DistributedSampler(job.data, replica_rank=job.rank, num_replica_groups=job.world, group_rank=0, num_replicas=1,
                             shuffle=job.shuffle, seed=job.seed, drop_last=True)
loader = StatefulDataLoader(job.data, sampler=sampler, collate_fn=list, **job.loader)

def passes(epoch):
    sampler.set_epoch(epoch)
    return loader

job.consume(passes, loader.state_dict, loader.load_state_dict)
