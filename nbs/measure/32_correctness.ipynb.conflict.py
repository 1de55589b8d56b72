# %% [markdown]
# # Correctness
# > Did the job recover correctly? A verdict from records alone, with evidence that names the step and the rank.

# %% [markdown]
# A wrong recovery rarely crashes. A cursor that is one step off, a rank that was silently absent, a step that was trained twice: the loss still falls. So correctness is judged from outside, as Jepsen judges databases: small *checkers* look at a history, each at one law, and one verdict sums up. A verdict is `True`, `False` or `'unknown'`. An exception inside a checker means unknown, never valid; and false beats unknown beats true.
#
# The laws form a chain: every rank of a step is present (`ranks`, `order`), the step stands at its place (`position`), the ids consumed there are those of that place (`windows`), and the steps that survive cover the run exactly once (`lineage`). The links between attempts are looked at apart (`resume`, `checkpoints`, `replay`, `losses`).

# %%
#| default_exp measure.correctness

# %%
#| export
import hashlib, math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
import numpy as np
import pandas as pd
from fastcore.basics import patch
from ecrl.measure.history import History, once, read_history
from ecrl.measure.windows import epoch_ids, window_hashes

# %%
#| hide
import json, shutil, tempfile
from fastcore.test import test_eq, test_fail
from ecrl.data.geometry import Geometry
from ecrl.measure.history import HistoryError
from ecrl.measure.simulated import simulate_run
from ecrl.paths import reference_dir
tmp = Path(tempfile.mkdtemp())

# %% [markdown]
# ## Evidence and verdict
#
# A checker yields `Evidence`. What is `valid=True` is a remark: something that a reader should know and that convicts nobody. No evidence at all is a pass.

# %%
#| export
@dataclass(frozen=True)
class Evidence:
    "One finding of a checker."
    valid: bool | str            # False: offends. 'unknown': cannot be judged. True: a remark
    message: str                 # what was expected and what was found
    step: int | None = None      # global step
    rank: int | None = None
    attempt: int | None = None
    cause: str | None = None     # the likely one, where the records tell
    check: str = ''              # filled in by whoever runs the checker

    def __str__(self): return (f'[{self.check}] ' if self.check else '') + self.message + (f' Likely cause: {self.cause}.' if self.cause else '')

def worst(values) -> bool | str:
    "False beats unknown beats true; of nothing, true."
    values = list(values)
    return False if any(v is False for v in values) else 'unknown' if 'unknown' in values else True

# %%
test_eq([worst(v) for v in ([], [True], [True, 'unknown'], ['unknown', False, True])], [True, True, 'unknown', False])
print(Evidence(False, 'rank 1 has no record for step 13 of attempt 1.', 13, 1, 1, check='ranks'))

# %% [markdown]
# `Verdict` holds the findings of all checkers that were run, and writes itself as text, as markdown and as JSON.

# %%
#| export
MARK = {True: 'valid', False: 'INVALID', 'unknown': 'unknown'}

@dataclass
class Verdict:
    "The sum of what the checkers found."
    run_id: str
    status: str                      # of the run: completed, failed, stopped, in progress
    checks: dict                     # checker -> True | False | 'unknown'
    evidence: list = field(default_factory=list)
    counts: dict = field(default_factory=dict)       # executions by fate
    epochs: list = field(default_factory=list)       # duplicates, missing, extra of each epoch

    @property
    def valid(self) -> bool | str: return worst(self.checks.values())
    @property
    def offences(self) -> list: return [e for e in self.evidence if e.valid is not True]

    def to_dict(self) -> dict:
        return dict(run_id=self.run_id, status=self.status, valid=self.valid, checks=self.checks, counts=self.counts,
                    epochs=self.epochs, evidence=[asdict(e) for e in self.evidence])

    def __str__(self):
        c = ', '.join(f'{v} {k}' for k, v in self.counts.items() if v)
        head = f'{MARK[self.valid]}: {self.run_id} ({self.status}; {len(self.checks)} checks; executions: {c})'
        return '\n'.join([head] + [f'  {MARK[e.valid] if e.valid is not True else "note"} {e}' for e in self.evidence])

# %% [markdown]
# One offence is often thousands (a wrong seed alters every hash). The first few are told in full, the rest are counted.

# %%
#| export
SHOWN = 5   # offences of one kind that are told in full

def _offences(
    table: pd.DataFrame, # with attempt and global_step, perhaps rank
    bad, # bool per row: which of them offend
    say: Callable, # row -> message, or (message, cause)
) -> Iterator[Evidence]:
    "Evidence for each offending row, up to `SHOWN`, and a count of the rest."
    where = np.flatnonzero(np.asarray(bad))
    for row in table.iloc[where[:SHOWN]].itertuples() if len(where) else ():
        said = say(row)
        message, cause = said if isinstance(said, tuple) else (said, None)
        rank = getattr(row, 'rank', None)
        yield Evidence(False, message, int(row.global_step), None if rank is None else int(rank), int(row.attempt), cause)
    if len(where) > SHOWN: yield Evidence(False, f'... and {len(where) - SHOWN} more of this kind, the last at step {int(table["global_step"].iloc[where[-1]])}.')

def _at(row) -> str: return f'step {int(row.global_step)} of attempt {int(row.attempt)}'

# %% [markdown]
# For the examples below: a correct run with a death and a replay, and a way to break one thing in it.

# %%
good = simulate_run(tmp/'good', [(2, 25, 'killed'), (2, 60)])

def broken(name, edit, file='rank1.jsonl', of=good):
    "A copy of a run, one of its logs changed by `edit(list of records)`."
    d = shutil.copytree(of, tmp/name)
    recs = [json.loads(l) for l in (d/'logs'/file).read_text().splitlines()]
    recs = edit(recs) or recs
    (d/'logs'/file).write_text(''.join(json.dumps(r) + '\n' for r in recs))
    return read_history(d)

