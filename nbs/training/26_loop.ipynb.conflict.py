# %% [markdown]
# # Loop
# > The worker: what one rank does, step by step, and in which order, so that a crash anywhere can be audited.

# %% [markdown]
# This module runs in every rank, started by `python -m torch.distributed.run ... -m ecrl.training.loop`. The order of a step is the contract on which all verdicts rest:
#
# materialise shard → forward, backward, update → cursor → record → at a boundary: barrier, capture, write or enqueue, barrier → a fault, if one is planned.
#
# The record comes after the update and before the checkpoint. So a checkpoint at step s implies that every rank has recorded step s, and a record without a later checkpoint is work that a restart will repeat.

# %%
#| default_exp training.loop

# %%
#| export
import argparse, contextlib, datetime, json, os, select, signal, sys, time, warnings
from pathlib import Path
import psutil
import torch
import torch.distributed as dist
import torch.nn.functional as F
from fastcore.basics import patch
from torch.nn.parallel import DistributedDataParallel
<<<<<<< /tmp/w/tmp-main/merge/ours.py
from ecrl.checkpoint.state import StateMismatch, capture_rng, check_identity, gather_rng, restore_state, seed_rng, state_pack
from ecrl.checkpoint.disks import FaultyDisk
from ecrl.checkpoint.store import CheckpointInfo, CheckpointStore, FileOps, NoSyncOps, checkpoint_name
||||||| /tmp/w/tmp-main/merge/base.py
from ecrl.checkpoint.state import StateMismatch, check_identity, gather_rng, restore_state, seed_rng, state_pack
from ecrl.checkpoint.store import CheckpointInfo, CheckpointStore, FileOps, NoSyncOps, checkpoint_name
=======
from ecrl.checkpoint.state import StateMismatch, check_identity, gather_rng, restore_state, seed_rng, state_pack
from ecrl.checkpoint.store import CheckpointInfo, CheckpointStore, DamagedCheckpoint, FileOps, NoSyncOps, checkpoint_name
>>>>>>> /tmp/w/tmp-main/merge/theirs.py
from ecrl.checkpoint.strategies import BlockingCheckpoints, NoCheckpoints, OverlappedCheckpoints, WriterDied, die_with_parent
from ecrl.data.datasets import ImagesWithIDs, build_dataset, data_loader, held_out_dataset
from ecrl.data.geometry import sample_ids_hash
from ecrl.data.sampler import ResumableGlobalBatchSampler, advance_and_broadcast
from ecrl.training.config import ConfigError, RunConfig, load_config
from ecrl.training.events import JsonlTail, JsonlWriter, last_step, read_jsonl, stamp
from ecrl.training.faults import FaultPlan, planned_faults
from ecrl.training.models import build_model, build_optimizer
from ecrl.training.numerics import ElasticDDP, arithmetic_settings, differing_settings

# %%
#| hide
import shutil, subprocess, sys, tempfile
from fastcore.test import test_eq, test_fail
from ecrl.data.geometry import Geometry, locate, shard
from ecrl.training.config import CheckpointConfig, DatasetConfig, RuntimeConfig, StorageConfig, TrainingConfig, dump_config

# %% [markdown]
# ## Where and how to compute
#
# The config may leave the device to the machine. What was chosen is recorded in the run, because it changes the arithmetic. So does a precision that the machine does not have: falling back is announced, or refused if the config says so.

# %%
#| export
def choose_device(cfg: RunConfig, local_rank: int = 0) -> torch.device:
    "The device of a rank."
    kind = cfg.runtime.device
    if kind == 'auto': kind = 'cuda' if torch.cuda.is_available() else 'cpu'
    if kind == 'cuda' and not torch.cuda.is_available(): raise ConfigError('runtime.device is cuda, but this machine has no CUDA device; use auto or cpu')
    if kind == 'mps' and not torch.backends.mps.is_available(): raise ConfigError('runtime.device is mps, but this machine has none; use auto or cpu')
    return torch.device(kind, local_rank % torch.cuda.device_count()) if kind == 'cuda' else torch.device(kind)

def choose_backend(cfg: RunConfig, device: torch.device, world_size: int) -> str:
    "`nccl` needs a GPU for each rank; everything else is `gloo`."
    gpus = torch.cuda.device_count() if device.type == 'cuda' else 0
    if cfg.runtime.backend == 'nccl' and world_size > gpus: raise ConfigError(
        f'runtime.backend is nccl, which needs a GPU for each of the {world_size} ranks; found {gpus}. Use auto or gloo')
    return cfg.runtime.backend if cfg.runtime.backend != 'auto' else 'nccl' if 0 < world_size <= gpus else 'gloo'

