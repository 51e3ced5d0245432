// Products of sparse matrices with dense ones: what torch._sparse makes them of. Its script part records the derivatives.
// compile: small (checks, the kernel takes longer)
#include "runtime/ops/sparse_product.h"

#include "runtime/ops.h"

namespace tessera::tensor {

constinit Kernel<SparseProductCall> sparse_product_kernel("sparse_product", ServedBy::Host);

namespace {

const int64_t* numbers_of(const Tensor& t) { return static_cast<const int64_t*>(t.data_ptr()); }

}  // namespace

Tensor sparse_product(const Tensor& starts, const Tensor& columns, const Tensor& values, const Tensor& dense) {
  for (const Tensor* t : {&starts, &columns, &values, &dense})
    if (!t->device().is_cpu() || !t->is_contiguous()) return {};
  const DType dtype = values.dtype();
  const int64_t rows = starts.numel() - 1, n = values.numel();
  if ((dtype != kFloat32 && dtype != kFloat64) || dense.dtype() != dtype || starts.dtype() != kInt64 || columns.dtype() != kInt64 ||
      dense.dim() != 2 || columns.numel() != n || rows < 0)
    return {};
  const int64_t inner = dense.sizes()[0], width = dense.sizes()[1];
  for (int64_t i = 0; i < n; i++)
    if (uint64_t(numbers_of(columns)[i]) >= uint64_t(inner))
      fail(TensorErrorKind::Index, "index ", numbers_of(columns)[i], " is out of bounds for dimension 0 with size ", inner);
  Tensor out = Tensor::empty({rows, width}, dtype, kCpu);
  if (out.numel() != 0)
    sparse_product_kernel(kCpu, {dtype, numbers_of(starts), numbers_of(columns), values.data_ptr(), dense.data_ptr(), out.data_ptr(), n, rows,
                                 width});
  return out;
}

}  // namespace tessera::tensor
