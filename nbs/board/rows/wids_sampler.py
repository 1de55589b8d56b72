"wids: the map-style side of WebDataset, an index of shards and a chunked sampler for several ranks."
import torch.distributed as dist
from torch.utils.data import DataLoader
import webdataset as wds, wids
from ecrl.board.job import the_job

job = the_job()

def write(folder):
    folder.mkdir()
    with wds.ShardWriter(str(folder/'part-%03d.tar'), maxcount=50, verbose=0) as out:
        for i in job.data: out.write(dict(__key__=f'{i:04d}', id=str(i)))

place = job.shared('tars', write)
parts = [dict(url=str(f), nsamples=min(50, job.size - 50*k)) for k, f in enumerate(sorted(place.glob('*.tar')))]
dist.init_process_group('gloo')                            # its sampler asks for rank and world size there
data = wids.ShardListDataset(parts).add_transform(lambda s: int(s['.id'].read()))
sampler = wids.DistributedChunkedSampler(data, num_replicas=job.world, rank=job.rank, shuffle=job.shuffle, seed=job.seed)
loader = DataLoader(data, sampler=sampler, collate_fn=list, **job.loader)

def passes(epoch):
    sampler.set_epoch(epoch)
    return loader

job.consume(passes)
