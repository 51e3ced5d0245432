"""What the comparisons with PyTorch's own tables share: values as text, programs beside the tensors that they read, and
the comparison of what both sides print.

A program is a .tsr file, which is a Python file: the same text runs on both sides. The side that has the tables writes the
programs and runs them as it goes, in one process; `tsr` runs each in a process of its own.
"""
import argparse
import contextlib
import io
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

# What every program begins with: printing in a form that can be compared number by number.
PRELUDE = '''\
import torch, warnings
from torch import nn
warnings.simplefilter('ignore')
data = torch.load('{data}')

def tensor(i, requires_grad):
    return data[i].clone().requires_grad_(requires_grad)

def show(name, value):
    if isinstance(value, torch.Tensor):
        shown = torch.view_as_real(value.detach()) if value.is_complex() else value.detach()
        print(name, tuple(value.shape), value.dtype, value.requires_grad, *shown.flatten().tolist())
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            show(f'{{name}}.{{i}}', part)
    elif isinstance(value, dict):
        for key, part in value.items():
            show(f'{{name}}.{{key}}', part)
    else:
        print(name, repr(value))

def case(name, body):
    print('@', name)
    try:
        body()
    except Exception as error:
        print('raised', type(error).__name__ + ':', str(error).split('\\n')[0])

'''


def is_parameter(tensor):
    import torch
    return isinstance(tensor, torch.nn.Parameter)


class Tensors:
    """The tensors that a program reads from the file beside it."""

    def __init__(self):
        self.values, self.names, self.lines = [], {}, []

    def name(self, tensor):
        """A variable of the case being written; one tensor given twice stays one."""
        if id(tensor) not in self.names:
            self.names[id(tensor)] = name = f't{len(self.names)}'
            made = f'tensor({len(self.values)}, {tensor.requires_grad})'
            self.lines.append(f'    {name} = ' + (f'nn.Parameter({made}.detach())' if is_parameter(tensor) else made))
            self.values.append(tensor.detach().clone())
        return self.names[id(tensor)]

    def begin(self):
        self.names, self.lines = {}, []


def text_of(value, tensors, others=lambda value, text: None):
    """The expression that makes a value; others(value, text) knows the classes of one table."""
    import torch

    def text(v):
        known = others(v, text)
        if known is not None:
            return known
        if isinstance(v, torch.Tensor):
            if v.layout is not torch.strided:
                raise TypeError('no text for a sparse tensor')
            return tensors.name(v)
        if isinstance(v, float) and not math.isfinite(v):
            return f"float('{v}')"
        if type(v) in (list, tuple):
            inside = ', '.join(text(part) for part in v)
            if type(v) is list:
                return f'[{inside}]'
            return f'({inside},)' if len(v) == 1 else f'({inside})'
        if type(v) is set:
            return '{' + ', '.join(text(part) for part in v) + '}'
        if type(v) is dict:
            return '{' + ', '.join(f'{text(k)}: {text(part)}' for k, part in v.items()) + '}'
        if v is None or isinstance(v, (bool, int, float, complex, str, torch.dtype)):
            return repr(v)
        for place, prefix in ((torch.nn.functional, 'nn.functional'), (torch, 'torch')):
            name = getattr(v, '__name__', '')
            if name and getattr(place, name, None) is v:
                return f'{prefix}.{name}'
        raise TypeError(f'no text for {type(v)}')

    return text(value)


def single_line(value):
    return ' '.join(str(value).split())


def call_text(function, args, kwargs, text):
    parts = [text(a) for a in args] + [f'{k}={text(v)}' for k, v in kwargs.items()]
    return f'{function}({", ".join(parts)})'


def run_here(path):
    """What a program prints in this process."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(path.read_text(encoding='utf-8'), path.name, 'exec'), {'__name__': '__main__'})
    return out.getvalue()


def write(folder, name, text, tensors):
    """NAME.tsr, the tensors that it reads and what it prints here."""
    import torch
    path = pathlib.Path(folder, f'{name}.tsr')
    path.write_text(PRELUDE.format(data=f'{name}.pt') + text, encoding='utf-8')
    torch.save(tensors.values, path.with_suffix('.pt'))
    os.chdir(folder)
    path.with_suffix('.out').write_text(run_here(path), encoding='utf-8')


# Differences that are meant (docs/differences.md): what PyTorch prints, what stands there here, reason. The rest of a case is
# compared all the same.
MEANT = [(re.compile(r'((?:Batch|Instance|Group)Norm.*affine=(True|False)), bias=\2'), r'\1',
          'the repr of batch, instance and group norms names bias only where it is not as affine says'),
         (re.compile(r'^    fused: None$'), None, "an optimizer's repr names fused only where it is set")]


def as_meant(lines, told):
    """PyTorch's lines with the differences that are meant; the reasons go into the set `told`."""
    found = []
    for line in lines:
        for pattern, ours, reason in MEANT:
            if line is not None and pattern.search(line):
                told.add(reason)
                line = None if ours is None else pattern.sub(ours, line)
        if line is not None:
            found.append(line)
    return found