def choose_precision(cfg: RunConfig, device: torch.device) -> str:
    "The precision that this device really trains in."
    want = cfg.training.precision
    if want == 'fp32' or device.type == 'cuda': return want
    if cfg.training.precision_fallback == 'error': raise ConfigError(
        f'training.precision is {want}, which needs CUDA; this run is on {device.type}. Use fp32, or training.precision_fallback: warn')
    warnings.warn(f'training.precision {want} needs CUDA; on {device.type} this run falls back to fp32')
    return 'fp32'

# %%
cpu = torch.device('cpu')
bf16 = RunConfig(training=TrainingConfig(precision='bf16'))
test_eq(choose_backend(bf16, cpu, 2), 'gloo')
test_fail(lambda: choose_backend(RunConfig(runtime=RuntimeConfig(backend='nccl')), cpu, 2), contains='found 0. Use auto or gloo')
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    test_eq(choose_precision(bf16, cpu), 'fp32')
test_eq('falls back to fp32' in str(caught[0].message), True)
test_fail(lambda: choose_precision(RunConfig(training=TrainingConfig(precision='bf16', precision_fallback='error')), cpu), contains='needs CUDA')

# %% [markdown]
# Determinism costs little here and buys the strongest check there is: a resumed run that must equal the uninterrupted one bit for bit. The number of threads is part of it, since a sum split differently rounds differently.

# %%
#| export
def set_determinism(cfg: RunConfig):
    "Fix what would make the same step compute different bits."
    torch.set_num_threads(cfg.runtime.threads)
    if not cfg.runtime.deterministic: return
    torch.set_deterministic_debug_mode('error')   # use_deterministic_algorithms without its import of the compiler, seconds at every start
    torch.utils.deterministic.fill_uninitialized_memory = False   # a debugging aid that costs a pass over memory
    torch.backends.cudnn.benchmark = False

# %%
#| export
def dataset_of(cfg: RunConfig) -> ImagesWithIDs:
    "The dataset of a config; never downloads (the supervisor has, before any rank started)."
    options = cfg.dataset.model_dump(exclude={'download'})
    return build_dataset(**options, augment_seed=cfg.seed if cfg.training.use_augmentation else None)

def identity_of(cfg: RunConfig, dataset_size: int) -> dict:
    "What a checkpoint must agree on with the run that loads it."
    return dict(model_name=cfg.training.model_name, dataset_name=cfg.dataset.name, dataset_size=dataset_size,
                global_batch=cfg.training.global_batch, seed=cfg.seed, virtual_shards=cfg.training.virtual_shards if cfg.training.numerics == 'elastic' else None)

def disk_of(cfg: RunConfig, attempt: int, log: Path) -> FileOps:
    "The storage of a config; what it refuses is recorded first. A fault at named steps has its effect once."
    s, stage = cfg.storage, 'storage'
    if s.fault == 'none' and not s.delay_s: return FileOps() if cfg.checkpoint.fsync else NoSyncOps()
    past = {r['global_step'] for r in read_jsonl(log)[0] if r.get('event') == 'fired' and r.get('point') == stage}
    def announce(kind, global_step):
        JsonlWriter(log).write(durable=True, **stamp(), event='fired', attempt=attempt, kind=f'disk_{kind}', rank=0, global_step=global_step, point=stage)
    due = set(s.steps) - past
    return FaultyDisk(s.fault if s.fault != 'none' and (due or not s.steps) else None, due, s.delay_s, announce)

# %%
test_eq(identity_of(RunConfig(), 1797)['dataset_size'], 1797)
log = Path(tempfile.mkdtemp())/'faults.jsonl'
full = RunConfig(storage=StorageConfig(fault='full', steps=[20]))
test_eq((type(disk_of(RunConfig(), 1, log)), disk_of(full, 1, log).kind), (FileOps, 'full'))
JsonlWriter(log).write(event='fired', point='storage', global_step=20)
test_eq(disk_of(full, 2, log).kind, None)                                    # it has been

# %% [markdown]
# ## One rank
#
# `Trainer` holds what a rank needs. Making one costs nothing yet: a rank may stand by for minutes before it belongs to an attempt. It does from `begin` on. The background writer is forked there, before the process group exists: rank 0 takes the lock of the checkpoint directory first, so that from now on nobody of an earlier attempt can publish.

