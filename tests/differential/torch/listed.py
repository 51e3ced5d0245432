"""Differences that are meant; docs/differences.md tells the same.

Each: op, kind of difference, our text, PyTorch's text (patterns), reason, and perhaps a pattern of the call."""
import math
import re
import struct

import compare

LISTED = [
    ('.*', 'error', r'^RuntimeError: mean\(\): could not infer output dtype', r'^NotImplementedError: mean\(\)',
     'mean of integers raises RuntimeError, the base class of what PyTorch raises today'),
    ('.*', 'error', r"has no attribute '(chalf|complex32)'|Expected both inputs to be Half", r'complex32|^NotImplemented|^nothing',
     'there is no complex32'),
    ('.*', 'dtype|error', '', r'complex32|ComplexHalf|BComplex32', 'there is no complex32'),
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
    ('kthvalue|gather|take|masked_select', 'error', "doesn't match the broadcast shape", 'single memory location',
     'an input as out= is refused for its size'),
    ('masked_select', 'error', '^nothing', 'some elements of the input tensor', 'masked_select of a mask by itself may be written into it'),
    ('as_strided_scatter', 'grad values', '', '', "the gradient of as_strided_scatter's first tensor is that of the elements that stay; "
     'PyTorch gives that of the elements replaced'),
    ('take_along_dim', 'error', '^nothing', '^RuntimeError: view size is not compatible', 'take_along_dim of transposed tensors works here'),
    ('masked_(fill|scatter)', 'error', r'The size of tensor a|broadcast shape', r'The size of tensor a|^RuntimeError: expand\(',
     'a mask of another shape is told beside the tensor, in this order'),
    ('nonzero', 'error', 'as_tuple is True', 'must be Tensor, not tuple', 'nonzero(as_tuple=True) refuses out= of any kind in one way'),
    ('histogramdd', 'error', "unexpected keyword argument 'out'", '^TypeError', 'histogramdd has no out='),
    ('histc', 'error', 'histogram_cpu', 'linspace_cpu', 'histc of bool is refused by its own name'),
    ('index_reduce.*', 'error', '"index_func_" not implemented|Number of indices|^IndexError: index out of range in self',
     r'index_reduce_\(\): (Expected dtype|self)|tensor has no dimensions|is out of bounds for dimension', 'of two faults of a call, another is told first'),
    ('index_select|scatter_reduce.*', 'error', 'Expected dtype int32 or int64|same number of dimensions as src',
     'Index to scalar can have only|Dimension out of range', 'of two faults of a call, another is told first'),
    ('grid_sampler_.d', 'error', '^ValueError.* must be 0, 1 or 2', '^nothing', 'a mode that there is not: PyTorch reads memory of others'),
    ('native_layer_norm', 'values', r'inf', 'nan', 'the mean of infinities is the sum divided by their number; PyTorch updates it number by number'),
    ('native_group_norm', 'values', 'inf', 'nan', 'an infinite weight times what is finite is infinite; PyTorch multiplies it by the mean first, and subtracts'),
    ('native_batch_norm', 'error', 'bias should contain|weight should contain', '^nothing', 'a bias of another length is refused; PyTorch reads past its end'),
    ('(log_)?softmax.*', 'error', 'not implemented for', '^nothing', 'a softmax of integers is refused without elements too'),
    ('logcumsumexp', 'grad values', '', '', "its derivative goes from sum to sum, that of halves in float32; PyTorch's takes differences of logarithms", r'f(16|32)\[.*!'),
    ('logcumsumexp|cumprod', 'values', '', 'nan',
     'the first running number is the first number, NaN and infinite parts too; PyTorch joins it with a neutral one', r'c(64|128)'),
    ('.*', 'error', '', 'Could this error message be improved', 'an assertion inside PyTorch fails'),
    ('std|var', 'values', '', '', 'the variance of equal complex numbers is 0; PyTorch is a rounding away', r'c(64|128)'),
    ('round', 'error', '^nothing', 'round_vml_cpu', 'torch.special.round of integers is torch.round', r'special'),
    ('__rdiv__', 'stride', '', r'\b0\b', 'strides of no elements are never 0'),
    ('clamp', 'stride', '', '', 'clamp between tensors of several layouts lies as its lower bound leads'),
    ('nanmean', 'error', "can't be cast", 'nansum_cpu', 'an out= tensor of integers is refused for its dtype'),
    ('.*', 'error', r"has no attribute '(chalf|complex32)'|Expected both inputs to be Half|view_as_complex is only supported for half",
     r"complex32|^NotImplemented|^nothing|'torch.dtype' object is not callable|Tensor must have a last dimension", 'there is no complex32'),
    ('(linalg.)?matrix_exp', 'error', 'Low precision dtypes not supported', '^nothing', 'matrix_exp of halves: PyTorch gives infinities'),
    ('.*', 'error', '', 'Trying to resize storage that is not resizable', 'memory of others (frombuffer): PyTorch cannot resize it'),
    ('kron', 'error', '^nothing', '^RuntimeError: view size is not compatible', 'kron of transposed matrices works here'),
    (r'fft\.ihfft[n2]', 'shape|values|error', '', '', 'out= of ihfftn: PyTorch leaves it as it was, or without the conjugate'),
    (r'linalg\.(svd|polar|pinv)', 'error', '^nothing', 'linalg.svd: .*The algorithm failed to converge',
     'where infinities become NaN in products, transforms and solutions is up to the libraries'),
    (r'linalg\.(tensorinv|inv|lu_factor)', 'error', 'is zero', 'is zero', 'which zero is met first is up to the LAPACK'),
    ('nn.*', 'error', r'missing \d required positional argument', r'missing \d required positional argument',
     "a missing argument is told in Python's words"),
    ('nn.*', 'error', '', r'TensorAccessor expected|CPUComplex\w+Type|\[\[\d|step must be nonzero|select\(\): index 0 out of range',
     "texts of PyTorch's insides"),
    (r'nn\.functional\.batch_norm', 'error', 'expected at least 2D input', r'^nothing.*shape \(0,\)',
     'batch_norm of one dimension is refused without elements too'),
    (r'nn\.functional\.adaptive_avg_pool3d', 'error', 'Expected 4D or 5D', '^nothing', 'PyTorch pools six dimensions down to one place'),
    (r'nn\.functional\.hardsigmoid', 'grad values', '', '', "PyTorch's derivative of hardsigmoid is a sixth of float32, in float64 too", 'f64'),
    (r'nn\.functional\.(rms_norm|relu6|hardtanh|instance_norm|channel_shuffle)|channel_shuffle', 'stride', '', '', 'strides of no elements are those of rows', r'\[[\d,]*\b0\b'),
    ('.*', 'error', '', 'ArrayRef: invalid slice|numel: integer multiplication overflow|unflatten got an unexpected error|'
     'Could this error message be improved|Expected 0D or 1D tensor in the tensor list but got: .*[.]', "texts of PyTorch's insides"),
]


