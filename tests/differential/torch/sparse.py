#!/usr/bin/env python3
"""Ops with sparse operands, beside PyTorch: its table's sparse samples, and dense samples whose operands are made sparse.

    sparse.py --tsr build/release/tsr --peer PYTHON_WITH_PYTORCH [--show N]

PyTorch writes the samples and its results (sparse_make.py), sparse.tsr runs and compares them. Of the samples that PyTorch takes at least
SHARE must give its result; refusals are counted, not compared. The last line is `N passed, N failed`.
"""
import argparse
import ast
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHARE = 0.97


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--peer', required=True)
    parser.add_argument('--show', type=int, default=20, help='how many differences to show')
    options = parser.parse_args()
    if subprocess.run([options.peer, '-c', 'import torch'], capture_output=True).returncode != 0:
        print(f'skipped: {options.peer} has no PyTorch\n0 passed, 0 failed')
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        samples = str(pathlib.Path(temporary, 'samples.pt'))
        subprocess.run([options.peer, str(HERE / 'sparse_make.py'), samples], check=True, capture_output=True, timeout=1800)
        done = subprocess.run([options.tsr, str(HERE / 'sparse.tsr'), samples], capture_output=True, text=True, timeout=1800)
    *lines, last = done.stdout.splitlines() or ['']
    if not last.startswith('counts '):
        print(done.stderr[-2000:])
        print('0 passed, 1 failed')
        return 1
    counts = ast.literal_eval(last.removeprefix('counts '))
    for line in [line for line in lines if ' raises: ' in line or ' differs: ' in line][:options.show]:
        print(line[:240])
    same, others = counts['same'], counts.get('raises', 0) + counts.get('differs', 0)
    print(f"{same} of {same + others} samples that PyTorch takes give its result ({same / (same + others):.1%}); "
          f"{counts.get('refused', 0)} are refused in its words, {counts.get('words', 0)} in others")
    enough = same >= SHARE * (same + others)
    print(f'{same} passed, {0 if enough else others} failed')
    return 0 if enough else 1


if __name__ == '__main__':
    sys.exit(main())