# %%
#| export
class Trainer:
    "One rank."
    def __init__(self,
        run_dir: Path,
        supervisor_pid: int | None = None,
    ):
        env = os.environ
        self.run_dir, self.supervisor_pid, self.launcher_pid = Path(run_dir), supervisor_pid, os.getppid()
        self.pid = os.getpid()
        self.cfg, self.logs = load_config(self.run_dir/'config.yaml'), self.run_dir/'logs'
        self.rank, self.world_size, self.local_rank = int(env['RANK']), int(env['WORLD_SIZE']), int(env['LOCAL_RANK'])
        self.global_step, self.last_saved, self.write_times, self.batches, self.model = 0, None, {}, None, None
        self.asked_to_stop = self.stop = self.saving = False      # this rank's wish, what all have agreed on, a save is going on
        self.store, self.checkpoints = None, NoCheckpoints()

    def begin(self,
        attempt: int, # from 1
        target: int, # train until this global step
    ):
        "Become a rank of an attempt: its logs, its faults, and on rank 0 its checkpoints."
        self.attempt, self.target = attempt, target
        common = dict(run_id=self.run_dir.name, attempt=attempt, rank=self.rank)
        self.events = JsonlWriter(self.logs/'events.jsonl', **common)
        self.steps = JsonlWriter(self.logs/f'rank{self.rank}.jsonl', **common, world_size=self.world_size)
        self.event('worker_up', pid=os.getpid())
        self.faults = FaultPlan(planned_faults(self.cfg), attempt, self.logs/'faults.jsonl', self.rank, self.pids)
        if self.rank == 0: self.open_store(common)

    def event(self, name: str, **more): self.events.write(**stamp(), event=name, **more)
    def say(self, text: str): print(f'[{self.attempt}/{self.rank} - {self.global_step}] {text}', flush=True)

    def open_store(self, common: dict):
        c = self.cfg.checkpoint
        self.checkpoint_log = JsonlWriter(self.logs/'checkpoint_rank0.jsonl', **common)
        self.debug_log = JsonlWriter(self.logs/'debug_rank0_ids.jsonl', run_id=self.run_dir.name, attempt=self.attempt, world_size=self.world_size)
        self.store = CheckpointStore(self.run_dir/'checkpoints', self.attempt, c.keep_last, {*c.pin_steps, self.cfg.training.max_steps},
                                     disk_of(self.cfg, self.attempt, self.logs/'faults.jsonl'),
                                     sync_first=[self.logs/f'rank{r}.jsonl' for r in range(self.world_size)]).acquire()
        self.faults.refresh()               # now that nobody of an earlier attempt can act any more
        self.faults.watch_saves(self.store, self.fault_fired)
        if c.strategy == 'blocking': self.checkpoints = BlockingCheckpoints(self.store)
        if c.strategy == 'overlapped': self.checkpoints = OverlappedCheckpoints(self.store, c.max_inflight, c.deadline_s, c.max_writer_replacements)

# %% [markdown]
# Faults need to find their targets. Other ranks have announced their process ids; the writer is this rank's child, or, when the writer itself is asking, itself.

# %%
#| export
@patch
def pids(self: Trainer, target: tuple[int, ...] | str) -> list[int]:
    "The processes that a fault means."
    if target == 'launcher': return [self.launcher_pid]
    if target == 'supervisor': return [self.supervisor_pid]
    if target == 'writer': return [self.checkpoints.process.pid if os.getpid() == self.pid else os.getpid()]
    if target == (self.rank,): return [self.pid]
    up = {e['rank']: e['pid'] for e in JsonlTail(self.logs/'events.jsonl').new() if e['event'] == 'worker_up' and e['attempt'] == self.attempt}
    return [up[r] for r in target if r in up]

@patch
def fault_fired(self: Trainer, **what): self.event('fault_fired', **what)

@patch
def reach(self: Trainer, point: str):
    "A point at which a planned fault may act; `forward`, `backward` and `update` belong to the step that is not counted yet."
    self.faults.reach(point, self.global_step + (point in ('forward', 'backward', 'update')), self.fault_fired)

# %% [markdown]
# Building is the same in every attempt, in three parts: what needs no other rank (a standby has it ready), the process group, and what needs both.
#
# One detail hides here. DDP starts with one grouping of gradients into buckets and changes it after the first backward pass. From three ranks on, the grouping decides the order of additions, so the first step after a restart would round differently from the same step in an uninterrupted run. A first pass over two samples, thrown away, moves that change to before the first real step, in every attempt alike.

# %%
#| export
@patch
def prepare(self: Trainer):
    "Data and model, in main memory."
    set_determinism(self.cfg)
    self.dataset = dataset_of(self.cfg)
    self.model = build_model(self.cfg.training.model_name, self.dataset.num_classes, self.cfg.seed)

@patch
def connect(self: Trainer) -> str: # the backend
    "Device and process group. The launcher's store is new in each launch; the prefix keeps attempts apart in any case."
    self.device = choose_device(self.cfg, self.local_rank)
    if self.device.type == 'cuda': torch.cuda.set_device(self.device)
    backend = choose_backend(self.cfg, self.device, self.world_size)
    timeout = datetime.timedelta(seconds=self.cfg.runtime.timeout_s)
    store, rank, world_size = next(dist.rendezvous('env://', timeout=timeout))
    dist.init_process_group(backend, store=dist.PrefixStore(f'attempt_{self.attempt}', store), rank=rank, world_size=world_size, timeout=timeout)
    self.event('process_group_up')
    return backend

