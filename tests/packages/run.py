#!/usr/bin/env python3
"""Runs programs that use packages from PyPI under tsr and under CPython with PyTorch, and compares what they print.

    run.py --list                                     the table of packages
    run.py --tsr build/release/tsr                    all of them; CPython is --peer or $PEER
    run.py --tsr build/release/tsr --only einops      those whose name is given, or several with commas
    run.py --tsr build/release/tsr --write docs/packages.md    also writes the table of results into that page

packages.tsv has a line for each package: its name; the distributions that pip installs for it, each pinned; those that only CPython gets,
because they have compiled parts (under tsr the package has to do without, or Tessera has a module of its own); and the reason if it is not
expected to pass. programs/NAME.tsr is the program. Each distribution is installed without its dependencies into a folder of its own outside
of the repository ($TESSERA_PACKAGES, by default /tmp/tessera-packages), once; torch and numpy are never among them.

Exit status 1 if a package without a reason does not pass, or one with a reason does.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(os.environ.get('TESSERA_PACKAGES', '/tmp/tessera-packages'))
BEGIN, END = '<!-- the table: tests/packages/run.py --write -->', '<!-- end of the table -->'


@dataclasses.dataclass
class Package:
    name: str
    installs: list          # pinned distributions, the package's own first
    peer_only: list         # pinned distributions with compiled parts, which CPython alone gets
    reason: str             # '' if the program is expected to print the same

    @property
    def program(self):
        return HERE / 'programs' / f'{self.name}.tsr'

    @property
    def version(self):
        return self.installs[0].partition('==')[2] if self.installs else ''


@dataclasses.dataclass
class Outcome:
    status: str             # 'passed', 'stops', 'differs', 'peer stops'
    text: str = ''          # the last line of the error, or the first line that differs

    @property
    def passed(self):
        return self.status == 'passed'


def packages():
    found = []
    for line in (HERE / 'packages.tsv').read_text(encoding='utf-8').splitlines():
        if line and not line.startswith('#'):
            name, installs, peer_only, reason = (line.split('\t') + [''] * 3)[:4]
            found.append(Package(name, installs.split(), peer_only.split(), reason))
    return found


def install(distribution, python):
    """The folder of one pinned distribution; filled by pip if it is not there yet."""
    folder = FOLDER / distribution
    if not folder.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
        command = [python, '-m', 'pip', 'install', '--quiet', '--no-deps', '--no-compile', '--disable-pip-version-check', '--target', str(unfinished), distribution]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(unfinished)
            raise SystemExit(f'{distribution}: {last_line(done.stderr)}')
        unfinished.chmod(0o755)
        try:
            unfinished.rename(folder)
        except OSError:  # another package's check has installed it meanwhile
            shutil.rmtree(unfinished)
    return folder


def last_line(text):
    """The line of a traceback that names the error: the last one that is not indented and begins with a class."""
    lines = [s for s in text.splitlines() if s.strip()]
    named = [s for s in lines if re.match(r'[A-Za-z_][\w.]*(Error|Exception|Exit|Warning|Interrupt)\b', s)]
    return (named or lines or [''])[-1]


def run(interpreter, program, folders, seconds):
    """Runs the program in an empty folder, under a name that is no package's: modules beside a program come before the installed ones."""
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, folders)), 'OMP_NUM_THREADS': '1', 'TSR_THREADS': '1', 'COLUMNS': '100',
                   'HF_HUB_OFFLINE': '1', 'PYTHONDONTWRITEBYTECODE': '1', 'MPLBACKEND': 'Agg', 'TOKENIZERS_PARALLELISM': 'false'}
    environment.pop('VIRTUAL_ENV', None)
    with tempfile.TemporaryDirectory() as empty:
        command = [interpreter, shutil.copy(program, pathlib.Path(empty) / 'program_under_test.tsr')]
        try:
            return subprocess.run(command, cwd=empty, env={**environment, 'HOME': empty}, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, '', f'TimeoutError: no end after {seconds} s')


