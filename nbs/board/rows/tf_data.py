"tf.data: a sharded pipeline, whose iterator is saved and restored by tf.train.Checkpoint."
import os
import tensorflow as tf
from ecrl.board.job import the_job

job, at = the_job(), dict(iterator=None, path=None)

def iterator(epoch):
    data = tf.data.Dataset.range(job.size)
    if job.shuffle: data = data.shuffle(job.size, seed=1000*job.seed + epoch, reshuffle_each_iteration=False)
    return iter(data.shard(job.world, job.rank).take(job.size//job.world).batch(job.micro, drop_remainder=True))

def passes(epoch):
    it = at['iterator'] = iterator(epoch)
    if at['path']: tf.train.Checkpoint(iterator=it).read(at['path'])
    at['path'] = None
    for batch in it: yield batch.numpy()
    at['iterator'] = None

def state():
    if at['iterator'] is None: return None
    at['n'] = at.get('n', 0) + 1
    return tf.train.Checkpoint(iterator=at['iterator']).write(os.path.abspath(f'tf.{os.getpid()}.{at["n"]}'))

job.consume(passes, state, lambda path: at.update(path=path))