def cases_of(output):
    """{case: lines}; what comes before the first case belongs to case ''."""
    cases, name = {'': []}, ''
    for line in output.splitlines():
        if line.startswith('@ '):
            name = line[2:]
            cases[name] = []
        else:
            cases[name].append(line)
    return cases


NUMBER = re.compile(r'[-+]?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|\binf\b|\bnan\b)')


def line_differs(ours, theirs, near=None):
    """Why a line differs: its words must be the same, its numbers near, measured by the greatest of the line."""
    if ours == theirs:
        return ''
    if NUMBER.sub('#', ours) != NUMBER.sub('#', theirs):
        return 'text'
    near = near or (1e-9 if 'torch.float64' in theirs or 'torch.complex128' in theirs else 3e-5)
    pairs = [(float(a), float(b)) for a, b in zip(NUMBER.findall(ours), NUMBER.findall(theirs))]
    scale = max([abs(b) for _, b in pairs if math.isfinite(b)] + [1e-3])
    for a, b in pairs:
        if not (a == b or math.isnan(a) and math.isnan(b) or abs(a - b) <= near * scale):
            return f'{a} for {b}'
    return ''


# What is compared less closely, and why: pattern of a program and its case, how near, reason.
LOOSER = [(r'LBFGS float32', 2e-3, 'a step divides by differences of gradients, which magnify the order of their sums'),
          (r'ASGD float64 .*foreach', 1e-6, 'the step over lists computes the rate in the precision of the counter, which is float32'),
          (r'(Transformer|MultiheadAttention|.*Norm|CTC).* float32 ', 1e-3, 'differences of near sums, magnified by five steps')]


def near_for(name):
    return next((near for pattern, near, _ in LOOSER if re.match(pattern, name)), None)


def differences(ours, theirs, program='', meant=None):
    """(case, our line, their line, why) for the first difference of each case; `meant` counts the cases of each listed reason."""
    found, ours, theirs = [], cases_of(ours), cases_of(theirs)
    for name, expected in theirs.items():
        got, told = ours.get(name, ['[no such case]']), set()
        expected = as_meant(expected, told)
        if meant is not None:
            meant.update(told)
        for i in range(max(len(got), len(expected))):
            a, b = got[i] if i < len(got) else '[nothing]', expected[i] if i < len(expected) else '[nothing]'
            why = line_differs(a, b, near_for(f'{program} {name}'))
            if why:
                found.append((name, a, b, why))
                break
    return found


def run_ours(tsr, path):
    try:
        done = subprocess.run([tsr, path.name], cwd=path.parent, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return '[no end]'
    last = done.stderr.strip().split('\n')[-1]
    return done.stdout + (f'@ end\n[exit status {done.returncode}: {last}]\n' if done.returncode else '@ end\n')


def main(what, make_programs):
    """make_programs(folder, only) writes the programs; it runs where PyTorch is."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument('--tsr', default='build/release/tsr')
    parser.add_argument('--python', default=sys.executable, help='a Python with PyTorch')
    parser.add_argument('--only', default='', help='names that contain this')
    parser.add_argument('--show', type=int, default=20, help='how many differences to show')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--keep', help='a folder for the programs, kept')
    parser.add_argument('--write', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        return make_programs(options.write, options.only)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        me = pathlib.Path(sys.argv[0]).resolve()
        made = subprocess.run([options.python, str(me), '--write', str(folder), '--only', options.only],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            last = made.stderr.strip().split('\n')[-1]
            if 'ModuleNotFoundError' in last:
                print(f'skipped: {last}\n0 passed, 0 failed')
                return 0
            print(made.stderr)
            return 1
        return compare(sorted(folder.glob('*.tsr')), os.path.abspath(options.tsr), options)


def compare(paths, tsr, options):
    passed = failed = 0
    meant = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        for path, ours in zip(paths, pool.map(lambda p: run_ours(tsr, p), paths)):
            theirs = path.with_suffix('.out').read_text(encoding='utf-8') + '@ end\n'
            found = differences(ours, theirs, path.stem, meant)
            failed += len(found)
            passed += len(cases_of(theirs)) - len(found)
            for name, a, b, why in found[:options.show]:
                print(f'FAILED {path.stem}: {name} ({why})\n  tsr     {a[:300]}\n  PyTorch {b[:300]}')
    for reason, count in meant.items():
        print(f'{count} meant: {reason}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0
