#!/usr/bin/env python3
"""The page's server and its worker: messages in, messages out. tests/page/run.py --program TSR_PAGE [WORD...]

Cases are the functions test_* of tests/page/cases_*.py, called with a Case (below). A word selects those whose "file.name"
contains it. Those named test_timed_* run last, alone. The last line is `N passed, N failed`.
"""
import argparse
import concurrent.futures
import importlib
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import client  # noqa: E402


class Skip(Exception):
    """A case that cannot be tried here; the text says why."""


class Case:
    """What a case is given: the program, a folder of its own, servers that are ended after it."""

    def __init__(self, program, slow):
        self.program, self.slow = program, slow  # slow: of a sanitizer's build, times are not looked at
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='tsr-page-'))
        self.state = self.folder / '.state'
        self.state.mkdir()
        self.servers = []

    def server(self, *args, **options):
        options.setdefault('state', self.state)
        options.setdefault('folder', self.folder)
        server = client.Server(self.program, options.pop('folder'), *args, **options)
        self.servers.append(server)
        return server

    def tab(self, *args, **options):
        return self.server(*args, **options).tab()

    def file(self, name, text=''):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding='utf-8')
        return path

    def skip(self, why):
        raise Skip(why)

    def close(self):
        said = ''
        for server in self.servers:
            server.end()
            said += server.said()
        shutil.rmtree(self.folder, ignore_errors=True)
        return said


def cases(words):
    for path in sorted(HERE.glob('cases_*.py')):
        module = importlib.import_module(path.stem)
        for name, found in vars(module).items():
            title = f'{path.stem[6:]}.{name[5:]}'
            if name.startswith('test_') and callable(found) and (not words or any(word in title for word in words)):
                yield path.stem, name, title


def run_case(program, slow, module, name):
    """(what went wrong or None, the reason to skip or None, seconds)"""
    begin, problem, skipped = time.perf_counter(), None, None
    case = Case(program, slow)
    try:
        getattr(importlib.import_module(module), name)(case)
    except Skip as reason:
        skipped = str(reason)
    except Exception:  # a failed expectation and a broken case alike
        problem = traceback.format_exc(limit=-3)
    said = case.close()
    for word in ('Sanitizer', 'runtime error'):
        if word in said:
            problem = (problem or '') + said[:4000]
    return problem, skipped, time.perf_counter() - begin


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument('--program', default=str(HERE.parent.parent / 'build/release/tsr-page'))
    options.add_argument('--jobs', type=int, default=2)
    options.add_argument('--sanitized', action='store_true', help='no times are looked at')
    options.add_argument('--slow', action='store_true', help='list the time of each case')
    options.add_argument('words', nargs='*')
    given = options.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    found = list(cases(given.words))
    timed = [case for case in found if case[1].startswith('test_timed_')]
    rest = [case for case in found if case not in timed]
    passed = failed = 0

    def report(title, outcome):
        nonlocal passed, failed
        problem, skipped, seconds = outcome
        if skipped:
            print(f'{title} skipped: {skipped}')
        elif problem:
            failed += 1
            print(f'{title} FAILED\n{problem}')
        else:
            passed += 1
            if given.slow:
                print(f'{seconds:7.2f} s  {title}')

    with concurrent.futures.ProcessPoolExecutor(given.jobs) as pool:
        running = [(title, pool.submit(run_case, program, given.sanitized, module, name)) for module, name, title in rest]
        for title, future in running:
            report(title, future.result())
    for module, name, title in timed:
        report(title, run_case(program, given.sanitized, module, name))
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
