#!/usr/bin/env python3
"""Writes calls of ops as JSON lines, from PyTorch's own table of ops and its samples; run with a Python that has PyTorch.

    make.py --part 0/4 --calls 40 --seed 0       calls of a quarter of the ops: {op, family, how, text, brief}
    make.py --op linalg.solve --calls 200
    make.py --small --calls 10                   calls with tensors of float8 and complex32

A call is a sample of the table (function, method, in place, out=, with gradients, an input that is an error), or a sample with
something drawn at random: another dtype, layout, size, number, keyword (mutate.py).
"""
import argparse
import itertools
import json
import random
import sys
import warnings
import zlib

import torch
from torch.testing._internal.common_methods_invocations import op_db

import families
import mutate
from literal import DTYPES, SMALL, Arguments, Unwritable

SPACES = [('torch.', torch), ('F.', torch.nn.functional), ('torch.linalg.', torch.linalg), ('torch.fft.', torch.fft),
          ('torch.special.', torch.special), ('torch.masked.', torch.masked), ('torch.Tensor.', torch.Tensor)]
# The table calls these through functions of its own, with arguments in another order.
WRITTEN = {
    'einsum': 'torch.einsum({1}, {0})', 'polygamma': 'torch.polygamma({1}, {0})', 'special.polygamma': 'torch.special.polygamma({1}, {0})',
    'nn.functional.embedding': 'F.embedding({1}, {0}, {*})', 'nn.functional.embedding_bag': 'F.embedding_bag({1}, {0}, {*})',
    'where': 'torch.where({1}, {0}, {2})', '__getitem__': '{0}[{1}]', 'T': '{0}.T', 'H': '{0}.H', 'mT': '{0}.mT', 'mH': '{0}.mH',
    'nn.functional.multi_head_attention_forward': 'F.multi_head_attention_forward({0}, {*})',
}
# Nothing is there to compare: what only makes memory, and what PyTorch has for its own backends alone.
BARE = {'empty', 'empty_like', 'empty_strided', 'new_empty', 'new_empty_strided', 'empty_permuted', 'resize_', 'resize_as_'}
LEFT_OUT = ('jiterator', 'to_sparse', 'sparse.', 'ops.', '_refs', 'torch.ops', '_segment', '_native', 'svd_lowrank', 'pca_lowrank')


def name_of(op):
    """The text of a function that PyTorch calls for an op, and whether it is a method."""
    if op.name in WRITTEN:
        return WRITTEN[op.name]
    for prefix, space in SPACES:
        for name in (op.name, op.name.split('.')[-1]):
            if op.op is not None and getattr(space, name, None) is op.op:
                return f'{{0}}.{name}({{*}})' if space is torch.Tensor else f'{prefix}{name}({{*}})'
    name = op.name.replace('nn.functional.', '')
    for prefix, space in SPACES[:-1]:
        if hasattr(space, name) and (prefix == 'F.') == ('nn.functional' in op.name):
            return f'{prefix}{name}({{*}})'
    if op.name.split('.')[0] in ('linalg', 'fft', 'special'):
        return f'torch.{op.name}({{*}})'
    return f'{{0}}.{name}({{*}})' if hasattr(torch.Tensor, name) else None


def write(template, args, kwargs, extra=''):
    """The call as text: (names of the tensors, their makers, expression)."""
    written = Arguments()
    values = [written.value(a) for a in args]
    keywords = [f'{k}={written.value(v)}' for k, v in kwargs.items()]
    used = {int(i) for i in '0123456789' if '{' + i + '}' in template}
    if used and max(used) >= len(values):
        raise Unwritable('too few arguments')
    rest = ', '.join([v for i, v in enumerate(values) if i not in used] + keywords + ([extra] if extra else []))
    text = template.replace('{*}', rest)
    for i in used:
        text = text.replace('{' + str(i) + '}', values[i] if values[i][0].isalpha() or values[i][0] in '([' else f'({values[i]})')
    return written, text


def brief(args, kwargs):
    def one(v):
        if isinstance(v, torch.Tensor):
            short = str(v.dtype)[6:].replace('float', 'f').replace('complex', 'c').replace('uint', 'u').replace('int', 'i')
            strided = '' if v.is_contiguous() else f'/{v.stride()}'
            return f'{short}[{",".join(map(str, v.shape))}]{strided}' + ('!' if v.requires_grad else '')
        if isinstance(v, (list, tuple)):
            return '[' + ', '.join(map(one, v)) + ']'
        return repr(v)
    return ', '.join([one(a) for a in args] + [f'{k}={one(v)}' for k, v in kwargs.items()])


