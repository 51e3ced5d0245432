"""Differences that are meant. Each names its row in docs/differences.md, where the reason stands; run.py fails where there is none."""
import math
import pathlib
import re
import struct

import compare

DIFFERENCES = pathlib.Path(__file__).resolve().parents[3] / 'docs' / 'differences.md'
ANY, NOTHING = '', '^nothing'

# How the row begins; op, kind of difference, our text, PyTorch's text (patterns), and perhaps a pattern of the call.
LISTED = [
    ('`mean` of integers', '.*', 'error', r'^RuntimeError: mean\(\): could not infer output dtype', r'^NotImplementedError: mean\(\)'),
    ('`x.__radd__()` and its kin', '__r.*__', 'error', 'expected 1 argument, got 0', 'NotImplemented'),
    ('gradients that are zeros everywhere', '.*', 'error', ANY, 'tensor with unallocated storage'),
    ('`polygamma` at 0', 'polygamma.*', 'values', 'inf', r'\d{11}'),
    ('`ldexp_`, `mvlgamma_` of integers', 'ldexp', 'error', 'result type|broadcast shape', "ldexp can't be cast"),
    ('`ldexp_`, `mvlgamma_` of integers', 'mvlgamma.*', 'error', 'result type', 'mvlgamma: result type'),
    ('the mean of `var_mean`', '(var|std)_mean.*|native_layer_norm', 'values', 'inf', 'nan'),
    ('complex `a + b`', '__rsub__|rsub|sub|add|__radd__|nn.functional.tanhshrink', 'values', ANY, 'nan', r'c(64|128)'),
    ('`logsumexp(x, dim=[])`', 'logsumexp', 'error', ANY, r"output with shape \[\] doesn't match"),
    ('the keywords in', 'quantile|histogram(dd)?', 'error', 'invalid combination of arguments', 'invalid combination of arguments'),
    ('`unique(dim=...)` of rows', 'unique', 'shape', ANY, ANY, r'f(16|32|64)\[.*dim=\d'),
    ('`kthvalue`, `gather`, `take`', 'kthvalue|gather|take|masked_select', 'error', "doesn't match the broadcast shape", 'single memory location'),
    ('`kthvalue`, `gather`, `take`', 'masked_select', 'error', NOTHING, 'some elements of the input tensor'),
    ("the gradient of `as_strided_scatter`'s first", 'as_strided_scatter', 'grad values', ANY, ANY),
    ('`take_along_dim(x, indices)`', 'take_along_dim', 'error', NOTHING, '^RuntimeError: view size is not compatible'),
    ('a mask and a tensor whose shapes', 'masked_(fill|scatter)', 'error', 'The size of tensor a|broadcast shape|only supports boolean masks',
     r'The size of tensor a|^RuntimeError: expand\('),
    ('a mask and a tensor whose shapes', '_unsafe_masked_index.*', 'error', 'The size of tensor a', 'The size of tensor a'),
    ('`histc` of `bool`', 'nonzero', 'error', 'as_tuple is True', 'must be Tensor, not tuple'),
    ('`histc` of `bool`', 'histogramdd', 'error', "unexpected keyword argument 'out'", '^TypeError'),
    ('`histc` of `bool`', 'histc', 'error', 'histogram_cpu', 'linspace_cpu|value cannot be converted'),
    ('a mask and a tensor whose shapes', 'index_reduce.*', 'error',
     '"index_func_" not implemented|Number of indices|^IndexError: index out of range in self',
     r'index_reduce_\(\): (Expected dtype|self)|tensor has no dimensions|is out of bounds for dimension'),
    ('a mask and a tensor whose shapes', 'index_select|scatter_reduce.*|index_add', 'error',
     'Expected dtype int32 or int64|same number of dimensions as src|Number of indices',
     'Index to scalar can have only|Dimension out of range|tensor has no dimensions'),
    ('a mask and a tensor whose shapes', 'polygamma.*', 'error', 'result type', 'single memory location'),
    ('`grid_sampler(..., interpolation_mode=5)`', 'grid_sampler_.d', 'error', '^ValueError.* must be 0, 1 or 2', NOTHING),
    ('infinite weights of `native_group_norm`', r'native_group_norm|nn\.functional\.(group|instance)_norm', 'values', 'inf', 'nan'),
    ('`native_batch_norm` with a bias', 'native_batch_norm', 'error', 'bias should contain|weight should contain', NOTHING),
    ('the derivative of `logcumsumexp`', 'logcumsumexp', 'grad values', ANY, ANY, r'f(16|32)\[.*!'),
    ('`cumprod`, `logcumsumexp`', 'logcumsumexp|cumprod', 'values', ANY, 'nan', r'c(64|128)'),
    ('what `Could this error message be improved?`', '.*', 'error', ANY, 'Could this error message be improved'),
    ('`var`, `std` of equal complex', 'std|var', 'values', ANY, ANY, r'c(64|128)'),
    ('`torch.special.round` of integers', 'round', 'error', NOTHING, 'round_vml_cpu', 'special'),
    ('`x.clamp(low, high)` with tensors', '__rdiv__', 'stride', ANY, r'\b0\b'),
    ('`x.clamp(low, high)` with tensors', 'clamp', 'stride', ANY, ANY),
    ('`nanmean` into integers', 'nanmean', 'error', "can't be cast", 'nansum_cpu'),
    ('`torch.linalg.matrix_exp` of halves', '(linalg.)?matrix_exp', 'error', 'Low precision dtypes not supported', NOTHING),
    ('`out=` and in-place forms that must grow', '.*', 'error', ANY, 'Trying to resize storage that is not resizable'),
    ('`torch.kron` of a transposed', 'kron', 'error', NOTHING, '^RuntimeError: view size is not compatible'),
    ('`out=` of `torch.fft.ihfftn`', r'fft\.ihfft[n2]', 'shape|values|error', ANY, r'^\(0,\)|^\[0.0, 0.0|^Found dtype|Found dtype'),
    ('singular values of a matrix with', r'linalg\.(svd|polar|pinv)', 'error', NOTHING, 'linalg.svd: .*The algorithm failed to converge'),
    ('which 0 on the diagonal', r'linalg\.(tensorinv|inv|lu_factor|matrix_power)', 'error', 'is zero', 'is zero'),
    ('which 0 on the diagonal', r'linalg\.eig.*', 'error', 'failed to converge', 'failed to converge'),
    ('a missing argument of a function', 'nn.*|grid_sampler_.d', 'error', r'missing \d required positional argument', r'missing \d required positional argument'),
    ("refusals whose words are of PyTorch's insides", 'nn.*|native_batch_norm', 'error', ANY,
     r'TensorAccessor expected|\[\[\d|step must be nonzero|select\(\): index 0 out of range|could not create a primitive|slow_conv_dilated<>'),
    ("refusals whose words are of PyTorch's insides", '.*', 'error', ANY, 'ArrayRef: invalid slice|numel: integer multiplication overflow|'
     r'unflatten got an unexpected error|INTERNAL ASSERT FAILED|setStorage: sizes|Expected 0D or 1D tensor in the tensor list but got: .*[.]'),
    ('two dtypes in a product', r'nn\.functional\.(conv.*|linear|multi_head_attention_forward)|.*mm.*', 'error',
     'should be the same|must have the same dtype|expected scalar type', 'should be the same|to have the same dtype|expected scalar type'),
    ('`batch_norm` of one dimension', r'nn\.functional\.batch_norm', 'error', 'expected at least 2D input', r'^nothing.*shape \(0,\)|should contain 0 elements'),
    ('`adaptive_avg_pool3d` of six', r'nn\.functional\.adaptive_avg_pool3d', 'error', 'Expected 4D or 5D', NOTHING),
    ('the derivative of `hardsigmoid`', r'nn\.functional\.hardsigmoid', 'grad values', ANY, ANY, 'f64'),
    ('strides of tensors without elements', r'nn\.functional\.(rms_norm|relu6|hardtanh|instance_norm|channel_shuffle)|channel_shuffle', 'stride', ANY, ANY,
     r'\[[\d,]*\b0\b'),
    ('`instance_norm` with a running mean', r'nn\.functional\.instance_norm', 'error', 'expected scalar type', NOTHING, 'running_(mean|var)=[iu]'),
    ('gradients that PyTorch refuses', r'nn\.functional\.max_unpool3d(\.grad)?|_unsafe_masked_index', 'grad error', NOTHING, 'view size is not compatible|shape mismatch'),
    ('`multi_margin_loss` of no rows', r'nn\.functional\.multi_margin_loss', 'values', 'nan', r'e-3\d\d|0\.0', r'f\d+\[0,'),
    ('ops of `float8` and `complex32`', '.*', '(grad )?error', ANY, "(not implemented for '|Unsupported dtype |tensors of type: |supported. Got |but got: |Promotion for .*|ScalarType for )"
     r"(Float8_e4m3fn|Float8_e5m2|ComplexHalf|Half)|other than float and double|linalg.pinv|supports floating point, complex|argument #1 'weight'", r'f8_|c32\['),
    ('reductions, sorts, norms and factorisations of `float8`', r'.*(norm|std|var|lu|linalg|cum|max|min|sort|topk|fft|dist|masked|sum|nonzero).*|index_reduce.*',
     'error', "not implemented for '(Float8|Complex)|tensors of type: Half|Low precision", NOTHING, r'f8_|c32\['),
    ('`addmv` of a number', 'addmv', 'shape', r'\(0,\)', r'\(\)'),
]


