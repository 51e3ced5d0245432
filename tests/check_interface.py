#!/usr/bin/env python3
"""check_interface.py: the number of the plugins' interface follows from layouts (cmake/interface_layouts.cpp).

A comment, a function and a rule of an op leave it as it is; members, their types and order, constants that they are as long as, slots, enumerators
and the order of the rows of a table change it, each to another number.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILER = os.environ.get('CXX', 'c++')
# The compiler says the number when it refuses this: code would be made and linked for nothing.
PROGRAM = '#include "tessera_interface.h"\ntemplate <unsigned long long number> struct Number;\nNumber<tessera::tensor::interface_number()> number;\n'
SAME = [
    ('comments', 'runtime/ops/softmax.h', r'\n  DType dtype;', '\n  // of both\n  DType dtype;  /* float; and */'),
    ('a function', 'runtime/device/calls.h', r'struct CopyCall \{', 'struct CopyCall {\n  bool same(const void* other) const { return this == other; }'),
    ('a static member', 'runtime/device/calls.h', r'struct CopyCall \{', 'struct CopyCall {\n  static constexpr int kMost = 3;'),
    ('a default', 'runtime/device/calls.h', r'bool backwards = false;', 'bool backwards = true;'),
    ('a formula', 'runtime/ops/pointwise.def', r'x <= y,', 'y >= x,'),
]
OTHER = [
    ('a member', 'runtime/ops/softmax.h', r'\n  DType dtype;', '\n  DType dtype;\n  bool more;'),
    ('the order of members', 'runtime/ops/softmax.h', r'int64_t outer, size, inner;', 'int64_t size, outer, inner;'),
    ('the type of a member', 'runtime/device/calls.h', r'double alpha, beta;', 'int64_t alpha, beta;'),
    ('a const behind a pointer', 'runtime/device/calls.h', r'const void\* a;', 'void* a;'),
    ('the length of a list', 'runtime/ops/index_kernel.h', r'kMaxIndices = 8', 'kMaxIndices = 9'),
    ('a nested structure', 'runtime/ops/conv.h', r'stride\[2\], padding\[2\]', 'stride[2], padding[3]'),
    ('enumerators', 'runtime/ops/index_kernel.h', r'Read, Write,', 'Write, Read,'),
    ('a parameter of a function', 'runtime/device/backend.h', r'\(\*trim\)\(Device device\)', '(*trim)(Device device, bool all)'),
    ('the order of functions', 'runtime/device/backend.h', r'(  void \(\*synchronize\).*\n)', r'  void (*another)(Device device);\n\1'),
    ('a trait', 'runtime/device/traits.h', r'(  bool has_generators.*\n)', r'\1  bool has_more = false;\n'),
    ('a row of a table', 'runtime/ops/special.def', r'\n(SPECIAL1\(i0,.*\n)', r'\n\1SPECIAL1(more, "", Halves, "more", x)\n'),
    ('a slot', 'runtime/device/sleep.h', r'(extern Kernel<SleepCall> sleep_kernel;)', r'\1\nextern Kernel<SleepCall> nap_kernel;'),
]


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[:2000])


def number_of(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    said = re.search(r'Number<(\d+)', done.stderr)
    if said is None or done.stderr.count('error:') != 1:
        sys.exit(done.stderr[:2000])
    return int(said[1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(ROOT / 'runtime', folder / 'runtime')
        tool, header = folder / 'tool', folder / 'tessera_interface.h'
        run(COMPILER, '-std=c++20', '-O1', ROOT / 'cmake/interface_layouts.cpp', '-o', tool)
        (folder / 'main.cpp').write_text(PROGRAM)
        # Headers of the standard library are read once, in a compiled form.
        includes = {line for path in (ROOT / 'runtime').rglob('*.h') for line in re.findall(r'^#include <.*>$', path.read_text(encoding='utf-8'), re.M)}
        standard = folder / 'standard.h'
        standard.write_text('\n'.join(sorted(includes)) + '\n')
        run(COMPILER, '-std=c++20', '-w', '-x', 'c++-header', standard, '-o', folder / 'standard.h.gch')

        def number():
            run(tool, folder, header)
            return number_of(COMPILER, '-std=c++20', '-w', '-fsyntax-only', f'-I{folder}', '-include', standard, folder / 'main.cpp')

        known, failed = {number(): 'nothing'}, 0
        own = next(iter(known))
        for what, name, old, new in SAME + OTHER:
            path = folder / name
            text = path.read_text(encoding='utf-8')
            edited, count = re.subn(old, new, text, count=1)
            path.write_text(edited, encoding='utf-8')
            got = number()
            path.write_text(text, encoding='utf-8')
            is_same = (what, name, old, new) in SAME
            if not count or is_same != (got == own) or not is_same and got in known:
                print(f'interface: {what} ({name}): ' + ('not there' if not count else 'another number' if is_same else f'the number of {known[got]}'))
                failed += 1
            known[got] = what
        print(f'interface: {len(SAME)} edits that change nothing, {len(OTHER)} that change it: {len(SAME) + len(OTHER) - failed} passed, {failed} failed')
        return failed > 0


if __name__ == '__main__':
    sys.exit(main())
