#!/usr/bin/env python3
"""The Jupyter kernel, asked as Jupyter asks it. tests/kernel/run.py --tsr TSR [WORD...]

Cases are the functions test_* of tests/kernel/cases_*.py, called with a Case (below). A word selects those whose "file.name"
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
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
NEEDED = ('jupyter_client', 'jupyter_kernel_test', 'nbclient', 'nbformat')


class Skip(Exception):
    """A case that cannot be tried here; the text says why."""


class Case:
    """What a case is given: the program, a folder of its own, and kernels that are ended after it."""

    def __init__(self, tsr, folder, slow):
        import driver
        self.driver, self.tsr, self.folder, self.slow = driver, tsr, folder, slow
        self.env = driver.install(tsr, folder)
        self.kernels, self.said = [], []

    def kernel(self, **env):
        kernel = self.driver.Kernel(self.env, **env)
        self.kernels.append(kernel)
        return kernel

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w') as file:
            file.write(text)
        return path

    def say(self, text):
        self.said.append(text)

    def skip(self, why):
        raise Skip(why)

    def close(self):
        for kernel in self.kernels:
            if not kernel.log.closed:
                kernel.close()


def cases(words):
    for path in sorted(HERE.glob('cases_*.py')):
        module = importlib.import_module(path.stem)
        for name, found in vars(module).items():
            title = f'{path.stem[6:]}.{name[5:]}'
            if name.startswith('test_') and callable(found) and (not words or any(word in title for word in words)):
                yield path.stem, name, title


def run_case(tsr, module, name, slow):
    """(what went wrong or None, the reason to skip or None, seconds, what was said)"""
    warnings.simplefilter('ignore')
    folder = tempfile.mkdtemp(prefix='tsr-kernel-test-')
    begin, problem, skipped, case = time.perf_counter(), None, None, None
    try:
        case = Case(tsr, folder, slow)
        getattr(importlib.import_module(module), name)(case)
    except Skip as reason:
        skipped = str(reason)
    except BaseException:  # a failed expectation and a broken case alike
        problem = traceback.format_exc(limit=-4)
    finally:
        if case is not None:
            case.close()
        shutil.rmtree(folder, ignore_errors=True)
    return problem, skipped, time.perf_counter() - begin, case.said if case else []


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument('--tsr', default=str(HERE.parent.parent / 'build/release/tsr'))
    options.add_argument('--jobs', type=int, default=3)
    options.add_argument('--slow', type=float, default=1, help='so many times as long as usual may everything take')
    options.add_argument('--times', action='store_true', help='list the time of each case')
    options.add_argument('words', nargs='*')
    given = options.parse_args()
    tsr = os.path.abspath(given.tsr)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f'skipped, python3 has no {", ".join(missing)} (scripts/setup)')
        print('0 passed, 0 failed')
        return 0
    passed = failed = 0

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
        elif given.times:
            print(f'{seconds:7.2f} s  {title}')

    chosen = list(cases(given.words))
    with concurrent.futures.ProcessPoolExecutor(given.jobs) as pool:
        running = [(title, pool.submit(run_case, tsr, module, name, given.slow)) for module, name, title in chosen
                   if not name.startswith('test_timed_')]
        for title, future in running:
            report(title, future.result())
    for module, name, title in chosen:
        if name.startswith('test_timed_'):
            report(title, run_case(tsr, module, name, given.slow))
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    import importlib.util
    sys.exit(main())