# What looks at the numbers: of the call, of both results ------------------------------------------------------------

FORMATS = {'float64': 'd', 'float32': 'f', 'float16': 'e', 'int64': 'q', 'int32': 'i', 'int16': 'h', 'int8': 'b', 'uint8': 'B',
           'complex64': 'f', 'complex128': 'd'}


def tensors(record):
    """The numbers in memory of each tensor of the call; of complex ones both parts."""
    found = []
    for dtype, data in re.findall(r"T\(torch\.(\w+), \(.*?\), \(.*?\), \d+, '(\w*)'", record['text']):
        memory = bytes.fromhex(data)
        if dtype == 'bfloat16':
            memory, dtype = b''.join([b'\0\0' + memory[i:i + 2] for i in range(0, len(memory), 2)]), 'float32'
        found.append([x for x, in struct.iter_unpack('<' + FORMATS[dtype], memory)] if dtype in FORMATS else [])
    return found


def extreme(record):
    """Whether the call has infinities, NaN, or numbers whose squares leave float32 or the digits of float64."""
    return any(not math.isfinite(x) or abs(x) >= 1e15 for numbers in tensors(record) for x in numbers)


def half(record):
    return '16' in record['text'] or record['dtype'] in ('float16', 'bfloat16')


def pairs(ours, theirs):
    return list(zip(compare.listed(ours), compare.listed(theirs)))