def change(step, **fields): # edit: the first record of a step gets other values
    def edit(recs): next(r for r in recs if r.get('global_step') == step).update(fields)
    return edit

def drop(step): # edit: the first record of a step is gone
    return lambda recs: recs.remove(next(r for r in recs if r.get('global_step') == step))

def says(check, history): return ' '.join(str(e) for e in check(history) if e.valid is not True)
healthy = read_history(good)

# %% [markdown]
# ## Identity
#
# Records of another run in a rank's file (a reused directory, a copied log) make every later statement meaningless. So do lines that are no step records, and records in which a clock runs backwards. The wall clock may be corrected by its host; the monotonic one may not.

# %%
#| export
def _falls(s: pd.DataFrame, column: str, by: tuple) -> np.ndarray: # bool per record
    "Which records have a lower value than the record before them in the same file and group."
    order = np.lexsort((s['line'], *(s[k] for k in by)))
    v, g = s[column].to_numpy()[order], [s[k].to_numpy()[order] for k in by]
    out = np.zeros(len(s), dtype=bool)
    out[order[1:]] = (v[1:] < v[:-1]) & np.logical_and.reduce([x[1:] == x[:-1] for x in g])
    return out

def check_identity(h: History) -> Iterator[Evidence]:
    "Every record belongs to this run and to the rank in whose file it stands; clocks do not run backwards."
    s = h.steps
    yield from _offences(s, s['run_id'] != h.run_id, lambda r: f'{_at(r)} in rank{r.file_rank}.jsonl belongs to run {r.run_id!r}, expected {h.run_id!r}.')
    yield from _offences(s, s['rank'] != s['file_rank'], lambda r: f'{_at(r)} in rank{r.file_rank}.jsonl says that it is rank {r.rank}.')
    for name, n in h.foreign.items(): yield Evidence(False, f'{name} holds {n} whole line(s) that are no step records.')
    for name, n in h.torn.items(): yield Evidence(True, f'{name}: {n} torn line(s), left by a writer that was killed, were skipped.')
    clock = 'time' if s['mono'].isna().all() else 'mono'
    back = _falls(s, clock, ('file_rank', 'attempt'))
    for e in _offences(s, back, lambda r: f'the {"monotonic" if clock == "mono" else "wall"} clock of rank {r.rank} runs backwards at {_at(r)}.'):
        yield e if clock == 'mono' else replace(e, valid=True)

# %%
test_eq(list(check_identity(healthy)), [])
test_eq(says(check_identity, broken('foreign', change(13, run_id='other'))), "step 13 of attempt 1 in rank1.jsonl belongs to run 'other', expected 'good'.")
test_eq('says that it is rank 0' in says(check_identity, broken('swapped', change(13, rank=0))), True)
test_eq('clock of rank 1 runs backwards at step 13' in says(check_identity, broken('clock', change(13, mono=5.))), True)

# %% [markdown]
# ## Ranks
#
# Every step is done by all ranks of its attempt, 0 to W−1, who agree on W. The last step of a killed attempt is the one exception: some ranks may have recorded it before the others died. It is fine as long as nobody continued from it.

# %%
#| export
def _absent(h: History) -> pd.DataFrame: # attempt, global_step, world_size
    "Steps that some rank did not record, pardonable tails left out."
    led = h.ledger[(~h.ledger['committed'] & (h.ledger['fate'] != 'pending')).to_numpy()]
    last, resumed = h.attempts['last_step'].to_dict(), h.attempts['resumed_from'].to_dict()
    def pardoned(attempt, step):
        ended_well = attempt == h.attempts.index.max() and h.status == 'completed'
        return step == last[attempt] and not ended_well and min((r for a, r in resumed.items() if a > attempt and r == r), default=0) < step
    return led[[not pardoned(a, s) for a, s in zip(led['attempt'], led['global_step'])]]

def check_ranks(h: History) -> Iterator[Evidence]:
    "Every step was done by all ranks of its attempt, and they agree on the world size."
    s, gone = h.steps, _absent(h)
    W = h.attempts['world_size'].reindex(s['attempt']).to_numpy()
    yield from _offences(s, (s['rank'] >= s['world_size']) | (s['rank'] < 0), lambda r: f'{_at(r)} was recorded by rank {r.rank}, which does not exist at world size {r.world_size}.')
    yield from _offences(s, s['world_size'] != W, lambda r: (f'rank {r.rank} recorded world size {r.world_size} at {_at(r)}, '
        f'expected {int(h.attempts.world_size[r.attempt])} as in the rest of the attempt.', 'ranks of two launches write the same logs'))
    if gone.empty: return
    have = s.merge(gone[['attempt', 'global_step']]).groupby(['attempt', 'global_step'])['rank'].agg(set)
    rows = [(g.attempt, g.global_step, r) for g in gone.itertuples() for r in range(g.world_size) if r not in have[g.attempt, g.global_step]]
    yield from _offences(pd.DataFrame(rows, columns=['attempt', 'global_step', 'rank']), [True]*len(rows), lambda r: f'rank {r.rank} has no record for {_at(r)}.')

# %%
test_eq(list(check_ranks(healthy)), [])
test_eq(says(check_ranks, broken('deleted', drop(13))), 'rank 1 has no record for step 13 of attempt 1.')
test_eq(says(check_ranks, broken('at_end', drop(60))), 'rank 1 has no record for step 60 of attempt 2.')     # a completed run has no pardonable tail
test_eq('expected 2 as in the rest' in says(check_ranks, broken('sizes', change(13, world_size=4))), True)
test_eq(says(check_ranks, broken('tail', drop(25))), '')                                                          # killed there, and replayed later

# %% [markdown]
# ## Order
#
# Inside an attempt, each rank's steps rise by one from the step after the resume. A step recorded twice means that it was trained twice, or that two processes wrote one log. (A hole that only *some* ranks have is a matter of `ranks`.)

