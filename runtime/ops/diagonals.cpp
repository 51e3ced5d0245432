// Matrices from their diagonals, diagonals from matrices.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>

#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

constexpr uint32_t kBoth = kFunction | kMethod;

struct DiagEmbed {
  static Meta shape(const Tensor& self, int64_t offset, int64_t first, int64_t second) {
    const int64_t a = wrap_dim(first, self.dim() + 1), b = wrap_dim(second, self.dim() + 1);
    const int64_t n = saturated_add(self.size(-1), offset < 0 ? saturated_sub(0, offset) : offset);
    check(a != b, TensorErrorKind::Runtime, "diagonal dimensions cannot be identical ", first, ", ", second);
    Dims shape(self.sizes().first(size_t(self.dim() - 1)));
    shape.insert(size_t(std::min(a, b)), n), shape.insert(size_t(std::max(a, b)), n);
    return {shape, self};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t offset, int64_t first, int64_t second) {
    fill_into(out, 0);
    copy_into(diagonal(out, offset, first, second), self);
  }
  static void grad(Tensor& out, const Tensor& self, int64_t offset, int64_t first, int64_t second) {
    record(out, "DiagEmbedBackward0", {&self},
           [=](Sweep& s) { s.give(0, [&] { return diagonal(s.g(), offset, first, second); }); });
  }
};
Tensor diag_embed(const Tensor& self, int64_t offset, int64_t first, int64_t second) {
  return apply<DiagEmbed>(self, offset, first, second);
}

Tensor diag(const Tensor& self, int64_t offset) {
  check(self.dim() == 1 || self.dim() == 2, TensorErrorKind::Runtime, "diag(): Supports 1D or 2D tensors. Got ",
        self.dim(), "D");
  return self.dim() == 1 ? diag_embed(self, offset, -2, -1)
                         : renamed(to_format(diagonal(self, offset), self.dtype(), true, "torch.contiguous_format"),
                                   "DiagonalBackward0_copy");
}
Tensor diagflat(const Tensor& self, int64_t offset) { return diag_embed(reshape(self, {-1}), offset, -2, -1); }
Tensor trace(const Tensor& self) {
  check(self.dim() == 2, TensorErrorKind::Runtime, "trace: expected a matrix, but got tensor with dim ", self.dim());
  if (is_bool(self.dtype())) refuse_type(self, {"trace", "trace_cuda"});
  return renamed(sum(diagonal(self)), "TraceBackward0");
}

TS_OP(diag, "diag(Tensor self, int diagonal=0) -> Tensor", "A matrix with that diagonal, or the diagonal of a matrix.",
      kBoth | kOut, &diag,
      "f[3]\n"
      "f[3,4]\n"
      "f[3,4], 1",
      .out = kOutStructured);
TS_OP(diag_embed, "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
      "Matrices with self as their diagonals.", kBoth, DiagEmbed,
      "f[2,3]\n"
      "f[3], 1\n"
      "f[2,3], -1, 0, 2\n"
      "f[2], 0, 1, 1 -> RuntimeError: diagonal dimensions cannot be identical 1, 1");
TS_OP(diagflat, "diagflat(Tensor self, int offset=0) -> Tensor", "A matrix with all elements as its diagonal.", kBoth,
      &diagflat,
      "f[2,2]\n"
      "f[3], -1");
TS_OP(trace, "trace(Tensor self) -> Tensor", "The sum of the diagonal.", kBoth, &trace, "f[3,4]",
      .autocast = Autocast::Float32);

}  // namespace
}  // namespace tessera::tensor
