"ECRL's own trainer: a rank of `ecrl run`, with a ledger's token in its checkpoints. Word: plain or elastic."
import sys
from pathlib import Path
from ecrl.board.job import the_job
from ecrl.board.workload import ledger
from ecrl.checkpoint.store import CheckpointStore
from ecrl.contract.config import dump_config, make_config
from ecrl.base.files import write_atomically
from ecrl.training.worker import Worker

job, run, own = the_job(), Path('run'), 'ecrl.board.workload'
last = job.size//job.batch*job.epochs
config = dict(seed=job.seed, dataset=dict(name=f'{own}:points', args=dict(size=job.size)), runtime=dict(device='cpu', nproc=job.world),
              training=dict(model_name=f'{own}:Net', loss=f'{own}:mse', optimizer='torch.optim:AdamW', lr=1e-3,
                            global_batch=job.batch, max_steps=last, numerics=sys.argv[1]),
              checkpoint=dict(every_k_steps=31 if job.boundary else job.every))      # 62 steps an epoch
write_atomically(run/'config.yaml', dump_config(make_config(config)))
audit = ledger(job)

class Rank(Worker):
    def parts(self): return dict(model=self.method.model, opt=self.method.optimizer)
    def build(self):
        super().build()
        m, state, load, self.token = self.method, self.method.state, self.method.load, None
        m.state = lambda rng: state(rng) | dict(ledger=self.token)
        def loaded(pack): done = load(pack); audit.resumed(pack and pack['ledger'], **self.parts()); return done
        m.load = loaded
    def record(self, unit):
        super().record(unit)
        audit.epoch(unit['epoch']), audit.consume(self.method.ids), audit.note(loss=unit.get('loss_global', unit['loss'])), audit.commit()
        if self.method.sampler.epoch_done: audit.epoch_over()
    def boundary(self):
        if self.last_saved != self.global_step: self.token = audit.token(**self.parts())
        before, _ = self.last_saved, super().boundary()
        if self.rank == 0 and self.last_saved != before: audit.saved(f'step {self.last_saved}')

newest = CheckpointStore(run/'checkpoints').latest()
rank = Rank(run)
rank.begin(newest.attempt + 1 if newest else 1, last)
rank.build(), rank.restore(), rank.train(), rank.group.close(), rank.leave()