# %%
#| export
@once
def _repeated(h: History) -> np.ndarray: # bool per record
    "Which records repeat an earlier one of the same rank, attempt and step."
    ranks = h.steps['rank'].to_numpy()
    return pd.Series(h.execution*(ranks.max() - ranks.min() + 1) + ranks - ranks.min()).duplicated().to_numpy()

def check_order(h: History) -> Iterator[Evidence]:
    "Inside an attempt every rank's steps rise by one; none is repeated, none left out."
    s, seen = h.steps, _repeated(h)
    yield from _offences(s, seen, lambda r: (f'rank {r.rank} recorded {_at(r)} more than once.', 'the step was trained twice, or two processes wrote the same log'))
    yield from _offences(s, _falls(s, 'global_step', ('file_rank', 'attempt')) & ~seen, lambda r: f'rank {r.rank} recorded {_at(r)} after a later step.')
    yield from _offences(s, _falls(s, 'attempt', ('file_rank',)), lambda r: (
        f'rank {r.rank} recorded {_at(r)} after attempt {int(s.attempt[s.file_rank == r.file_rank].max())} had begun.', 'a worker of an older attempt was still alive'))
    led = h.ledger[['attempt', 'global_step']]                                           # rising
    first = led['attempt'].diff().to_numpy() != 0
    before = np.where(first, h.attempts['resumed_from'].reindex(led['attempt']).to_numpy(), led['global_step'].shift().to_numpy())
    yield from _offences(led.assign(before=before), led['global_step'].to_numpy() != before + 1,
        lambda r: f'attempt {r.attempt} goes from step {int(r.before)} to step {r.global_step}; expected step {int(r.before) + 1}.')

# %%
twice = lambda recs: recs[:13] + [recs[12]] + recs[13:]
test_eq(list(check_order(healthy)), [])
test_eq('rank 1 recorded step 13 of attempt 1 more than once' in says(check_order, broken('twice', twice)), True)
test_eq('after a later step' in says(check_order, broken('order', lambda recs: recs[:11] + [recs[12], recs[11]] + recs[13:])), True)
one = simulate_run(tmp/'one', [(1, 30)])
test_eq(says(check_order, broken('hole', drop(13), 'rank0.jsonl', one)), 'attempt 1 goes from step 12 to step 14; expected step 13.')

# %% [markdown]
# ## Position
#
# A global step owns one window: epoch ⌊(s−1)/S⌋ and the cursor inside it. A cursor that is restored one off, or an epoch that a resume starts again, shows here.

# %%
#| export
def _unknown_geometry(h: History) -> Iterator[Evidence]:
    why = '; '.join(h.problems) or 'the size of the dataset is recorded nowhere (environment.json, dataset.size)'
    yield Evidence('unknown', f'windows cannot be reconstructed: {why}.')

def _misplaced(r, S: int) -> tuple[str, str | None]:
    epoch, cursor = divmod(r.global_step - 1, S)
    off = r.epoch*S + r.cursor_step - (r.global_step - 1)
    cause = f'the cursor is {abs(off)} step(s) {"ahead" if off > 0 else "behind"}' if abs(off) < S else 'the epoch was not restored'
    return f'rank {r.rank} recorded epoch {r.epoch}, cursor {r.cursor_step} at {_at(r)}; expected epoch {epoch}, cursor {cursor}.', cause

def check_position(h: History) -> Iterator[Evidence]:
    "Every global step consumes the window that it owns: its epoch, its cursor."
    if h.geometry is None: yield from _unknown_geometry(h); return
    S, s = h.geometry.steps_per_epoch, h.steps
    epoch, cursor = np.divmod(s['global_step'] - 1, S)
    yield from _offences(s, (s['epoch'] != epoch) | (s['cursor_step'] != cursor), lambda r: _misplaced(r, S))

# %%
test_eq(list(check_position(healthy)), [])
test_eq(says(check_position, broken('cursor', change(13, cursor_step=13))),
        'rank 1 recorded epoch 0, cursor 13 at step 13 of attempt 1; expected epoch 0, cursor 12. Likely cause: the cursor is 1 step(s) ahead.')
test_eq('expected epoch 1' in says(check_position, broken('epoch', change(30, epoch=0))), True)

# %% [markdown]
# ## Windows
#
# The heart of it. From seed, D and B every rank's ids at every step are known, so the hash of each record is known too ([windows](29_windows.ipynb)). What is compared is the window that a record *claims*; whether it was its turn is a question of `position`.

# %%
#| export
@once
def judged(h: History) -> np.ndarray: # bool per record
    "The records whose claimed window exists; what the others claim is judged by `position` and `ranks`."
    s, geo = h.steps, h.geometry
    W, r, c, e = (s[k].to_numpy() for k in ('world_size', 'rank', 'cursor_step', 'epoch'))
    whole = (W > 0) & (geo.global_batch % np.maximum(W, 1) == 0)
    return whole & (r >= 0) & (r < W) & (c >= 0) & (c < geo.steps_per_epoch) & (e >= 0) & (e < 1_000_003)

@once
def window_match(h: History) -> np.ndarray: # bool per record
    "Which records carry the hash of the window that they claim."
    s, known = h.steps, np.flatnonzero(judged(h))
    epoch, W, at = (s[k].to_numpy()[known] for k in ('epoch', 'world_size', 'cursor_step'))
    at = at*W + s['rank'].to_numpy()[known]
    expected = np.full(len(s), None, dtype=object)
    for e in np.unique(epoch):
        for w in np.unique(W[epoch == e]):
            mine = (epoch == e) & (W == w)
            expected[known[mine]] = window_hashes(h.geometry, h.seed, int(e), int(w))[at[mine]]
    return s['sample_ids_hash'].to_numpy() == expected

# %% [markdown]
# A hash that is not the expected one can often be *recognised*: the checker looks for it among the other windows, world sizes, seeds and orders that real mistakes would have produced.