def up_to_phase(record, ours, theirs):
    """Vectors may be multiplied with a number of size 1."""
    a, b = compare.listed(ours), compare.listed(theirs)
    if 'complex' in record['dtype'] or record['op'] == 'linalg.eig':
        a, b = ([math.hypot(*pair) for pair in zip(x[::2], x[1::2])] for x in (a, b))
    return compare.close(str([abs(x) for x in a]), str([abs(x) for x in b]), 1e-4, 1e-4)


def not_finite(record, ours, theirs):
    """Only where one of both is no finite number."""
    pairs = list(zip(compare.listed(ours), compare.listed(theirs)))
    finite = [(x, y) for x, y in pairs if math.isfinite(x) and math.isfinite(y)]
    return len(finite) < len(pairs) and compare.close(str([x for x, _ in finite]), str([y for _, y in finite]), 1e-4, 1e-4)


def half(record, ours, theirs):
    return '16' in record['text'] or record['dtype'] in ('float16', 'bfloat16')


def few_digits(record, ours, theirs):
    return all(x == y or x != x and y != y or abs(x - y) < 1e-5 + 2e-5 * abs(y)
               for x, y in zip(compare.listed(ours), compare.listed(theirs)))


def noise(record, ours, theirs):
    """Rounding errors of halves."""
    return half(record, ours, theirs) and all(abs(x - y) < 4e-3 for x, y in zip(compare.listed(ours), compare.listed(theirs)))


def repeated(record, ours, theirs):
    """A matrix of columns that are all the same."""
    return re.search(r'/\([\d, ]*\b0\b', record['brief'])


FORMATS = {'float64': 'd', 'float32': 'f', 'float16': 'e', 'int64': 'q', 'int32': 'i', 'int16': 'h', 'int8': 'b', 'uint8': 'B'}


