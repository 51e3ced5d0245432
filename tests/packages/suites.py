#!/usr/bin/env python3
"""Runs packages' own test suites under tsr, by pytest, which is a package itself, and counts the tests that pass.

    suites.py --tsr build/release/tsr                   all suites; CPython is --peer or $PEER
    suites.py --tsr build/release/tsr --only toolz      those whose name is given, or several with commas
    suites.py --tsr build/release/tsr --only toolz --failing    also prints the tests that fail, with the last lines of their reports
    suites.py --tsr build/release/tsr --write docs/packages.md  also writes the table of results into that page

suites.tsv has a line for each suite: its name; the pinned source distribution whose tests are run; the pinned distributions that both
interpreters get; those that only CPython gets, because they have compiled parts; the files of tests, as patterns in the source
distribution, a folder is run as a whole; what pytest is told besides, and NAME=value of the environment; files and tests left out, each
as FILE=reason or FILE::TEST=reason, separated by ';'. Each file is a process of its own, in a copy of the source distribution. Counted
are the tests that pass under CPython; their outcomes there are kept beside the installed distributions, and run again with --fresh.
"""
import argparse
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor

from run import FOLDER, HERE, install

BEGIN, END = '<!-- the suites: tests/packages/suites.py --write -->', '<!-- end of the suites -->'
PYTEST = ['pytest==9.2.0', 'pluggy==1.7.0', 'iniconfig==2.3.1', 'packaging==26.4', 'pygments==2.21.0']
PLUGIN = '''
import os

def pytest_runtest_logreport(report):
    if report.when == 'call' or report.outcome != 'passed':
        text = '' if report.outcome == 'passed' else str(report.longrepr).strip()[-600:]
        with open(os.environ['SUITE_REPORT'], 'a', encoding='utf-8', errors='replace') as file:
            print(report.nodeid.encode('unicode_escape').decode(), report.outcome, text.encode('unicode_escape').decode(), sep='\\t', file=file)
'''


@dataclasses.dataclass
class Suite:
    name: str
    source: str          # the pinned source distribution
    installs: list
    peer_only: list
    patterns: list
    arguments: list      # of pytest, and NAME=value of the environment
    left_out: dict       # reasons by file or test

    @property
    def version(self):
        return self.source.partition('==')[2]

    def files(self):
        root = source_of(self.source)
        found = sorted({p for pattern in self.patterns for p in root.glob(pattern)})
        return [str(p.relative_to(root)) for p in found if str(p.relative_to(root)) not in self.left_out]


def suites():
    found = []
    for line in (HERE / 'suites.tsv').read_text(encoding='utf-8').splitlines():
        if line and not line.startswith('#'):
            name, source, installs, peer_only, patterns, arguments, left_out = (line.split('\t') + [''] * 6)[:7]
            reasons = dict(part.split('=', 1) for part in left_out.split(';') if part)
            found.append(Suite(name, source, installs.split(), peer_only.split(), patterns.split(), arguments.split(), reasons))
    return found


def source_of(distribution, python=sys.executable):
    """The folder of an unpacked source distribution, fetched by pip if it is not there yet."""
    folder = FOLDER / 'sources' / distribution
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            name = distribution.partition('==')[0]
            subprocess.run([python, '-m', 'pip', 'download', '--quiet', '--no-deps', '--no-binary', name, '--disable-pip-version-check',
                            '--dest', unfinished, distribution], check=True)
            archive, = pathlib.Path(unfinished).iterdir()
            with tarfile.open(archive) as packed:
                packed.extractall(pathlib.Path(unfinished) / 'unpacked', filter='data')
            inner, = (pathlib.Path(unfinished) / 'unpacked').iterdir()
            inner.rename(folder)
    return folder


def run_file(interpreter, suite, file, folders, seconds):
    """The outcomes of the tests of one file: {test: (outcome, report)}. A process that ends early is told of under the name of the file."""
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        (place / 'plugin').mkdir()
        (place / 'plugin' / 'suite_report.py').write_text(PLUGIN)
        report = place / 'report'
        report.touch()
        needs_src = any(p.startswith('src') for p in suite.patterns)  # else the installed package is tested
        source = shutil.copytree(source_of(suite.source), place / 'source', ignore=None if needs_src else shutil.ignore_patterns('src'))
        environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, [*folders, place / 'plugin'])), 'SUITE_REPORT': str(report),
                       'OMP_NUM_THREADS': '1', 'TSR_THREADS': '1', 'PYTHONDONTWRITEBYTECODE': '1', 'MPLBACKEND': 'Agg', 'HOME': str(place),
                       **dict(a.split('=', 1) for a in suite.arguments if a.partition('=')[0].isupper())}
        environment.pop('VIRTUAL_ENV', None)
        command = [interpreter, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'suite_report', '--tb=short', '-c', os.devnull,
                   '--rootdir', str(source), *[a for a in suite.arguments if a.startswith('-')],
               *[f'--deselect={test}' for test in suite.left_out if '::' in test], file]
        try:
            done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)
            ended, text = done.returncode in (0, 1, 5), (done.stdout + done.stderr)[-1500:]
        except subprocess.TimeoutExpired as e:
            ended, text = False, f'no end after {seconds} s ' + str(e.stdout)[-500:]
        outcomes = {}
        for line in report.read_text(encoding='utf-8').splitlines():
            test, outcome, message = line.split('\t')
            if outcomes.get(test, ('passed',))[0] == 'passed':
                outcomes[test] = (outcome, message)
        if not ended:
            outcomes[file] = ('failed', text)
        return outcomes


