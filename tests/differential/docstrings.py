"""The examples of PyTorch's docstrings, run by PyTorch and by tsr: the text that both print is compared.

    docstrings.py --tsr build/release/tsr [--peer PYTHON] [--only WORD] [--list] [--keep DIR]

One program for each docstring: its `>>>` statements that PyTorch can run, from seed 0; a bare expression prints its repr, and
a program that shows nothing prints the tensors that it made. Needs a Python with PyTorch as PEER; says so and stops where there is none.
"""
import argparse
import ast
import collections
import concurrent.futures
import contextlib
import doctest
import importlib
import inspect
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MODULES = '''torch torch.linalg torch.fft torch.special torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn
torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.stateless torch.optim torch.optim.lr_scheduler
torch.optim.swa_utils torch.distributions torch.autograd torch.autograd.functional torch.autograd.forward_ad
torch.autograd.graph torch.autograd.function torch.autograd.grad_mode torch.utils.data torch.utils.checkpoint torch.func
torch.testing torch.random torch.amp torch.nn.attention'''.split()
# Of other machines, other programs, memory without values, time; and what docs/differences.md leaves out by name.
LEFT_OUT = re.compile(r'cuda|distributed|dist\.|onnx|jit|compile|sparse|quant|\bnamed?_?tensor|names=|refine_names|align_|rename|urlopen|'
                      r'torch\.hub|DataParallel|\bmps\b|numpy|profiler|\.empty|data_ptr|fake|tensorboard|torch\.xpu|'
                      r'multiprocessing|__future__|seed\(\)|\bopen\(|fx\b|torch\.compiler|export|\.hash|id\(')
PRELUDE = 'import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n'
SECONDS = 20


# What runs in PyTorch's Python ------------------------------------------------------------------------------------------

def documented():
    """(name, docstring) of everything public, each text once."""
    seen = set()
    for module_name in MODULES:
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        for name in sorted(vars(module)):
            thing = getattr(module, name, None)
            if name.startswith('_') or inspect.ismodule(thing):
                continue
            yield from docs_of(f'{module_name}.{name}', thing, seen)


def docs_of(path, thing, seen):
    text = getattr(thing, '__doc__', None)
    if isinstance(text, str) and '>>>' in text and text not in seen:
        seen.add(text)
        yield path, text
    if inspect.isclass(thing) and str(getattr(thing, '__module__', '')).startswith('torch'):
        for name in sorted(dir(thing)):
            if not name.startswith('_'):
                with contextlib.suppress(Exception):
                    yield from docs_of(f'{path}.{name}', getattr(thing, name), seen)


def statements(text):
    """Each `>>>` example as a list of statements' texts; what cannot be parsed is left out."""
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:  # a tab, a prompt without a blank behind it
        tidy = '\n'.join(re.sub(r'^(\s*)(>>>|\.\.\.)(?=\S)', r'\1\2 ', line) for line in text.splitlines())
        try:
            examples = doctest.DocTestParser().get_examples(re.sub(r'^.*(?<!>)>>>\s*$', '', tidy, flags=re.M))
        except ValueError:
            return
    for example in examples:
        try:
            tree = ast.parse(example.source)
        except SyntaxError:
            continue
        for node in tree.body:
            if isinstance(node, ast.Expr) and not is_print(node.value):
                yield f'print(repr({ast.unparse(node.value)}))', True
            else:
                yield ast.unparse(node), False