# %%
#| export
def likely_cause(h: History, r) -> str: # r: a record
    "What a wrong hash is the hash of, if it is anything that a known mistake consumes."
    geo, W, S = h.geometry, int(r.world_size), h.geometry.steps_per_epoch
    def find(seed, epoch, w): return next(iter(np.flatnonzero(window_hashes(geo, seed, epoch, w) == r.sample_ids_hash)), None)
    for e in [x for x in (r.epoch, r.epoch - 1, r.epoch + 1, 0) if x >= 0]:
        if (i := find(h.seed, int(e), W)) is not None:
            cursor, rank = divmod(int(i), W); off = (e - r.epoch)*S + cursor - r.cursor_step
            if off == 0: return f'these are the ids of rank {rank}: the ranks were mixed up'
            return f'shifted window: these are the ids of step {e*S + cursor + 1}' + (', repeated here' if off < 0 else ', consumed too early')
    for w in [w for w in range(1, min(geo.global_batch, 64) + 1) if geo.global_batch % w == 0 and w != W]:
        if (i := find(h.seed, int(r.epoch), w)) is not None: return f'other world size: these are the ids of rank {int(i) % w} at W = {w}'
    for seed in [s for s in (*range(11), 42, h.seed - 1, h.seed + 1) if s != h.seed and s >= 0]:
        if find(seed, int(r.epoch), W) is not None: return f'other seed: these are the ids for seed {seed}'
    i = (int(r.cursor_step)*W + int(r.rank))*(n := geo.global_batch//W)
    if hashlib.sha256(np.arange(i, i + n, dtype='<i8').tobytes()).hexdigest() == r.sample_ids_hash: return 'the data was not shuffled'
    return 'none that is known: the hash belongs to no window of these epochs, nor to another world size or a usual seed'

# %%
#| export
def check_windows(h: History) -> Iterator[Evidence]:
    "Every record's hash and count are those of the reconstructed window."
    if h.geometry is None or h.seed is None: yield from _unknown_geometry(h); return
    s, B, known = h.steps, h.geometry.global_batch, judged(h)
    W = np.maximum(s['world_size'].to_numpy(), 1)
    yield from _offences(s, (s['world_size'] < 1) | (B % W != 0), lambda r: f'{_at(r)}: the global batch {B} cannot be shared by {r.world_size} ranks.')
    yield from _offences(s, known & (s['sample_ids_count'].to_numpy() != B // W),
        lambda r: f'rank {r.rank} counted {r.sample_ids_count} samples at {_at(r)}; expected {B // r.world_size} (global batch {B} / {r.world_size} ranks).')
    yield from _offences(s, known & ~window_match(h),
        lambda r: (f'rank {r.rank} consumed other samples than those of its window at {_at(r)} (epoch {r.epoch}, cursor {r.cursor_step}).', likely_cause(h, r)))

# %%
test_eq(list(check_windows(healthy)), [])
geo = Geometry(200, 8)
def hash_of(epoch, cursor, W=2, rank=1, seed=1337): return window_hashes(geo, seed, epoch, W)[cursor*W + rank]
wrong = dict(altered='0'*64, shifted=hash_of(0, 13), repeated=hash_of(0, 11), other_W=hash_of(0, 12, W=4, rank=2), other_seed=hash_of(0, 12, seed=42),
             mixed=hash_of(0, 12, rank=0), unshuffled=hashlib.sha256(np.arange(100, 104, dtype='<i8').tobytes()).hexdigest())
for name, digest in wrong.items(): print(f'{name:11}', says(check_windows, broken(name, change(13, sample_ids_hash=digest))))

# %%
def cause_of(digest): return next(e.cause for e in check_windows(broken(f'cause{digest[:6]}', change(13, sample_ids_hash=digest))))
test_eq(cause_of(wrong['shifted']), 'shifted window: these are the ids of step 14, consumed too early')
test_eq(cause_of(wrong['repeated']), 'shifted window: these are the ids of step 12, repeated here')
test_eq(cause_of(wrong['other_W']), 'other world size: these are the ids of rank 2 at W = 4')
test_eq(cause_of(wrong['other_seed']), 'other seed: these are the ids for seed 42')
test_eq('counted 5 samples at step 13' in says(check_windows, broken('count', change(13, sample_ids_count=5))), True)

# %% [markdown]
# ## Lineage
#
# What survives must be steps 1, 2, 3, …, each once, whatever the attempts did. The ledger of an epoch then counts samples: how many were consumed more than once, not at all, or did not belong there. Counting uses occurrences, not sets: a set hides exactly the duplicates that it is asked about.

# %%
#| export
def check_lineage(h: History) -> Iterator[Evidence]:
    "The surviving steps are 1, 2, ... up to the last, each exactly once."
    done, times = np.unique(h.ledger.loc[h.ledger['fate'] == 'surviving', 'global_step'], return_counts=True)
    if not len(done): yield Evidence('unknown', 'no step has survived yet: there is nothing to judge.'); return
    for step, n in zip(done[times > 1][:SHOWN], times[times > 1]): yield Evidence(False, f'step {step} survives {n} times.', int(step))
    gaps = np.setdiff1d(np.arange(1, done.max() + 1), h.ledger['global_step'])     # executed, but not by every rank: judged by `ranks`
    for step in gaps[:SHOWN]: yield Evidence(False, f'step {step} was never executed, though step {done.max()} was.', int(step),
                                             cause='an attempt continued from further ahead than anything that was committed')
    if len(gaps) > SHOWN: yield Evidence(False, f'... and {len(gaps) - SHOWN} more steps were never executed, the last is {gaps[-1]}.')

# %%
def skip(recs): return [r for r in recs if not (r['attempt'] == 2 and r['global_step'] < 31)]      # attempt 2 began at 31 ...
def restored_at(step):
    def edit(recs): [r.update(from_step=step) for r in recs if r.get('event') == 'restored' and r['attempt'] == 2]
    return edit
ahead = simulate_run(tmp/'ahead', [(1, 25, 'killed'), (1, 60)])
broken('ahead2', restored_at(30), 'events.jsonl', ahead)
print(says(check_lineage, broken('ahead3', skip, 'rank0.jsonl', tmp/'ahead2')))
test_eq(list(check_lineage(healthy)), [])

# %%
#| export
def epoch_ledger(h: History) -> pd.DataFrame: # a row per epoch: steps, samples, duplicates, missing, extra
    "What each epoch consumed, in samples, over the surviving lineage."
    B, S, last, rows = h.geometry.global_batch, h.geometry.steps_per_epoch, h.last_step, []
    counts = (h.ledger['fate'] == 'surviving').to_numpy()[h.execution] & judged(h)
    epoch, cursor, rank, W, n = (h.steps[k].to_numpy()[counts] for k in ('epoch', 'cursor_step', 'rank', 'world_size', 'sample_ids_count'))
    ok = window_match(h)[counts]
    for e in range((last - 1)//S + 1 if last else 0):
        g, steps = (epoch == e) & ok, min(S, last - e*S)
        size = B//np.maximum(W[g], 1)
        unit = math.gcd(B, *np.unique(size).tolist())      # samples that always go together
        start = (cursor[g]*B + rank[g]*size)//unit         # a record consumes [start, start + size/unit) of the epoch's order
        ends = np.bincount(start, minlength=S*B//unit + 1) - np.bincount(start + size//unit, minlength=S*B//unit + 1)
        used = np.cumsum(ends)[:-1]                        # how often each unit was consumed
        due, unknown = used[:steps*B//unit], int(n[(epoch == e) & ~ok].sum())
        rows.append(dict(epoch=e, steps=steps, samples=int(used.sum())*unit + unknown, duplicates=int(np.maximum(used - 1, 0).sum())*unit,
                         missing=int((due == 0).sum())*unit, extra=int(used[steps*B//unit:].sum())*unit + unknown))
    return pd.DataFrame(rows, columns=['epoch', 'steps', 'samples', 'duplicates', 'missing', 'extra'])

# %%
epoch_ledger(healthy)

# %%
dirty = ['duplicates', 'missing', 'extra']
test_eq(epoch_ledger(healthy)[dirty].sum().tolist(), [0, 0, 0])
repeat = change(13, cursor_step=11, sample_ids_hash=hash_of(0, 11))      # rank 1 consumed its shard of step 12 again
test_eq(epoch_ledger(broken('again', repeat)).loc[0, dirty].tolist(), [4, 4, 0])
test_eq(epoch_ledger(broken('strange', change(13, sample_ids_hash='0'*64))).loc[0, dirty].tolist(), [0, 4, 4])

# %% [markdown]
# The same ledger, turned round: what became of a *sample*. Each row is one execution that consumed it: in which step, by which attempt and rank, and whether that execution counts. (What was consumed under an unknown hash cannot be listed.)

# %%
#| export
def sample_ledger(
    h: History,
    epoch: int, # from 0
    samples=None, # ids to list; by default all
) -> pd.DataFrame: # sample, global_step, attempt, rank, fate
    "Which execution consumed which sample of an epoch, and what became of it."
    if h.geometry is None or h.seed is None: raise ValueError(f'{h.run_id}: seed, dataset size or batch is unknown, so no window can be reconstructed.')
    mine = np.flatnonzero(judged(h) & window_match(h) & (h.steps['epoch'].to_numpy() == epoch))
    cursor, rank, W = (h.steps[k].to_numpy()[mine] for k in ('cursor_step', 'rank', 'world_size'))
    order, B, parts = epoch_ids(h.geometry, h.seed, epoch), h.geometry.global_batch, []
    for w in np.unique(W):
        m, n = W == w, B//w
        ids = order[(cursor[m]*B + rank[m]*n)[:, None] + np.arange(n)]                    # (records, n)
        parts.append(pd.DataFrame(dict(sample=ids.ravel(), record=np.repeat(mine[m], n))))
    t = pd.concat(parts or [pd.DataFrame(dict(sample=[], record=[]), dtype='int64')])
    if samples is not None: t = t[t['sample'].isin(samples)]
    r = h.steps.iloc[t['record']]
    t = t.assign(global_step=r['global_step'].to_numpy(), attempt=r['attempt'].to_numpy(), rank=r['rank'].to_numpy(), fate=h.ledger['fate'].to_numpy()[h.execution[t['record']]])
    return t.drop(columns='record').sort_values(['sample', 'attempt', 'global_step'], ignore_index=True)

# %%
t = sample_ledger(healthy, epoch=0)
kept = t[t['fate'] == 'surviving']
test_eq((len(kept), kept['sample'].nunique(), (t['fate'] == 'replayed').sum()), (200, 200, 5*8))      # every sample once; steps 21 to 25 twice
last = int(epoch_ids(geo, 1337, 0)[-1])
test_eq(sample_ledger(healthy, 0, [last])[['global_step', 'attempt', 'rank', 'fate']].values.tolist(), [[25, 1, 1, 'replayed'], [25, 2, 1, 'surviving']])
test_eq(len(sample_ledger(healthy, epoch=9)), 0)
sample_ledger(healthy, 0, [last, 0])

# %% [markdown]
# ## Replay
#
# A step that is done again must consume what it consumed before. At the same world size the ranks' hashes are equal; at another one the shards are cut differently, and `windows` has judged both.
#
# In a deterministic run that restored the state of every random generator, the *losses* are equal bit by bit as well. That is the strongest witness that the whole state came back, optimizer and dropout included. Elsewhere the difference is reported and not judged.

# %%
#| export
@once
def _replays(h: History) -> pd.DataFrame: # one row per repeated record, `_was` beside it
    "Records of repeated steps, beside the same rank's previous record of that step at the same world size."
    redo, s = h.ledger['redo'].to_numpy(), h.steps
    again = np.flatnonzero(np.isin(h.ledger['global_step'], h.ledger['global_step'].to_numpy()[redo])[h.execution] & ~_repeated(h))
    again = again[np.lexsort([s[k].to_numpy()[again] for k in ('attempt', 'rank', 'global_step')])]
    was, now = again[:-1], again[1:]
    same = np.logical_and.reduce([s[k].to_numpy()[was] == s[k].to_numpy()[now] for k in ('global_step', 'rank', 'world_size')])
    now = {k: s[k].to_numpy()[now[same]] for k in ('attempt', 'global_step', 'rank', 'sample_ids_hash', 'loss')}
    was = {f'{k}_was': s[k].to_numpy()[was[same]] for k in ('attempt', 'sample_ids_hash', 'loss')}
    return pd.DataFrame({k: pd.Series(v, dtype=v.dtype) for k, v in (now | was).items()})

def check_replay(h: History) -> Iterator[Evidence]:
    "A repeated step consumes the same samples as before."
    r = _replays(h)
    yield from _offences(r, r['sample_ids_hash'] != r['sample_ids_hash_was'],
        lambda x: f'rank {x.rank} consumed other samples at {_at(x)} than when attempt {int(x.attempt_was)} executed the same step.')

# %%
#| export
def _deterministic(h: History) -> bool:
    return bool(h.environment.get('deterministic', h.config.runtime.deterministic if h.environment and h.config else False))

def _bitwise(h: History, r: pd.DataFrame) -> pd.Series:
    "Which replays promise equal losses: no other world size and no derived random streams in between."
    W, derived = h.attempts['world_size'], h.attempts['rng'].eq('derived')
    ok = {(a, b): W.loc[a:b].nunique() == 1 and not derived.loc[a + 1:b].any() for a, b in set(zip(r['attempt_was'], r['attempt']))}
    return pd.Series([_deterministic(h) and ok[k] for k in zip(r['attempt_was'], r['attempt'])], r.index, dtype=bool)

def check_losses(h: History) -> Iterator[Evidence]:
    "In a deterministic run a repeated step has bitwise the same loss, rank by rank."
    r = _replays(h)
    differ = (r['loss'] != r['loss_was']) & ~(r['loss'].isna() & r['loss_was'].isna())
    promised = _bitwise(h, r)
    yield from _offences(r, differ & promised, lambda x: (f'rank {x.rank} had loss {x.loss!r} at {_at(x)}, but {x.loss_was!r} in attempt {int(x.attempt_was)}.',
                                                        'part of the state was not restored (optimizer, buffers, random generators)'))
    rest = r[differ & ~promised]
    if len(rest): yield Evidence(True, f'{len(rest)} repeated records differ in loss by up to {(rest["loss"] - rest["loss_was"]).abs().max():.3g}; '
                                       'not judged, because bitwise equality was not promised (deterministic is off, or the world size changed).')

# %%
test_eq(len(_replays(healthy)), 2*5)                                                # steps 21 to 25, two ranks
test_eq(list(check_replay(healthy)) + list(check_losses(healthy)), [])
print(says(check_replay, broken('replayed', change(23, sample_ids_hash='0'*64))))
print(says(check_losses, broken('state', change(23, loss=0.5))))
test_eq('rank 1 had loss' in says(check_losses, broken('state2', change(23, loss=0.5))), True)
test_eq('at step 23 of attempt 2 than when attempt 1' in says(check_replay, broken('replayed2', change(23, sample_ids_hash='0'*64))), True)

# %% [markdown]
# ## Resume and checkpoints
#
# An attempt may continue only from a step whose checkpoint was published *before* it restored. One that was merely handed to a background writer does not count: if the machine dies, it never existed.

# %%
#| export
def check_resume(h: History) -> Iterator[Evidence]:
    "Every attempt continues from a checkpoint that had been published by then."
    c, b = h.checkpoints, h.boundaries
    for a in h.attempts.dropna(subset=['resumed_from']).itertuples():
        n, step = int(a.Index), int(a.resumed_from)
        if step == 0: continue
<<<<<<< /tmp/w/tmp-main/merge/ours.py
        published = c['time'].to_numpy()[((c['global_step'] == step) & (c['attempt'] < n)).to_numpy()]
        if (published <= a.restored_time).any(): continue
        enqueued = ((b['global_step'] == step) & (b['event'] == 'checkpoint') & (b['attempt'] < n)).any() if len(b) else False
||||||| /tmp/w/tmp-main/merge/base.py
        c = h.checkpoints[(h.checkpoints['global_step'] == step) & (h.checkpoints['attempt'] < n)]
        if (c['time'] <= a.restored_time).any(): continue
        b = h.boundaries
        enqueued = len(b) and ((b['global_step'] == step) & (b['event'] == 'checkpoint') & (b['attempt'] < n)).any()
=======
        c = h.checkpoints[(h.checkpoints['global_step'] == step) & (h.checkpoints['attempt'] < n)]
        if (c['time'] <= a.restored_time).any(): continue
        b = h.boundaries
        enqueued = len(b) and ((b['global_step'] == step) & (b['event'] == 'checkpoint') & (b['attempt'] < n)).any()
        enqueued = enqueued or _begun(h, n, step)
>>>>>>> /tmp/w/tmp-main/merge/theirs.py
        where = f'attempt {n} continued after step {step}'
        if len(published): yield Evidence(False, f'{where}, whose checkpoint was published only later.', step, attempt=n, cause='an orphaned writer, or `latest` named a file before it was durable')
        elif enqueued and isinstance(a.from_path, str): yield Evidence(True, f'{where}: its write was not yet reported when rank 0 died, but {a.from_path} was there and was loaded.', step, attempt=n)
        elif enqueued: yield Evidence('unknown', f'{where}: its checkpoint was handed to the writer, but nothing says that it was published.', step, attempt=n)
        else: yield Evidence(False, f'{where}, but no checkpoint of step {step} was ever published.', step, attempt=n,
                             cause=f'the newest published one before was step {_newest(h, n)}')

def _begun(h: History, attempt: int, step: int) -> bool:
    "Whether an earlier attempt announced a save of this step; it may have died between publishing and recording it."
    e = h.events
    return 'doing' in e and bool(((e['doing'] == 'save') & (e['global_step'] == step) & (e['attempt'] < attempt)).any())

def _newest(h: History, attempt: int) -> int:
    c = h.checkpoints[h.checkpoints['attempt'] < attempt]
    return int(c['global_step'].max()) if len(c) else 0

# %%
test_eq(list(check_resume(healthy)), [])
print(says(check_resume, broken('nocheckpoint', drop(20), 'checkpoint_rank0.jsonl')))
test_eq('no checkpoint of step 20 was ever published' in says(check_resume, broken('nocheckpoint2', drop(20), 'checkpoint_rank0.jsonl')), True)
announced = lambda recs: recs + [dict(time=0.0, run_id='good', attempt=1, rank=0, event='busy', doing='save', global_step=20)]
test_eq([e.valid for e in check_resume(broken('unrecorded', announced, 'events.jsonl', tmp/'nocheckpoint'))], [True])    # killed after the rename, before the record
test_eq('published only later' in says(check_resume, broken('late', change(20, time=2e9), 'checkpoint_rank0.jsonl')), True)

# %% [markdown]
# A checkpoint of step *s* contains the work of all ranks up to *s*. One that was published by an attempt that never committed *s* claims work that nobody did.

# %%
#| export
def check_checkpoints(h: History) -> Iterator[Evidence]:
    "Every published checkpoint is of a step that its attempt had committed; boundaries name the right epoch."
    led, c, b = h.ledger[h.ledger['committed'].to_numpy()], h.checkpoints, h.boundaries
    done = set(zip(led['attempt'].tolist(), led['global_step'].tolist()))
    early = [a in h.attempts.index and (a, s) not in done for a, s in zip(c['attempt'].tolist(), c['global_step'].tolist())]
    yield from _offences(c, early, lambda r: f'attempt {r.attempt} published a checkpoint of step {r.global_step}, which it had not committed.')
    if h.geometry is None or 'epoch' not in b: return
    S, epoch = h.geometry.steps_per_epoch, b['epoch'].astype(float)
    due = (b['global_step'] - 1)//S
    full = b['global_step'] % S == 0                       # at an epoch's end {e, S} and {e+1, 0} name the same place
    wrong = (epoch != due) & ~(full & (epoch == due + 1)) & epoch.notna() & (b['global_step'] > 0) & (b['event'] == 'checkpoint')
    yield from _offences(b, wrong, lambda r: f'the checkpoint of {_at(r)} says epoch {int(r.epoch)}.')

# %%
test_eq(list(check_checkpoints(healthy)), [])
test_eq('published a checkpoint of step 77, which it had not committed' in says(check_checkpoints, broken('uncommitted', change(20, global_step=77), 'checkpoint_rank0.jsonl')), True)
test_eq('says epoch 9' in says(check_checkpoints, broken('epoch9', change(20, epoch=9), 'checkpoint_rank0.jsonl')), True)

# %% [markdown]
# ## Completion
#
# A run that says it is complete must have reached its target, not less and not more. One that is still in progress, or has failed, is judged by what there is, and the verdict says so.

# %%
#| export
def check_completion(h: History) -> Iterator[Evidence]:
    "A completed run has reached its target step, and its supervisor counted the attempts that the logs show."
    last, target, said = h.last_step, h.target, h.supervisor.get('attempts')
    if target and last > target: yield Evidence(False, f'the run went on to step {last}, beyond its target {target}.', last)
    if h.status != 'completed':
        reason = h.supervisor.get('reason')
        yield Evidence(True, f'the run is {h.status}' + (f' ({reason})' if reason else '') + f': what there is, up to step {last} of {target or "?"}, was verified.')
    elif target is None: yield Evidence('unknown', 'the target step is recorded nowhere, so it is open whether the run reached it.')
    elif last < target: yield Evidence(False, f'the run says it is completed, but only step {last} of {target} survives.', last)
    if h.status == 'completed' and said is not None and said != len(h.attempts):
        yield Evidence(False, f'supervisor.json counts {said} attempts, the records show {len(h.attempts)}.', cause='logs of an attempt are missing')

# %%
test_eq(list(check_completion(healthy)), [])
short = lambda recs: [r for r in recs if r['global_step'] <= 55]
test_eq(says(check_completion, broken('short', short)), 'the run says it is completed, but only step 55 of 60 survives.')
live = read_history(simulate_run(tmp/'live', [(2, 12, 'running', True)], target=60))
print(*check_completion(live))

# %% [markdown]
# ## The verdict
#
# `verify` runs the checkers one by one. The sample ledger is a second opinion, computed in another way; should all checkers pass and the ledger not be clean, the checkers themselves are not to be trusted and the verdict is unknown.

# %%
#| export
CHECKS = dict(identity=check_identity, ranks=check_ranks, order=check_order, position=check_position, windows=check_windows, lineage=check_lineage,
              replay=check_replay, losses=check_losses, resume=check_resume, checkpoints=check_checkpoints, completion=check_completion)

def run_check(name: str, check: Callable, h: History) -> list[Evidence]:
    "The evidence of one checker; its failure is evidence too, of valid 'unknown'."
    try: return [replace(e, check=name) for e in check(h)]
    except Exception as e: return [Evidence('unknown', f'the checker itself failed: {type(e).__name__}: {e}', check=name)]

def verify(
    run: History | Path | str, # a history, or a run's directory
    checks: dict[str, Callable] = CHECKS, # name -> checker
) -> Verdict:
    "Judge a run from its records."
    h = run if isinstance(run, History) else read_history(run)
    found = {name: run_check(name, c, h) for name, c in checks.items()}
    results = {name: worst(e.valid for e in ev) for name, ev in found.items()}
    epochs = epoch_ledger(h) if h.geometry else pd.DataFrame()
    if checks is CHECKS and worst(results.values()) is True and len(epochs) and epochs[['duplicates', 'missing', 'extra']].to_numpy().any():
        results['ledger'] = 'unknown'
        found['ledger'] = [Evidence('unknown', 'all checkers pass, but the count of samples is not clean: suspect the checkers.', check='ledger')]
    return Verdict(h.run_id, h.status, results, sum(found.values(), []), h.counts(), epochs.to_dict('records'))

# %%
v = verify(good)
test_eq((v.valid, v.offences), (True, []))
test_eq(json.loads(json.dumps(v.to_dict()))['checks']['windows'], True)
print(v)

# %% [markdown]
# In a notebook a verdict shows itself as a table, and a report takes the same table as markdown. A checker that fails proves nothing about the run:

# %%
#| export
def _told(e: Evidence) -> str: return e.message + (f' *Likely cause: {e.cause}.*' if e.cause else '')

@patch
def to_markdown(self: Verdict) -> str:
    "A table with a row per checker: its result, and its evidence or else the law that holds."
    lines = [f'**{MARK[self.valid]}**: `{self.run_id}` ({self.status})', '', '| check | result | evidence |', '|---|---|---|']
    for name, ok in self.checks.items():
        said = ' '.join(_told(e) for e in self.evidence if e.check == name) or getattr(CHECKS.get(name), '__doc__', None) or ''
        lines.append(f'| {name} | {MARK[ok]} | ' + said.replace('|', '\\|').replace('\n', ' ') + ' |')
    return '\n'.join(lines)

@patch
def _repr_markdown_(self: Verdict): return self.to_markdown()

# %%
def bug(h): raise KeyError('rank')
test_eq(verify(good, dict(bug=bug)).valid, 'unknown')
verify(broken('shown', drop(13)))

# %% [markdown]
# ## Convicted and acquitted
#
# Each broken history must be convicted, and by a message that names the step and the rank.

# %%
cases = dict(line_deleted=drop(13), hash_altered=change(13, sample_ids_hash='0'*64), step_duplicated=twice, cursor_off=change(13, cursor_step=13),
             foreign_record=change(13, run_id='other'), wrong_count=change(13, sample_ids_count=3))
for name, edit in cases.items():
    v = verify(broken('case_' + name, edit))
    test_eq(v.valid, False)
    first = v.offences[0]
    test_eq((first.step, first.rank, first.attempt), (13, 1, 1))
    print(f'{name:16} {first}')

# %% [markdown]
# And correct ones must be acquitted, however rough their lives were: replays, several deaths, other world sizes, torn lines, half-recorded tails, lost in-flight writes.

# %%
scripts = dict(no_failure=[(2, 60)], replayed=[(2, 25, 'killed'), (2, 60)], same_step_again=[(2, 25, 'killed'), (2, 25, 'killed'), (2, 60)],
               elastic=[(2, 30), (4, 60)], elastic_replayed=[(4, 37, 'killed'), (2, 45, 'killed'), (8, 70)], torn_tail=[(2, 25, 'killed', True, True), (2, 60)],
               died_early=[(2, 3, 'killed'), (2, 60)], epoch_end=[(2, 50, 'killed'), (4, 80)], in_progress=[(2, 33, 'killed'), (2, 41, 'running', True)])
for name, script in scripts.items():
    for how in (dict(), dict(strategy='overlapped'), dict(strategy='overlapped', flush=False)):
        v = verify(simulate_run(tmp/f'ok_{name}_{len(list(tmp.iterdir()))}', script, **how))
        test_eq(v.offences, [])
        test_eq(v.valid, True)
print(f'{3*len(scripts)} correct histories acquitted')

# %% [markdown]
# Nor is the list above a lucky one: the [museum](37_museum.ipynb) acquits a thousand random lives, and convicts what real systems did wrong.

# %% [markdown]
# What is not known is not claimed: without a config the windows cannot be reconstructed, and the verdict is unknown.

# %%
bare = shutil.copytree(good, tmp/'bare'); (bare/'config.yaml').unlink()
v = verify(bare)
test_eq((v.valid, v.checks['windows'], v.checks['ranks']), ('unknown', 'unknown', True))
print(v.offences[0])

# %% [markdown]
# ## Directories that are no finished run
#
# What a directory is not should be said at once, and what there is should be judged all the same.

# %%
def place(name, **files):
    (d := tmp/name).mkdir()
    for f, text in files.items(): (d/f'{f}.jsonl').write_text(text)
    return d
bad = dict(empty=place('empty'), no_rank_0=shutil.copytree(good, tmp/'no_rank_0'), other_json=place('other_json', rank0='{"epoch": 3, "val_loss": 0.1}\n'),
           not_begun=place('not_begun', rank0='{"time": 17000'), a_file=good/'config.yaml')
(bad['no_rank_0']/'logs'/'rank0.jsonl').unlink()
for name, d in bad.items(): test_fail(lambda: verify(d), contains=dict(empty='found none', no_rank_0='no records of rank 0', other_json='found records with the keys epoch, val_loss',
                                                                        not_begun='no whole record yet', a_file='found a file')[name])
for d in bad.values():
    try: verify(d)
    except HistoryError as e: print('-', str(e).replace(str(tmp), '...'))

# %%
going = verify(simulate_run(tmp/'going', [(2, 25, 'killed'), (2, 33, 'running', True)], target=60))
test_eq((going.valid, going.status, going.counts['pending']), (True, 'in progress', 1))
mixed = verify(broken('two_runs', lambda recs: [r.update(run_id='yesterday') for r in recs[40:]] and None))
test_eq((mixed.valid, mixed.offences[0].check), (False, 'identity'))
print(going); print(mixed)

# %% [markdown]
# ## The published runs
#
# 19,200 records of the published matrix, verified from scratch.

# %%
if reference_dir() is None: print('skipped: the published records are not at hand')
else:
    for d in sorted((reference_dir()/'logs').iterdir()):
        v = verify(d)
        test_eq(v.valid, True)
        test_eq(sum(e['samples'] for e in v.epochs), 1600*256)
        print(v)

# %%
#| hide
import nbdev; nbdev.nbdev_export()
