"Two folders of a ledger: what the second run has missed or repeated, and the first step that is not as in the first."
import json, sys
from collections import Counter
from pathlib import Path

def surviving(folder):
    "Step -> records of its ranks. What a later launch does again replaces what was there."
    launches, steps = {}, {}
    for file in sorted(Path(folder).glob('audit/rank*.jsonl')):
        for line in file.read_text().splitlines():
            try: r = json.loads(line)
            except ValueError: continue                             # torn by the kill
            launch = launches.setdefault(r['attempt'], dict(since=r['time'], steps={}))
            if r['event'] == 'step': launch['steps'].setdefault(r['step'], []).append(r)
    for launch in sorted(launches.values(), key=lambda l: l['since']):
        first = min(launch['steps'], default=float('inf'))
        steps = {s: r for s, r in steps.items() if s < first} | launch['steps']
    return steps

def epochs(steps):
    out = {}
    for r in (r for records in steps.values() for r in records):
        out.setdefault(r['epoch'], Counter()).update(str(i) for i in r['ids'])
    return out

ref, job = map(surviving, sys.argv[1:3])
due, got, wrong = epochs(ref), epochs(job), 0
for e in sorted(due):
    mine = got.get(e, Counter())
    lost, again = sorted(due[e].keys() - mine.keys(), key=int), [i for i, n in mine.items() if n > due[e][i]]
    wrong += len(lost) + len(again)
    print(f'epoch {e}: {len(lost)} missing {", ".join(lost[:6])}; {len(again)} repeated {", ".join(again[:6])}')
ids = lambda records: sorted(str(i) for r in records for i in r['ids'])
moved = next((s for s in sorted(ref) if ids(ref[s]) != ids(job.get(s, []))), None)
print('every step has the samples of the undisturbed run' if moved is None else f'first step with other samples: {moved}')
sys.exit(wrong > 0 or moved is not None)
