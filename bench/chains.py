"""Chains of pointwise ops and functions written by hand: their times, and how many times the speed of one pass of memory.

    tsr bench/chains.py [--compiled] [--threads N] [NAME...]    also runs under Python with PyTorch; TSR_FUSE=0 and 1 tell what waiting launches bring
    python3 bench/chains.py --tsr TSR --peer PYTHON [--threads N] [NAME...]    both, eager and by torch.compile, in turn: one table

A pass of memory reads the operands of a chain and writes its results once: measured as `y.copy_(x)` of as many bytes. Times are processor
time, with more than one thread those of the clock. The time of torch.compile itself is counted apart.
"""
import argparse
import json
import subprocess
import time

SIZES = (10000, 1000000, 10000000)
ROUNDS, TURNS = 7, 3


def swish(torch, x, y):
    return x * torch.sigmoid(x)
def three(torch, x, y):
    return (x * 0.5 + y).relu()
def four(torch, x, y):
    return (x - 0.1) * (y + 0.2) * 1.5
def five(torch, x, y):
    return ((x * 2.0 + 1.0) * y - x).abs()
def masked(torch, x, y):
    return torch.where(x > y, x * 0.5, y * 2.0)
def eight(torch, x, y):
    z = x * 0.9 + y * 0.1
    return (z * z + 0.5).sqrt() * x - y
def twelve(torch, x, y):
    z = x * 0.5 + y
    z = (z * z - x) * 0.25
    z = (z + 1.0) * (y - 0.5)
    return (z.clamp(-3.0, 3.0) * 0.1 + x).abs() + 1.0
def gelu(torch, x, y):
    return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
def focal(torch, x, y):
    p = torch.sigmoid(x)
    return -(y * (1.0 - p) * (1.0 - p) * (p + 1e-6).log())
def softmax(torch, x, y):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)
def layer_norm(torch, x, y):
    centred = x - x.mean(-1, keepdim=True)
    return centred * (centred * centred).mean(-1, keepdim=True).add(1e-5).rsqrt() * y[0] + y[1]
def rms_norm(torch, x, y):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * y[0]
def adam(torch, x, y, m, v):
    m.mul_(0.9).add_(y, alpha=0.1)
    v.mul_(0.999).addcmul_(y, y, value=0.001)
    return x.addcdiv_(m, v.sqrt().add_(1e-8), value=-1e-3)


# What goes through memory: tensors read and written.
CHAINS = {swish: 2, three: 3, four: 3, five: 3, masked: 3, eight: 3, twelve: 3, gelu: 2, focal: 3, softmax: 2, layer_norm: 2, rms_norm: 2,
          adam: 7}
ROWS = (softmax, layer_norm, rms_norm)


def least(f, count, clock):
    """The least time of a call in microseconds."""
    best = None
    for _ in range(ROUNDS):
        start = clock()
        for _ in range(count):
            f()
        took = clock() - start
        best = took if best is None else min(best, took)
    return best / count * 1e6


def caller(f, torch, operands):
    def call():
        z = f(torch, *operands)
        z.view(-1)[0].item()  # what waits is run
    return call


def measure(names, compiled, threads):
    """A list of [name, size, microseconds of a pass of memory, of a call, of the compilation]."""
    import torch
    torch.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    rows = []
    for size in SIZES:
        shape = (size // 1024, 1024)
        count = max(1, 2000000 // size)
        for f, passes in CHAINS.items():
            if names and f.__name__ not in names:
                continue
            operands = [torch.rand(shape if f in ROWS else size) * 2 - 1 for _ in range(4 if f is adam else 2)]
            z = torch.empty_like(operands[0])
            copy = least(lambda: z.copy_(operands[0]), count, clock) * passes / 2
            start = time.perf_counter()
            call = caller(torch.compile(f, dynamic=False) if compiled else f, torch, operands)
            call()
            first = (time.perf_counter() - start) * 1e6
            rows.append([f.__name__, size, copy, least(call, count, clock), first])
    return rows


def table(rows):
    print(f'{"":12}' + ''.join(f'{size:>12}    x memory' for size in SIZES))
    for name in dict.fromkeys(row[0] for row in rows):
        print(f'{name:12}' + ''.join(f'{took:12.1f}{copy / took:12.2f}' for who, _, copy, took, _ in rows if who == name))


def beside(options):
    """A table of four sides, in turn: each cell the least of its turns."""
    sides = {'tsr': [options.tsr], 'tsr compiled': [options.tsr, '--compiled'], 'torch': [options.peer],
             'inductor': [options.peer, '--compiled']}
    cells, memory, compiling = {}, {}, {}
    for turn in range(TURNS):
        for side, (program, *more) in sides.items():
            command = [program, __file__, '--json', '--threads', str(options.threads), *more, *options.names]
            for name, size, copy, took, first in json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout):
                key = name, size
                cells[key, side] = min(took, cells.get((key, side), took))
                memory[key] = min(copy, memory.get(key, copy))
                compiling.setdefault((key, side), first)  # of the first turn: later ones find a cache
    print('| | size | ' + ' | '.join(sides) + ' | of memory | times torch, inductor | inductor compiles |\n|' + ' --- |' * 9)
    for key in memory:
        took = [cells[key, side] for side in sides]
        best = min(took[:2])
        print(f'| {key[0]} | {key[1]} | ' + ' | '.join(f'{t:.1f}' for t in took) + f' | {memory[key] / best:.2f} | '
              f'{took[2] / best:.1f}, {took[3] / best:.2f} | {compiling[key, "inductor"] / 1e6:.1f} s |')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('names', nargs='*')
    parser.add_argument('--compiled', action='store_true')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--tsr')
    parser.add_argument('--peer')
    options = parser.parse_args()
    if options.peer:
        return beside(options)
    rows = measure(options.names, options.compiled, options.threads)
    print(json.dumps(rows)) if options.json else table(rows)


main()