def given(record, which):
    """The numbers in memory of a tensor of the call; none where Python cannot read them."""
    dtype, data = re.findall(r"T\(torch\.(\w+), \(.*?\), \(.*?\), \d+, '(\w*)'", record['text'])[which]
    return [x for x, in struct.iter_unpack('<' + FORMATS[dtype], bytes.fromhex(data))] if dtype in FORMATS else []


def in_no_order(record, ours, theirs):
    found = given(record, 0 if record['op'] == 'searchsorted' else 1)
    return any(not a <= b for a, b in zip(found, found[1:]))


def nan_in_volume(record, ours, theirs):
    return re.search(r'\[\d+,\d+,\d+,\d+,3\]', record['brief']) and not all(math.isfinite(x) for x in given(record, 1))


def one_element(record, ours, theirs):
    return all(abs(x) < 1e-6 and abs(y) < 1e-3 for x, y in zip(compare.listed(ours), compare.listed(theirs)))


def near_zero(record, ours, theirs):
    bound = 1e-3 if half(record, ours, theirs) else 1e-7
    return all(abs(x - y) < bound for x, y in zip(compare.listed(ours), compare.listed(theirs)))


def poles(record, ours, theirs):
    return all(x == math.inf and abs(y) > 1e10 or compare.close(str([x]), str([y]), 1e-4)
               for x, y in zip(compare.listed(ours), compare.listed(theirs)))


# The same where a look at the values tells: of results, or of gradients.
CHECKED = [
    (r'linalg\.(eigh?|svd)|svd', up_to_phase, 'signs and phases of eigenvectors and singular vectors are up to the LAPACK'),
    (r'.*mm|mv|bmm.*|nn\.functional\.conv.*|addbmm|addmv|matmul|linalg\.(solve.*|tensorsolve|lu.*|pinv.*|svd|polar|lstsq.*)|triangular_solve|fft\..*', not_finite,
     'where infinities become NaN in products, transforms and solutions is up to the libraries'),
    (r'special\.(bessel_[jy][01]|airy_ai)', few_digits,
     "PyTorch's bessel_j0, j1, y0, y1 and airy_ai have 5 to 10 digits"),
    (r'linalg\.(lu.*|solve.*|tensorsolve|tensorinv)', repeated, 'factors and solutions of singular matrices are quotients of rounding errors'),
    ('searchsorted|bucketize', in_no_order, 'places among numbers that are in no order are up to the search'),
    ('grid_sampler_3d|nn.functional.grid_sample', nan_in_volume,
     'NaN in the grid, and infinities that are reflected, stand for -1, as the documentation says; in volumes PyTorch takes 1, or nothing'),
    ('native_layer_norm', one_element, 'one number without its mean is 0'),
    (r'special\.polygamma.*|polygamma.*', poles, "PyTorch's trigamma of integers below 1 is a large number"),
    (r'nn\.functional\.fractional_max_pool.*', half, 'windows drawn in halves: uniform numbers of halves have bits of their own'),
    ('rand_like|rand|uniform', half, 'uniform numbers of halves have bits of their own, as in PyTorch 1.13'),
]


CHECKED_GRADIENTS = [
    ('native_layer_norm', one_element, 'the gradient through one or two numbers without their mean is 0'),
    (r'nn\.functional\.(batch|group|layer|rms)_norm', near_zero,
     'the derivative of what is always the same is 0 up to rounding errors'),
    (r'nn\.functional\.grid_sample', lambda record, ours, theirs: half(record, ours, theirs) and 'bicubic' in record['brief'],
     'cubic weights of halves: both sides are as far from the exact derivative'),
    (r'nn\.functional\.(celu|normalize|soft_margin_loss)', noise, 'derivatives of halves near 0'),
    (r'special\.i[01]e|corrcoef', noise, 'differences of numbers that are nearly the same, in halves'),
    (r'linalg\.householder_product|ormqr', lambda record, ours, theirs: compare.close(ours, theirs, 1e-4, 1e-4),
     'gradients of long products in float32 are summed in another order'),
]


def reason_for(record, kind, ours, theirs):
    if kind in ('values', 'grad values'):
        for op, holds, reason in CHECKED if kind == 'values' else CHECKED_GRADIENTS:
            if re.fullmatch(op, record['op']) and holds(record, ours, theirs):
                return reason
    for op, of_kind, our, their, reason, *call in LISTED:
        if re.fullmatch(op, record['op']) and re.search(of_kind, kind) and re.search(our, ours) and re.search(their, theirs):
            if not call or re.search(call[0], record['brief']):
                return reason
    return None
