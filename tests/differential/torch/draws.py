#!/usr/bin/env python3
"""Calls of the commonest functions and methods drawn at random, beside PyTorch: any dtype, shape, layout, number and keyword.

    draws.py --tsr build/release/tsr --peer PYTHON_WITH_PYTORCH --calls 4000 --seed 1
    draws.py ... --match 'sum|mean'      only these

run.py takes PyTorch's own samples; here nothing is known of an op but the kinds of its arguments, so that most calls are odd and
many are errors. What is compared, and how, is as there. The last line is `N passed, N failed`.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict

import compare
from run import run_all

FLOATS = ['float32', 'float64', 'float16', 'bfloat16']
INTS = ['int64', 'int32', 'int16', 'int8', 'uint8', 'bool']
DTYPES = ['float32'] * 6 + ['float64'] * 2 + FLOATS + INTS + ['int64'] * 3 + ['bool'] + ['complex64', 'complex128']
SHAPES = [(), (1,), (3,), (4,), (0,), (2, 3), (3, 3), (3, 1), (1, 3), (2, 0), (2, 3, 4), (2, 1, 4), (4, 3, 3), (2, 3, 2, 2), (1, 1), (6,)]
# Kinds: x tensor; y tensor that mostly fits x; s one of those or a number; n number; i int; f float; d dim; D dims; o bool; I indices; m mask;
# S sizes; T type; l list of tensors; k reduction; ?NAME=KIND a keyword that may be there; !NAME=KIND one that is.
UNARY = '''abs neg sign sgn exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid
erf erfc erfinv lgamma digamma floor ceil trunc frac reciprocal square positive relu logical_not bitwise_not isnan isinf isfinite isposinf
isneginf isreal signbit angle real conj deg2rad rad2deg sinc i0 logit'''.split()
BINARY = '''add sub mul div true_divide floor_divide remainder fmod pow eq ne lt le gt ge logical_and logical_or logical_xor bitwise_and
bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift'''.split()
PAIRS = 'maximum minimum fmax fmin atan2 hypot copysign nextafter xlogy logaddexp logaddexp2 gcd lcm heaviside float_power ldexp'.split()
TABLE = {
    **{name: 'x' for name in UNARY}, **{name: 'x s' for name in BINARY}, **{name: 'x s' for name in PAIRS},
    **{name: 'x ?dim=D ?keepdim=o ?dtype=T' for name in ('sum', 'mean', 'nansum', 'nanmean')},
    'prod': 'x ?dim=d ?keepdim=o ?dtype=T', 'round': 'x ?decimals=i', 'clamp': 'x ?min=s ?max=s', 'clip': 'x s s', 'nan_to_num': 'x ?nan=n ?posinf=n',
    **{name: 'x ?dim=D ?keepdim=o ?correction=i' for name in ('var', 'std', 'var_mean')}, **{name: 'x ?dim=d ?keepdim=o' for name in ('max', 'min', 'median', 'nanmedian', 'mode')},
    **{name: 'x ?dim=D ?keepdim=o' for name in ('amax', 'amin', 'aminmax', 'all', 'any', 'logsumexp')}, **{name: 'x ?dim=d ?keepdim=o' for name in ('argmax', 'argmin')},
    'norm': 'x ?p=n ?dim=D ?keepdim=o', 'count_nonzero': 'x ?dim=D', 'argsort': 'x ?dim=d ?descending=o', 'sort': 'x ?dim=d ?descending=o ?stable=o',
    'topk': 'x i ?dim=d ?largest=o', 'kthvalue': 'x i ?dim=d ?keepdim=o', 'msort': 'x', 'unique': 'x ?return_inverse=o ?return_counts=o ?dim=d',
    'cumsum': 'x d ?dtype=T', 'cumprod': 'x d ?dtype=T', 'cummax': 'x d', 'cummin': 'x d', 'logcumsumexp': 'x d', 'diff': 'x ?n=i ?dim=d', 'softmax': 'x d ?dtype=T',
    'log_softmax': 'x d ?dtype=T', 'where': 'm s s', 'masked_fill': 'x m s', 'masked_select': 'x m', 'lerp': 'x y s', 'addcmul': 'x y y ?value=n', 'addcdiv': 'x y y ?value=n',
    'matmul': 'x y', 'mm': 'x y', 'bmm': 'x y', 'dot': 'x y', 'mv': 'x y', 'outer': 'x y', 'addmm': 'x y y ?beta=n ?alpha=n', 'inner': 'x y', 'kron': 'x y', 'cross': 'x y ?dim=d', 'ger': 'x y',
    'reshape': 'x S', 'view': 'x S', 'squeeze': 'x ?dim=D', 'unsqueeze': 'x d', 'transpose': 'x d d', 'permute': 'x S', 'flatten': 'x ?start_dim=d ?end_dim=d', 'expand': 'x S',
    'repeat': 'x S', 'tile': 'x S', 'movedim': 'x d d', 'swapaxes': 'x d d', 'flip': 'x D', 'fliplr': 'x', 'flipud': 'x', 'roll': 'x i ?dims=d', 'rot90': 'x ?k=i', 't': 'x', 'narrow': 'x d i i',
    'select': 'x d i', 'unfold': 'x d i i', 'diagonal': 'x ?offset=i ?dim1=d ?dim2=d', 'diag': 'x ?diagonal=i', 'diag_embed': 'x ?offset=i', 'tril': 'x ?diagonal=i', 'triu': 'x ?diagonal=i',
    'trace': 'x', 'chunk': 'x i ?dim=d', 'split': 'x i ?dim=d', 'tensor_split': 'x i ?dim=d', 'unbind': 'x ?dim=d', 'cat': 'l ?dim=d', 'stack': 'l ?dim=d', 'hstack': 'l', 'vstack': 'l',
    'gather': 'x d I', 'index_select': 'x d I', 'take': 'x I', 'take_along_dim': 'x I ?dim=d', 'scatter': 'x d I s', 'scatter_add': 'x d I y', 'index_add': 'x d I y', 'index_fill': 'x d I n',
    'index_copy': 'x d I y', 'scatter_reduce': 'x d I y k', 'put': 'x I y', 'repeat_interleave': 'x i ?dim=d', 'nonzero': 'x', 'argwhere': 'x', 'bincount': 'x ?minlength=i', 'histc': 'x ?bins=i',
    'searchsorted': 'x y', 'bucketize': 'x y', 'isin': 'x y', 'isclose': 'x y ?rtol=f', 'allclose': 'x y', 'equal': 'x y', 'dist': 'x y ?p=n', 'cdist': 'x y', 'renorm': 'x n d n', 'quantile': 'x f ?dim=d ?keepdim=o',
    'zeros_like': 'x ?dtype=T', 'ones_like': 'x ?dtype=T', 'full_like': 'x n ?dtype=T', 'arange': 'n ?dtype=T', 'linspace': 'n n i ?dtype=T', 'full': 'S n ?dtype=T', 'eye': 'i ?m=i ?dtype=T',
    'zeros': 'S ?dtype=T', 'ones': 'S ?dtype=T', 'polygamma': 'i x', 'cov': 'x', 'corrcoef': 'x', 'trapezoid': 'x ?dim=d', 'meshgrid': 'l', 'broadcast_to': 'x S', 'block_diag': 'x y', 'cartesian_prod': 'x y',
    'combinations': 'x ?r=i', 'tensordot': 'x y ?dims=i', 'vander': 'x ?N=i', 'logspace': 'n n i', 'complex': 'x y', 'polar': 'x y', 'view_as_real': 'x', 'view_as_complex': 'x', 'rsub': 'x s', 'std_mean': 'x ?dim=D',
    'result_type': 's s', 'can_cast': 'T T', 'promote_types': 'T T', 'numel': 'x', 'is_nonzero': 'x', 'clone': 'x', 'histogram': 'x i', 'addmv': 'x y y', 'addr': 'x y y', 'baddbmm': 'x y y', 'chain_matmul': 'x y',
    'cumulative_trapezoid': 'x ?dim=d', 'gradient': 'x ?dim=d', 'atleast_2d': 'x', 'atleast_3d': 'x', 'column_stack': 'l', 'dstack': 'l', 'unflatten': 'x d S', 'mvlgamma': 'x i', 'nanquantile': 'x f ?dim=d',
    'celu': 'x ?alpha=n', 'selu': 'x', 'threshold': 'x n n', 'prelu': 'x y', 'bernoulli': 'x', 'poisson': 'x', 'dropout': 'x f o',
}
FUNCTIONAL = {
    **{name: 'x' for name in ('relu', 'relu6', 'gelu', 'silu', 'mish', 'hardswish', 'hardsigmoid', 'softsign', 'tanhshrink', 'logsigmoid', 'selu', 'sigmoid', 'tanh')},
    'elu': 'x ?alpha=n', 'leaky_relu': 'x ?negative_slope=n', 'hardtanh': 'x ?min_val=n ?max_val=n', 'softplus': 'x ?beta=n ?threshold=n', 'softshrink': 'x ?lambd=n', 'hardshrink': 'x ?lambd=n', 'glu': 'x ?dim=d',
    'softmax': 'x !dim=d ?dtype=T', 'log_softmax': 'x !dim=d', 'softmin': 'x !dim=d', 'normalize': 'x ?p=n ?dim=d', 'one_hot': 'x ?num_classes=i', 'pad': 'x S ?mode=p ?value=n', 'linear': 'x y ?bias=y',
    'mse_loss': 'x y ?reduction=r', 'l1_loss': 'x y ?reduction=r', 'smooth_l1_loss': 'x y ?reduction=r ?beta=n', 'huber_loss': 'x y ?reduction=r ?delta=n', 'binary_cross_entropy': 'x y ?reduction=r',
    'binary_cross_entropy_with_logits': 'x y ?reduction=r', 'cross_entropy': 'x I ?reduction=r ?label_smoothing=f', 'nll_loss': 'x I ?reduction=r', 'kl_div': 'x y ?reduction=r', 'cosine_similarity': 'x y ?dim=d', 'pairwise_distance': 'x y ?p=n',
    'embedding': 'I x', 'layer_norm': 'x S', 'batch_norm': 'x y y ?training=o', 'max_pool1d': 'x i ?stride=i', 'max_pool2d': 'x i ?stride=i ?padding=i', 'avg_pool1d': 'x i ?stride=i', 'avg_pool2d': 'x i ?stride=i ?padding=i',
    'adaptive_avg_pool1d': 'x i', 'adaptive_avg_pool2d': 'x i', 'adaptive_max_pool2d': 'x i', 'conv1d': 'x y ?stride=i ?padding=i', 'conv2d': 'x y ?stride=i ?padding=i', 'interpolate': 'x ?scale_factor=n ?size=i',
    'dropout': 'x ?p=f ?training=o', 'pixel_shuffle': 'x i', 'scaled_dot_product_attention': 'x y y', 'unfold': 'x i', 'rms_norm': 'x S', 'group_norm': 'x i', 'instance_norm': 'x',
}
METHODS = {**{name: kinds for name, kinds in TABLE.items() if kinds[0] in 'x' and not name.endswith('_')}, 'to': 'x T', 'type': 'x T', 'item': 'x', 'tolist': 'x', 'fill_': 'x s', 'zero_': 'x', 'copy_': 'x y', 'new_zeros': 'x S',
           'new_full': 'x S n', 'new_tensor': 'x n', 'size': 'x ?dim=d', 'stride': 'x ?dim=d', 'expand_as': 'x y', 'view_as': 'x y', 'masked_scatter': 'x m y', 'contiguous': 'x', 'float': 'x', 'half': 'x', 'long': 'x', 'bool': 'x',
           'sum_to_size': 'x S', 'resize_': 'x S', 'type_as': 'x y', 'is_contiguous': 'x', 'element_size': 'x', 'dim': 'x', 'fill_diagonal_': 'x n', '__getitem__': 'x g', '__setitem__': 'x g s', '__add__': 'x s', '__rsub__': 'x s',
           '__rpow__': 'x s', '__floordiv__': 'x s', '__rtruediv__': 'x s', '__mod__': 'x s', '__and__': 'x s', '__eq__': 'x s', '__lt__': 'x s', '__invert__': 'x', '__matmul__': 'x y', '__len__': 'x', '__bool__': 'x', '__int__': 'x',
           '__float__': 'x', '__contains__': 'x n', '__iadd__': 'x s', '__imul__': 'x s', '__itruediv__': 'x s', '__ipow__': 'x s', '__ifloordiv__': 'x s', '__iand__': 'x s', '__rfloordiv__': 'x s', '__rmod__': 'x s'}
NUMBERS = ['0', '1', '2', '-1', '3', '0.5', '-1.5', '2.0', 'True', '1e10', "float('nan')", "float('inf')", '-0.0', '300', '-7', '1j', '2**40', "'x'", 'None']
WEIGHTS = [6, 6, 8, 5, 6, 8, 5, 6, 3, 2, 2, 2, 1, 2, 2, 2, 1, 1, 1]


class Draw:
    def __init__(self, dice):
        self.dice, self.tensors, self.first = dice, [], None

    def values(self, dtype, count):
        d = self.dice
        if dtype == 'bool':
            return [d.random() < 0.5 for _ in range(count)]
        if dtype == 'uint8':
            return [d.choice([0, 1, 2, 3, 5, 100, 255]) for _ in range(count)]
        if 'int' in dtype:
            return [d.choice([0, 1, 2, 3, -1, -2, 5, 7, -100]) for _ in range(count)]
        odd = d.random() < 0.15
        one = lambda: d.choice([0.0, 1.0, -1.0, 0.5, -0.25, 2.0, 3.5, -2.5, 0.75, 10.0] + (['nan', 'inf', '-inf', -0.0, 1e4] if odd else []))  # noqa: E731
        text = lambda v: f"float('{v}')" if isinstance(v, str) else repr(v)  # noqa: E731
        if 'complex' in dtype:
            return [f'complex({text(one())}, {text(one())})' for _ in range(count)]
        return [text(one()) for _ in range(count)]

    def tensor(self, dtype=None, shape=None, numbers=None):
        d = self.dice
        dtype = dtype or d.choice(DTYPES)
        shape = d.choice(SHAPES) if shape is None else shape
        count = 1
        for n in shape:
            count *= n
        numbers = numbers or self.values(dtype, count)
        base = f"torch.tensor([{', '.join(map(str, numbers))}], dtype=torch.{dtype}).reshape({shape})"
        way = d.random()
        if len(shape) > 1 and way < 0.15:
            base += '.transpose(0, -1).contiguous().transpose(0, -1)'
        elif shape and way < 0.25:
            base = f'torch.repeat_interleave({base}, 2, -1)[..., ::2]'
        elif shape and way < 0.32 and shape[0] > 0:
            base = f'{base}[:1].expand({shape})'
        elif shape and way < 0.38:
            base = f'torch.cat([{base}, {base}])[{shape[0]}:]'
        grad = ('float' in dtype or 'complex' in dtype) and d.random() < 0.15
        self.tensors.append(base + ('.detach().requires_grad_()' if grad else ''))
        return f't{len(self.tensors) - 1}'

    def fitting(self):
        """A second tensor: mostly of the first one's dtype, and of a shape that broadcasts or multiplies with it."""
        d, (dtype, shape) = self.dice, self.first
        if d.random() < 0.35:
            dtype = d.choice(DTYPES)
        way = d.random()
        if way < 0.45:
            return self.tensor(dtype, shape)
        if way < 0.6:
            return self.tensor(dtype, tuple(n if d.random() < 0.6 else 1 for n in shape[d.randrange(len(shape) + 1):]))
        if way < 0.75:
            return self.tensor(dtype, tuple(shape[:-2]) + tuple(reversed(shape[-2:])))
        return self.tensor(dtype)

    def value(self, kind):
        d = self.dice
        dims = len(self.first[1]) if self.first else 2
        if kind == 'x':
            dtype, shape = d.choice(DTYPES), d.choice(SHAPES)
            self.first = self.first or (dtype, shape)
            return self.tensor(dtype, shape)
        if kind == 'y':
            return self.fitting() if self.first else self.value('x')
        if kind == 's':
            return self.fitting() if self.first and d.random() < 0.5 else self.value('x') if not self.first and d.random() < 0.5 else d.choices(NUMBERS, WEIGHTS)[0]
        if kind == 'n':
            return d.choices(NUMBERS, WEIGHTS)[0]
        if kind == 'i':
            return d.choice(['0', '1', '2', '3', '-1', '2', '1', '1.0', 'True', '5', "'a'"] if d.random() < 0.25 else ['1', '2', '3', '0', '2'])
        if kind == 'f':
            return d.choice(['0.0', '0.5', '1.0', '0.1', '-0.5', '1.5', '1', 'None'])
        if kind == 'd':
            return str(d.randrange(-dims, max(dims, 1))) if d.random() < 0.85 else d.choice(['5', '-7', 'None', '(0, 1)', '1.0', '0', "'a'"])
        if kind == 'D':
            return self.value('d') if d.random() < 0.6 else d.choice(['(0, 1)', '(0,)', '[0, -1]', '()', '[]', 'None', '(0, 0)', '(1, 2)', '[0]'])
        if kind == 'o':
            return d.choice(['True', 'False', 'True', 'False', 'True', '1', 'None'])
        if kind == 'T':
            return 'torch.' + d.choice(DTYPES)
        if kind == 'S':
            count = 1
            for n in self.first[1] if self.first else (2, 3):
                count *= n
            return d.choice(['(2, 3)', '(-1,)', '(3,)', '()', '(1, -1)', f'({count},)', '(2, -1)', '(0,)', '(1, 2, 3)', '[3, 2]', '(-1, -1)', '(1, 0)', '(2, 1, 0)', '(1,)', '4', '(2.0,)', str(tuple(self.first[1]) if self.first else (2,))])
        if kind == 'm':
            return self.tensor(d.choice(['bool'] * 8 + ['uint8', 'int64', 'float32']), (self.first or (0, d.choice(SHAPES)))[1] if d.random() < 0.75 else None)
        if kind == 'I':
            shape = self.first[1] if self.first and d.random() < 0.5 else d.choice([(2,), (3,), (), (1, 3), (2, 3), (0,)])
            count = 1
            for n in shape:
                count *= n
            return self.tensor(d.choice(['int64'] * 9 + ['int32', 'float32', 'bool', 'uint8']), shape, [d.choice([0, 1, 0, 1, 0, 1, 2] + ([-1, 5] if d.random() < 0.15 else [])) for _ in range(count)])
        if kind == 'l':
            self.first = (d.choice(DTYPES), d.choice(SHAPES))
            return '[' + ', '.join([self.tensor(*self.first)] + [self.fitting() for _ in range(d.randrange(0, 3))]) + ']'
        if kind == 'g':
            return d.choice(['0', '-1', '5', 'slice(None, None, 2)', '(slice(None), 0)', 'None', '...', '(..., 0)', '(0, 0)', '[0, 1]', '(None, ..., 0)', '(slice(None), [0, 0])', 'True', 'slice(1, None)', '1.0', '(0, slice(1, 2))',
                             '([0, 1], [1, 0])', self.value('m'), self.value('I'), f"(slice(None), {self.value('I')})", f"(..., {self.value('I')})"])
        return repr(d.choice({'k': ['sum', 'prod', 'mean', 'amax', 'amin', 'x'], 'r': ['none', 'mean', 'sum', 'x'], 'p': ['constant', 'reflect', 'replicate', 'circular', 'x']}[kind]))