@patch
def build(self: Trainer):
    "Everything that a step needs."
    backend, cfg = self.connect(), self.cfg
    if self.model is None: self.prepare()
    if self.device.type == 'cuda' and self.dataset.images.nbytes < torch.cuda.mem_get_info()[0]//4: self.dataset.to(self.device)
    self.sampler = ResumableGlobalBatchSampler(len(self.dataset), cfg.training.global_batch, self.world_size, self.rank, cfg.seed)
    self.loader = data_loader(self.dataset, self.sampler, self.sampler.local_batch)
    self.model.to(self.device)
<<<<<<< /tmp/w/tmp-main/merge/ours.py
    device_ids = [self.device] if self.device.type == 'cuda' else None
    self.elastic = ElasticDDP(self.model, cfg.training.virtual_shards, cfg.seed, device_ids) if cfg.training.numerics == 'elastic' else None
    self.ddp = self.elastic.ddp if self.elastic else DistributedDataParallel(self.model, device_ids)
||||||| /tmp/w/tmp-main/merge/base.py
    self.ddp = DistributedDataParallel(self.model, device_ids=[self.device] if self.device.type == 'cuda' else None)
=======
    self.ddp = DistributedDataParallel(self.model, device_ids=[self.device] if self.device.type == 'cuda' else None, init_sync=False)    # one seed, one model
>>>>>>> /tmp/w/tmp-main/merge/theirs.py
    self.optimizer, self.scheduler = build_optimizer(self.model, cfg.training)
    self.precision = choose_precision(cfg, self.device)
    self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.precision == 'fp16')
    self.sync_device = self.device if backend == 'nccl' else 'cpu'
    self.settle_buckets()
    self.arithmetic = arithmetic_settings(self.device)
    self.event('built', arithmetic=self.arithmetic)

@patch
def settle_buckets(self: Trainer):
    "Let DDP choose its final gradient buckets now, and leave no other trace."
    buffers = {k: v.clone() for k, v in self.model.named_buffers()}
    x, *_ = self.dataset.__getitems__([0, min(1, len(self.dataset) - 1)])
    self.ddp(x.to(self.device)).sum().backward()
    for k, v in self.model.named_buffers(): v.copy_(buffers[k])
    self.optimizer.zero_grad(set_to_none=True)

# %% [markdown]
<<<<<<< /tmp/w/tmp-main/merge/ours.py
# Rank 0 alone decides where to continue (it holds the lock and sets damaged files aside) and tells the others the step; everyone reads the same file. A checkpoint knows the settings of the arithmetic that made it. Where they are others now, or random streams had to be derived, the run goes on and says that it is no longer bitwise the same.
||||||| /tmp/w/tmp-main/merge/base.py
# Rank 0 alone decides where to continue (it holds the lock and sets damaged files aside) and tells the others the step; everyone reads the same file.
=======
# Rank 0 alone decides where to continue (it holds the lock and sets damaged files aside) and tells the others the step; everyone reads the same file. The others read what looks newest while rank 0 does, and read again if rank 0 has decided otherwise.
>>>>>>> /tmp/w/tmp-main/merge/theirs.py

# %%
#| export
@patch
def restore(self: Trainer):
    "Continue from the newest intact checkpoint, or start."
    info, pack, reader = None, None, CheckpointStore(self.run_dir/'checkpoints')
    if self.rank == 0:
        info, pack, problems = self.store.load_newest()
        for p in problems: self.event('checkpoint_damaged', reason=p); self.say(f'checkpoint set aside: {p}')
    else:
        with contextlib.suppress(DamagedCheckpoint, OSError): info = reader.latest(); pack = reader.load(info) if info else None
    step = torch.tensor(info.global_step if info else 0, device=self.sync_device)
    dist.broadcast(step, src=0)
    from_step, rng, path, differ = step.item(), 'seeded', None, {}
    if from_step:
        path = checkpoint_name(from_step)
        chosen = CheckpointInfo.read(reader.dir/path.replace('.pt', '.json'))
        if self.rank and (pack is None or chosen != info): pack = reader.load(chosen)
        check_identity(pack, identity_of(self.cfg, len(self.dataset)))
        self.faults.reach('restore', last_step(self.steps.path), self.fault_fired)
        rng = restore_state(pack, self.model, self.optimizer, self.scheduler, self.scaler, self.sampler, self.rank, self.world_size, self.device)
        differ = differing_settings(pack['identity'].get('arithmetic'), self.arithmetic)
    else: seed_rng(self.cfg.seed, self.rank)
    if self.elastic: rng = 'keyed'              # anew before each virtual shard
    self.global_step, self.last_saved = from_step, from_step or None
    bitwise = self.cfg.runtime.deterministic and rng != 'derived' and not differ
    self.event('restored', from_step=from_step, from_path=path, rng=rng, bitwise=bitwise, arithmetic_differs=differ)
    if self.rank: return
    self.say(f'continues after step {from_step} on {self.world_size} ranks' if from_step else f'starts on {self.world_size} ranks')
    if differ: self.say('equal bits are no longer promised, since the arithmetic is another: ' + '; '.join(f'{k} was {a!r}, is {b!r}' for k, (a, b) in differ.items()))

