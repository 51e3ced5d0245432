#!/usr/bin/env python3
"""Random calls with operands of mixed dtypes, beside PyTorch: mixed.tsr runs under both, line by line the same.

    mixed.py --tsr build/release/tsr --peer PYTHON_WITH_PYTORCH [--count 4000] [--seed 0]

KNOWN are the differences that docs/differences.md explains. The last line is `N passed, N failed`.
"""
import argparse
import pathlib
import re
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).with_suffix('.tsr')
KNOWN = re.compile('|'.join((
    r'INTERNAL ASSERT|Could this error message be improved',
    r'unallocated storage',
    r'derivative for aten::remainder is not implemented',
    r"(floor_divide|remainder)_\(bool.*result type Long can't be cast",
)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--peer', required=True)
    parser.add_argument('--count', type=int, default=4000)
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    if subprocess.run([options.peer, '-c', 'import torch'], capture_output=True).returncode != 0:
        print(f'skipped: {options.peer} has no PyTorch\n0 passed, 0 failed')
        return 0
    arguments = [str(PROGRAM), str(options.seed), str(options.count)]
    theirs = subprocess.run([options.peer, '-W', 'ignore', *arguments], capture_output=True, text=True, timeout=900).stdout.splitlines()
    ours = subprocess.run([options.tsr, '-W', 'ignore', *arguments], capture_output=True, text=True, timeout=900).stdout.splitlines()
    good = bad = 0
    for expected, got in zip(theirs, ours):
        same = expected == got or KNOWN.search(expected) is not None
        good, bad = good + same, bad + (not same)
        if not same and bad <= 20:
            print(f'{got[:230]}\n    expected {expected.partition(" -> ")[2][:220]}')
    bad += options.count - min(len(theirs), len(ours))
    print(f'{good} passed, {bad} failed')
    return bad != 0


if __name__ == '__main__':
    sys.exit(main())
