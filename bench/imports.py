#!/usr/bin/env python3
"""Import times of packages and of standard modules, beside CPython with PyTorch.

    bench/imports.py --tsr build/release/tsr --peer PYTHON [--rounds N] [--cold] [NAME...]
    bench/imports.py --tsr build/release/tsr --against OLD/tsr [NAME...]      two builds of tsr
    bench/imports.py ... --write docs/performance.md                         also writes the table into that page

Each import runs in a process of its own, both sides in turn, and the least processor time of N counts. Both sides have their compiled files
warm, each below a folder of its own (PYTHONPYCACHEPREFIX); with --cold neither reads nor writes any. `import` is the time of the import statement
alone; if the package needs torch, in a process that has torch, numpy and the standard modules that CPython's torch imports already; `process` is the time of the whole process, start and torch
included. Packages are those of tests/packages, which installs them once into $TESSERA_PACKAGES.
"""
import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = '<!-- the table: bench/imports.py --write -->', '<!-- end of the table -->'

# A package of tests/packages, and what a program imports of it.
PACKAGES = {
    'transformers': 'from transformers import GPT2LMHeadModel',
    'timm': 'import timm',
    'diffusers': 'from diffusers import UNet2DModel',
    'torchmetrics': 'import torchmetrics',
    'lightning': 'import lightning',
    'accelerate': 'import accelerate',
    'peft': 'import peft',
    'kornia': 'import kornia',
    'torch-geometric': 'import torch_geometric',
    'gpytorch': 'import gpytorch',
    'pyro-ppl': 'import pyro',
    'einops': 'import einops',
    'einx': 'import einx',
    'sympy': 'import sympy',
    'networkx': 'import networkx',
    'rich': 'import rich.console, rich.table, rich.progress',
    'pygments': 'import pygments.lexers.python, pygments.formatters',
    'jinja2': 'import jinja2',
    'attrs': 'import attr',
    'click': 'import click',
    'PyYAML': 'import yaml',
}
WITHOUT_TORCH = {'sympy', 'networkx', 'rich', 'pygments', 'jinja2', 'attrs', 'click', 'PyYAML'}

# Modules inside of the program.
MODULES = ('json typing dataclasses asyncio unittest argparse re logging email.message http.client decimal fractions datetime enum inspect '
           'collections functools contextlib pathlib subprocess threading tempfile shutil random statistics csv configparser urllib.request '
           'concurrent.futures multiprocessing pickle copy ast tokenize traceback pprint textwrap string struct hashlib zipfile tarfile sqlite3 '
           'socket selectors ctypes unittest.mock').split()

# Modules that `import torch` of CPython imports, which under tsr is imported when something asks for it.
WITH_TORCH = ('torch, torch.nn, torch.optim, torch.utils.data, numpy, argparse, ast, asyncio, atexit, base64, bisect, bz2, calendar, collections.abc, '
              'concurrent.futures, contextlib, contextvars, copy, csv, ctypes, dataclasses, datetime, difflib, dis, email.message, email.parser, enum, '
              'functools, gzip, hashlib, heapq, http.client, importlib.metadata, importlib.resources, inspect, ipaddress, itertools, json, logging, lzma, '
              'math, multiprocessing.connection, numbers, operator, pathlib, pickle, pickletools, pkgutil, platform, pprint, queue, random, re, '
              'selectors, shutil, signal, socket, ssl, string, struct, subprocess, sysconfig, tarfile, tempfile, textwrap, threading, timeit, tokenize, '
              'traceback, types, typing, unittest.mock, urllib.request, uuid, warnings, weakref, zipfile')

CODE = """import {before}
import time
_begin = time.process_time()
{statement}
print(time.process_time() - _begin)
"""


NOWHERE = '/nonexistent'


