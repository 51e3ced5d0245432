"""Differences that are meant; docs/differences.md tells the same.

Each: op, kind of difference, our text, PyTorch's text (patterns), reason, and perhaps a pattern of the call."""
import re

LISTED = [
    ('.*', 'error', r'^RuntimeError: mean\(\): could not infer output dtype', r'^NotImplementedError: mean\(\)',
     'mean of integers raises RuntimeError, the base class of what PyTorch raises today'),
    ('.*', 'error', r"has no attribute '(chalf|complex32)'|Expected both inputs to be Half", r'complex32|^NotImplemented|^nothing',
     'there is no complex32'),
    ('.*', 'dtype|error', '', r'complex32|ComplexHalf', 'there is no complex32'),
    ('__r.*__', 'error', 'expected 1 argument, got 0', 'NotImplemented',
     "an operator's method without its operand is refused, as everywhere in Python; PyTorch hands NotImplemented back"),
    ('.*', 'error', '', r'tensor with unallocated storage', "a gradient of zeros has memory; PyTorch's may have none, and cannot be read"),
    ('polygamma.*', 'values', 'inf', r'\d{11}', 'polygamma is infinite at its poles, where PyTorch divides by a sine that is not quite 0'),
    ('polygamma.*', 'values', '', '', 'polygamma of halves is computed in float32 and rounded once', r'polygamma\(b?f16'),
    ('ldexp', 'error', 'result type', "ldexp can't be cast", "PyTorch's text of that error lacks the dtype"),
    ('mvlgamma.*', 'error', 'result type', 'mvlgamma: result type', 'PyTorch names the two dtypes the other way round'),
    ('(var|std)_mean.*', 'values', 'inf', 'nan', 'the mean of infinities is the sum divided by their number; PyTorch updates it number by number'),
    ('__rsub__|rsub|sub|add|__radd__', 'values', '', 'nan',
     'sums of complex numbers with an infinite part: PyTorch multiplies by alpha = 1+0j first, which makes the other part NaN', r'c(64|128)'),
    ('hash_tensor', 'error', 'OverflowError: the uint64', '^nothing', 'an int has 64 bits'),
    ('logsumexp', 'error', '', r"output with shape \[\] doesn't match", 'dim=[] is all dimensions, as in the other reductions; PyTorch fails'),
    ('quantile', 'error', 'invalid combination of arguments', 'invalid combination of arguments',
     'a refused call lists its keywords in their order; PyTorch in none'),
    ('unique', 'shape', '', '', 'rows with NaN have a place in the order; PyTorch leaves such rows unsorted and finds equal ones apart', r'f(16|32|64)\[.*dim=\d'),
    ('kthvalue', 'error', "doesn't match the broadcast shape", 'single memory location', 'an input as out= is refused for its size'),
    ('log_softmax|softmax', 'error', 'not implemented for', '^nothing', 'a softmax of integers is refused without elements too'),
    ('logcumsumexp', 'values', '', '', "its derivative for halves is computed in float32; PyTorch's rounds at each step", r'\(b?f16'),
]


def reason_for(record, kind, ours, theirs):
    for op, of_kind, our, their, reason, *call in LISTED:
        if re.fullmatch(op, record['op']) and re.search(of_kind, kind) and re.search(our, ours) and re.search(their, theirs):
            if not call or re.search(call[0], record['brief']):
                return reason
    return None
