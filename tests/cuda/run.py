#!/usr/bin/env python3
"""tests/cuda/run.py [WORD...]: the scripts beside this file with the host executor as plugin, under some seeds of the order in which
streams, blocks and threads take turns. A script asserts what it wants; what it prints has to be the same under every seed.
--tsr PROGRAM, --plugin FILE, --seeds N, --jobs N. The last line is `N passed, N failed`."""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / 'build/release'


def run(script, seed, args):
    environment = dict(os.environ, TESSERA_CUDA_PLUGIN=os.path.realpath(args.plugin), TESSERA_EXECUTOR=f'seed={seed}')
    try:
        return subprocess.run([args.tsr, str(script)], env=environment, capture_output=True, text=True, timeout=args.timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess([], 124, '', f'no end in {args.timeout} seconds')


def check(script, args):
    printed = None
    for seed in range(1, args.seeds + 1):
        done = run(script, seed, args)
        if done.returncode != 0:
            return script, f'seed {seed}: ' + '\n    '.join(done.stderr.strip().splitlines()[-6:])
        if printed is not None and done.stdout != printed:
            return script, f'seed {seed} prints something else than seed 1'
        printed = done.stdout
    return script, ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('words', nargs='*')
    parser.add_argument('--tsr', default=str(BUILD / 'tsr'))
    parser.add_argument('--plugin', default=str(BUILD / 'libtessera_cuda_executor.so'))
    parser.add_argument('--seeds', type=int, default=2)
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--timeout', type=int, default=300)
    args = parser.parse_args()
    scripts = [s for s in sorted((HERE / 'scripts').glob('*.tsr')) if not args.words or any(w in s.name for w in args.words)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for script, said in pool.map(lambda s: check(s, args), scripts):
            failed += bool(said)
            if said:
                print(f'FAILED {script.name}: {said}')
    print(f'{len(scripts) - failed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
