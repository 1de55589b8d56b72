"LitData: StreamingDataset and StreamingDataLoader, whose state_dict goes into the checkpoint."
import os
import torch.distributed as dist
from litdata import StreamingDataLoader, StreamingDataset
from litdata.streaming.cache import Cache
from ecrl.board.job import the_job

job = the_job()

def write(folder):
    place = {k: os.environ.pop(k) for k in ('RANK', 'WORLD_SIZE')}     # one process writes, and not as one of several
    folder.mkdir()
    cache = Cache(str(folder), chunk_size=50)
    for i in job.data: cache[i] = i
    cache.done(), cache.merge()
    os.environ.update(place)

place = job.shared('litdata', write)
dist.init_process_group('gloo')
data = StreamingDataset(str(place), shuffle=job.shuffle, seed=job.seed, drop_last=True)
loader = StreamingDataLoader(data, batch_size=job.micro, num_workers=job.workers, persistent_workers=job.persistent, drop_last=True)
job.consume(lambda epoch: loader, loader.state_dict, loader.load_state_dict)
