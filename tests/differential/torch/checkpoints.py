#!/usr/bin/env python3
"""Checkpoints of eleven kinds of models that go from Tessera to PyTorch and back.

    checkpoints.py --tsr build/release/tsr --peer PYTHON_WITH_PYTORCH

checkpoints.tsr saves a model's state, its optimizer's and its scheduler's, the generator's and a few plain values, in the form of
today (zip) and in the one of before PyTorch 1.6. Each side's files are loaded by both sides; all four must print the same.
The last line is `N passed, N failed`.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().with_suffix('.tsr')


def run(command, *words):
    done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=300)
    return done.stdout if done.returncode == 0 else done.stdout + done.stderr


def first_difference(ours, theirs):
    for a, b in zip(ours.split('\n') + [''], theirs.split('\n') + ['']):
        if a != b:
            return f'\n    {a}\n    {b}'
    return ''


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--peer', required=True)
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        as_python = folder / 'checkpoints.py'
        shutil.copy(PROGRAM, as_python)
        sides = {'tsr': [options.tsr, str(PROGRAM)], 'PyTorch': [options.peer, str(as_python)]}
        for form in ('zip', 'old'):
            printed = {}
            for writer, write in sides.items():
                files = folder / f'{writer}_{form}'
                files.mkdir()
                said = run(write, 'save', str(files), form)
                for reader, read in sides.items():
                    printed[f'{form}: saved by {writer}, loaded by {reader}'] = said + run(read, 'load', str(files))
            wanted = printed[f'{form}: saved by PyTorch, loaded by PyTorch']
            for what, text in printed.items():
                good = text == wanted and text.count('matched successfully') == 11
                passed, failed = passed + good, failed + (not good)
                if not good:
                    print(f'{what}: differs{first_difference(text, wanted)}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