def drawn(dice, match):
    """(name, how, text of a call with a place for its number)"""
    space, table = dice.choices([('torch.', TABLE), ('F.', FUNCTIONAL), ('', METHODS)], [5, 2, 4])[0]
    name = dice.choice([n for n in table if re.search(match, n)] or list(METHODS))
    if name not in table:
        return None
    draw, arguments = Draw(dice), []
    for kind in table[name].split():
        if kind[0] == '?' and dice.random() < 0.55:
            continue
        key, _, of = kind.lstrip('?!').rpartition('=')
        arguments.append((key + '=' if key else '') + draw.value(of))
    if dice.random() < 0.02 and len(arguments) > 1 and not name.startswith('__'):
        arguments.pop()
    how = ''
    if space:
        text = f'{space}{name}({{}})'
    elif not name.startswith('__') and not name.endswith('_') and dice.random() < 0.35:
        text, how = f'{arguments.pop(0)}.{name}_({{}})', 'inplace'
    else:
        text = f'{arguments.pop(0)}.{name}({{}})'
        if name.endswith('_') and name != 'resize_':
            how = 'inplace'
    names = [f't{i}' for i in range(len(draw.tensors))]
    if space == 'torch.' and dice.random() < 0.12:
        how = 'out ' + dice.choice(['same', 'empty', 'other'])
        arguments.append('**k')
        names.append('**k')
    return name, how, f"call(%d, lambda: [{', '.join(draw.tensors)}], lambda {', '.join(names)}: {text.format(', '.join(arguments))}, {how!r})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--peer', default=os.environ.get('PEER', 'python3'))
    parser.add_argument('--calls', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--match', default='.')
    options = parser.parse_args()
    if subprocess.run([options.peer, '-c', 'import torch'], capture_output=True).returncode != 0:
        print(f'skipped: {options.peer} has no PyTorch\n0 passed, 0 failed')
        return 0
    dice, calls = random.Random(options.seed), {}
    while len(calls) < options.calls:
        found = drawn(dice, options.match)
        if found:
            calls[len(calls)] = found
    lines = {n: text.replace('%d', str(n), 1) for n, (_, _, text) in calls.items()}
    groups = defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        theirs = run_all([options.peer], lines, folder, 'theirs')
        ours = run_all([os.path.abspath(options.tsr)], lines, folder, 'ours')
    for n, (name, how, _) in calls.items():
        found = compare.difference(ours.get(n, ['\tcrash\tno output']), theirs.get(n, []))
        if found and not any('\tcrash\t' in line for line in theirs.get(n, [])):
            kind, path, a, b = found
            texts = (compare.general(a), compare.general(b)) if 'error' in kind or 'crash' in kind else ()
            groups[name, kind, *texts].append((n, path, *compare.excerpt(kind, a, b)))
    for (name, kind, *_), found in sorted(groups.items(), key=lambda g: -len(g[1])):
        n, path, a, b = min(found, key=lambda f: len(lines[f[0]]))
        print(f'{len(found)}x {name} {kind} {path}: {lines[n]}\n    tsr:     {a[:200]}\n    PyTorch: {b[:200]}')
    failed = sum(map(len, groups.values()))
    print(f'{len(calls) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