def expected(suite, file, options):
    kept = FOLDER / 'expected' / 'suites' / suite.source / (file.replace('/', '+') + '.tsv')
    if not kept.exists() or options.fresh:
        folders = [install(s, options.pip) for s in suite.installs + suite.peer_only + PYTEST]
        outcomes = run_file(options.peer, suite, file, folders, options.timeout * 2)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(''.join(f'{test}\t{outcome}\n' for test, (outcome, _) in outcomes.items()), encoding='utf-8')
    return dict(line.split('\t') for line in kept.read_text(encoding='utf-8').splitlines())


def check(suite, file, options):
    """(counted, passed, [(test, report)] of those that fail)."""
    theirs = expected(suite, file, options)
    counted = [test for test, outcome in theirs.items() if outcome == 'passed' and test not in suite.left_out]
    if not counted:
        return 0, 0, []
    folders = [install(s, options.pip) for s in suite.installs + PYTEST]
    ours = run_file(options.tsr, suite, file, folders, options.timeout)
    failing = [(test, ours.get(test, ('not run', ours.get(file, ('', ''))[1]))) for test in counted if ours.get(test, ('',))[0] != 'passed']
    return len(counted), len(counted) - len(failing), failing


def write_page(page, results):
    """Rows of suites that were not run stay."""
    path = pathlib.Path(page)
    before, _, rest = path.read_text(encoding='utf-8').partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = {line.split(' ')[1]: line for line in table.splitlines() if line.startswith('| ')}
    for suite, counted, passed in results:
        reasons = '; '.join(f'`{file}`: {reason}' for file, reason in suite.left_out.items())
        rows[suite.name] = f'| {suite.name} | {suite.version} | {counted} | {100 * passed / max(counted, 1):.1f} % | {reasons} |'
    lines = ['| package | version | tests | pass | left out |', '| --- | --- | --- | --- | --- |', *(rows[s.name] for s in suites() if s.name in rows)]
    path.write_text(before + BEGIN + '\n\n' + '\n'.join(lines) + '\n\n' + END + after, encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True, help='the program to test')
    parser.add_argument('--peer', default=os.environ.get('PEER'), help='a CPython that has PyTorch and numpy')
    parser.add_argument('--pip', help='a CPython with pip (default: the peer)')
    parser.add_argument('--only', help='names, separated by commas')
    parser.add_argument('--file', help='only files whose name contains this')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=int, default=120, help='seconds for one file')
    parser.add_argument('--fresh', action='store_true', help='run CPython again')
    parser.add_argument('--failing', action='store_true', help='print the tests that fail')
    parser.add_argument('--write', metavar='PAGE', help='write the table of results into this page')
    options = parser.parse_args()
    if not options.peer:
        parser.error('--peer (or $PEER) is needed')
    options.tsr = str(pathlib.Path(options.tsr).resolve())
    options.pip = options.pip or options.peer
    results = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for suite in suites():
            if options.only and suite.name not in options.only.split(','):
                continue
            source_of(suite.source, options.pip)
            files = [f for f in suite.files() if not options.file or options.file in f]
            outcomes = list(pool.map(lambda f: check(suite, f, options), files))
            counted, passed = sum(o[0] for o in outcomes), sum(o[1] for o in outcomes)
            results.append((suite, counted, passed))
            print(f'{suite.name:24}{passed:6} of {counted:6}  {100 * passed / max(counted, 1):5.1f} %', flush=True)
            if options.write:
                write_page(options.write, results)
            for _, _, failing in outcomes if options.failing else ():
                for test, (outcome, text) in failing:
                    print(f'  {outcome} {test}: {text.encode().decode("unicode_escape", "replace")[-400:]!r}')
    print(f'{sum(r[2] for r in results)} of {sum(r[1] for r in results)} passed')
    return 0


if __name__ == '__main__':
    sys.exit(main())
