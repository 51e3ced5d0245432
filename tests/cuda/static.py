#!/usr/bin/env python3
"""tests/cuda/static.py FOLDER: what the compiler itself says of the plugin's kernels, for a machine without a GPU.

FOLDER holds the objects of a build whose launcher is tests/cuda/nvcc_kept (preset cuda-check). Every kernel: no stack frame, no spills,
registers within its family's budget, no division of 64 bits (a call of some hundred instructions); dense ones and kernels over rows
have loads and stores of vectors. EXCEPTIONS says which may do otherwise, and why. --list shows all kernels; --part: of some sources
alone, so that exceptions may be idle. The last line is `N passed, N failed`."""
import argparse
import pathlib
import re
import subprocess
import sys

# Registers of a family by the kernel's name, the first that fits; with 64 of them 1024 threads fill a multiprocessor, with 128 512.
BUDGETS = [
    (r'^dense<.*(complex|Cx<double>)', 168),
    (r'^dense<', 96),
    (r'^strided<', 96),
    (r'(_lines|_rows)<double', 128),
    (r'', 128),
]
# Kernels whose speed is that of memory: in each vectors are loaded and stored where layouts allow it.
VECTORS = [r'^dense<(?!.*bool)', r'^softmax_lines<', r'^softmax_grad_lines<', r'^layer_norm_lines<']
# ('file: kernel', rule, why).
EXCEPTIONS = [
    (r': dense<PointwiseBody<F_(n?eq?|[lg][et]|isfinite|isinf|isnan|isneginf|isposinf|signbit|logical_\w+)>', 'vectors',
     'results are bools: four of them are one store of 32 bits'),
    (r': dense<formulas::GradBody<formulas::D0_(trunc|round|ceil|floor|sign|trunc_divide),', 'vectors',
     'the derivative is zero: nothing is read'),
    (r'^pointwise_(float|double)\.cu: \w+<PointwiseBody<F_(sin|cos|tan)>', 'stack',
     "CUDA's reduction of large angles keeps its digits on the stack"),
    (r'^pointwise_grad_(float|double)\.cu: ', 'stack', 'derivatives by sin and cos, as above'),
    (r'^pointwise_complex\d+\.cu: ', 'stack', 'functions of complex numbers by sin and cos, as above'),
    (r'^pointwise_int64\.cu: \w+<PointwiseBody<F_(floor_divide|fmod|remainder|trunc_divide)>', 'division', 'the op is one'),
    (r'^special\.cu: ', 'stack', 'sin and cos, as above; series that call them'),
    (r'^special\.cu: ', 'division', 'places of operands that are not dense; the functions take longer'),
    (r'^lapack_parts\.cu: ', 'division', 'beside a factorisation'),
    (r'^random\.cu: draw_numbers<\(Distribution\)[56], double>', 'stack', "normal and Cauchy draws of double: sin, cos and tan, as above"),
]


class Kernel:
    def __init__(self, symbol):
        self.symbol, self.name, self.file = symbol, symbol, ''
        self.stack = self.stores = self.loads = self.registers = self.divisions = 0
        self.vector_loads = self.vector_stores = 0
        self.stores_memory = False

    def faults(self):
        if self.stack or self.stores or self.loads:
            yield 'stack', f'{self.stack} bytes of stack, {self.stores} of spill stores, {self.loads} of spill loads'
        budget = next(limit for pattern, limit in BUDGETS if re.search(pattern, self.name))
        if self.registers > budget:
            yield 'registers', f'{self.registers} registers, the budget is {budget}'
        if self.divisions:
            yield 'division', f'{self.divisions} divisions of 64 bits'
        if any(re.search(pattern, self.name) for pattern in VECTORS) and not (self.vector_loads and self.vector_stores):
            yield 'vectors', 'no loads or no stores of vectors'


def read_log(path, kernels):
    current = None
    for line in path.read_text(errors='replace').splitlines():
        if found := re.search(r"Compiling entry function '(\w+)' for 'sm_", line):
            current = kernels.setdefault(found[1], Kernel(found[1]))
            current.file = path.name.removesuffix('.o.log')
        elif 'Function properties for' in line and current is not None and current.symbol not in line:
            current = None  # a function that is called
        elif current is None:
            continue
        elif found := re.search(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads', line):
            current.stack, current.stores, current.loads = map(int, found.groups())
        elif found := re.search(r'Used (\d+) registers', line):
            current.registers = int(found[1])


def read_ptx(path, kernels):
    current = None
    for line in path.read_text(errors='replace').splitlines():
        line = line.strip()
        if found := re.match(r'(?:\.\w+ )*\.(entry|func)\b.*?(\w+)\s*\($', line) or re.match(r'(?:\.\w+ )*\.(entry) (\w+)', line):
            current = kernels.get(found[2]) if found[1] == 'entry' else None
        if current is None:
            continue
        if re.search(r'\b(?:div|rem)\.[su]64\b', line):
            current.divisions += 1
        if found := re.match(r'(?:@%p\d+\s+)?(ld|st)\.(?:volatile\.|relaxed\.\w+\.)?global\S*\.v([24])\.[a-z](\d+)', line):
            if int(found[2]) * int(found[3]) >= 64:  # 8 bytes: four halves, which are 16 in the arithmetic
                if found[1] == 'ld':
                    current.vector_loads += 1
                else:
                    current.vector_stores += 1


def readable(symbols):
    if not symbols:
        return []
    lines = subprocess.run(['c++filt'], input='\n'.join(symbols), capture_output=True, text=True).stdout.splitlines()
    names = []
    for line in lines:
        line = re.sub(r'^void ', '', line).replace('(anonymous namespace)::', '').replace('tessera::tensor::', '').replace('cuda::', '')
        depth, end = 0, len(line)
        for k, c in enumerate(line):  # up to the parameters
            depth += (c == '<') - (c == '>')
            if c == '(' and depth == 0:
                end = k
                break
        names.append(line[:end])
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--part', action='store_true')
    args = parser.parse_args()
    kernels = {}
    logs = sorted(pathlib.Path(args.folder).rglob('*.cu.o.log'))
    for log in logs:
        read_log(log, kernels)
    for log in logs:
        read_ptx(log.with_suffix('.ptx'), kernels)
    every = sorted(kernels.values(), key=lambda k: k.file)
    for kernel, name in zip(every, readable([k.symbol for k in every])):
        kernel.name = name
    used, failed = set(), 0
    for kernel in every:
        if args.list:
            print(f'{kernel.registers:4} registers {kernel.stack:4} stack {kernel.divisions:3} div64 {kernel.vector_loads:3} '
                  f'{kernel.vector_stores:3} vectors  {kernel.file}: {kernel.name}')
        wrong = []
        for rule, said in kernel.faults():
            excuse = next((k for k, (pattern, of, _) in enumerate(EXCEPTIONS) if of == rule and re.search(pattern, f'{kernel.file}: {kernel.name}')), None)
            if excuse is None:
                wrong.append(said)
            else:
                used.add(excuse)
        failed += bool(wrong)
        if wrong:
            print(f"FAILED {kernel.file}: {kernel.name}: {'; '.join(wrong)}")
    for k, (pattern, rule, _) in enumerate(EXCEPTIONS):
        if k not in used and not args.part:
            print(f'FAILED an exception that no kernel needs: {pattern} ({rule})')
            failed += 1
    if not every:
        print('FAILED no kernel found: the folder has no logs of tests/cuda/nvcc_kept')
        failed += 1
    print(f'{max(len(every) - failed, 0)} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
