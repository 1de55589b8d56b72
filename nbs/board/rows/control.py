"Controls: a loader by hand whose state is the number of micro-batches consumed; with a word, a mistake."
import sys
import torch
from torch.utils.data import DataLoader, Sampler
from ecrl.board.job import the_job

job, wrong = the_job(), sys.argv[1:]
window = job.batch//job.accumulate                         # samples of a micro-batch over all ranks

class Windows(Sampler):
    "This rank's part of each window of the epoch's order, from where the epoch stands."
    epoch = done = drawn = resumes = 0
    def __iter__(self):
        seeded = torch.Generator().manual_seed(1000*job.seed + self.epoch)
        order = torch.randperm(job.size, generator=seeded).tolist() if job.shuffle else job.data
        self.drawn = self.done
        for k in range(self.done, job.size//job.batch*job.accumulate):
            self.drawn += 1
            yield order[k*window:(k + 1)*window][job.rank::job.world]

at = Windows()
loader = DataLoader(job.data, batch_sampler=at, num_workers=job.workers, persistent_workers=job.persistent, collate_fn=list)

def passes(epoch):
    at.epoch = epoch
    for batch in loader:
        at.done += 1
        yield batch
    at.done = at.drawn = 0

def state():
    done = at.drawn if 'prefetch' in wrong else at.done      # what the workers have read ahead is taken for consumed
    return dict(done=done*job.micro if 'ranks' in wrong else done, resumes=at.resumes)

def load(s):
    done = s['done']//job.micro if 'ranks' in wrong else s['done']    # samples of a rank, read on another number of ranks
    at.resumes = s['resumes'] + 1
    at.done = 0 if 'forgets' in wrong or 'second' in wrong and at.resumes == 2 else done

job.consume(passes, state, load)
