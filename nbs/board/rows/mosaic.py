"MosaicML Streaming: StreamingDataset and StreamingDataLoader, whose state_dict goes into the checkpoint."
import torch.distributed as dist
from streaming import MDSWriter, StreamingDataLoader, StreamingDataset
from streaming.base.util import clean_stale_shared_memory
from ecrl.board.job import the_job

job = the_job()

def write(folder):
    with MDSWriter(out=str(folder), columns=dict(id='int'), size_limit=1 << 10) as out:
        for i in job.data: out.write(dict(id=i))

local = str(job.shared('mds', write))
dist.init_process_group('gloo')
clean_stale_shared_memory()                                # as the documentation asks after a crash, on every rank
data = StreamingDataset(local=local, shuffle=job.shuffle, shuffle_seed=job.seed, batch_size=job.micro)
loader = StreamingDataLoader(data, **job.loader)
job.consume(lambda epoch: (batch['id'] for batch in loader), loader.state_dict, loader.load_state_dict)
