#!/usr/bin/env python3
"""Runs random programs with tsr and with CPython and reports where they print something else.

    run.py --tsr build/release/tsr --count 20000 [--seed 0] [--python python3] [--show 10]
    run.py --tsr tsr --tensors --count 5000 --python /usr/bin/python3      of tensors, beside PyTorch
    run.py --tsr tsr --only 1234            one program: its text and both outputs

Many programs run in one process; those that differ are run alone, told in a line that begins with `fail`, grouped by what differs, and
one of each group is made as small as it can be. known.tsv lists differences that are meant, with a reason each. The last line is
`N passed, N failed`.
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import generate
import tensors

MOST_MEMORY = 8 << 30    # bytes of addresses
HERE = pathlib.Path(__file__).resolve().parent


def load_known():
    """Rows of (pattern of our line and CPython's line, reason); a group of the first may be named in the second."""
    rows = []
    for line in (HERE / 'known.tsv').read_text(encoding='utf-8').splitlines():
        if line and not line.startswith('#'):
            ours, theirs, reason = line.split('\t')
            rows.append((re.compile(f'{ours}.*\n.*?{theirs}', re.M), reason))
    return rows


def limit(seconds):
    """Limits this process, so that both sides refuse what is too large for a small machine too."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def execute(command, text, seconds):
    """What a file of programs prints, as {name: output}; the last one says how the process ended if badly.

    `seconds` are of processor time, so that a busy machine makes no differences; a process that only waits gets ten times as long.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'programs.tsr')
        pathlib.Path(path).write_text(text, encoding='utf-8')
        environment = dict(os.environ, PYTHONUTF8='1', PYTHONWARNINGS='ignore', PYTHONHASHSEED='0')
        try:
            done = subprocess.run(command + [path], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=10 * seconds,
                                  preexec_fn=lambda: limit(seconds))
            out, status, err = done.stdout, done.returncode, done.stderr.decode('utf-8', 'replace').strip()
        except subprocess.TimeoutExpired as e:
            out, status, err = e.stdout or b'', None, ''
    out = re.sub(rb' at 0x[0-9a-f]+', b' at 0x', out)  # of objects: another one each time
    outputs, name = {}, ''
    for line in out.decode('utf-8', 'replace').split('\n'):
        if line.startswith('@ '):
            name = line[2:]
            outputs[name] = []
        elif name:
            outputs[name].append(line)
    if status != 0:
        end = 'no end' if status in (None, -signal.SIGXCPU, -signal.SIGKILL) else f'signal {-status}' if status < 0 else f'exit status {status}'
        last = next((s for s in reversed(err.split('\n')) if s.strip()), '')
        lines = outputs.setdefault(name, [])
        if lines and not lines[-1]:
            lines.pop()     # the text ended with a whole line
        lines.append(f'[{end}: {last}]')
    return {n: '\n'.join(lines).rstrip('\n') for n, lines in outputs.items()}


class Comparison:
    def __init__(self, options):
        self.tsr, self.python = [shutil.which(options.tsr) or options.tsr], [options.python]
        self.tsr[0] = os.path.abspath(self.tsr[0])
        self.known = load_known()
        self.maker = tensors if options.tensors else generate

    def alone(self, statements, seconds=10):
        """Both outputs of one program."""
        text = self.maker.batch([('p', statements)])
        ours, theirs = execute(self.tsr, text, seconds), execute(self.python, text, seconds)
        return (ours.get('p', ours.get('', '')), theirs.get('p', theirs.get('', '')))

    def together(self, seeds):
        """Both outputs of each program of a batch that differs, by seed."""
        text = self.maker.batch([(f'p{seed}', self.maker.program(seed)) for seed in seeds])
        ours, theirs = execute(self.tsr, text, 60), execute(self.python, text, 60)
        return {seed: (ours.get(f'p{seed}', ours.get('', '')), theirs.get(f'p{seed}', theirs.get('', '')))
                for seed in seeds if ours.get(f'p{seed}') != theirs.get(f'p{seed}')}

    def batch(self, seeds):
        """The differences of a batch, each as (seed, statements, outputs, where the program differs)."""
        suspects = self.together(seeds)
        failures = []
        for seed in suspects:
            statements = self.maker.program(seed)
            outputs = self.alone(statements)
            if outputs[0] != outputs[1]:
                failures.append((seed, statements, outputs, ''))
        if suspects and not failures:
            seed, outputs = next(iter(suspects.items()))
            where = ' (only in its batch)' if seed in self.together(seeds) else ' (once; not when its batch ran again)'
            failures.append((seed, self.maker.program(seed), outputs, where))
        return failures

    def reason(self, outputs):
        lines = '\n'.join(first_difference(*outputs))
        return next((reason for pattern, reason in self.known if pattern.search(lines)), None)

    def shrink(self, statements, outputs, budget=80, seconds=60):
        """Leaves out statements, then lines, as long as the same kind of difference remains; tries end after `seconds`, as some hang."""
        kind, end = signature(outputs), time.monotonic() + seconds

        def still(candidate):
            nonlocal budget
            budget -= 1
            if budget < 0 or time.monotonic() > end or not candidate or not all(generate.compiles(s) for s in candidate):
                return False
            got = self.alone(candidate, 2)
            return got[0] != got[1] and signature(got) == kind

        statements = drop_each(statements, still)
        for n, lines in enumerate(statements):
            fewer = drop_each(lines, lambda rest: bool(rest) and still(statements[:n] + [rest] + statements[n + 1:]))
            statements = statements[:n] + [fewer] + statements[n + 1:]
        return statements