# %% [markdown]
# ## One step
#
# The loop, not the loader, decides when an epoch ends. The phases are timed where they happen: `data_s` until the shard is there, `compute_s` for the update including the gradient all-reduce, `sync_s` for the cursor's broadcast.

# %%
#| export
@patch
def step(self: Trainer):
    "Train on one window; cursor; record."
    t0 = time.monotonic()
    if self.sampler.epoch_done: self.sampler.next_epoch(); self.batches = None
    if self.batches is None: self.dataset.set_epoch(self.sampler.epoch); self.batches = iter(self.loader)
    consumed = self.sampler.state_dict()
    x, y, ids = next(self.batches)
    x, y = x.to(self.device), y.to(self.device)
    t1 = time.monotonic()
    losses, lr = self.update(x, y)
    self.reach('update')
    t2 = time.monotonic()
    self.stop = advance_and_broadcast(self.sampler, self.asked_to_stop, self.sync_device)
    self.global_step += 1
    t3 = time.monotonic()
    self.reach('cursor')
    self.steps.write(**stamp(), epoch=consumed['epoch'], global_step=self.global_step, cursor_step=consumed['cursor_step'],
                     **losses, lr=lr, precision=self.precision, sample_ids_hash=sample_ids_hash(ids), sample_ids_count=len(ids),
                     data_s=t1 - t0, compute_s=t2 - t1, sync_s=t3 - t2)
    if self.rank == 0: self.console(consumed, ids, losses['loss'])
    self.reach('record')

@patch
def forward_loss(self: Trainer, x, y) -> torch.Tensor:
    "Mean loss of a local batch, or of a virtual shard."
    mixed = torch.autocast(self.device.type, dtype={'bf16': torch.bfloat16, 'fp16': torch.float16}[self.precision]) if self.precision != 'fp32' else contextlib.nullcontext()
    with mixed: loss = F.cross_entropy(self.ddp(x), y)
    self.reach('forward')
    return loss

@patch
def update(self: Trainer, x, y) -> tuple[dict, float]: # (rank-local loss, and the global one where it is reduced; learning rate used)
    "Forward, backward, update."
    cfg, lr = self.cfg.training, self.optimizer.param_groups[0]['lr']
    self.optimizer.zero_grad(set_to_none=True)
    if self.elastic: losses = dict(zip(('loss', 'loss_global'), self.elastic.backward(x, y, self.global_step + 1, self.forward_loss, self.scaler.scale)))
    else:
        loss = self.forward_loss(x, y)
        self.scaler.scale(loss).backward()
    self.reach('backward')
    if cfg.max_grad_norm:
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), cfg.max_grad_norm)
    self.scaler.step(self.optimizer)
    self.scaler.update()
    if self.scheduler: self.scheduler.step()
    return losses if self.elastic else dict(loss=loss.item()), lr

@patch
def console(self: Trainer, consumed: dict, ids, loss: float):
    "Rank 0's line now and then, and its ids in full."
    if self.global_step % self.cfg.training.log_every == 0: self.say(f'loss {loss:.4f}')
    if self.global_step % self.cfg.training.debug_every: return
    self.debug_log.write(global_step=self.global_step, epoch=consumed['epoch'], cursor_step=consumed['cursor_step'], sample_ids=ids.tolist())

# %% [markdown]
# ## The boundary
#
# All ranks meet, rank 0 collects everybody's random state and hands the pack to the strategy, and the others wait until it tells them how that went. The stall is the whole time between arriving and leaving. A disk that refuses is recorded loudly; then training goes on with the checkpoints it has, or gives up, as `checkpoint.on_error` says.

# %%
#| export
class CheckpointFailed(RuntimeError): "A checkpoint could not be written, and the policy is to stop then."

@patch
def pack(self: Trainer, rng: dict) -> dict:
    return state_pack(self.model, self.optimizer, self.scheduler, self.scaler, self.sampler, self.global_step,
                      identity_of(self.cfg, len(self.dataset)) | dict(arithmetic=self.arithmetic), rng)

@patch
@contextlib.contextmanager
def busy(self: Trainer, doing: str): # save, flush, evaluate
    "Announce work that may take longer than a step, so that it is not taken for a hang."
    self.event('busy', doing=doing, global_step=self.global_step)
    self.saving = True
    try: yield
    finally: self.saving = False; self.event('busy_end', doing=doing)

