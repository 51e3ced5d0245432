// Views as copies of their own: narrow_copy and its kin; parts of which autograd is not told that they share memory; fill.
// compile: few-inlines (seldom in a step)
#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

Tensor rows_of(const Tensor& shown) { return to_format(shown, shown.dtype(), true, "torch.contiguous_format"); }

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "narrow() cannot be applied to a 0-dim tensor.");
  const int64_t size = self.size(dim);
  check(length >= 0 || start < -size || start > size, TensorErrorKind::Runtime, "start (",
        start < 0 ? start + size : start, ") + length (", length, ") exceeds dimension size (", size, ").");
  return rows_of(narrow(self, dim, start, length));
}
Tensor view_copy(const Tensor& self, Ints size) {
  const Tensor shown = reshape(self, size);
  return &shown.storage() == &self.storage() ? rows_of(shown) : shown;
}
Tensor alias_copy(const Tensor& self) { return rows_of(self); }
Tensor slice_copy(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                  int64_t step) {
  check(self.dim() > 0, TensorErrorKind::Index, "slice() cannot be applied to a 0-dim tensor.");
  check(step > 0, TensorErrorKind::Runtime, "slice step must be positive");
  return rows_of(slice(self, dim, start, end, step));
}
Tensor expand_copy(const Tensor& self, Ints size, bool) { return rows_of(expand(self, size)); }
Tensor unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return rows_of(unfold(self, dimension, size, step));
}

struct FillNumber {
  static Meta shape(const Tensor& self, const Scalar&) {
    return {self.sizes(), self.dtype(), self.device(), dense_strides(self)};
  }
  static void run(const Tensor& out, const Tensor&, const Scalar& value) { fill_into(out, value); }
  static void grad(Tensor& out, const Tensor& self, const Scalar&) {
    record(out, "FillBackward0", {&self}, [](Sweep& s) { s.give(0, [&] { return zeros_like(s.g()); }); });
  }
};
struct FillTensor {
  static Meta shape(const Tensor& self, const Tensor& value) {
    check(value.dim() == 0, TensorErrorKind::Runtime,
          "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(), " dimensions.");
    return {self.sizes(), self.dtype(), self.device(), dense_strides(self)};
  }
  static void run(const Tensor& out, const Tensor&, const Tensor& value) { copy_into(out, value); }
  static void grad(Tensor& out, const Tensor& self, const Tensor& value) {
    record(out, "FillBackward1", {&self, &value}, [type = value.dtype()](Sweep& s) {
      s.give(0, [&] { return zeros_like(s.g()); });
      s.give(1, [&] { return to_dtype(sum(s.g()), type); });
    });
  }
};

TensorList unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) { return split(self, split_size, dim); }
TensorList unsafe_split_with_sizes(const Tensor& self, Ints split_sizes, int64_t dim) {
  return split_with_sizes(self, split_sizes, dim);
}
TensorList unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) { return chunk(self, chunks, dim); }

constexpr uint32_t kBoth = kFunction | kMethod, kCopies = kFunction | kOut;
TS_OP(narrow_copy, "narrow_copy(Tensor self, int dim, int start, int length) -> Tensor",
      "A stretch of a dimension, copied.", kCopies | kMethod, &narrow_copy,
      "f[4,3], 0, 1, 2\n"
      "f[4,3], -1, -2, 0\n"
      "f[4], 0, 1, -1 -> RuntimeError: start (1) + length (-1) exceeds dimension size (4).");
TS_OP(view_copy, "view_copy(Tensor self, int[] size) -> Tensor", "A copy in another shape.", kCopies, &view_copy,
      "f[2,3], [3, -1]\n"
      "f[2,3].t, [6]",
      .out = kOutStructured);
TS_OP(alias_copy, "alias_copy(Tensor self) -> Tensor", "A copy, row by row.", kCopies, &alias_copy, "f[2,3].t",
      .out = kOutStructured);
TS_OP(detach_copy, "detach_copy(Tensor self) -> Tensor", "A copy, row by row.", kCopies, &alias_copy, "f[2,3].t");
TS_OP(slice_copy, "slice_copy.Tensor(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
      "A copy of some items of a dimension.", kCopies, &slice_copy,
      "f[5,2], 0, 1, 4, 2\n"
      "f[5]\n"
      "f[5], 0, 1, 4, 0 -> RuntimeError: slice step must be positive\n"
      "f[] -> IndexError: slice() cannot be applied to a 0-dim tensor.");
TS_OP(expand_copy, "expand_copy(Tensor self, int[] size, *, bool implicit=False) -> Tensor",
      "A copy with dimensions of size 1 repeated.", kCopies, &expand_copy, "f[3,1], [2, -1, 4]", .out = kOutStructured);
TS_OP(unfold_copy, "unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor",
      "All windows of a size along a dimension, copied.", kCopies, &unfold_copy, "f[5,2], 0, 3, 1",
      .out = kOutStructured);
TS_OP(fill, "fill.Scalar(Tensor self, Scalar value) -> Tensor", "A tensor like self, of one value.", kFunction,
      FillNumber,
      "f[2,3], 2.5\n"
      "i[3]<4, 2.5");
TS_OP(fill, "fill.Tensor(Tensor self, Tensor value) -> Tensor", "A tensor like self, of one value.", kFunction,
      FillTensor,
      "f[2,3], f[]\n"
      "f[2], f[2] -> RuntimeError: fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions.",
      .any_device = true);
TS_OP(unsafe_split, "unsafe_split(Tensor self, int split_size, int dim=0) -> Tensor[]",
      "split; autograd does not know that the parts share memory.", kBoth, &unsafe_split, "f[5,2], 2");
TS_OP(unsafe_split_with_sizes, "unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
      "split_with_sizes; autograd does not know that the parts share memory.", kBoth, &unsafe_split_with_sizes,
      "f[5,2], [2, 3]");
TS_OP(unsafe_chunk, "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
      "chunk; autograd does not know that the parts share memory.", kBoth, &unsafe_chunk, "f[5,2], 2");

}  // namespace
}  // namespace tessera::tensor
