#!/usr/bin/env python3
"""Times everyday calls of NumPy, as many times NumPy's speed.

    python3 bench/numpy_calls.py --tsr build/release/tsr --peer PYTHON [--rounds N] [--write docs/performance.md] [NAME...]
    python3 bench/numpy_calls.py --tsr build/release/tsr --peer OLD/tsr [NAME...]       two builds of tsr
    tsr bench/numpy_calls.py --run [NAME...]        the times of one side, in nanoseconds; also runs under Python with NumPy

Both sides run in turn, one thread each, and the least processor time of all rounds counts. A call is one statement in a loop of a function, so that
both sides see the names as local variables; TSR_FUSE=0, for a result that nobody reads would never be computed. The sizes are the elements of the vectors; matrices have a tenth or less as many rows (see `operands`).
"""
import sys
import time

SIZES = (4, 1000, 100000)
SECONDS = 0.004  # of one measurement

# The names: n elements; x, y, z doubles; f floats of 32 bits; i whole numbers; m, w matrices; k a mask; p places; s, r scalars; t a tensor;
# q a list of at most 1000 doubles.
CALLS = {
    'array': 'np.array(q)', 'asarray': 'np.asarray(x)', 'zeros': 'np.zeros(n)', 'ones': 'np.ones((n, 1))', 'full': 'np.full(n, 2.0)',
    'empty': 'np.empty(n)', 'arange': 'np.arange(n)', 'linspace': 'np.linspace(0.0, 1.0, n)', 'zeros_like': 'np.zeros_like(x)', 'copy': 'x.copy()',
    'add': 'x + y', 'multiply': 'x * y', 'add number': 'x + 1.5', 'number over': '1.0 / y', 'add integers': 'i + i', 'power': 'x ** 2',
    'negative': '-x', 'iadd': 'z += y', 'add_ function': 'np.add(x, y)', 'mixed types': 'x + i', 'broadcast': 'm + v', 'exp': 'np.exp(x)',
    'sqrt': 'np.sqrt(y)', 'maximum': 'np.maximum(x, y)', 'clip': 'np.clip(x, 0.2, 0.8)', 'abs': 'np.abs(x)', 'isnan': 'np.isnan(x)',
    'greater': 'x > 0.5', 'equal': 'i == i', 'and': 'k & k', 'not': '~k',
    'item read': 'x[1]', 'item of matrix': 'm[1, 1]', 'item written': 'z[1] = 2.5', 'row': 'm[1]', 'slice': 'x[1:-1]', 'column': 'm[:, 1]',
    'slice written': 'z[1:3] = 0.5', 'mask': 'x[k]', 'mask written': 'z[k] = 0.0', 'places': 'x[p]', 'take': 'np.take(x, p)', 'newaxis': 'x[:, None]',
    'nonzero': 'np.nonzero(k)', 'where': 'np.where(k, x, y)',
    'sum': 'x.sum()', 'np.sum': 'np.sum(x)', 'sum of axis': 'm.sum(axis=0)', 'sum of last axis': 'm.sum(axis=1)', 'mean': 'x.mean()',
    'mean of axis': 'np.mean(m, axis=1)', 'std': 'x.std()', 'max': 'x.max()', 'min of axis': 'm.min(axis=0)', 'argmax': 'x.argmax()',
    'argmax of axis': 'np.argmax(m, axis=1)', 'any': 'k.any()', 'all': 'np.all(k)', 'cumsum': 'np.cumsum(x)', 'prod': 'np.prod(y)', 'median': 'np.median(x)',
    'norm': 'np.linalg.norm(x)', 'diff': 'np.diff(x)', 'count_nonzero': 'np.count_nonzero(k)',
    'matmul': 'm @ w', 'matrix vector': 'm @ v', 'dot': 'np.dot(x, y)', 'outer': 'np.outer(v, v)',
    'concatenate': 'np.concatenate([x, y])', 'stack': 'np.stack([x, y])', 'vstack': 'np.vstack((x, y))', 'reshape': 'x.reshape(2, -1)',
    'transpose': 'm.T', 'transpose of axes': 'm.transpose(1, 0)', 'ravel': 'm.ravel()', 'flatten': 'm.flatten()', 'expand_dims': 'np.expand_dims(x, 0)',
    'squeeze': 'np.squeeze(x)', 'repeat': 'np.repeat(x, 2)', 'tile': 'np.tile(x, 2)', 'roll': 'np.roll(x, 1)', 'flip': 'x[::-1]', 'split': 'np.split(x, 2)',
    'sort': 'np.sort(x)', 'argsort': 'np.argsort(x)', 'unique': 'np.unique(i)', 'searchsorted': 'np.searchsorted(o, 0.5)', 'bincount': 'np.bincount(p)',
    'rand': 'np.random.rand(n)', 'randn': 'np.random.randn(n)', 'randint': 'np.random.randint(0, 10, n)', 'permutation': 'np.random.permutation(n)',
    'generator': 'g.random(n)', 'normal': 'g.normal(0.0, 1.0, n)', 'choice': 'np.random.choice(x, 3)',
    'astype float32': 'x.astype(np.float32)', 'astype int': 'x.astype(int)', 'shape': 'm.shape', 'dtype': 'x.dtype == np.float64', 'len': 'len(x)',
    'iteration': 'for e in u: pass', 'rows': 'for e in h: pass', 'tolist': 'u.tolist()', 'item': 's.item()', 'float': 'float(x[0])', 'scalar add': 's + r',
    'scalar times number': 's * 2.0', 'scalar compared': 's < r', 'scalar made': 'np.float64(1.5)', 'integers added': 'a + a', 'sqrt of scalar': 'np.sqrt(s)',
    'isinstance': 'isinstance(s, np.floating)', 'from_numpy': 'torch.from_numpy(x)', 'numpy': 't.numpy()', 'tensor': 'torch.tensor(x)',
    'str': 'str(u)', 'repr': 'repr(u)', 'str of scalar': 'str(s)', 'format of scalar': "f'{s:.3f}'",
}


