#!/usr/bin/env python3
"""Runs the notebooks of scripts/examples/notebooks in the Tessera kernel and compares every output with the one in the file.

Usage: tests/kernel/notebooks.py [--kernel build/release/tsr-kernel] [--update] [WORD...]
Streams, results and errors have to be the same text; displays have to have the same forms, pictures the same size. What a cell
tagged `environment` shows depends on the machine: it is not compared. Needs nbclient (Debian: python3-nbclient). --update writes what the
kernel shows into the files, of the cells tagged `environment` only the numbers.
"""
import argparse
import base64
import copy
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'scripts' / 'examples' / 'notebooks'

try:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
except ImportError as error:
    print(f'skipped, {error}: python3-nbclient has it')
    print('0 passed, 0 failed')
    sys.exit(0)


def size_of_png(data):
    """Width and height; None: it is no PNG."""
    picture = base64.b64decode(data)
    if picture[:8] != b'\x89PNG\r\n\x1a\n' or picture[-8:-4] != b'IEND':
        return None
    return struct.unpack('>II', picture[16:24])


def is_environment(cell):
    return 'environment' in cell.metadata.get('tags', [])


def joined_streams(outputs):
    """Output comes in pieces; how many says nothing."""
    whole = []
    for output in outputs:
        if output.output_type == 'stream' and whole and whole[-1].output_type == 'stream' and whole[-1].name == output.name:
            whole[-1].text += output.text
        else:
            whole.append(copy.deepcopy(output))
    return whole


def difference_of_forms(want, got):
    if sorted(want) != sorted(got):
        return f'has the forms {sorted(got)}, and the file {sorted(want)}'
    if want['text/plain'] != got['text/plain']:
        return f'shows\n{got["text/plain"]}\nand the file\n{want["text/plain"]}'
    if 'image/png' in want and (size_of_png(got['image/png']) is None or size_of_png(got['image/png']) != size_of_png(want['image/png'])):
        return f'has a picture of the size {size_of_png(got["image/png"])}, and the file {size_of_png(want["image/png"])}'
    return next((f'has nothing in the form {form}' for form in got if not got[form]), None)


def difference(want, got):
    """Between two outputs; None: there is none."""
    if want.output_type != got.output_type:
        return f'is of the kind {got.output_type}, and the file has {want.output_type}'
    if want.output_type == 'stream':
        return None if (want.name, want.text) == (got.name, got.text) else f'prints\n{got.text}\nand the file\n{want.text}'
    if want.output_type == 'error':
        if (want.ename, want.evalue) != (got.ename, got.evalue):
            return f'is {got.ename}: {got.evalue}, and in the file {want.ename}: {want.evalue}'
        return None if any(got.ename in line for line in got.traceback) else 'has a traceback without its name'
    return difference_of_forms(want.data, got.data)


def compare(kept, run):
    """What differs, a line each."""
    for want, got in zip(kept.cells, run.cells):
        if want.cell_type != 'code' or is_environment(want):
            continue
        wanted, found = joined_streams(want.outputs), joined_streams(got.outputs)
        if len(wanted) != len(found):
            yield f'cell {want.id} has {len(found)} outputs, and the file {len(wanted)}: {[output.output_type for output in found]}'
            continue
        yield from (f'output {k} of cell {want.id} {problem}'
                    for k, pair in enumerate(zip(wanted, found), 1) if (problem := difference(*pair)))
        if want.execution_count != got.execution_count:
            yield f'cell {want.id} has the number {got.execution_count}'


def run_notebook(notebook):
    """The same with the outputs of this run."""
    fresh = copy.deepcopy(notebook)
    for cell in fresh.cells:
        if cell.cell_type == 'code':
            cell.outputs, cell.execution_count = [], None
    NotebookClient(fresh, kernel_name='tessera', timeout=120, record_timing=False, resources={'metadata': {'path': str(FOLDER)}}).execute()
    for cell in fresh.cells:
        if cell.cell_type == 'code':
            cell.outputs = joined_streams(cell.outputs)
    return fresh


def check(path, is_update):
    """What is wrong with it."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    try:
        fresh = run_notebook(notebook)
    except CellExecutionError as error:
        return [str(error)]
    if is_update:
        for kept, new in zip(notebook.cells, fresh.cells):
            if is_environment(kept):
                new.outputs = kept.outputs
        nbformat.write(fresh, path)
        return []
    return list(compare(notebook, fresh))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('words', nargs='*', help='only notebooks whose name contains one of these')
    parser.add_argument('--kernel', default='build/release/tsr-kernel')
    parser.add_argument('--update', action='store_true', help='write the outputs into the files')
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([os.path.abspath(options.kernel), 'install', '--prefix', place], check=True, stdout=subprocess.DEVNULL)
        os.environ['JUPYTER_PATH'] = f'{place}/share/jupyter'
        for path in sorted(FOLDER.glob('*.ipynb')):
            if options.words and not any(word in path.name for word in options.words):
                continue
            problems = check(path, options.update)
            passed, failed = passed + (not problems), failed + bool(problems)
            if problems:
                print(f'FAILED {path.name}: ' + '\n  '.join(problems))
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