# %%
#| export
@patch
def boundary(self: Trainer):
    "A checkpoint at the current step, unless it has one."
    if self.cfg.checkpoint.strategy == 'none' or self.last_saved == self.global_step: return
    t0 = time.monotonic()
    dist.barrier()
    t1 = time.monotonic()
    rng, record, error = gather_rng(self.device), {}, None
    if self.rank == 0:
        try:
            with self.busy('save'): record = self.checkpoints.save(self.pack(rng), self.global_step, self.sampler.epoch, self.world_size)
        except OSError as e: error = f'{type(e).__name__}: {e}'
    t2 = time.monotonic()
    went_well = torch.tensor(error is None, device=self.sync_device)
    dist.broadcast(went_well, src=0)            # nobody goes on before rank 0 is done: the second barrier
    t3 = time.monotonic()
    if went_well: self.last_saved = self.global_step
    if self.rank == 0: self.record_checkpoint(record, error, stall_time_sec=t3 - t0, barrier_time_sec=(t1 - t0) + (t3 - t2))

@patch
def record_checkpoint(self: Trainer, record: dict, error: str | None, **times):
    "One line about a boundary."
    if not error:
        if self.checkpoints.name == 'overlapped': record['completed_write_times_sec'], self.write_times = self.write_times, {}
        self.checkpoint_log.write(**stamp(), event='checkpoint', strategy=self.checkpoints.name, global_step=self.global_step,
                                  epoch=self.sampler.epoch, **record, **times)
    self.record_completed()
    if error: self.record_failed(dict(global_step=self.global_step, error=error) | times)

@patch
def record_completed(self: Trainer, done: list[dict] | None = None):
    "Lines about writes that the background has finished."
    for d in self.checkpoints.completed() if done is None else done:
        if 'error' in d: self.record_failed(d); continue
        self.checkpoint_log.write(**stamp(), event='checkpoint_write_complete', **d)
        self.write_times[str(d['global_step'])] = d['write_time_sec']

@patch
def record_failed(self: Trainer, failed: dict):
    "A checkpoint that will not be there: loud, and the end if the policy says so."
    self.checkpoint_log.write(**stamp(), event='checkpoint_failed', **failed)
    goes_on = self.cfg.checkpoint.on_error == 'continue'
    what = f"the checkpoint of step {failed['global_step']} failed: {failed['error']}"
    self.say(f'CHECKPOINT FAILED, training {"goes on without it" if goes_on else "stops (checkpoint.on_error)"}: {what}')
    if not goes_on: raise CheckpointFailed(f'{what}; checkpoint.on_error is stop')

# %% [markdown]
# ## From start to end
#
# A stop is a flag that is looked at between steps, never work inside a signal handler that may interrupt a collective. Rank 0's flag travels with the cursor, so all ranks leave after the same step.

# %%
#| export
@patch
def train(self: Trainer):
    "Steps, boundaries and faults until the target, or until asked to stop."
    first = True
    self.suffer_what_is_due()                   # a fault whose step is the one resumed from has not acted yet
    while self.global_step < self.target and not self.stop:
        self.step()
        if first: self.event('first_step', global_step=self.global_step); self.prepare_checkpoints(); first = False
        if self.rank == 0: self.record_completed()
        if self.global_step % self.cfg.checkpoint.every_k_steps == 0: self.boundary()
        self.suffer_what_is_due()
    self.boundary()                             # the last step, wherever it falls
    if self.rank == 0: self.flush()
    if self.rank == 0 and self.cfg.training.evaluate and self.global_step == self.cfg.training.max_steps:
        with self.busy('evaluate'): self.evaluate()
    self.event('finished' if self.global_step >= self.target else 'stopping', global_step=self.global_step)

@patch
def prepare_checkpoints(self: Trainer):
    "The optimizer has its state now, so the size of a checkpoint is known."
    if self.rank == 0: self.checkpoints.prepare(self.pack({k: v.expand(self.world_size, -1) for k, v in capture_rng(self.device).items()}))

@patch
@torch.no_grad()
def evaluate(self: Trainer):
    "Accuracy on the held-out samples; a correct recovery is of little use to a model that does not learn."
    data = held_out_dataset(**self.cfg.dataset.model_dump())
    self.model.eval()
    right = 0
    for ids in torch.arange(len(data)).split(256):
        x, y, _ = data.__getitems__(ids.tolist())
        right += (self.model(x.to(self.device)).argmax(1).cpu() == y).sum().item()
    self.event('evaluated', global_step=self.global_step, accuracy=right/len(data), samples=len(data))
    self.say(f'held-out accuracy {right/len(data):.4f} on {len(data)} samples')

@patch
def flush(self: Trainer):
    with self.busy('flush'): self.record_completed(self.checkpoints.flush())

@patch
def suffer_what_is_due(self: Trainer):
    "Faults of the boundary; where writes are flushed first, all ranks come to that together, and one of them does not leave."
    for fault in self.faults.at('boundary', self.global_step):
        if fault.flush_inflight:
            if self.rank == 0: self.flush()
            dist.barrier()                      # so that every rank has recorded this step
        if fault.rank == self.rank: self.faults.fire(fault, self.global_step, self.fault_fired)
        else: self.faults.due.remove(fault)
    self.reach('boundary')

