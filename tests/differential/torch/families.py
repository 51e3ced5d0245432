"""Which family an op belongs to, for the report."""
LINALG = set('''addbmm addmm addmv addr baddbmm bmm chain_matmul cholesky cholesky_inverse cholesky_solve cov corrcoef cdist cross det dist dot einsum
geqrf ger householder_product inner inverse kron linalg logdet lu lu_solve lu_unpack matmul matrix_exp mm mv norm orgqr ormqr outer pinverse qr
renorm slogdet svd tensordot trace triangular_solve vander vdot addmm.decomposed __rmatmul__ tensorsolve mH H'''.split())
RANDOM = set('''bernoulli cauchy exponential geometric log_normal multinomial normal rand_like randint randint_like randn randn_like uniform
rand randperm'''.split())
INDEX = set('''gather scatter scatter_add scatter_reduce index_add index_copy index_fill index_put index_reduce index_select masked_fill masked_scatter
masked_select take take_along_dim put where __getitem__ nonzero nonzero_static argwhere searchsorted bucketize select_scatter slice_scatter
diagonal_scatter as_strided_scatter unravel_index tril_indices triu_indices isin histc bincount histogram histogramdd'''.split())
SHAPE = set('''T as_strided as_strided_copy atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors broadcast_to cartesian_prod cat chunk column_stack combinations
contiguous diag diag_embed diagflat diagonal diagonal_copy dsplit dstack expand expand_as expand_copy fill flatten flip fliplr flipud full full_like hsplit hstack mT meshgrid
movedim narrow narrow_copy new_empty new_empty_strided new_full new_ones new_zeros ones ones_like permute permute_copy ravel repeat repeat_interleave reshape
reshape_as resize_ resize_as_ roll rot90 select slice split split_list_args split_with_sizes split_with_sizes_copy squeeze squeeze_copy stack swapaxes t t_copy tensor_split tile transpose
transpose_copy tril triu unbind unbind_copy unflatten unfold unfold_copy unsafe_chunk unsafe_split unsqueeze unsqueeze_copy view view_as view_as_complex view_as_real
view_copy vsplit vstack zero_ zeros zeros_like arange linspace logspace eye empty empty_like empty_strided empty_permuted scalar_tensor tensor item clone
alias_copy detach_copy to bfloat16 bool byte char double float half int long short chalf cfloat cdouble type_as sum_to_size swapdims'''.split())
REDUCTION = set('''all aminmax amax amin any argmax argmin count_nonzero cummax cummin cumprod cumsum cumulative_trapezoid diff gradient kthvalue
logcumsumexp logsumexp max mean median min mode msort nanmean nanmedian nanquantile nansum prod quantile sort argsort std std_mean sum topk trapezoid trapz
unique unique_consecutive var var_mean hash_tensor allclose equal'''.split())


def of(op):
    head, kind = op.name.split('.')[0], type(op).__name__
    if head in ('linalg', 'fft', 'special', 'masked'):
        return head
    if head == 'nn':
        return 'nn'
    if kind == 'SpectralFuncInfo' or op.name in ('stft', 'istft'):
        return 'fft'
    for names, family in ((LINALG, 'linalg'), (RANDOM, 'random'), (INDEX, 'indexing'), (SHAPE, 'shape'), (REDUCTION, 'reduction')):
        if head in names:
            return family
    if kind == 'ReductionOpInfo':
        return 'reduction'
    if kind == 'ShapeFuncInfo':
        return 'shape'
    return 'pointwise' if kind in ('UnaryUfuncInfo', 'BinaryUfuncInfo') or op.name in POINTWISE else 'other'


POINTWISE = set('''addcdiv addcmul clamp clamp_min clamp_max lerp frexp polar complex nan_to_num heaviside where polygamma mvlgamma softmax log_softmax
__radd__ __rdiv__ __rmul__ __rand__ __ror__ __rxor__ __rmod__ __rpow__ __rsub__ rsub float_power sigmoid bitwise_left_shift bitwise_right_shift
ldexp real imag conj conj_physical resolve_conj resolve_neg copysign isclose'''.split())
