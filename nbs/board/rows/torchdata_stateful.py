"torchdata's StatefulDataLoader with its distributed sampler: the loader's state goes into the checkpoint of each rank."
from torchdata.stateful_dataloader import StatefulDataLoader
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler
from ecrl.board.job import the_job

job = the_job()
sampler = StatefulDistributedSampler(job.data, num_replicas=job.world, rank=job.rank, shuffle=job.shuffle, seed=job.seed,
                                     drop_last=True)
loader = StatefulDataLoader(job.data, sampler=sampler, collate_fn=list, **job.loader)

def passes(epoch):
    sampler.set_epoch(epoch)
    return loader

job.consume(passes, loader.state_dict, loader.load_state_dict)
