"""What the runners of cases share (tests/repl, tests/kernel, tests/page): they find, run and count them.

Cases are the functions test_* of the files cases_*.py beside a runner, called with its Case. A word selects those whose "file.name" contains it.
Those named test_timed_* run last, alone. The last line is `N passed, N failed`.
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


class Skip(Exception):
    """A case that cannot be tried here; the text says why."""


class Case:
    """What a case is given: the program, the runner's options and a folder of its own."""

    def __init__(self, program, options):
        self.program, self.options, self.said = program, options, []
        self.folder = tempfile.mkdtemp(prefix='tsr-case-')

    def say(self, text):
        """Shown with the case's name, whether it passes or not."""
        self.said.append(text)

    def skip(self, why):
        raise Skip(why)

    def close(self):
        """Ends what the case has begun; returns what is wrong with how that ended, or None."""
        shutil.rmtree(self.folder, ignore_errors=True)


def find(folder, words):
    """(module, function, title) of each case."""
    sys.path.insert(0, str(folder))
    for path in sorted(folder.glob('cases_*.py')):
        for name, found in vars(importlib.import_module(path.stem)).items():
            title = f'{path.stem[6:]}.{name[5:]}'
            if name.startswith('test_') and callable(found) and (not words or any(word in title for word in words)):
                yield path.stem, name, title


def run(make, program, options, module, name):
    """(what went wrong or None, the reason to skip or None, seconds, what was said)"""
    begin, problem, skipped, case = time.perf_counter(), None, None, None
    try:
        case = make(program, options)
        getattr(importlib.import_module(module), name)(case)
    except Skip as reason:
        skipped = str(reason)
    except BaseException:  # a failed expectation and a broken case alike
        problem = traceback.format_exc(limit=-4)
    finally:
        ended = case.close() if case is not None else None
    if ended:
        problem = (problem or '') + ended
    return problem, skipped, time.perf_counter() - begin, case.said if case else []


def options_of(description, program, jobs):
    """The options that all runners have; `program` is one of the release build."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    release = pathlib.Path(__file__).resolve().parent.parent / 'build/release'
    options.add_argument('--program', '--tsr', default=str(release / program))
    options.add_argument('--jobs', type=int, default=jobs)
    options.add_argument('--times', action='store_true', help='list the time of each case')
    options.add_argument('words', nargs='*')
    return options


def main(make, folder, options):
    """Runs the cases of the folder, each with make(program, options); the exit status."""
    program, passed, failed = os.path.abspath(options.program), 0, 0

    def report(title, result):
        nonlocal passed, failed
        problem, skipped, seconds, said = result
        for line in said:
            print(f'{title}: {line}')
        if skipped is not None:
            print(f'skipped, {skipped}: {title}')
            return
        passed, failed = passed + (problem is None), failed + (problem is not None)
        if problem is not None:
            print(f'FAILED {title}\n{problem}', flush=True)
        elif options.times:
            print(f'{seconds:7.2f} s  {title}')

    chosen = list(find(folder, options.words))
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        running = [(title, pool.submit(run, make, program, options, module, name)) for module, name, title in chosen
                   if not name.startswith('test_timed_')]
        for title, future in running:
            report(title, future.result())
    for module, name, title in chosen:
        if name.startswith('test_timed_'):
            report(title, run(make, program, options, module, name))
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


def nothing(why):
    """The exit status where no case can be tried."""
    print(f'skipped, {why}\n0 passed, 0 failed')
    return 0