def operands(n, np, torch):
    """The operands that the calls name."""
    side = {4: 2, 1000: 32, 100000: 256}[n]
    random = np.random.RandomState(0)
    x, y = random.rand(n), random.rand(n) + 0.5
    i = random.randint(0, 100, n)
    m = random.rand(side, side)
    return {'np': np, 'torch': torch, 'n': n, 'x': x, 'y': y, 'z': x.copy(), 'f': x.astype(np.float32), 'i': i, 'm': m, 'w': m.copy(), 'v': m[0].copy(),
            'k': x > 0.5, 'p': i % n, 'o': np.sort(x), 's': x[0], 'r': y[0], 'a': i[0], 't': torch.from_numpy(x.copy()), 'q': x[:1000].tolist(),
            'u': x[:1000].copy(), 'h': random.rand(min(n, 1000), 2), 'g': np.random.default_rng(0)}


def nanoseconds(statement, names):
    """The least processor time of one call out of five measurements."""
    scope = {}
    exec(f'def run(count, {", ".join(names)}):\n for _ in range(count):\n  {statement}\n', scope)
    run, count = scope['run'], 1
    while True:
        begin = time.process_time()
        run(count, **names)
        took = time.process_time() - begin
        if took > SECONDS / 4:
            break
        count *= 4
    count = max(1, int(count * SECONDS / took))
    best = took / count if count == 1 else 1e9
    for _ in range(5):
        begin = time.process_time()
        run(count, **names)
        best = min(best, (time.process_time() - begin) / count)
    return best * 1e9


def run(wanted):
    import numpy as np
    import torch
    torch.set_num_threads(1)
    for n in SIZES:
        names = operands(n, np, torch)
        for name, statement in CALLS.items():
            if not wanted or name in wanted:
                print(f'{n}\t{name}\t{nanoseconds(statement, names):.1f}', flush=True)


def measured(program, wanted):
    import os
    import subprocess
    environment = {**os.environ, 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'TSR_THREADS': '1', 'TSR_FUSE': '0', 'PYTHONWARNINGS': 'ignore'}
    out = subprocess.run([program, __file__, '--run', *wanted], env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
    rows = [line.split('\t') for line in out.splitlines()]
    return {(int(n), name): float(ns) for n, name, ns in rows}


def mean(ratios):
    from math import exp, log
    return exp(sum([log(r) for r in ratios]) / len(ratios))


BEGIN, END = '<!-- the table: bench/numpy_calls.py --write -->', '<!-- end of the table of NumPy calls -->'


def main():
    import argparse
    import pathlib
    parser = argparse.ArgumentParser()
    parser.add_argument('names', nargs='*')
    parser.add_argument('--run', action='store_true')
    parser.add_argument('--tsr')
    parser.add_argument('--peer')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--write')
    options = parser.parse_args()
    if options.run:
        return run(options.names)
    ours, theirs = {}, {}
    for _ in range(options.rounds):
        for program, times in ((options.tsr, ours), (options.peer, theirs)):
            for key, ns in measured(program, options.names).items():
                times[key] = min(ns, times.get(key, ns))
    lines = ['| call | ' + ' | '.join([f'{n}: us | times' for n in SIZES]) + ' |', '| --- |' + ' ---: | ---: |' * len(SIZES)]
    ratios = {key: theirs[key] / ours[key] for key in ours}
    for name, statement in CALLS.items():
        if (SIZES[0], name) in ours:
            cells = [f'{ours[n, name] / 1000:.2f} | {ratios[n, name]:.2f}' for n in SIZES]
            lines.append(f'| `{statement}` | ' + ' | '.join(cells) + ' |')
    cells = [f'| {mean([r for (size, _), r in ratios.items() if size == n]):.2f}' for n in SIZES]
    lines.append('| geometric mean | ' + ' | '.join(cells) + ' |')
    print(*lines, sep='\n')
    print(f'all: {mean(list(ratios.values())):.3f}, below 0.5: {len([r for r in ratios.values() if r < 0.5])} of {len(ratios)}')
    if options.write:
        page = pathlib.Path(options.write)
        text = page.read_text(encoding='utf-8')
        head, tail = text[:text.index(BEGIN) + len(BEGIN)], text[text.index(END):]
        page.write_text(head + '\n\n' + '\n'.join(lines) + '\n\n' + tail, encoding='utf-8')


main()