def drop_each(items, still):
    """The items without those that are not needed, tried from the last to the first."""
    for i in range(len(items) - 1, -1, -1):
        rest = items[:i] + items[i + 1:]
        if still(rest):
            items = rest
    return items


def first_difference(ours, theirs):
    a, b = ours.split('\n'), theirs.split('\n')
    for x, y in zip(a, b):
        if x != y:
            return x, y
    return (a[len(b)] if len(a) > len(b) else '(end)', b[len(a)] if len(b) > len(a) else '(end)')


def signature(outputs):
    """What kind of difference it is: the two lines without what varies from case to case."""
    def general(line):
        line = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', 'S', line[:160])
        line = re.sub(r'\b[pfgaicmnotCBMOPF]\d+\b', 'N', line)
        line = re.sub(r'-?\d+(\.\d+)?(e[-+]?\d+)?', '0', line)
        # Values differ in each case: only words of messages make a kind.
        return line if re.match(r'[A-Za-z]+(: |$)|\[', line) else 'value'
    return tuple(general(s) for s in first_difference(*outputs))


def tell(seed, outputs, where):
    """Two short lines about a difference, which scripts/test shows."""
    for side, line in zip(('tsr:    ', 'CPython:'), first_difference(*outputs)):
        print(f'fail seed {seed}{where} {side} {line[:300]}', flush=True)


def report(groups, options, comparison):
    order = sorted(groups.items(), key=lambda g: -len(g[1]))
    for kind, failures in order[:options.show]:
        seed, statements, outputs, where = min(failures, key=lambda f: sum(map(len, f[1])))
        if not where:
            statements = comparison.shrink(statements, outputs)
            outputs = comparison.alone(statements)
        ours, theirs = first_difference(*outputs)
        print(f'--- {len(failures)} programs, e.g. seed {seed}{where}')
        print(generate.source('program', statements).rstrip())
        print(f'tsr:     {ours}\nCPython: {theirs}\n', flush=True)
    if len(order) > options.show:
        print(f'and {len(order) - options.show} kinds more')


def show_one(seed, comparison):
    statements = comparison.maker.program(seed)
    print(generate.source(f'p{seed}', statements))
    ours, theirs = comparison.alone(statements)
    print('--- tsr', ours, '--- CPython', theirs, sep='\n')
    return ours != theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--python', default='/usr/bin/python3.11' if os.path.exists('/usr/bin/python3.11') else 'python3')
    parser.add_argument('--count', type=int, default=2000, help='how many programs')
    parser.add_argument('--seed', type=int, default=0, help='the first program')
    parser.add_argument('--batch', type=int, default=100, help='programs in one process')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--show', type=int, default=10, help='kinds of differences to show, made small')
    parser.add_argument('--wide', action='store_true', help='also what seldom stands in a program: walks.py, scopes.py, calls.py')
    parser.add_argument('--calls', action='store_true', help='only calls of native functions and methods: calls.py')
    parser.add_argument('--tensors', action='store_true', help='programs of tensors; --python needs PyTorch 1.13')
    parser.add_argument('--only', type=int, help='show this program')
    options = parser.parse_args()
    generate.Program.wide = options.wide
    generate.Program.calls_only = options.calls
    comparison = Comparison(options)
    if options.only is not None:
        return show_one(options.only, comparison)

    seeds = range(options.seed, options.seed + options.count)
    batches = [seeds[i:i + options.batch] for i in range(0, len(seeds), options.batch)]
    groups, meant = defaultdict(list), defaultdict(int)
    with ThreadPoolExecutor(options.jobs) as pool:
        for failures in pool.map(comparison.batch, batches):
            for failure in failures:
                seed, _, outputs, where = failure
                reason = comparison.reason(outputs)
                if reason:
                    meant[reason] += 1
                else:
                    groups[signature(outputs)].append(failure)
                    tell(seed, outputs, where)
    report(groups, options, comparison)
    for reason, count in meant.items():
        print(f'{count} meant: {reason}')
    failed = sum(map(len, groups.values()))
    print(f'{options.count - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
