#!/usr/bin/env python3
"""tests/cuda/run.py [WORD...]: the scripts beside this file with the host executor as plugin, under some seeds of the order in which
streams, blocks and threads take turns. A script asserts what it wants; what it prints has to be the same each time. In its head:
`# executor: OPTIONS` for options of the executor's own (`report=%` for a report, whose marks `# marks: [...]` tells), and
`# and under: OPTIONS` for one more run.
--tsr PROGRAM, --plugin FILE, --seed N the first one, --seeds N how many, --jobs N. The last line is `N passed, N failed`."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / 'build/release'


def said_in(script, word):
    """What stands behind `# word: ` in lines of the script's head."""
    head = []
    for line in script.read_text().splitlines():
        if not line.startswith('#'):
            break
        head.append(line)
    return [line[len(word) + 4:] for line in head if line.startswith(f'# {word}: ')]


def run(script, order, args):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, 'report.json')
        options = ','.join([order] + [own.replace('%', str(report)) for own in said_in(script, 'executor')])
        environment = dict(os.environ, TESSERA_CUDA_PLUGIN=os.path.realpath(args.plugin), TESSERA_EXECUTOR=options)
        try:
            done = subprocess.run([args.tsr, str(script)], env=environment, capture_output=True, text=True, timeout=args.timeout)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess([], 124, '', f'no end in {args.timeout} seconds')
        for marks in said_in(script, 'marks') if done.returncode == 0 else []:
            found = json.loads(report.read_text())['marks']
            if found != json.loads(marks):
                return subprocess.CompletedProcess([], 1, '', f'the report has {found}')
        return done


def check(script, args):
    printed = None
    orders = [f'seed={seed}' for seed in range(args.seed, args.seed + args.seeds)]
    for order in orders + said_in(script, 'and under'):
        done = run(script, order, args)
        if done.returncode != 0:
            return script, f'{order}: ' + '\n    '.join(done.stderr.strip().splitlines()[-6:])
        if printed is not None and done.stdout != printed:
            return script, f'{order} prints something else than {orders[0]}'
        printed = done.stdout
    return script, ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('words', nargs='*')
    parser.add_argument('--tsr', default=str(BUILD / 'tsr'))
    parser.add_argument('--plugin', default=str(BUILD / 'libtessera_cuda_executor.so'))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--seeds', type=int, default=1)
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
