#!/usr/bin/env python3
"""Runs calls of ops with tsr and with PyTorch, drawn from PyTorch's own table of ops, and reports where they differ.

    run.py --tsr build/release/tsr --peer PYTHON                    a few calls of each op
    run.py --tsr TSR --peer PYTHON --full                           at least 30,000 calls
    run.py ... --small                                              calls with tensors of float8 and complex32
    run.py ... --op linalg.solve --calls 200 --seed 3               one op
    run.py ... --keep FOLDER                                        keeps calls and PyTorch's output; the next time they are read from there
    run.py ... --full --keep FOLDER --match 'var.*'                 after a change: PyTorch need not run again
    run.py ... --only N --keep FOLDER                               shows one call with both outputs

The last line is `N passed, N failed`. listed.py holds the differences that are meant,
each with its row of docs/differences.md; a row that is not there fails the run.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import compare
from listed import reason_for, untold

HERE = pathlib.Path(__file__).resolve().parent
PRELUDE = (HERE / 'prelude.tsr').read_text(encoding='utf-8')
BATCH = 800


def execute(command, path, seconds):
    """What a file prints, and how it ended; the limit is of processor time, for the machine may be busy."""
    environment = dict(os.environ, PYTHONUTF8='1', PYTHONWARNINGS='ignore', OMP_NUM_THREADS='1', MKL_NUM_THREADS='1')
    try:
        done = subprocess.run(command + [str(path)], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)), timeout=20 * seconds)
        out, status, err = done.stdout, done.returncode, done.stderr.decode('utf-8', 'replace').strip()
    except subprocess.TimeoutExpired as e:
        out, status, err = e.stdout or b'', 'no end', ''
    return out.decode('utf-8', 'replace'), status, err.split('\n')[-1][:200]


def run_all(command, lines, folder, name, seconds=40):
    """{number: lines printed} for calls {number: text}; what kills the process is told and left out, the rest runs again."""
    found, rest = {}, dict(lines)
    while rest:
        path = folder / f'{name}.tsr'
        path.write_text(PRELUDE + '\n\n' + '\n'.join(rest.values()) + '\n', encoding='utf-8')
        text, status, err = execute(command, path, seconds)
        got = compare.outputs(text)
        if status == 0:
            found.update(got)
            break
        if not got and len(rest) > 1:                           # not even the first: a line is refused before all run
            items = list(rest.items())
            for half in (items[:len(items) // 2], items[len(items) // 2:]):
                found.update(run_all(command, dict(half), folder, name, seconds))
            break
        if not got:
            got = {n: [] for n in rest}
        last = list(got)[-1]
        found.update(got)
        found[last] = [f'\tcrash\t{status}: {err}']
        rest = {n: t for n, t in rest.items() if n > last}
    return found


class Run:
    def __init__(self, options, folder, texts):
        self.options, self.folder, self.texts = options, folder, texts
        self.tsr = [os.path.abspath(options.tsr)]
        self.peer = [options.peer]

    def drawn(self, part):
        """The calls of a part, drawn by PyTorch's Python or kept from the last time."""
        path = self.folder / f'calls{part}.jsonl'
        if not path.exists():
            more = ['--op', self.options.op] if self.options.op else ['--part', f'{part}/{self.options.parts}']
            more += ['--small'] if self.options.small else []
            done = subprocess.run(self.peer + [str(HERE / 'make.py'), '--calls', str(self.options.calls), '--seed', str(self.options.seed)] + more,
                                  capture_output=True, text=True)
            if done.returncode != 0:
                print(f'part {part}: the drawing of calls ended with {done.returncode}: {done.stderr[-2000:]}', file=sys.stderr)
            path.write_text(done.stdout, encoding='utf-8')
        records = [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines() if line.startswith('{')]
        for i, r in enumerate(records):
            r['n'] = part * 100000 + i
            r['text'] = r['text'].replace('%d', str(r['n']), 1)
        return records

    def part(self, part):
        records = self.drawn(part)
        failures, total = [], 0
        for at in range(0, len(records), BATCH):
            some = records[at:at + BATCH]
            lines = {r['n']: r['text'] for r in some}
            kept = self.folder / f'theirs{part}_{at}.json'
            if kept.exists():
                theirs = {int(n): v for n, v in json.loads(kept.read_text()).items()}
            else:
                theirs = run_all(self.peer, lines, self.texts, f'theirs{part}')
                kept.write_text(json.dumps(theirs))
            some = [r for r in some if re.fullmatch(self.options.match, r['op'])]
            ours = run_all(self.tsr, {r['n']: r['text'] for r in some}, self.texts, f'ours{part}')
            total += len(some)
            for r in some:
                found = compare.difference(ours.get(r['n'], ['\tcrash\tno output']), theirs.get(r['n'], []), self.options.nodes,
                                           compare.arithmetic(r) if r['how'] == 'out other' else None)
                if found and not any('\tcrash\t' in line for line in theirs.get(r['n'], [])):
                    failures.append((r, *found))
        return total, failures