class Op:
    def __init__(self, op, seed):
        self.op, self.name = op, op.name + ('.' + op.variant_test_name if op.variant_test_name else '')
        self.dice = random.Random(zlib.crc32(f'{self.name} {seed}'.encode()))
        self.template = name_of(op)
        self.dtypes = [d for d in DTYPES if d in op.dtypes]
        self.backward = [d for d in self.dtypes if d in (op.backward_dtypes or ())]
        self.cache = {}

    def samples(self, dtype, grad=False, reference=False):
        key = dtype, grad, reference
        if key not in self.cache:
            torch.manual_seed(self.dice.randrange(1 << 30))
            random.seed(self.dice.randrange(1 << 30))
            make = self.op.reference_inputs if reference else self.op.sample_inputs
            got = []
            try:
                for s in itertools.islice(make('cpu', dtype, requires_grad=grad), 150):
                    got.append(([s.input, *s.args], dict(s.kwargs)))
            except Exception as e:  # noqa: BLE001   (a table that fails for a dtype has no samples of it)
                print(f'{self.name} {dtype}: no samples: {type(e).__name__} {str(e)[:80]}', file=sys.stderr)
            self.cache[key] = got
        return self.cache[key]

    def errors(self):
        try:
            for e in itertools.islice(self.op.error_inputs('cpu'), 40):
                s = e.sample_input
                yield [s.input, *s.args], dict(s.kwargs)
        except Exception:  # noqa: BLE001
            return

    def record(self, how, args, kwargs, template=None, tag=''):
        template = template or self.template
        written, text = write(template, args, kwargs, '**k' if how[:4] == 'out ' else '')
        if how == 'bare':
            line = f"bare(%d, lambda: [{', '.join(written.makers)}], lambda {', '.join(written.names())}: {text})"
        else:
            names = written.names() + (['**k'] if how[:4] == 'out ' else [])
            line = f"call(%d, lambda: [{', '.join(written.makers)}], lambda {', '.join(names)}: {text}" + (f', {how!r})' if how else ')')
        tensors = [t for t in mutate.leaves([args, list(kwargs.values())])]
        return {'op': self.name, 'family': families.of(self.op), 'how': how or 'call', 'tag': tag, 'text': line,
                'brief': f"{template.split('(')[0].replace('{0}', 'x')}({brief(args, kwargs)})",
                'dtype': str(tensors[0].dtype)[6:] if tensors else 'none'}

    def draw(self):
        """One call, or None when the draw came to nothing."""
        dice, op = self.dice, self.op
        kind = dice.choices(['plain', 'grad', 'out', 'inplace', 'method', 'alias', 'reference', 'mutated', 'mutated grad'],
                            [22, 18, 8, 7, 4, 3, 8, 22, 8])[0]
        grad = 'grad' in kind
        pool = self.backward if grad else self.dtypes
        if not pool:
            return None
        dtype = dice.choice(pool)
        found = self.samples(dtype, grad, kind == 'reference')
        if not found:
            return None
        args, kwargs = dice.choice(found)
        if op.name in BARE:
            return self.record('bare', args, kwargs)
        if kind.startswith('mutated'):
            return self.record('', *mutate.mutated(args, kwargs, dice), tag='mutated')
        if kind == 'out':
            if not op.supports_out or '{0}.' in self.template:
                return None
            return self.record('out ' + dice.choice(['same', 'same', 'empty', 'other']), args, kwargs)
        if kind == 'inplace':
            v = op.inplace_variant
            name = getattr(v, '__name__', '')
            if v is None or not hasattr(torch.Tensor, name):
                return None
            if dice.random() < 0.3:
                args, kwargs = mutate.mutated(args, kwargs, dice)
            return self.record('inplace', args, kwargs, f'{{0}}.{name}({{*}})' if not name.startswith('__') else f'{{0}}.{name}({{*}})')
        if kind == 'method':
            name = getattr(op.method_variant, '__name__', '')
            if not hasattr(torch.Tensor, name):
                return None
            return self.record('', args, kwargs, f'{{0}}.{name}({{*}})')
        if kind == 'alias':
            if not op.aliases:
                return None
            name = dice.choice(op.aliases).name
            return self.record('', args, kwargs, f'torch.{name}({{*}})'.replace('torch.nn.functional', 'F'))
        return self.record('', args, kwargs)

    def small_calls(self, count):
        """Samples of a wider dtype whose tensors became float8 or complex32."""
        if self.template is None or self.op.name in BARE:
            return
        for small, wide in SMALL.items():
            found = self.samples(wide) if wide in self.dtypes else []
            self.dice.shuffle(found)
            for args, kwargs in found[:count]:
                def change(t, small=small, wide=wide):
                    return t.detach().to(small) if t.dtype == wide else t
                args, kwargs = mutate.replaced(args, change), {k: mutate.replaced(v, change) for k, v in kwargs.items()}
                try:
                    yield self.record('', args, kwargs, tag='small')
                except Unwritable:
                    continue

    def calls(self, count):
        if self.template is None or not self.dtypes and self.op.name not in BARE:
            return
        made, tries = 0, 0
        errors = list(self.errors())
        self.dice.shuffle(errors)
        for args, kwargs in errors[:max(1, count // 5)]:
            try:
                yield self.record('', args, kwargs, tag='error')
                made += 1
            except Unwritable:
                pass
        while made < count and tries < 4 * count:
            tries += 1
            try:
                got = self.draw()
            except (Unwritable, RuntimeError):   # a tensor with no text, or one that cannot be changed that way
                continue
            if got:
                made += 1
                yield got


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--part', default='0/1')
    parser.add_argument('--op')
    parser.add_argument('--calls', type=int, default=40, help='calls of each op')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--small', action='store_true', help='calls with tensors of float8 and complex32 only')
    options = parser.parse_args()
    warnings.simplefilter('ignore')
    torch.set_num_threads(1)
    at, of = map(int, options.part.split('/'))
    chosen = [op for op in op_db if not op.name.startswith(LEFT_OUT)]
    if options.op:
        chosen = [op for op in chosen if options.op in (op.name, op.name + '.' + op.variant_test_name)]
    else:
        chosen = chosen[at::of]
    for op in chosen:
        drawn = Op(op, options.seed)
        for record in drawn.small_calls(options.calls) if options.small else drawn.calls(options.calls):
            print(json.dumps(record))


if __name__ == '__main__':
    main()
