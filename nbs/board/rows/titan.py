"torchtitan: HuggingFaceTextDataset in ParallelAwareDataloader; the state of the loader goes into the checkpoint."
import itertools
from datasets import Dataset
from torchtitan.components.dataloader import ParallelAwareDataloader
from torchtitan.hf_datasets import DatasetConfig
from torchtitan.hf_datasets.text_datasets import DATASETS, HuggingFaceTextDataset
from ecrl.board.job import the_job

job, at = the_job(), dict(done=0, stream=None)
texts = lambda path: Dataset.from_dict(dict(text=[str(i) for i in job.data]))
DATASETS['ids'] = DatasetConfig(path='', loader=texts, sample_processor=lambda sample: sample['text'])

class Numbers:
    "A tokenizer: a text is one token, its number, and its end."
    def encode(self, text, add_bos, add_eos): return [int(text), job.size]

data = HuggingFaceTextDataset('ids', None, Numbers(), seq_len=1, dp_rank=job.rank, dp_world_size=job.world, infinite=True)
loader = ParallelAwareDataloader(data, job.rank, job.world, batch_size=job.micro, num_workers=job.workers,
                                 persistent_workers=job.persistent)

def passes(epoch):
    if at['stream'] is None: at['stream'] = iter(loader)
    for batch, _ in itertools.islice(at['stream'], job.size//job.batch*job.accumulate - at['done']):
        at['done'] += 1
        yield batch['input'].flatten()
    at['done'] = 0

def load(state):
    at['done'] = state[0]
    loader.load_state_dict(state[1])

job.consume(passes, state=lambda: (at['done'], loader.state_dict()), load=load)
