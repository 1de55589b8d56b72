"torch's DistributedSampler as its page shows it: set_epoch before each epoch; with `skip`, batches are skipped by hand."
import itertools, sys
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from ecrl.board.job import the_job

job, at = the_job(), dict(done=0)
sampler = DistributedSampler(job.data, num_replicas=job.world, rank=job.rank, shuffle=job.shuffle, seed=job.seed, drop_last=True)
loader = DataLoader(job.data, sampler=sampler, collate_fn=list, **job.loader)

def passes(epoch):
    sampler.set_epoch(epoch)
    skip = at['done'] if 'skip' in sys.argv else 0
    for batch in itertools.islice(loader, skip, None):
        at['done'] += 1
        yield batch
    at['done'] = 0

job.consume(passes, state=lambda: at['done'], load=lambda done: at.update(done=done))
