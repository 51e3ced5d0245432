#!/usr/bin/env python3
"""Calls everything that torch, numpy, the built-in types and the standard modules offer, with random arguments.

    calls.py --tsr build/asan/tsr --count 3 [--seed 0] [--group torch] [--seconds 60]

calls.tsr makes the calls and names each before it is made. A finding is an end by a signal, a sanitizer's report, or a
call that takes longer than --patience seconds; exceptions are fine. After a finding the next callable goes on. With
--seconds, rounds of --count calls of each callable are repeated with new seeds until the time is over. The last line is
`N passed, N failed`, in callables.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

SCRIPT = pathlib.Path(__file__).resolve().parent / 'calls.tsr'
GROUPS = ['torch', 'Tensor', 'functional', 'numpy', 'nn', 'types', 'modules']
MARK = re.compile(r'^@ (\d+) (\d+) (.*)$', re.MULTILINE)
REPORT = re.compile(r'runtime error: .*|(?:ERROR|SUMMARY): \w+Sanitizer: .*')
MEMORY = 3 << 30


def environment():
    # An allocation beyond the limit answers null, which is an exception; nothing may hang in the pool of threads.
    limit = f'allocator_may_return_null=1:max_allocation_size_mb={MEMORY >> 20}:soft_rss_limit_mb={MEMORY >> 20}:detect_leaks=0'
    return dict(os.environ, ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') + ':' + limit, UBSAN_OPTIONS='print_stacktrace=0',
                TSR_THREADS='2')


def limit_memory(sanitized):
    if not sanitized:   # a sanitizer reserves terabytes of addresses
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Run:
    """One tsr that calls the names from `first` to `last` until it ends."""

    def __init__(self, options, group, seed, first, last):
        self.log, self.heard, self.hung = [], time.monotonic(), False
        with tempfile.TemporaryDirectory() as folder:
            self.process = subprocess.Popen(
                [options.tsr, str(SCRIPT), 'run', group, str(seed), str(options.count), str(first), str(last)], cwd=folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace',
                env=environment(), preexec_fn=lambda: limit_memory(options.sanitized))
            watcher = threading.Thread(target=self.watch, args=(options.patience,), daemon=True)
            watcher.start()
            for line in self.process.stderr:
                self.heard = time.monotonic()
                self.log = self.log[-400:] + [line]
            self.process.wait()
        text = ''.join(self.log)
        marks = MARK.findall(text)
        self.at, self.number, self.name = (int(marks[-1][0]), int(marks[-1][1]), marks[-1][2]) if marks else (first, 0, '?')
        self.problem = self.judge(text)

    def watch(self, patience):
        while self.process.poll() is None:
            time.sleep(0.5)
            if time.monotonic() - self.heard > patience:
                self.hung = True
                self.process.kill()

    def judge(self, text):
        report = REPORT.search(text)
        if report:
            return re.sub(r'0x[0-9a-f]+|==\d+==', '', report[0])[:160]
        if self.hung:
            return 'takes too long'
        if self.process.returncode < 0:
            return f'ended by signal {-self.process.returncode}'
        return None if '@ end' in text else 'ended early: ' + text[-300:]


def sweep(options, group, seed, first, last):
    """Findings of one stretch of a group's names: [(problem, name, number)]."""
    found = []
    while first < last and time.monotonic() < options.end:
        run = Run(options, group, seed, first, last)
        if run.problem is None:
            break
        found.append((run.problem, run.name, run.number))
        first = run.at + 1
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--count', type=int, default=3, help='calls of each callable in a round')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--group', choices=GROUPS, action='append')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--patience', type=float, default=20, help='seconds that one call may take')
    parser.add_argument('--seconds', type=float, default=0, help='repeat rounds until so much time is over; 0: one round')
    options = parser.parse_args()
    options.tsr = os.path.abspath(options.tsr)
    options.sanitized = 'asan' in options.tsr
    options.end = time.monotonic() + (options.seconds or 1e9)
    groups = options.group or GROUPS
    names = {g: subprocess.run([options.tsr, str(SCRIPT), 'list', g], stdout=subprocess.PIPE, text=True, check=True,
                               env=environment()).stdout.splitlines() for g in groups}
    failed, seed = {}, options.seed
    with ThreadPoolExecutor(options.jobs) as pool:
        while True:
            stretches = [(g, i, min(i + 60, len(names[g]))) for g in groups for i in range(0, len(names[g]), 60)]
            jobs = [(g, pool.submit(sweep, options, g, seed, a, b)) for g, a, b in stretches]
            for g, job in jobs:
                for problem, name, number in job.result():
                    if (name, problem) in failed:
                        continue
                    failed[name, problem] = True
                    print(f'FAILED {name}: {problem}\n    tsr tests/fuzz/calls.tsr show {g} {seed} {number} {name}', flush=True)
            seed += 1
            if not options.seconds or time.monotonic() >= options.end:
                break
    total, bad = sum(map(len, names.values())), len({name for name, _ in failed})
    print(f'{total - bad} passed, {bad} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