def first_difference(ours, theirs):
    ours, theirs = ours.splitlines(), theirs.splitlines()
    for number, (a, b) in enumerate(zip(ours + [''] * len(theirs), theirs + [''] * len(ours)), 1):
        if a != b:
            return f'line {number}: {a!r}, CPython: {b!r}'
    return 'the ends of lines differ'


def expected(package, options):
    """What CPython prints, which is kept beside the installed distributions, because it changes with the program and the table alone."""
    program = package.program.read_text(encoding='utf-8')
    key = '\n'.join([program, *package.installs, *package.peer_only, options.peer])
    kept = FOLDER / 'expected' / package.name
    if kept.exists() and not options.fresh:
        text = kept.read_text(encoding='utf-8')
        if text.startswith(key + '\0'):
            return Outcome('passed', text[len(key) + 1:])
    folders = [install(s, options.pip) for s in package.installs + package.peer_only]
    done = run(options.peer, package.program, folders, options.timeout)
    if done.returncode != 0:
        return Outcome('peer stops', last_line(done.stderr))
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(key + '\0' + done.stdout, encoding='utf-8')
    return Outcome('passed', done.stdout)


def check(package, options):
    folders = [install(s, options.pip) for s in package.installs]
    theirs = expected(package, options)
    if not theirs.passed:
        return theirs
    ours = run(options.tsr, package.program, folders, options.timeout)
    if options.verbose and ours.returncode != 0:
        print(ours.stdout[-2000:], ours.stderr[-6000:], sep='\n')
    if ours.returncode != 0:
        return Outcome('stops', last_line(ours.stderr) if ours.returncode > 0 else f'signal {-ours.returncode}')
    if ours.stdout != theirs.text:
        return Outcome('differs', first_difference(ours.stdout, theirs.text))
    return Outcome('passed')


def write_page(page, results):
    lines = [f'{sum(o.passed for _, o in results)} of {len(results)} print what CPython with PyTorch prints.', '', '| package | version | |', '| --- | --- | --- |']
    for package, outcome in results:
        lines.append(f'| {package.name} | {package.version} | {"the same" if outcome.passed else package.reason or outcome.status} |')
    path = pathlib.Path(page)
    before, _, rest = path.read_text(encoding='utf-8').partition(BEGIN)
    path.write_text(before + BEGIN + '\n\n' + '\n'.join(lines) + '\n\n' + END + rest.partition(END)[2], encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--list', action='store_true', help='print the table of packages')
    parser.add_argument('--tsr', help='the program to test')
    parser.add_argument('--peer', default=os.environ.get('PEER'), help='a CPython that has PyTorch and numpy')
    parser.add_argument('--pip', help='a CPython with pip (default: the peer)')
    parser.add_argument('--only', help='names, separated by commas')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=int, default=300, help='seconds for one program')
    parser.add_argument('--fresh', action='store_true', help='run CPython again, also where its output is kept')
    parser.add_argument('--verbose', action='store_true', help='show the end of what a program that stops wrote')
    parser.add_argument('--write', metavar='PAGE', help='write the table of results into this page')
    options = parser.parse_args()
    table = [p for p in packages() if not options.only or p.name in options.only.split(',')]
    if options.list:
        for package in table:
            print(f'{package.name:28}{package.version:20}{package.reason}')
        return 0
    if not options.tsr or not options.peer:
        parser.error('--tsr and --peer (or $PEER) are needed')
    options.tsr = str(pathlib.Path(options.tsr).resolve())
    options.pip = options.pip or options.peer
    with ThreadPoolExecutor(options.jobs) as pool:
        results = []
        for package, outcome in zip(table, pool.map(lambda p: check(p, options), table)):
            results.append((package, outcome))
            print(f'{package.name:28}{outcome.status:12}{outcome.text[:200] if not outcome.passed else ""}', flush=True)
    print(f'{sum(o.passed for _, o in results)} of {len(results)} passed')
    if options.write:
        write_page(options.write, results)
    return 1 if any(o.passed == bool(p.reason) for p, o in results) else 0


if __name__ == '__main__':
    sys.exit(main())