# %% [markdown]
# ## Standing by
#
# Most of a restart is spent on what every attempt does alike: importing libraries (torch's compiler among them, which every optimizer imports), reading data, building the model, first calls of every kernel. A standby has done all that and waits on a pipe, asleep, without a process group, a lock or a place on a GPU. Its call names the attempt that it becomes.
#
# While it waits it keeps the newest checkpoint in the page cache, which costs nothing where the file is there anyway.

# %%
#| export
@patch
def stand_by(self: Trainer,
    beside: int, # attempt that is running
    pipe: str, # named pipe; one for each rank, with its number at the end
) -> tuple[int, int]: # (attempt, target) to begin
    "Prepare, then wait for the call."
    events = JsonlWriter(self.logs/'events.jsonl', run_id=self.run_dir.name, attempt=beside, rank=self.rank)
    events.write(**stamp(), event='standby_up', pid=os.getpid(), pipe=pipe)
    self.prepare()
    self.warm_up()
    call, seen = os.open(f'{pipe}.{self.rank}', os.O_RDWR), None        # RDWR: no end of file while nobody has called
    events.write(**stamp(), event='standby_ready', pipe=pipe, rss_bytes=psutil.Process().memory_info().rss)
    latest, path = CheckpointStore(self.run_dir/'checkpoints'), None
    while not select.select([call], [], [], 1.0)[0]:
        if (newest := latest.latest()) and newest.path != path: path = newest.path; keep_near(latest.dir/path)
    message = json.loads(os.read(call, 4096))
    os.close(call)
    return message['attempt'], message['target']

@patch
def warm_up(self: Trainer):
    "A pass over two samples and one over a local batch, and an optimizer, thrown away: what is slow the first time is slow now."
    optimizer, _ = build_optimizer(self.model, self.cfg.training)
    if choose_device(self.cfg).type == 'cuda': return                   # the GPU belongs to the running attempt
    buffers = {k: v.clone() for k, v in self.model.named_buffers()}
    for n in (2, self.cfg.training.global_batch//self.world_size):      # kernels are made for a shape
        x, y, _ = self.dataset.__getitems__([i % len(self.dataset) for i in range(n)])
        F.cross_entropy(self.model(x), y).backward()
    for k, v in self.model.named_buffers(): v.copy_(buffers[k])
    optimizer.zero_grad(set_to_none=True)

def keep_near(path: Path):
    "Ask for a file to be in the page cache."
    with contextlib.suppress(OSError), open(path, 'rb') as f: os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)

# %% [markdown]
# `main` ties it together. An error that no restart can cure is recorded as `fatal`; the supervisor reads that and gives up at once instead of trying ten times.

# %%
#| export
def end_with_launcher(supervisor_pid: int | None):
    "Die when the launcher dies; at once, if it died while this process was importing its libraries."
    die_with_parent()
    if supervisor_pid is None: return
    try: orphan = psutil.Process(os.getppid()).ppid() != supervisor_pid
    except psutil.NoSuchProcess: orphan = True
    if orphan: raise SystemExit('the supervisor or the launcher of this rank has ended')

class PeerDied(Exception): "The supervisor has seen another rank die: this attempt is over."

def main():
    "Entry point of a rank; started by torch.distributed.run."
    ap = argparse.ArgumentParser(description='One rank of an ECRL run; start runs with `ecrl run`.')
    ap.add_argument('--run-dir', type=Path, required=True)
    ap.add_argument('--attempt', type=int, required=True)
    ap.add_argument('--target', type=int, required=True)
    ap.add_argument('--supervisor', type=int, help='pid of the process that started the launcher')
    ap.add_argument('--standby', help='stand by: the attempt above is the one beside which this rank waits, and this the pipe on which it is called')
    args = ap.parse_args()
    end_with_launcher(args.supervisor)
    trainer, begin = Trainer(args.run_dir, args.supervisor), (args.attempt, args.target)
    if args.standby: begin = trainer.stand_by(args.attempt, args.standby)
    trainer.heed_signals()
    trainer.begin(*begin)
    if args.standby: trainer.event('promoted', beside=args.attempt)
    try:
        trainer.build()
        trainer.restore()
        trainer.train()
        dist.destroy_process_group()
    except (ConfigError, StateMismatch, CheckpointFailed) as e:
        trainer.event('fatal', reason=str(e))
        raise SystemExit(f'{type(e).__name__}: {e}')
    finally: trainer.leave()

@patch
def heed_signals(self: Trainer):
    "SIGTERM: stop after this step. SIGUSR1: a peer has died; a save that is going on is finished first."
    def peer_died(*_):
        if not self.saving: signal.signal(signal.SIGUSR1, signal.SIG_IGN); raise PeerDied()
    signal.signal(signal.SIGTERM, lambda *_: setattr(self, 'asked_to_stop', True))
    signal.signal(signal.SIGUSR1, peer_died)

