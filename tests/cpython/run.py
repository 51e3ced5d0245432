#!/usr/bin/env python3
"""Runs the test methods of CPython 3.11's own suite, each cut out as a program of its own, under CPython and under tsr.

    tests/cpython/run.py --tsr build/release/tsr [--jobs 2] [--list] [--table FILE] [--whole] [NAME...]

NAME selects files (`test_abc`) or methods (`test_abc.TestABC.test_x`); without one, all files that skipped.tsv does not name. The suite is
Debian's libpython3.11-testsuite; nothing of it lies in this repository. A method counts if CPython passes its program (skipped ones do
not count). What CPython answered is kept in --cache, by the text of the program.

Methods marked `cpython_only` by the suite itself test details of CPython's implementation; the stand-in of `test.support` skips them.
Methods whose program imports one of CPython's test modules in C (`_testcapi`, ...) test its C API; they are left out and counted.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SUITE = pathlib.Path('/usr/lib/python3.11/test')
sys.path.insert(0, str(HERE))
import cut  # noqa: E402

LIST_TESTS = '''
import importlib, sys, unittest
module = importlib.import_module(sys.argv[1])
loader, seen = unittest.TestLoader(), set()
for name in sorted(vars(module), key=lambda n: (getattr(vars(module)[n], "__name__", None) != n, n)):
    value = vars(module)[name]
    if isinstance(value, type) and issubclass(value, unittest.TestCase) and value.__module__ == module.__name__ and value not in seen:
        seen.add(value)
        for method in loader.getTestCaseNames(value):
            print(name, method)
'''


def suite_folder():
    """A folder with a package `test`: our stand-in of test.support, and links to the helpers and data of the suite."""
    top = pathlib.Path(tempfile.mkdtemp(prefix='cpython-suite-'))
    package = top / 'test'
    shutil.copytree(HERE / 'stand_in' / 'test', package)
    for each in SUITE.iterdir():
        if each.name in ('__init__.py', 'support', '__pycache__') or (each.name.startswith('test_') and each.suffix == '.py'):
            continue
        (package / each.name).symlink_to(each)
    return top


def skipped_files():
    rows = (HERE / 'skipped.tsv').read_text(encoding='utf-8').splitlines()
    return {row.split('\t')[0]: row.split('\t')[1] for row in rows if row and not row.startswith('#')}


def files(names):
    found = {}
    for path in sorted(SUITE.glob('test_*')):
        if path.suffix == '.py':
            found[path.stem] = path
        elif path.is_dir() and (path / '__init__.py').exists():
            for inner in sorted(path.glob('test_*.py')):
                found[f'{path.name}.{inner.stem}'] = inner
    if names:
        wanted = {n for n in names}
        return {k: v for k, v in found.items() if any(k == n or n.startswith(k + '.') or k.startswith(n + '.') for n in wanted)}
    left_out = skipped_files()
    return {k: v for k, v in found.items() if k not in left_out and k.split('.')[0] not in left_out}


def environment(folder):
    kept = {k: v for k, v in os.environ.items() if k in ('PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR')}
    return {**kept, 'PYTHONPATH': str(folder), 'PYTHONDONTWRITEBYTECODE': '1', 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC'}


def tests_of(name, folder, python):
    """(class, method) pairs of a file, as unittest finds them, without the ones that are made at run time in another module."""
    path = 'test.' + name
    with tempfile.TemporaryDirectory() as there:
        package = pathlib.Path(there) / 'test'
        shutil.copytree(folder / 'test', package, symlinks=True)
        for each in SUITE.glob('test_*.py'):
            if not (package / each.name).exists():
                (package / each.name).symlink_to(each)
        run = subprocess.run([python, '-c', LIST_TESTS, path], capture_output=True, text=True, env=environment(there), cwd=there, timeout=60)
    return [tuple(line.rsplit(' ', 1)) for line in run.stdout.splitlines() if line.count(' ') == 1], run.stderr


def beside_of(name, text):
    """The programs of the suite that a method starts from the folder of its file: those that its text names."""
    folder = (SUITE / name.replace('.', '/')).parent
    named = sorted(set(re.findall(r"""['"](\w+\.py)['"]""", text)))
    return [folder / each for each in named if not each.startswith('test_') and (folder / each).is_file()]


def limit(memory):
    def apply():
        resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.setsid()
    return apply


def execute(command, folder, timeout, memory=4096):
    """(outcome, last words): passed, failed, skipped, crash, hang."""
    with tempfile.TemporaryDirectory(prefix='cpython-case-') as there:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=there,
                                   env={**environment(folder), 'TMPDIR': there}, preexec_fn=limit(memory))
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 'hang', f'no end in {timeout} s'
    words = [line for line in err.decode('utf-8', 'replace').splitlines() if line.strip()]
    told = [line for line in words if line[:1].isalpha() and ('Error' in line or 'Exception' in line or 'Warning' in line or ':' in line)
            and not line.startswith(('Ran ', 'FAILED', 'ERROR:', 'FAIL:', 'OK', 'Traceback'))]
    last = (told or words or [''])[-1][:200]
    for line in reversed(out.decode('utf-8', 'replace').splitlines()):
        if line.startswith('OUTCOME '):
            return line.split()[1], last
    if process.returncode < 0 or process.returncode in (134, 139):
        return 'crash', f'signal {-process.returncode if process.returncode < 0 else process.returncode - 128}'
    return 'failed', last