def is_print(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == 'print'


def runnable(text):
    """The program of a docstring: the statements that run."""
    import torch
    torch.manual_seed(0)
    names, kept, shown = {}, [], False
    exec(PRELUDE, names)
    before = set(names)
    for source, shows in statements(text):
        if LEFT_OUT.search(source):
            continue
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                exec(compile(source, '<example>', 'exec'), names)
        except Exception:
            continue
        if re.search(r' at 0x[0-9a-f]|<function|<built-in', said.getvalue()):
            continue
        kept.append(source)
        shown = shown or bool(said.getvalue())
    if not kept:
        return None
    for name in names:
        if name not in before and isinstance(names[name], torch.Tensor) and not shown:
            kept.append(f'print({name}.shape, {name}.flatten()[:6])' if names[name].numel() > 100 else f'print({name})')
    return PRELUDE + '\ntorch.manual_seed(0)\n' + '\n'.join(kept) + '\n'


def in_child(work):
    """What work() answers, from a child process of its own; None if it fails or takes too long."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        import signal
        signal.alarm(SECONDS)
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            with os.fdopen(write, 'w') as out:
                out.write(work() or '')
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as source:
        answer = source.read()
    _, status = os.waitpid(child, 0)
    return answer if status == 0 and answer else None


def output_of(program):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(program, '<program>', 'exec'), {'__name__': '__main__'})
    return said.getvalue()


def extract(folder, only):
    import torch
    torch.set_num_threads(1)
    for path, text in documented():
        if only and only not in path:
            continue
        program = in_child(lambda: runnable(text))
        printed = program and in_child(lambda: output_of(program))
        if printed and printed == in_child(lambda: output_of(program)):
            folder.joinpath(path + '.py').write_text(program)
            folder.joinpath(path + '.out').write_text(printed)


# What runs here ---------------------------------------------------------------------------------------------------------

def difference(tsr, source):
    """None, or the first line that differs as (ours, theirs)."""
    expected = source.with_suffix('.out').read_text().splitlines()
    try:
        run = subprocess.run([*tsr, source.resolve()], capture_output=True, text=True, timeout=SECONDS, cwd=source.parent)
    except subprocess.TimeoutExpired:
        return f'longer than {SECONDS} s', ''
    got = run.stdout.splitlines()
    if run.returncode:
        got.append((run.stderr.strip().splitlines() or [f'exit status {run.returncode}'])[-1 if run.returncode > 0 else 0])
    for ours, theirs in zip(got, expected):
        if ours != theirs:
            return ours, theirs
    if len(got) != len(expected):
        return (got + [''])[len(expected)] if len(got) > len(expected) else '', (expected + [''])[len(got)] if len(got) < len(expected) else ''
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tsr', default='build/release/tsr')
    parser.add_argument('--peer', default=os.environ.get('PEER', sys.executable), help='a Python that has PyTorch')
    parser.add_argument('--only', default='', help='docstrings whose name contains this')
    parser.add_argument('--list', action='store_true', help='each difference with its first line')
    parser.add_argument('--keep', type=pathlib.Path, help='where the programs are written, and read if they are there')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--extract', type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.extract:
        args.extract = args.extract.resolve()
        os.chdir(tempfile.mkdtemp())  # some examples write files
        return extract(args.extract, args.only)
    if subprocess.run([args.peer, '-c', 'import torch'], capture_output=True).returncode:
        print(f'skipped: {args.peer} has no PyTorch')
        return 0
    tsr = [os.path.abspath(word) if os.path.exists(word) else word for word in args.tsr.split()]
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.glob('*.py')):
            subprocess.run([args.peer, __file__, '--extract', folder, '--only', args.only], check=True, stderr=subprocess.DEVNULL)
        sources = sorted(s for s in folder.glob('*.py') if args.only in s.name)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            found = dict(zip(sources, pool.map(lambda s: difference(tsr, s), sources)))
    wrong = {source: pair for source, pair in found.items() if pair}
    kinds = collections.Counter(re.sub(r"\d+|'[^']*'", '#', ours)[:60] for ours, _ in wrong.values() if 'Error' in ours)
    if args.list:
        for source, (ours, theirs) in wrong.items():
            print(f'{source.stem}\n    got      {ours[:150]}\n    expected {theirs[:150]}')
        for kind, count in kinds.most_common(12):
            print(f'{count:5} {kind}')
    print(f'{len(found)} docstrings, {len(wrong)} differ')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
