"""Chains of pointwise ops on one thread: how many times the speed of one pass of memory, and their times to compare with a peer's.

    tsr bench/chains.py [NAME...]      also runs under Python with PyTorch; TSR_FUSE=0 and 1 tell what waiting launches bring

A pass of memory reads the operands of a chain and writes its result once: measured as `y.copy_(x)` of as many bytes.
"""
import sys
import time

import torch

torch.set_num_threads(1)

SIZES = (10000, 1000000, 10000000)
ROUNDS = 15


def swish(x, y):
    return x * torch.sigmoid(x)
def three(x, y):
    return (x * 0.5 + y).relu()
def four(x, y):
    return (x - 0.1) * (y + 0.2) * 1.5
def five(x, y):
    return ((x * 2.0 + 1.0) * y - x).abs()
def masked(x, y):
    return torch.where(x > y, x * 0.5, y * 2.0)
def gelu_by_hand(x, y):
    return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
def eight(x, y):
    z = x * 0.9 + y * 0.1
    return (z * z + 0.5).sqrt() * x - y
def focal(x, y):
    p = torch.sigmoid(x)
    return -(y * (1.0 - p) * (1.0 - p) * (p + 1e-6).log())
def twelve(x, y):
    z = x * 0.5 + y
    z = (z * z - x) * 0.25
    z = (z + 1.0) * (y - 0.5)
    return (z.clamp(-3.0, 3.0) * 0.1 + x).abs() + 1.0


CHAINS = {f.__name__: f for f in (swish, three, four, five, masked, gelu_by_hand, eight, focal, twelve)}


def least(f, count):
    """The least time of a call in microseconds."""
    best = None
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(count):
            f()
        took = time.process_time() - start
        best = took if best is None else min(best, took)
    return best / count * 1e6


def evaluate(f, x, y):
    def call():
        z = f(x, y)
        z[0].item()  # what waits is run
    return call


def main(names):
    print(f'{"":14}' + ''.join(f'{size:>12}    x memory' for size in SIZES))
    columns = {name: [] for name in names}
    for size in SIZES:
        x = torch.rand(size) * 2 - 1
        y = torch.rand(size)
        z = torch.empty_like(x)
        count = max(1, 5000000 // size)
        copy = least(lambda: z.copy_(x), count)
        for name in names:
            f = CHAINS[name]
            took = least(evaluate(f, x, y), count)
            operands = 1 if name in ('swish', 'gelu_by_hand') else 2
            columns[name].append((took, copy * (operands + 1) / 2 / took))
    for name, row in columns.items():
        print(f'{name:14}' + ''.join(f'{took:12.1f}{times:12.2f}' for took, times in row))


main(sys.argv[1:] or list(CHAINS))
