"WebDataset over shards, resampled, as it is advised for several ranks: an endless stream, cut into epochs."
import webdataset as wds
from ecrl.board.job import the_job

job = the_job()

def write(folder):
    folder.mkdir()
    with wds.ShardWriter(str(folder/'part-%03d.tar'), maxcount=50, verbose=0) as out:
        for i in job.data: out.write(dict(__key__=f'{i:04d}', id=str(i)))

shards = str(job.shared('tars', write)/'part-{000..019}.tar')
steps = job.size//job.batch*job.accumulate
data = wds.WebDataset(shards, resampled=True, nodesplitter=wds.split_by_node, shardshuffle=False, seed=job.seed)
data = data.shuffle(100 if job.shuffle else 0).map(lambda s: int(s['id']))
loader = wds.WebLoader(data, batch_size=job.micro, num_workers=job.workers, persistent_workers=job.persistent).with_epoch(steps)
job.consume(lambda epoch: loader)