def table_of_packages():
    spec = importlib.util.spec_from_file_location('packages_run', ROOT / 'tests/packages/run.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module, {p.name: p for p in module.packages()}


def milliseconds(program, code, folders, kept):
    """Processor times of the import and of its whole process."""
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, folders)), 'OMP_NUM_THREADS': '1', 'TSR_THREADS': '1',
                   'HF_HUB_OFFLINE': '1', 'MPLBACKEND': 'Agg', 'TOKENIZERS_PARALLELISM': 'false', 'PYTHONWARNINGS': 'ignore'}
    environment.pop('PYTHONDONTWRITEBYTECODE', None)
    if kept == NOWHERE:
        environment['PYTHONDONTWRITEBYTECODE'] = '1'
    environment['PYTHONPYCACHEPREFIX'] = kept
    read, write = os.pipe()
    child = os.posix_spawn(program, [program, '-c', code], environment,
                           file_actions=[(os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_CLOSE, read)])
    os.close(write)
    with open(read, encoding='utf-8') as printed:
        text = printed.read()
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        raise SystemExit(f'{program} failed, status {os.waitstatus_to_exitcode(status)}: {code}')
    return float(text.splitlines()[-1]) * 1000, (usage.ru_utime + usage.ru_stime) * 1000


def cases(options):
    """(name, code, folders of tsr, folders of CPython)"""
    runner, packages = table_of_packages()
    found = []
    for name, statement in PACKAGES.items():
        if options.names and name not in options.names or options.modules:
            continue
        package = packages[name]
        ours = [runner.install(s, options.peer or sys.executable) for s in package.installs]
        theirs = ours + [runner.install(s, options.peer or sys.executable) for s in (package.peer_only if options.peer else [])]
        before = 'sys' if name in WITHOUT_TORCH else WITH_TORCH
        found.append((statement, CODE.format(before=before, statement=statement), ours, theirs))
    for name in MODULES:
        if not options.names and not options.packages or name in options.names:
            found.append((f'import {name}', CODE.format(before='sys', statement=f'import {name}'), [], []))
    return found


def measure(options, code, folders, kept):
    """The least (import, process) of each side."""
    programs = [(options.tsr, folders[0]), (options.peer or options.against, folders[1])]
    best = [[float('inf')] * 2 for _ in programs]
    for turn in range(options.rounds + 1):  # the first fills the caches
        for side, (program, path) in enumerate(programs):
            took = milliseconds(program, code, path, NOWHERE if options.cold else f'{kept}/{side}')
            if turn > 0:
                best[side] = [min(a, b) for a, b in zip(best[side], took)]
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('names', nargs='*')
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--peer')
    parser.add_argument('--against')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--cold', action='store_true')
    parser.add_argument('--packages', action='store_true', help='no standard modules')
    parser.add_argument('--modules', action='store_true', help='no packages')
    parser.add_argument('--write')
    options = parser.parse_args()
    if not options.peer and not options.against:
        parser.error('--peer or --against')
    other = 'CPython' if options.peer else 'against'
    lines = [f'| | import: tsr | {other} | times | process: tsr | {other} | times |', '| --- | ---: | ---: | ---: | ---: | ---: | ---: |']
    print(*lines, sep='\n', flush=True)
    with tempfile.TemporaryDirectory() as kept:
        for name, code, *folders in cases(options):
            (ours, our_process), (theirs, their_process) = measure(options, code, folders, kept)
            lines.append(f'| `{name}` | {ours:.1f} | {theirs:.1f} | {theirs / ours:.1f} | {our_process:.1f} | {their_process:.1f} | '
                         f'{their_process / our_process:.1f} |')
            print(lines[-1], flush=True)
    if options.write:
        page = pathlib.Path(options.write)
        text = page.read_text(encoding='utf-8')
        head, tail = text[:text.index(BEGIN) + len(BEGIN)], text[text.index(END, text.index(BEGIN)):]
        page.write_text(head + '\n\n' + '\n'.join(lines) + '\n\n' + tail, encoding='utf-8')


main()
