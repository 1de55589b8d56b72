"ECRL's sampler in a plain DataLoader: it is advanced by the loop, when a step has been consumed."
from torch.utils.data import DataLoader
from ecrl.board.job import the_job
from ecrl.data.sampler import ResumableGlobalBatchSampler

job, micro = the_job(), dict(seen=0)
sampler = ResumableGlobalBatchSampler(job.size, job.batch, job.world, job.rank, job.seed)
loader = DataLoader(job.data, sampler=sampler, collate_fn=list, **job.loader)

def passes(epoch):
    if sampler.epoch_done: sampler.next_epoch()
    for batch in loader:
        micro['seen'] += 1
        if micro['seen'] % job.accumulate == 0: sampler.advance()
        yield batch

job.consume(passes, sampler.state_dict, sampler.load_state_dict)
