"Grain's DataLoader: an IndexSampler that shards by rank, and get_state and set_state of the iterator."
import grain.python as grain
from ecrl.board.job import the_job

job, at = the_job(), dict(iterator=None, state=None)

def iterator(epoch):
    shard = grain.ShardOptions(shard_index=job.rank, shard_count=job.world, drop_remainder=True)
    sampler = grain.IndexSampler(num_records=job.size, num_epochs=1, shuffle=job.shuffle, seed=1000*job.seed + epoch,
                                 shard_options=shard)
    batches = [grain.Batch(batch_size=job.micro, drop_remainder=True)]
    return iter(grain.DataLoader(data_source=grain.RangeDataSource(0, job.size, 1), sampler=sampler, operations=batches,
                                 worker_count=job.workers))

def passes(epoch):
    at['iterator'] = iterator(epoch)
    if at['state'] is not None: at['iterator'].set_state(at['state'])
    at['state'] = None
    yield from at['iterator']
    at['iterator'] = None

def state(): return at['iterator'] and at['iterator'].get_state()

if __name__ == '__main__':                                 # Grain's workers import this file
    job.consume(passes, state, load=lambda state: at.update(state=state))
