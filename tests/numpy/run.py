#!/usr/bin/env python3
"""Runs NumPy's own tests for what `import numpy` has, each case for itself, under NumPy and under tsr.

    tests/numpy/run.py --tsr build/release/tsr [--python VENV/bin/python] [--jobs 2] [--list] [--table FILE] [NAME...]

NAME selects files (`lib.test_histograms`) or cases (`_core.test_ufunc.TestUfunc.test_at`); without one, all files that left_out.tsv does not name.
The tests are those of the wheel that --python has installed; nothing of them lies in this repository. A case counts if NumPy passes it under
the stand-in of pytest that is here; what NumPy answered is kept in --cache. A case that tsr skips did not pass.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import loose  # noqa: E402


def left_out():
    rows = (HERE / 'left_out.tsv').read_text(encoding='utf-8').splitlines()
    return {row.split('\t')[0] for row in rows if row and not row.startswith('#')}


def suite_of(python):
    found = subprocess.run([python, '-c', 'import numpy; print(numpy.__file__)'], capture_output=True, text=True, cwd='/')
    return pathlib.Path(found.stdout.strip()).parent if found.returncode == 0 else None


def files(suite, names):
    found = {}
    for path in sorted(suite.glob('**/tests/test_*.py')):
        folder = '.'.join(path.relative_to(suite).parts[:-2])
        found[f'{folder}.{path.stem}' if folder else path.stem] = path
    if names:
        return {k: v for k, v in found.items() if any(n == k or n.startswith(k + '.') or k.startswith(n + '.') for n in names)}
    skipped = left_out()
    return {k: v for k, v in found.items() if not any(k == s or k.startswith(s + '.') for s in skipped) and '.' in k}


def written(path, folder):
    """The rewritten test file in a folder of its own, with links to the helpers and data of the suite beside it."""
    for each in path.parent.iterdir():
        if not each.name.startswith('test_') and each.name not in ('__init__.py', '__pycache__'):
            (folder / each.name).symlink_to(each)
    program = folder / path.name
    program.write_text(loose.loose(path.read_text(encoding='utf-8')), encoding='utf-8')
    return program


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setsid()


def outcomes(command, program, timeout, only):
    """{case: (outcome, words)} of a file. After a crash or a hang another process goes on behind that case."""
    results, after = collections.OrderedDict(), None
    environment = {k: v for k, v in os.environ.items() if k in ('PATH', 'HOME', 'TMPDIR')}
    environment.update(PYTHONPATH=str(HERE / 'stand_in'), PYTHONDONTWRITEBYTECODE='1', LC_ALL='C.UTF-8', TZ='UTC', OMP_NUM_THREADS='1')
    while True:
        with tempfile.TemporaryDirectory(prefix='numpy-case-') as there:
            notes = pathlib.Path(there) / 'notes'
            notes.touch()
            rest = (['--after', after] if after else []) + (['--only', *only] if only else [])
            process = subprocess.Popen([*command, str(HERE / 'stand_in' / 'drive.py'), str(program), str(notes), *rest], cwd=there,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**environment, 'TMPDIR': there}, preexec_fn=limit)
            size, since, hangs = -1, time.monotonic(), False
            while process.poll() is None:
                time.sleep(0.05)
                if notes.stat().st_size != size:
                    size, since = notes.stat().st_size, time.monotonic()
                elif time.monotonic() - since > timeout:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    hangs = True
            lines = notes.read_text(encoding='utf-8').splitlines()
        begun = None
        for line in lines:
            word, _, rest = line.partition(' ')
            if word == 'BEGIN':
                begun = rest
            elif word == 'END':
                outcome, _, words = rest[len(begun) + 1:].partition(' ')
                results[begun], after, begun = (outcome, words), begun, None
        if lines and lines[-1] == 'DONE':
            return results, ''
        if begun is None:
            return results, lines[-1] if lines else 'ended before the first case'
        results[begun] = ('hang' if hangs else 'crash', f'no end in {timeout} s' if hangs else f'status {process.returncode}')
        after = begun


class Runner:
    def __init__(self, options, suite):
        self.options, self.suite = options, suite
        self.cache = pathlib.Path(options.cache)
        self.cache.mkdir(parents=True, exist_ok=True)

    def oracle(self, program):
        """The cases of a file that NumPy passes."""
        text = program.read_bytes() + b''.join(each.read_bytes() for each in sorted((HERE / 'stand_in').glob('*.py')))
        key = self.cache / (program.stem + '-' + hashlib.sha256(text).hexdigest()[:24] + '.json')
        if not key.exists():
            results, trouble = outcomes([self.options.python], program, self.options.timeout, ())
            if trouble:
                print(f'none    {program.stem}: {trouble}', flush=True)
            key.write_text(json.dumps([case for case, (outcome, _) in results.items() if outcome == 'passed']), encoding='utf-8')
        return json.loads(key.read_text(encoding='utf-8'))

    def file(self, name, path):
        only = [n[len(name) + 1:] for n in self.options.names if n.startswith(name + '.')]
        with tempfile.TemporaryDirectory(prefix='numpy-suite-') as there:
            program = written(path, pathlib.Path(there))
            wanted = [case for case in self.oracle(program) if not only or any(word in case for word in only)]
            if not self.options.tsr or not wanted:
                return [(name, case, 'passed', '') for case in wanted]
            results, trouble = outcomes([os.path.abspath(self.options.tsr)], program, self.options.timeout, only)
        return [(name, case, *results.get(case, ('failed', trouble or 'not collected'))) for case in wanted]


def table(rows):
    """Markdown: for each file how many cases NumPy passes and how many of them tsr does; and of how many functions every case passes."""
    lines = ['| file | cases | pass | share | functions that pass whole |', '| --- | ---: | ---: | ---: | ---: |']
    per = collections.OrderedDict()
    for row in rows:
        per.setdefault(row[0], []).append(row)
    for name, own in per.items():
        good, (whole, functions) = sum(row[2] == 'passed' for row in own), whole_functions(own)
        lines.append(f'| {name} | {len(own)} | {good} | {100 * good / len(own):.0f} % | {whole} of {functions} |')
    return '\n'.join(lines) + '\n'


def whole_functions(rows):
    """(how many functions pass with all their cases, how many there are)"""
    of = {(name, case.rsplit('[', 1)[0]) for name, case, _, _ in rows}
    failed = {(name, case.rsplit('[', 1)[0]) for name, case, outcome, _ in rows if outcome != 'passed'}
    return len(of) - len(failed), len(of)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', help='without it only NumPy runs')
    parser.add_argument('--python', default='/tmp/torch/bin/python', help='a Python that has numpy')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=20)
    parser.add_argument('--cache', default='/tmp/tessera-numpy-cache')
    parser.add_argument('--list', action='store_true', help='tell each miss with its last words')
    parser.add_argument('--table', help='write the table by file here')
    parser.add_argument('--misses', help='write here a line for each case that does not pass')
    parser.add_argument('--least', type=float, default=0, help='fail below this share, in percent')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    suite = suite_of(options.python) if pathlib.Path(options.python).exists() else None
    if suite is None:
        print('skipped: no Python with numpy (--python)')
        return 0
    runner = Runner(options, suite)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda item: runner.file(*item), files(suite, options.names).items()):
            rows += found
            for name, case, outcome, words in found:
                if outcome in ('crash', 'hang') or (options.list and outcome != 'passed'):
                    print(f'{outcome:7} {name}.{case}: {words}', flush=True)
    if options.misses:
        lines = [f'{name}.{case}\t{outcome}: {words}\n' for name, case, outcome, words in rows if outcome != 'passed']
        pathlib.Path(options.misses).write_text(''.join(lines), encoding='utf-8')
    if options.table:
        pathlib.Path(options.table).write_text(table(rows), encoding='utf-8')
    else:
        print(table(rows))
    counts = collections.Counter(outcome for _, _, outcome, _ in rows)
    share = 100 * counts['passed'] / max(1, len(rows))
    whole, functions = whole_functions(rows)
    print(f'{functions} functions: {100 * whole / max(1, functions):.1f} % pass whole')
    print(f'{len(rows)} cases: {share:.1f} % pass, {counts["skipped"]} skipped, {counts["crash"]} crash, {counts["hang"]} hang')
    print(f'{counts["passed"]} passed, {len(rows) - counts["passed"]} failed')
    return 1 if share < options.least or counts['crash'] else 0


if __name__ == '__main__':
    sys.exit(main())