def up_to_phase(record, ours, theirs):
    """Vectors may be multiplied with a number of size 1."""
    a, b = compare.listed(ours), compare.listed(theirs)
    if 'complex' in record['dtype'] or record['op'] == 'linalg.eig':
        a, b = ([math.hypot(*pair) for pair in zip(x[::2], x[1::2])] for x in (a, b))
    return compare.close(str([abs(x) for x in a]), str([abs(x) for x in b]), 1e-4, 1e-4)


def not_finite(record, ours, theirs):
    """Of a call with infinities: only where one of both results is no finite number."""
    both = pairs(ours, theirs)
    finite = [(x, y) for x, y in both if math.isfinite(x) and math.isfinite(y)]
    close = compare.close(str([x for x, _ in finite]), str([y for _, y in finite]), 1e-4, 1e-4)
    return extreme(record) and len(finite) < len(both) and close


def few_digits(record, ours, theirs):
    return all(x == y or x != x and y != y or abs(x - y) < 1e-5 + 2e-5 * abs(y) for x, y in pairs(ours, theirs))


def noise(record, ours, theirs):
    """Halves that were rounded at other places."""
    if not half(record):
        return False
    scale = max([abs(y) for y in compare.listed(theirs) if math.isfinite(y)], default=0.0)
    return all(x == y or not math.isfinite(y) or abs(x - y) < 4e-3 + 0.05 * scale for x, y in pairs(ours, theirs))


def near_zero(record, ours, theirs):
    """Zeros but for rounding errors."""
    bound = 1e-3 if half(record) else 1e-3 if record['op'] == 'native_layer_norm' else 3e-7
    return all(abs(x) < bound and abs(y) < bound for x, y in pairs(ours, theirs))


def singular(record, ours, theirs):
    """A matrix of columns that are all the same, or with numbers too far apart for its digits."""
    return re.search(r'/\([\d, ]*\b0\b', record['brief']) or extreme(record)


def ill_conditioned(record, ours, theirs):
    return compare.close(ours, theirs, 1e-3, 1e-3)


def in_no_order(record, ours, theirs):
    found = tensors(record)[0 if record['op'] == 'searchsorted' else 1]
    return any(not a <= b for a, b in zip(found, found[1:]))


def lost_in_grid(record, ours, theirs):
    in_volume = re.search(r'\[\d+,\d+,\d+,\d+,3\]', record['brief'])
    return (in_volume or half(record)) and not all(math.isfinite(x) for x in tensors(record)[1])


def along_repeated(record, ours, theirs):
    return re.search(r'/\((\d+, )*0\b', record['brief'])


def in_cubic_halves(record, ours, theirs):
    return half(record) and ('bicubic' in record['brief'] or re.search(r', 2, [012], (True|False)\)$', record['brief']))


def poles(record, ours, theirs):
    return all(x == math.inf and abs(y) > 1e10 or compare.close(str([x]), str([y]), 1e-4) for x, y in pairs(ours, theirs))


def nan_of_gradient(record, ours, theirs):
    """NaN of the call itself: there whole vectors have 0 or NaN, the rest what arrives."""
    same = all(x == y or y == 0.0 or y != y or compare.close(str([x]), str([y]), 2e-5) for x, y in pairs(ours, theirs))
    return any(x != x for x in tensors(record)[0]) and same


