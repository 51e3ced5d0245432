#!/usr/bin/env python3
"""Where the elements of results and gradients lie: some 110 ops on images and volumes in ten orders of memory, beside PyTorch.

    layouts.py --tsr build/release/tsr --peer PYTHON_WITH_PYTORCH

Both sides run layouts.tsr, which prints a line for each op and layout. Strides of dimensions of one element are not compared:
they say nothing about where elements lie. The last line is `N passed, N failed`.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().with_suffix('.tsr')
# PyTorch's derivative of an empty pixel_unshuffle fails.
MEANT = 'Function PixelUnshuffleBackward0 returned an invalid gradient'


def lines_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return dict(line.rsplit(' | ', 1) for line in done.stdout.splitlines() if ' | ' in line)


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
        as_python = pathlib.Path(temporary, 'layouts.py')
        shutil.copy(PROGRAM, as_python)
        theirs = lines_of([options.peer, str(as_python)])
    ours = lines_of([options.tsr, str(PROGRAM)])
    failed = [case for case, line in theirs.items() if MEANT not in line and ours.get(case) != line]
    failed += ours.keys() - theirs.keys()
    for case in failed[:options.show]:
        print(f'{case}\n    tsr:     {ours.get(case)}\n    PyTorch: {theirs.get(case)}')
    print(f'{len(theirs.keys() | ours.keys()) - len(failed)} passed, {len(failed)} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
