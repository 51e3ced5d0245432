#!/usr/bin/env python3
"""Compares random programs whose launches wait (TSR_FUSE=2) with the same whose ops run one by one (TSR_FUSE=0): README.md."""
import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def lines(tsr, script, first, count, fuse, threads):
    done = subprocess.run([tsr, HERE / script, str(first), str(count)], capture_output=True, text=True,
                          env=dict(os.environ, TSR_FUSE=fuse, TSR_THREADS=str(threads)))
    if done.returncode:
        print(f'FAILED {script} with TSR_FUSE={fuse}: {done.stderr[-2000:]}')
    return done.stdout.splitlines()


def compare(tsr, script, first, count):
    """Two threads have half of the programs, one thread the other half: its pieces have several blocks of rows."""
    half = count // 2
    single, fused = (lines(tsr, script, first, half, fuse, 2) + lines(tsr, script, first + half, count - half, fuse, 1) for fuse in ('0', '2'))
    single += [''] * (count - len(single))
    fused += [''] * (count - len(fused))
    wrong = [(s, f) for s, f in zip(single, fused) if s != f or not s]
    for s, f in wrong[:5]:
        print(f'FAILED {script}\n  one by one: {s}\n  chains:     {f}')
    return len(single) - len(wrong), len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--tsr', default='build/release/tsr')
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--expressions', type=int, default=1000)
    parser.add_argument('--programs', type=int, default=50)
    parser.add_argument('--sequences', type=int, default=1000)
    options = parser.parse_args()
    scores = [compare(options.tsr, script, options.first, count)
              for script, count in (('expressions.tsr', options.expressions), ('training.tsr', options.programs), ('sequences.tsr', options.sequences))]
    passed, failed = (sum(each) for each in zip(*scores))
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed != 0)


main()
