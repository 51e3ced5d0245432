#!/usr/bin/env python3
"""Runs the examples of docs/ops and compares what they print: check_op_examples.py --tsr build/release/tsr

With `--tsr PYTHON` of a Python that has PyTorch it shows where the documentation and PyTorch part.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

PAGES = pathlib.Path(__file__).resolve().parent.parent / 'docs' / 'ops'
EXAMPLE = re.compile(r'^## (\S+)\n(?:(?!^## ).*\n)*?```\n((?:>>> .*\n)+)((?:(?!```).*\n)*)```', re.M)
MARK = '--example--'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tsr', default='build/release/tsr')
    args = parser.parse_args()
    examples = [found for page in sorted(PAGES.glob('*.md')) for found in EXAMPLE.findall(page.read_text())]
    program = ['import torch']
    for _, code, _ in examples:
        *before, last = [line[4:] for line in code.splitlines()]
        body = '\n    '.join([*before, f'print(repr({last}))'])
        program.append(f'print("{MARK}")\ntry:\n    {body}\nexcept Exception as e:\n    print(type(e).__name__, e)')
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / 'examples.tsr'
        script.write_text('\n'.join(program) + '\n')
        printed = subprocess.run([args.tsr, script], capture_output=True, text=True, timeout=300)
    got = printed.stdout.split(MARK + '\n')[1:]
    wrong = 0
    for (name, code, expected), actual in zip(examples, got):
        if actual.strip() != expected.strip():
            wrong += 1
            print(f'{name}\n{code}expected\n{expected}got\n{actual}')
    if printed.returncode or len(got) != len(examples) or not examples:
        wrong += 1
        print(printed.stderr)
    print(f'{len(examples) - wrong} passed, {wrong} failed')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
