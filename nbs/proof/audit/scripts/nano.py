"Random offsets into a file of tokens, several batches a step, a warm-up."
import os, math
import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F

out_dir = 'out'
init_from = 'resume' if os.path.exists(os.path.join(out_dir, 'ckpt.pt')) else 'scratch'
np.arange(5000).astype(np.uint16).__mod__(50).tofile('tok.bin')
batch_size, block_size = 8, 16
gradient_accumulation_steps = 4
max_iters, eval_interval = 24, 5
learning_rate, warmup_iters, lr_decay_iters, min_lr = 1e-3, 5, 40, 1e-4
device = 'cpu'
torch.manual_seed(1337)
os.makedirs(out_dir, exist_ok=True)

def get_batch(split):
    data = np.memmap('tok.bin', dtype=np.uint16, mode='r')
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([torch.from_numpy((data[i:i+block_size]).astype(np.int64)) for i in ix])
    y = torch.stack([torch.from_numpy((data[i+1:i+1+block_size]).astype(np.int64)) for i in ix])
    return x, y

class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 32)
        self.l = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.1, batch_first=True)
        self.head = nn.Linear(32, 50)
    def forward(self, x, y):
        m = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        logits = self.head(self.l(self.emb(x), src_mask=m))
        return logits, F.cross_entropy(logits.view(-1, 50), y.view(-1))

def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    r = (it - warmup_iters) / (lr_decay_iters - warmup_iters)
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * r)) * (learning_rate - min_lr)

iter_num = 0
model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95))
if init_from == 'resume':
    checkpoint = torch.load(os.path.join(out_dir, 'ckpt.pt'), map_location=device, weights_only=False)
    model.load_state_dict(checkpoint['model'])
    optimizer.load_state_dict(checkpoint['optimizer'])
    iter_num = checkpoint['iter_num']
    torch.set_rng_state(checkpoint['rng'])

while iter_num < max_iters:
    lr = get_lr(iter_num)
    for param_group in optimizer.param_groups:
        param_group['lr'] = lr
    for micro_step in range(gradient_accumulation_steps):
        X, Y = get_batch('train')
        logits, loss = model(X, Y)
        loss = loss / gradient_accumulation_steps
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num % eval_interval == 0:
        checkpoint = {'model': model.state_dict(), 'optimizer': optimizer.state_dict(),
                      'iter_num': iter_num, 'rng': torch.get_rng_state()}
        torch.save(checkpoint, os.path.join(out_dir, 'ckpt.pt.tmp'))
        os.replace(os.path.join(out_dir, 'ckpt.pt.tmp'), os.path.join(out_dir, 'ckpt.pt'))