def in_stack(record, ours, theirs):
    """All but the first of a stack are wrong there when a dimension of one item has a stride of its own."""
    a, b = compare.listed(ours), compare.listed(theirs)
    shape = re.search(r'ldl_solve\([fc]\d+\[(\d+)(,1)+,\d+,\d+\]/', record['brief'])
    first = len(a) // int(shape[1]) if shape else 0
    return first > 0 and compare.close(str(a[:first]), str(b[:first]), 1e-3, 1e-4)


def in_halves(record, ours, theirs):
    return half(record)


def all_nan(record, ours, theirs):
    return all(y != y for y in compare.listed(theirs)) and not any(x != x for x in compare.listed(ours))


PRODUCTS = (r'.*mm|mv|bmm.*|nn\.functional\.(conv.*|linear|upsample.*|interpolate.*)|__r?matmul__|float_power|addbmm|addmv|matmul|stft|fft\..*|triangular_solve|'
            r'linalg\.(solve.*|tensorsolve|lu.*|pinv.*|svd|polar|lstsq.*|householder_product)')

# How the row begins; op, kind, and what must hold of the call and both texts.
CHECKED = [
    ('signs (of complex numbers phases)', r'linalg\.(eigh?|svd)|svd', 'values', up_to_phase),
    ('infinities in products', PRODUCTS, '(grad )?values', not_finite),
    ('infinities in products', r'linalg\.lstsq', 'error', lambda record, ours, theirs: extreme(record) and 'full rank' in theirs),
    ('`torch.special.bessel_j0`', r'special\.(bessel_[jy][01]|airy_ai)', 'values', few_digits),
    ('factors, roots and solutions', r'linalg\.(lu.*|solve.*|tensorsolve|tensorinv|polar|cond|matrix_sqrth|pinv.*)|norm.nuc', '(grad )?values', singular),
    ('factors, roots and solutions', r'linalg\.(householder_product|lstsq.*)|ormqr', 'grad values', ill_conditioned),
    ('`searchsorted`, `bucketize` of numbers', 'searchsorted|bucketize', 'values', in_no_order),
    ('NaN in the grid', r'grid_sampler_[23]d|nn\.functional\.grid_sample', 'values', lost_in_grid),
    ('`polygamma(1, x)` of integers', r'special\.polygamma.*|polygamma.*', 'values', poles),
    ('`polygamma` of halves', 'polygamma.*', 'values', noise),
    ('`polygamma` of halves', 'polygamma.*', 'grad values', in_halves),
    ('`ldl_solve` of a stack', r'linalg\.ldl_solve', 'values', in_stack),
    ('gradients that are 0 but for rounding', 'native_layer_norm', 'values', near_zero),
    ('gradients that are 0 but for rounding', r'nn\.functional\.(batch|group|layer|rms)_norm|native_.*_norm|corrcoef|nn\.functional\.cosine_similarity',
     'grad values', near_zero),
    ('gradients of halves', r'nn\.functional\.((batch|group|layer|rms)_norm|normalize|soft_margin_loss|scaled_dot_product_attention)|native_.*_norm|'
     r'special\.i[01]e|corrcoef|addcmul', 'grad values', noise),
    ('gradients of halves', r'nn\.functional\.cross_entropy', 'values', noise),
    ('the median along a dimension of stride 0', r'(masked\.|nan)?median', 'values', along_repeated),
    ('the derivative of `grid_sample` with', r'nn\.functional\.grid_sample|grid_sampler_2d', 'grad values', in_cubic_halves),
    ('the derivative of `hardshrink`', r'nn\.functional\.(hardshrink|softshrink|elu|selu|celu)', 'grad values', nan_of_gradient),
    ('the mean of `var_mean`', 'native_layer_norm', 'values', lambda *call: extreme(call[0]) and all_nan(*call)),
    ('gradients that PyTorch refuses', 'renorm', 'grad values', lambda *call: 'inf' in call[0]['brief'] and all_nan(*call)),
]


def reason_for(record, kind, ours, theirs):
    """How the row of docs/differences.md begins that tells a difference; None where it is not meant."""
    for told, op, of_kind, holds in CHECKED:
        if re.fullmatch(op, record['op']) and re.fullmatch(of_kind, kind) and holds(record, ours, theirs):
            return told
    for told, op, of_kind, our, their, *call in LISTED:
        if re.fullmatch(op, record['op']) and re.search(of_kind, kind) and re.search(our, ours) and re.search(their, theirs):
            if not call or re.search(call[0], record['brief']):
                return told
    return None


def untold():
    """What is listed here and told by no row there."""
    text = DIFFERENCES.read_text(encoding='utf-8')
    listed = dict.fromkeys(row[0] for row in LISTED + CHECKED)
    return [told for told in listed if f'\n| {told}' not in text]
