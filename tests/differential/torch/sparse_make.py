#!/usr/bin/env python3
"""Writes the sparse samples of PyTorch's table of ops, with PyTorch's results, into a file: runs under the peer's Python.

    sparse_make.py FILE

The file is a torch.save of a list: (name of the op, layout, first operand, other operands, keywords, result or the class of the error and
its first line).
"""
import itertools
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import SampleInput

LAYOUTS = [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc]
DTYPES = [torch.float64, torch.int64, torch.bool, torch.complex128]
MOST = 40  # samples of an op, a layout and a dtype
LARGEST = 2000  # elements of an operand or a result
FEW = 6  # dense samples that are made sparse
# Ops that draw numbers or whose result is undefined, and families that have nothing to do with sparse tensors.
LEFT_OUT = ('empty', 'new_empty', 'rand', 'nn.functional.dropout', 'bernoulli', 'normal', 'multinomial', 'cauchy', 'exponential', 'geometric',
            'log_normal', 'uniform', 'linalg', 'fft', 'nn.functional.conv', 'nn.functional.max_', 'nn.functional.interpolate', 'special.', 'jiterator')


def function_of(name):
    for root in (torch, torch.Tensor):
        found = root
        for part in name.split('.'):
            found = getattr(found, part, None)
        if callable(found):
            return found
    return None


def keeps(value):
    """Whether a value can be written: of a kind that both sides load, and small."""
    if isinstance(value, torch.Tensor) and (value.numel() > LARGEST or value.dtype is torch.complex32) or value is torch.complex32:
        return False
    if isinstance(value, (list, tuple)):
        return all(keeps(each) for each in value)
    return value is None or isinstance(value, (torch.Tensor, bool, int, float, complex, str, torch.dtype, torch.layout, torch.Size))


def sparse_of(value, layout):
    """The value with its tensors made sparse, a third of their elements left out; raises where a layout cannot hold one."""
    if isinstance(value, torch.Tensor):
        kept = torch.arange(value.numel()).reshape(value.shape) % 3 != 0
        return torch.where(kept, value.detach(), torch.zeros((), dtype=value.dtype)).to_sparse(layout=layout)
    if isinstance(value, (list, tuple)):
        return type(value)(sparse_of(each, layout) for each in value)
    return value


def converted_samples(op, layout, dtype):
    """Dense samples of an op with the first or all operands made sparse."""
    if layout not in LAYOUTS[:2] or dtype not in DTYPES[:2] or op.name.startswith(LEFT_OUT):
        return
    for number, sample in enumerate(op.sample_inputs('cpu', dtype)):
        if number >= FEW:
            return
        for takes_all in False, True:
            try:
                input = sparse_of(sample.input, layout)
                args = sparse_of(tuple(sample.args), layout) if takes_all else tuple(sample.args)
            except Exception:
                continue
            if keeps(input) and keeps(args) and keeps(tuple(sample.kwargs.values())) and (not takes_all or any(
                    isinstance(each, torch.Tensor) for each in args)):
                yield SampleInput(input, args=args, kwargs=sample.kwargs)


def samples_of(op, layout, dtype):
    try:
        for number, sample in enumerate(op.sample_inputs_sparse(layout, 'cpu', dtype)):
            if number >= MOST:
                return
            if keeps(sample.input) and keeps(sample.args) and keeps(tuple(sample.kwargs.values())):
                yield sample
    except Exception:  # the table's own functions refuse layouts and dtypes in many ways
        return


def is_valid(value):
    """Whether the indices of sparse tensors are what their layout asks for; some kernels leave memory as it was."""
    if isinstance(value, (list, tuple)):
        return all(map(is_valid, value))
    if not isinstance(value, torch.Tensor) or value.layout in (torch.strided, torch.sparse_coo):
        return True
    by_rows = value.layout in (torch.sparse_csr, torch.sparse_bsr)
    indices = (value.crow_indices(), value.col_indices()) if by_rows else (value.ccol_indices(), value.row_indices())
    try:
        torch.sparse_compressed_tensor(*indices, value.values(), value.shape, layout=value.layout, check_invariants=True)
    except RuntimeError as error:
        return 'sorted and distinct' in str(error)
    return True


def quietly(samples):
    """Samples until one cannot be made."""
    try:
        yield from samples
    except Exception:
        return


def detached(value):
    if isinstance(value, (list, tuple)):
        return type(value)(*map(detached, value)) if hasattr(value, '_fields') else type(value)(map(detached, value))
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def main():
    warnings.simplefilter('ignore')
    rows = []
    for op in op_db:
        function = function_of(op.name)
        if function is None or op.name.startswith(('ops.', '_')):
            continue
        for layout in LAYOUTS:
            for dtype in DTYPES:
                if dtype not in op.supported_dtypes('cpu'):
                    continue
                for sample in itertools.chain(samples_of(op, layout, dtype), quietly(converted_samples(op, layout, dtype))):
                    torch.manual_seed(0)
                    try:
                        result = detached(function(sample.input, *sample.args, **sample.kwargs))
                        if not keeps(result) or not is_valid(result):
                            continue
                        result = tuple(result) if isinstance(result, tuple) else result
                    except Exception as error:
                        result = {'error': (type(error).__name__, str(error).split('\n')[0])}
                    rows.append((op.name, str(layout), detached(sample.input), detached(sample.args), detached(sample.kwargs), result))
    torch.save(rows, sys.argv[1])
    print(len(rows), 'samples')


main()
