#!/usr/bin/env python3
"""The notebooks of scripts/examples/notebooks without Jupyter: their form, and what their cells print.

Usage: tests/notebooks.py [--tsr build/release/tsr] [--python PYTHON...] [WORD...]
The code cells run in their order as one program, through tsr and through the first of the PYTHONs that has PyTorch and NumPy. Each
cell has to print what the file keeps of it. Tags say what a cell needs:
  tessera            what only Tessera has; CPython does not get it, and cells with a `:command` neither of both
  environment        prints what depends on the machine: it runs, and what it prints is not compared
  raises-exception   has to raise the error that the file keeps
"""
import argparse
import ast
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'scripts' / 'examples' / 'notebooks'
MARK = '\x1e'   # stands before each cell's number in what a program prints

PROGRAM_START = f'''def _show_result(value):
    if value is not None:
        print(repr(value))
'''


def text_of(value):
    return value if isinstance(value, str) else ''.join(value)


def tags_of(cell):
    return cell['metadata'].get('tags', [])


def read_notebook(path):
    return json.loads(path.read_text(encoding='utf-8'))


# ---- the form ----

def problems_of_form(notebook):
    """What nbformat 4.5 asks for, and that the outputs are those of one run from top to bottom."""
    if (notebook['nbformat'], notebook['nbformat_minor']) != (4, 5):
        yield 'not nbformat 4.5'
    if notebook['metadata'].get('kernelspec', {}).get('name') != 'tessera':
        yield 'its kernel is not "tessera"'
    if 'name' not in notebook['metadata'].get('language_info', {}):
        yield 'no language_info'
    ids = [cell.get('id', '') for cell in notebook['cells']]
    yield from (f'id {i!r}' for i in ids if not re.fullmatch(r'[a-zA-Z0-9_-]{1,64}', i))
    yield from (f'id {i!r} twice' for i in sorted(set(ids)) if ids.count(i) > 1)
    cells = [cell for cell in notebook['cells'] if cell['cell_type'] == 'code']
    if [cell['execution_count'] for cell in cells] != list(range(1, len(cells) + 1)):
        yield 'the cells were not run from top to bottom'
    for cell in cells:
        raises = any(output['output_type'] == 'error' for output in cell['outputs'])
        if raises and 'raises-exception' not in tags_of(cell):
            yield f'cell {cell["id"]} keeps an error'


# ---- what cells print ----

def with_shown_result(code):
    """The code with its last expression's value printed, as a notebook does; not behind a semicolon."""
    body = ast.parse(code).body
    if not body or not isinstance(body[-1], ast.Expr):
        return code
    lines = code.encode().splitlines(keepends=True)   # ast counts bytes
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    value = body[-1].value
    begin, end = starts[value.lineno - 1] + value.col_offset, starts[value.end_lineno - 1] + value.end_col_offset
    whole = b''.join(lines)
    if whole[end:].lstrip().startswith(b';'):
        return code
    return (whole[:begin] + b'_show_result(' + whole[begin:end] + b')' + whole[end:]).decode()


def program_of(notebook, is_tessera):
    """Its cells as one program, and those that are in it."""
    program, cells = [PROGRAM_START], []
    for cell in notebook['cells']:
        code, tags = text_of(cell['source']), tags_of(cell)
        if cell['cell_type'] != 'code' or re.search(r'^[:%!]', code, re.M) or ('tessera' in tags and not is_tessera):
            continue
        code = with_shown_result(code)
        if 'raises-exception' in tags or 'environment' in tags:
            code = f'try:\n{textwrap.indent(code, "    ")}\nexcept Exception as _error:\n    print(f"{{type(_error).__name__}}: {{_error}}")'
        program += [f'print({MARK + cell["id"]!r})', code]
        cells.append(cell)
    return '\n'.join(program) + '\n', cells


def kept_text(cell):
    """What the file says that the cell printed, its result and its error."""
    text = ''
    for output in cell['outputs']:
        if output['output_type'] == 'stream' and output['name'] == 'stdout':
            text += text_of(output['text'])
        elif output['output_type'] == 'execute_result':
            text += text_of(output['data']['text/plain']) + '\n'
        elif output['output_type'] == 'error':
            text += f'{output["ename"]}: {output["evalue"]}\n'
    return text


def problems_of_run(notebook, command, is_tessera):
    program, cells = program_of(notebook, is_tessera)
    try:
        run = subprocess.run([*command, '-'], input=program, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        yield 'still running after two minutes'
        return
    if run.returncode != 0:
        yield f'exit status {run.returncode}: {run.stderr.strip()[-400:]}'
    printed = dict(part.split('\n', 1) for part in run.stdout.split(MARK)[1:])
    for cell in cells:
        if 'environment' in tags_of(cell) or cell['id'] not in printed:
            continue
        want, got = kept_text(cell), printed[cell['id']]
        if want != got:
            yield f'cell {cell["id"]} printed\n{textwrap.indent(got, "    ")}  and the file has\n{textwrap.indent(want, "    ")}'


def has_torch(python):
    try:
        return subprocess.run([python, '-c', 'import torch, numpy'], capture_output=True).returncode == 0
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('words', nargs='*', help='only notebooks whose name contains one of these')
    parser.add_argument('--tsr', default='build/release/tsr')
    parser.add_argument('--python', nargs='*', default=[], help='CPythons that may have PyTorch')
    options = parser.parse_args()
    checks = [('form', problems_of_form), ('tsr', lambda n: problems_of_run(n, [options.tsr], True))]
    peer = next((p for p in options.python if p and has_torch(p)), None)
    if peer:
        checks.append(('CPython', lambda n: problems_of_run(n, [peer], False)))
    else:
        print('skipped, no PyTorch to compare with')
    passed = failed = 0
    for path in sorted(FOLDER.glob('*.ipynb')):
        if options.words and not any(word in path.name for word in options.words):
            continue
        for name, check in checks:
            problems = list(check(read_notebook(path)))
            passed, failed = passed + (not problems), failed + bool(problems)
            if problems:
                print(f'FAILED {path.name}, {name}: ' + '\n  '.join(problems))
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