@patch
def leave(self: Trainer, drain_s: float = 10.0):
    "A peer's death ends this rank as well; a checkpoint that is already on its way may still arrive."
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with contextlib.suppress(WriterDied): self.checkpoints.flush(timeout_s=drain_s)
    finally:
        self.checkpoints.close()
        if self.store: self.store.release()     # the next attempt waits for it, and this interpreter takes its time to end
        if isinstance(sys.exception(), PeerDied): print('a peer has died; this rank leaves', flush=True); os._exit(1)

if __name__ == '__main__' and 'RANK' in os.environ:
    main()
    sys.stdout.flush()
    os._exit(0)     # all is written; torch's threads may outlive the interpreter, and its clean-up then aborts now and then

# %% [markdown]
# ## Two ranks, once
#
# The smallest whole run: two real processes, ten steps of real digits, a checkpoint every four steps. Every rank's record must agree with the geometry, which is computed here, in another process, from nothing but the config.

# %%
tmp = Path(tempfile.mkdtemp())
run = tmp/'two-ranks'
cfg = RunConfig(dataset=DatasetConfig(name='digits_split'), training=TrainingConfig(max_steps=10, debug_every=5, evaluate=True), checkpoint=CheckpointConfig(every_k_steps=4))
(run/'logs').mkdir(parents=True); (run/'config.yaml').write_text(dump_config(cfg))
cmd = [sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc-per-node=2', '-m', 'ecrl.training.loop',
       '--run-dir', run, '--attempt=1', '--target=10']
with open(run/'out.log', 'w') as out:
    rc = subprocess.run(cmd, stdout=out, stderr=subprocess.STDOUT, timeout=180, env=os.environ | dict(OMP_NUM_THREADS='1')).returncode
if rc: print((run/'out.log').read_text()[-3000:])
test_eq(rc, 0)

# %%
geo = Geometry(1437, 64)
for r in range(2):
    recs, torn = read_jsonl(run/'logs'/f'rank{r}.jsonl')
    test_eq(([x['global_step'] for x in recs], torn), (list(range(1, 11)), 0))
    test_eq([x['sample_ids_hash'] for x in recs], [sample_ids_hash(shard(geo, cfg.seed, *locate(geo, s), 2, r)) for s in range(1, 11)])
{k: round(v, 4) if isinstance(v, float) else v for k, v in recs[0].items()}

# %% [markdown]
# The checkpoints are those of steps 4 and 8 and of the last step, and the phases of the attempt are in its events.

# %%
test_eq([i.global_step for i in CheckpointStore(run/'checkpoints').available()], [10, 8, 4])
events = [e for e in read_jsonl(run/'logs'/'events.jsonl')[0] if e['rank'] == 0 and not e['event'].startswith('busy')]
test_eq([e['event'] for e in events], ['worker_up', 'process_group_up', 'built', 'restored', 'first_step', 'evaluated', 'finished'])
test_eq((events[-2]['samples'], 0 <= events[-2]['accuracy'] <= 1), (360, True))
print((run/'out.log').read_text())

# %% [markdown]
# ## A disk that is full, once
#
# The save of step 4 fails. By default that is loud and recorded, and training goes on; the run ends with the checkpoints of steps 8 and 10. With `on_error: stop` it ends there, with a reason that no restart would change.

# %%
def one_rank(name, policy):
    run = tmp/name; (run/'logs').mkdir(parents=True)
    cfg = RunConfig(training=TrainingConfig(max_steps=10), storage=StorageConfig(fault='full', steps=[4]), runtime=RuntimeConfig(nproc=1),
                    checkpoint=CheckpointConfig(every_k_steps=4, strategy='overlapped', on_error=policy))
    (run/'config.yaml').write_text(dump_config(cfg))
    with open(run/'out.log', 'w') as out:
        subprocess.run([*cmd[:4], '--nproc-per-node=1', *cmd[5:7], '--run-dir', run, '--attempt=1', '--target=10'],
                       stdout=out, stderr=subprocess.STDOUT, timeout=180, env=os.environ | dict(OMP_NUM_THREADS='1'))
    failed = [r for r in read_jsonl(run/'logs'/'checkpoint_rank0.jsonl')[0] if r['event'] == 'checkpoint_failed']
    ended = [e['event'] for e in read_jsonl(run/'logs'/'events.jsonl')[0]][-1]
    return ended, [(r['global_step'], r['error']) for r in failed], [i.global_step for i in CheckpointStore(run/'checkpoints').available()]

full = [(4, 'OSError: [Errno 28] No space left on device (injected: full)')]
test_eq(one_rank('goes-on', 'continue'), ('finished', full, [10, 8]))
ended, failed, kept = one_rank('stops', 'stop')
test_eq((ended, failed, 4 in kept), ('fatal', full, False))
print(next(e['reason'] for e in read_jsonl(tmp/'stops'/'logs'/'events.jsonl')[0] if e['event'] == 'fatal'))

# %%
#| hide
shutil.rmtree(tmp)

# %%
#| hide
import nbdev; nbdev.nbdev_export()
