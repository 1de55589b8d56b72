"Ranks that wait for each other after each step; its trace, written before and after the ledger's line, tells what happened."
import json, os, random, sys, time, ecrl
rank, W, launch = int(os.environ['RANK']), int(os.environ['WORLD_SIZE']), os.environ['MASTER_PORT']
mistake = sys.argv[1]
audit = ecrl.audit('job', epoch_size=36, tail='keep', shuffle=True, deterministic=True, replicated=['model'])
trace, done, state = open(f'trace.{launch}.{rank}', 'a', buffering=1), 0, 1.0

def wait(name):
    open(f'{name}.{rank}', 'w').close()
    while not all(os.path.exists(f'{name}.{r}') for r in range(W)): time.sleep(0.0005)

def due(epoch, k):
    order = random.Random(0 if began and mistake == 'epoch not set' else epoch).sample(range(36), 36)
    first = began % 9 if epoch == began//9 else 0            # where this process entered the epoch
    if first and mistake == 'loader state not saved': k -= first
    if first and mistake == 'skip counted in micro-batches': order, k = order[2*first:], k - first
    if first and mistake == 'rng restored too late':
        order = order[:4*first] + random.Random(-1).sample(order[4*first:], 36 - 4*first)
    if first and mistake in ('one step ahead', 'one step back'): k = (k + (1 if mistake == 'one step ahead' else -1)) % 9
    if began and mistake == 'duplicate tail' and k == 8: k = 7
    return order[4*k:4*k + 4]

if os.path.exists('ckpt.json'):
    c = json.load(open('ckpt.json')); done, state = c['done'], c['state']
    audit.resumed(c['audit'], model=state)
else: audit.resumed(None)
began = done
trace.write(json.dumps(dict(resume=done, ranks=W)) + '\n')
while done < 27:
    epoch, k = divmod(done, 9)
    ids = due(epoch, k)
    mine, done, state = ids[rank*4//W:(rank + 1)*4//W], done + 1, state*1.01 + sum(ids)
    trace.write(json.dumps(dict(step=done, ids=mine)) + '\n')
    audit.note(loss=state/done)
    audit.step(mine, epoch=epoch)
    trace.write(json.dumps(dict(recorded=done)) + '\n')
    if done % 9 == 0: audit.epoch_over()
    wait(f'{launch}.{done}')
    if done % 3 == 0:
        token = audit.token(model=state)
        wait(f'{launch}.{done}.save')
        if rank == 0:
            with open('ckpt.tmp', 'w') as f: json.dump(dict(done=done, state=state, audit=token), f)
            os.replace('ckpt.tmp', 'ckpt.json'); audit.saved('ckpt.json')
