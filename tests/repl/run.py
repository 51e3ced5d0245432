#!/usr/bin/env python3
"""Sessions at a terminal: keys in, screen out. tests/repl/run.py --tsr TSR [WORD...]

Cases are the functions test_* of tests/repl/cases_*.py, called with a Case (below). A word selects those whose "file.name"
contains it. Those named test_timed_* run last, alone. The last line is `N passed, N failed`.
"""
import argparse
import concurrent.futures
import importlib
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import driver  # noqa: E402


class Skip(Exception):
    """A case that cannot be tried here; the text says why."""


class Case:
    """What a case is given: the program, a folder of its own, and sessions that are closed after it."""

    def __init__(self, tsr, folder):
        self.tsr, self.folder = tsr, folder
        self.sessions = []

    def session(self, *args, **options):
        options.setdefault('folder', self.folder)
        session = driver.Session(self.tsr, args, **options)
        self.sessions.append(session)
        return session

    def skip(self, why):
        raise Skip(why)

    def close(self):
        for session in self.sessions:
            session.close()


def cases(words):
    for path in sorted(HERE.glob('cases_*.py')):
        module = importlib.import_module(path.stem)
        for name, found in vars(module).items():
            title = f'{path.stem[6:]}.{name[5:]}'
            if name.startswith('test_') and callable(found) and (not words or any(word in title for word in words)):
                yield path.stem, name, title


def run_case(tsr, module, name):
    """(what went wrong or None, the reason to skip or None, seconds)"""
    folder = tempfile.mkdtemp(prefix='tsr-repl-')
    begin, problem, skipped = time.perf_counter(), None, None
    case = Case(tsr, folder)
    try:
        getattr(importlib.import_module(module), name)(case)
    except Skip as reason:
        skipped = str(reason)
    except Exception:  # a failed expectation and a broken case alike
        problem = traceback.format_exc(limit=-3)
    finally:
        case.close()
        shutil.rmtree(folder, ignore_errors=True)
    return problem, skipped, time.perf_counter() - begin


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument('--tsr', default=str(HERE.parent.parent / 'build/release/tsr'))
    options.add_argument('--jobs', type=int, default=4)
    options.add_argument('--slow', action='store_true', help='list the time of each case')
    options.add_argument('words', nargs='*')
    given = options.parse_args()
    tsr = os.path.abspath(given.tsr)
    if driver.pyte is None:
        print('skipped, no terminal emulator: python3-pyte is not installed (scripts/setup)')
        print('0 passed, 0 failed')
        return 0
    passed = failed = 0

    def report(title, result):
        nonlocal passed, failed
        problem, skipped, seconds = result
        if skipped is not None:
            print(f'skipped, {skipped}: {title}')
            return
        passed, failed = passed + (problem is None), failed + (problem is not None)
        if problem is not None:
            print(f'FAILED {title}\n{problem}', flush=True)
        elif given.slow:
            print(f'{seconds:7.2f} s  {title}')

    chosen = list(cases(given.words))
    with concurrent.futures.ProcessPoolExecutor(given.jobs) as pool:
        running = [(title, pool.submit(run_case, tsr, module, name)) for module, name, title in chosen if not name.startswith('test_timed_')]
        for title, future in running:
            report(title, future.result())
    for module, name, title in chosen:
        if name.startswith('test_timed_'):
            report(title, run_case(tsr, module, name))
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