class Runner:
    def __init__(self, options):
        self.options = options
        self.folder = suite_folder()
        self.cache = pathlib.Path(options.cache)
        self.cache.mkdir(parents=True, exist_ok=True)
        self.of_c_api = 0

    def oracle(self, program, text, beside):
        """CPython's outcome, which is kept by the text of the program and the names of the files beside it."""
        key = self.cache / hashlib.sha256((text + ' '.join(beside)).encode('utf-8', 'surrogateescape')).hexdigest()[:32]
        if key.exists():
            return key.read_text(encoding='utf-8')
        outcome, words = execute([self.options.python, program], self.folder, self.options.timeout)
        key.write_text(outcome, encoding='utf-8')
        return outcome

    def case(self, name, cutter, cls, method):
        text = cutter.cut(cls, method)
        if text is None:
            return None
        if cut.imports_c_tests(text):
            self.of_c_api += 1
            return None
        with tempfile.TemporaryDirectory(prefix='cpython-program-') as there:
            program = pathlib.Path(there) / (name.split('.')[-1] + '.py')
            program.write_bytes(text.encode('utf-8', 'surrogateescape'))
            beside = beside_of(name, text)
            for each in beside:
                (program.parent / each.name).symlink_to(each)
            if self.oracle(program, text, [each.name for each in beside]) != 'passed':
                return None
            outcome, words = execute([os.path.abspath(self.options.tsr), str(program)], self.folder, self.options.timeout)
        if self.options.keep and outcome != 'passed':
            kept = pathlib.Path(self.options.keep)
            kept.mkdir(parents=True, exist_ok=True)
            (kept / f'{name}.{cls}.{method}.py').write_bytes(text.encode('utf-8', 'surrogateescape'))
        return name, cls, method, outcome, words

    def listed(self, name, path):
        key = self.cache / f'tests-{name}.json'
        if key.exists():
            return json.loads(key.read_text(encoding='utf-8'))
        tests, error = tests_of(name, self.folder, self.options.python)
        if not tests and error:
            print(f'none    {name}: {error.strip().splitlines()[-1][:160]}')
        if tests:
            key.write_text(json.dumps(tests), encoding="utf-8")
        return tests

    def cases(self, names):
        for name, path in files(names).items():
            text = path.read_bytes().decode('utf-8', 'surrogateescape')
            try:
                cutter = cut.Cutter(text)
            except (SyntaxError, UnicodeError) as error:
                print(f'none    {name}: {error}')
                continue
            for cls, method in self.listed(name, path):
                full = f'{name}.{cls}.{method}'
                if not names or any(full == n or full.startswith(n + '.') for n in names):
                    yield name, cutter, cls, method


def table(rows):
    """Markdown: for each file how many methods CPython passes and how many of them tsr does."""
    per = collections.OrderedDict()
    for name, _, _, outcome, _ in sorted(rows):
        good, of = per.get(name, (0, 0))
        per[name] = (good + (outcome == 'passed'), of + 1)
    lines = ['| file | CPython passes | tsr passes | share |', '| --- | ---: | ---: | ---: |']
    lines += [f'| {name} | {of} | {good} | {100 * good / of:.0f} % |' for name, (good, of) in per.items()]
    return '\n'.join(lines) + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--python', default='/usr/bin/python3.11')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=20)
    parser.add_argument('--cache', default='/tmp/tessera-cpython-cache')
    parser.add_argument('--list', action='store_true', help='tell each miss with its last words')
    parser.add_argument('--keep', help='a folder for the programs that do not pass')
    parser.add_argument('--table', help='write the table by file here')
    parser.add_argument('--misses', help='write here a line for each method that does not pass: its name and its last words')
    parser.add_argument('--least', type=float, default=0, help='fail below this share, in percent')
    parser.add_argument('--whole', action='store_true', help='the files of whole.txt, of which every method has to pass')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    if options.whole:
        options.names += (HERE / 'whole.txt').read_text(encoding='utf-8').split()
        options.list, options.least = True, 100
    if not SUITE.is_dir():
        print('skipped: no /usr/lib/python3.11/test (apt install libpython3.11-testsuite)')
        return 0
    runner = Runner(options)
    rows = []
    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for row in pool.map(lambda case: runner.case(*case), runner.cases(options.names)):
                if row is None:
                    continue
                rows.append(row)
                if row[3] in ('crash', 'hang') or (options.list and row[3] != 'passed'):
                    print(f'{row[3]:7} {row[0]}.{row[1]}.{row[2]}: {row[4]}', flush=True)
    finally:
        shutil.rmtree(runner.folder, ignore_errors=True)
    if options.misses:
        lines = [f'{name}.{cls}.{method}\t{outcome}: {words}\n' for name, cls, method, outcome, words in sorted(rows) if outcome != 'passed']
        pathlib.Path(options.misses).write_bytes(''.join(lines).encode('utf-8', 'surrogateescape'))
    text = table(rows)
    if options.table:
        pathlib.Path(options.table).write_bytes(text.encode('utf-8', 'surrogateescape'))
    else:
        print(text)
    counts = collections.Counter(row[3] for row in rows)
    share = 100 * counts['passed'] / max(1, len(rows))
    print(f'{len(rows)} methods: {share:.1f} % pass, {counts["failed"] + counts["skipped"]} fail, {counts["crash"]} crash, {counts["hang"]} hang')
    if runner.of_c_api:
        print(f'{runner.of_c_api} methods left out: their programs import test modules of the C API')
    print(f'{counts["passed"]} passed, {len(rows) - counts["passed"]} failed')
    return 1 if share < options.least or counts['crash'] else 0


if __name__ == '__main__':
    sys.exit(main())
