// Products of sparse matrices with dense ones: what torch._sparse makes them of. Its script part records the derivatives.
// compile: small (checks, the kernel takes longer)
#include "runtime/ops/sparse_product.h"

#include "runtime/ops.h"
#include "runtime/ops/entry.h"

namespace tessera::tensor {

constinit Kernel<SparseProductCall> sparse_product_kernel("sparse_product", ServedBy::Host);

namespace {

const int64_t* numbers_of(const Tensor& t) { return static_cast<const int64_t*>(t.data_ptr()); }

struct SparseProduct {
  static Meta shape(const Tensor& starts, const Tensor& columns, const Tensor& values, const Tensor& dense) {
    check(starts.dtype() == kInt64 && columns.dtype() == kInt64 && dense.dtype() == values.dtype() &&
              (values.dtype() == kFloat32 || values.dtype() == kFloat64),
          TensorErrorKind::Type, "a product of a sparse matrix expects places of int64, and float32 or float64");
    check(starts.numel() > 0 && columns.numel() == values.numel() && dense.dim() == 2, TensorErrorKind::Runtime,
          "a product of a sparse matrix expects the starts of its rows, a column for each value, and a dense matrix");
    return {{starts.numel() - 1, dense.sizes()[1]}, dense};
  }
  static void run(const Tensor& out, const Tensor& given_starts, const Tensor& given_columns,
                  const Tensor& given_values, const Tensor& given_dense) {
    // Before the places are read, which lie in the device's memory.
    if (!sparse_product_kernel.has(out.device().type)) fail_no_kernel(sparse_product_kernel.name(), out.device().type);
    const Tensor starts = contiguous(given_starts), columns = contiguous(given_columns),
                 values = contiguous(given_values), dense = contiguous(given_dense);
    const int64_t n = values.numel(), inner = dense.sizes()[0], width = dense.sizes()[1];
    for (int64_t i = 0; i < n; i++)
      if (uint64_t(numbers_of(columns)[i]) >= uint64_t(inner))
        fail(TensorErrorKind::Index, "index ", numbers_of(columns)[i], " is out of bounds for dimension 0 with size ",
             inner);
    if (out.numel() != 0)
      sparse_product_kernel(kCpu, {values.dtype(), numbers_of(starts), numbers_of(columns), values.data_ptr(),
                                   dense.data_ptr(), out.data_ptr(), n, starts.numel() - 1, width});
  }
};

TS_OP(_sparse_product, "_sparse_product(Tensor starts, Tensor columns, Tensor values, Tensor dense) -> Tensor",
      "The product of a sparse matrix, given by rows, and a dense one.", kFunction | kInternal | kNoGrad, SparseProduct,
      "i{0,2,2,3}, i[3]<4, f[3], f[4,5]\n"
      "i{0,0}, i[0], f[0], f[4,5]\n"
      "i{0,1}, i{4}, f[1], f[4,5] -> IndexError: index 4 is out of bounds for dimension 0 with size 4\n"
      "i{0,1}, i{4}, f[1], f[5,4].t\n"
      "i{0,1}, i[2]<4, f[1], f[4,5] -> RuntimeError: a product of a sparse matrix expects the starts of its rows\n"
      "i{0,1}, i[1]<4, c[1], f[4,5] -> TypeError: a product of a sparse matrix expects places of int64");

}  // namespace
}  // namespace tessera::tensor