def report(groups, folder):
    """The findings of each family, most frequent first."""
    by_family = defaultdict(list)
    for (family, *_), found in groups.items():
        by_family[family].append(found)
    for family, lists in by_family.items():
        count = Counter(f[0]['op'] for found in lists for f in found)
        lists.sort(key=lambda found: (-count[found[0][0]['op']], found[0][0]['op'], -len(found)))
        with open(folder / f'{family}.txt', 'w', encoding='utf-8') as out:
            print(f'{sum(count.values())} calls differ: ' + ', '.join(f'{op} {n}' for op, n in count.most_common()) + '\n', file=out)
            for found in lists:
                r, kind, path, ours, theirs = min(found, key=lambda f: len(f[0]['text']))
                ours, theirs = compare.excerpt(kind, ours, theirs)
                dtypes = ','.join(sorted({f[0]['dtype'] for f in found}))
                print(f'{len(found)}x {r["op"]} [{dtypes}] {r["how"]} {kind} {path}: {r["brief"][:200]}  #{r["n"]}\n'
                      f'    tsr:     {ours}\n    PyTorch: {theirs}', file=out)


def show(run, number):
    for part in range(run.options.parts):
        for r in run.drawn(part):
            if r['n'] == number:
                print(r['text'], '\n')
                for name, command in (('tsr', run.tsr), ('PyTorch', run.peer)):
                    print('---', name, *run_all(command, {number: r['text']}, run.texts, f'one_{name}').get(number, []), sep='\n')
                return 0
    print('no such call')
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--peer', default=os.environ.get('PEER', 'python3'))
    parser.add_argument('--op')
    parser.add_argument('--calls', type=int, default=2, help='calls of each op')
    parser.add_argument('--full', action='store_true')
    parser.add_argument('--small', action='store_true', help='calls with tensors of float8 and complex32 only')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--parts', type=int, default=2)
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--keep')
    parser.add_argument('--match', default='.*', help='of the calls drawn, only those of ops whose name matches')
    parser.add_argument('--nodes', action='store_true', help='compare the names of grad_fn too')
    parser.add_argument('--only', type=int)
    parser.add_argument('--report', help='a folder for the findings of each family')
    options = parser.parse_args()
    if options.full:
        options.calls, options.parts = max(options.calls, 52), 8
    if options.op:
        options.parts = 1
    if untold():
        print(*[f'listed.py names a row that docs/differences.md lacks: {told}' for told in untold()], '0 passed, 1 failed', sep='\n')
        return 1
    if subprocess.run([options.peer, '-c', 'import torch'], capture_output=True).returncode != 0:
        print(f'skipped: {options.peer} has no PyTorch\n0 passed, 0 failed')
        return 0

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        run = Run(options, folder, pathlib.Path(temporary))
        if options.only is not None:
            return show(run, options.only)
        total, groups, meant = 0, defaultdict(list), Counter()
        with ThreadPoolExecutor(options.jobs) as pool:
            for count, failures in pool.map(run.part, range(options.parts)):
                total += count
                for f in failures:
                    r, kind, path, ours, theirs = f
                    reason = reason_for(r, kind, ours, theirs)
                    if reason:
                        meant[reason] += 1
                        continue
                    texts = (compare.general(ours), compare.general(theirs)) if 'error' in kind or 'crash' in kind else ()
                    groups[r['family'], r['op'], kind, *texts].append(f)
        where = pathlib.Path(options.report or temporary)
        where.mkdir(parents=True, exist_ok=True)
        report(groups, where)
        with open(where / 'findings.jsonl', 'w', encoding='utf-8') as out:
            for found in groups.values():
                for r, kind, path, ours, theirs in found:
                    ours, theirs = compare.excerpt(kind, ours, theirs)
                    row = {k: r[k] for k in ('n', 'family', 'op', 'dtype', 'how', 'tag', 'brief')}
                    print(json.dumps({**row, 'kind': kind, 'path': path, 'ours': ours, 'theirs': theirs}), file=out)
        if not options.report:
            for path in sorted(where.glob('*.txt')):
                print(f'--- {path.stem}', path.read_text(encoding='utf-8'), sep='\n')
        for reason, count in meant.items():
            print(f'{count} meant: {reason} ...')
        failed = sum(map(len, groups.values()))
        print(f'{total - failed} passed, {failed} failed')
        return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
