// Views in another shape: as_strided, view, reshape, expand and what is said with them. Nothing is copied but where reshape
// has to.
#include "runtime/ops/batching.h"
#include "runtime/ops/views.h"

#include <algorithm>

#include "runtime/autograd/views.h"
#include "runtime/checked.h"
#include "runtime/class_text.h"
#include "runtime/ops/view_ops.h"

namespace tessera::tensor {
namespace {

// The strides that show `self` as `shape`, if its memory allows: every run of dimensions that is one run of memory
// may be cut anew.
bool restride(const Tensor& self, Ints shape, Dims& strides) {
  strides.resize(shape.size());
  if (self.numel() == 0) {
    strides = shape == self.sizes() ? Dims(self.strides()) : contiguous_strides(shape);
    return true;
  }
  int64_t to = int64_t(shape.size()) - 1, run = 1, wanted = 1;
  const Ints sizes = self.sizes(), old = self.strides();
  int64_t step = sizes.empty() ? 1 : old.back();
  for (int64_t d = int64_t(sizes.size()) - 1; d >= 0; d--) {
    run *= sizes[d];
    const bool ends = d == 0 || (sizes[d - 1] != 1 && old[d - 1] != run * step);
    if (!ends) continue;
    while (to >= 0 && (wanted < run || shape[to] == 1)) {
      strides[to] = wanted * step;
      wanted *= shape[to--];
    }
    if (wanted != run) return false;
    if (d > 0) step = old[d - 1], wanted = run = 1;
  }
  if (sizes.empty())
    for (; to >= 0; to--) strides[to] = 1;
  return to == -1;
}

struct AsStrided {
  static View shape(const Tensor& self, Ints size, Ints stride, const std::optional<int64_t>& storage_offset) {
    check(size.size() == stride.size(), TensorErrorKind::Runtime, "mismatch in length of strides and shape");
    const int64_t offset = storage_offset.value_or(self.offset());
    for (const int64_t s : stride)
      check(s >= 0, TensorErrorKind::Runtime,
            "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
    const int64_t item = int64_t(item_size(self.dtype()));
    check(offset >= 0, TensorErrorKind::Runtime, "Tensor: invalid storage offset ", offset);
    const int64_t bytes = storage_bytes_needed(size, stride, offset, item);
    check(bytes <= int64_t(self.storage().bytes()), TensorErrorKind::Runtime, "setStorage: sizes ", size, ", strides ",
          stride, ", storage offset ", offset, ", and itemsize ", item, " requiring a storage size of ", bytes,
          " are out of bounds for storage of size ", self.storage().bytes());
    return {size, stride, offset - self.offset()};
  }
  static CountedPtr<Node> grad(const Tensor& out, const Tensor& self, Ints, Ints, const std::optional<int64_t>&) {
    return as_strided_node(out, self);
  }
};

struct ViewAs {
  static View shape(const Tensor& self, Ints size) {
    View out{infer_shape(size, self.numel()), {}};
    check(
        restride(self, out.sizes, out.strides), TensorErrorKind::Runtime,
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use "
        ".reshape(...) instead.");
    return out;
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self, Ints) {
    return view_node("ViewBackward0", self,
                     [sizes = Dims(self.sizes())](const Tensor& g) { return reshape(g, sizes); });
  }
};

// A reshape that turned out to need no copy: its strides are known already.
struct ReshapeAlias {
  static View shape(const Tensor&, const Dims& size, const Dims& stride) { return {size, stride}; }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self, const Dims&, const Dims&) {
    return view_node("ViewBackward0", self,
                     [sizes = Dims(self.sizes())](const Tensor& g) { return reshape(g, sizes); });
  }
};

struct Expand {
  static View shape(const Tensor& self, Ints size, bool) {
    const int64_t extra = int64_t(size.size()) - self.dim();
    check(extra >= 0, TensorErrorKind::Runtime, "expand(", class_text(self.dtype(), self.device()), "{", self.sizes(),
          "}, size=", size, "): the number of sizes provided (", size.size(),
          ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
    View out{Dims(size.size()), Dims(size.size())};
    for (int64_t d = int64_t(size.size()) - 1; d >= 0; d--) expand_dim(self, size, d, extra, out);
    return out;
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self, Ints, bool) {
    return view_node("ExpandBackward0", self,
                     [shape = Dims(self.sizes())](const Tensor& g) { return sum_to_size(g, shape); });
  }

 private:
  static void expand_dim(const Tensor& self, Ints size, int64_t d, int64_t extra, View& out) {
    const bool present = d >= extra;
    const int64_t old = present ? self.sizes()[d - extra] : 1;
    check(present || size[d] != -1, TensorErrorKind::Runtime, "The expanded size of the tensor (", size[d],
          ") isn't allowed in a leading, non-existing dimension ", d);
    const int64_t wide = out.sizes[d] = size[d] == -1 ? old : size[d];
    check(wide == old || old == 1, TensorErrorKind::Runtime, "The expanded size of the tensor (", wide,
          ") must match the existing size (", old, ") at non-singleton dimension ", d, ".  Target sizes: ", size,
          ".  Tensor sizes: ", self.sizes());
    out.strides[d] = wide != old                    ? 0
                     : present                      ? self.strides()[d - extra]
                     : self.dim() == 0              ? 0
                     : d + 1 < int64_t(size.size()) ? saturated_mul(out.sizes[d + 1], out.strides[d + 1])
                                                    : 1;
  }
};

}  // namespace

Tensor unsafe_view(const Tensor& self, Ints shape) {
  Tensor out = self.view_of(shape, contiguous_strides(shape));
  if (needs_grad(self))
    record(out, "UnsafeViewBackward0", {&self},
           [sizes = Dims(self.sizes())](Sweep& s) { s.give(0, [&] { return reshape(s.g(), sizes); }); });
  return out;
}

Tensor as_strided(const Tensor& self, Ints size, Ints stride, std::optional<int64_t> storage_offset) {
  return apply<AsStrided>(self, size, stride, storage_offset);
}
Tensor view(const Tensor& self, Ints size) { return apply<ViewAs>(self, size); }

Tensor reshape(const Tensor& self, Ints size) {
  const Dims shape = infer_shape(size, self.numel());
  Dims strides;
  if (restride(self, shape, strides)) return apply<ReshapeAlias>(self, shape, strides);
  const Tensor whole = Tensor::empty(self.sizes(), self.dtype(), self.device());
  copy_into(whole, self);
  Tensor copy = whole;
  if (needs_grad(self)) record(copy, "CloneBackward0", {&self}, [](Sweep& s) { s.give(0, [&] { return s.g(); }); });
  return unsafe_view(copy, shape);
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t start = wrap_dim(start_dim, self.dim()), end = wrap_dim(end_dim, self.dim());
  check(start <= end, TensorErrorKind::Runtime, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return reshape(self, {1});
  if (start == end) return self;
  Dims shape;
  for (int64_t d = 0; d < self.dim(); d++) {
    if (d <= start || d > end) shape.push_back(self.sizes()[d]);
    else shape.back() = checked_mul(shape.back(), self.sizes()[d]);
  }
  return reshape(self, shape);
}

Tensor unflatten(const Tensor& self, int64_t dim_given, Ints sizes) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  check(!sizes.empty(), TensorErrorKind::Runtime, "unflatten: sizes must be non-empty");
  check(self.dim() > 0, TensorErrorKind::Runtime, "unflatten: can't unflatten 0-dim tensors");
  const int64_t size = self.sizes()[dim];
  int64_t known = 1, open = 0;
  for (const int64_t s : sizes) s == -1 ? open++ : known = saturated_mul(known, s);
  const bool fits = open ? known != 0 && size % known == 0 : known == size;
  check(fits && open <= 1, TensorErrorKind::Runtime, "unflatten: Provided sizes ", sizes,
        " don't multiply up to the size of dim ", dim, " (", size, ") in the input tensor");
  Dims shape(self.sizes().first(dim));
  for (const int64_t s : sizes) shape.push_back(s == -1 ? size / known : s);
  for (const int64_t s : self.sizes().drop(dim + 1)) shape.push_back(s);
  return view(self, shape);
}

Tensor expand(const Tensor& self, Ints size) { return apply<Expand>(self, size, false); }
Tensor broadcast_to(const Tensor& self, Ints size) { return expand(self, size); }

// ---- the registry ----

namespace {

Tensor view_as(const Tensor& self, const Tensor& other) { return view(self, other.sizes()); }
Tensor reshape_as(const Tensor& self, const Tensor& other) { return reshape(self, other.sizes()); }
Tensor expand_as(const Tensor& self, const Tensor& other) { return expand(self, other.sizes()); }
Tensor ravel(const Tensor& self) { return reshape(contiguous(self), {-1}); }

TS_OP(view, "view(Tensor self, int[] size) -> Tensor", "The same elements in another shape, sharing memory.",
      kMethod | kView | kSizes, ViewAs,
      "f[2,6], [3, 4]\n"
      "f[2,6], [-1]\n"
      "f[2,3], [4] -> RuntimeError: shape '[4]' is invalid for input of size 6",
      .batched = batched_reshape);
TS_OP(view_as, "view_as(Tensor self, Tensor other) -> Tensor", "view in the shape of other.", kMethod | kView, &view_as,
      "f[2,6], f[4,3]", .batched = batched_reshape);
TS_OP(reshape, "reshape(Tensor self, int[] shape) -> Tensor",
      "The same elements in another shape; a view if possible, else a copy.", kViewMethod | kSizes, &reshape,
      "f[2,6], [3, 4]\n"
      "f[3,4].t, [2, 6]\n"
      "f[2,3], [-1, -1] -> RuntimeError: only one dimension can be inferred",
      .batched = batched_reshape);
TS_OP(reshape_as, "reshape_as(Tensor self, Tensor other) -> Tensor", "reshape in the shape of other.", kMethod | kView,
      &reshape_as, "f[2,6], f[4,3]", .batched = batched_reshape);
TS_OP(flatten, "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
      "Joins the dimensions from start_dim to end_dim.", kViewMethod, &flatten,
      "f[2,3,4]\n"
      "f[2,3,4], 1\n"
      "f[]",
      .batched = batched_reshape);
TS_OP(ravel, "ravel(Tensor self) -> Tensor", "All elements in one dimension.", kViewMethod, &ravel, "f[2,3]",
      .batched = batched_reshape);
TS_OP(
    unflatten, "unflatten(Tensor self, int dim, int[] sizes) -> Tensor", "Cuts one dimension into several.",
    kViewMethod, &unflatten,
    "f[2,6], 1, [2, -1]\n"
    "f[2,6], 1, [4, 2] -> RuntimeError: unflatten: Provided sizes [4, 2] don't multiply up to the size of dim 1 (6) in the input tensor",
    .python_method = {"self dim sizes"});
TS_OP(
    expand, "expand(Tensor self, int[] size, *, bool implicit=False) -> Tensor",
    "Repeats dimensions of size 1 without copying.", kMethod | kView | kSizes, Expand,
    "f[1,3], [2, 3]\n"
    "f[3], [2, -1]\n"
    "f[3], [2] -> RuntimeError: The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 0.",
    .batched = batched_expand);
TS_OP(expand_as, "expand_as(Tensor self, Tensor other) -> Tensor", "expand to the shape of other.", kMethod | kView,
      &expand_as, "f[1,3], f[2,3]", .batched = batched_expand);
TS_OP(broadcast_to, "broadcast_to(Tensor self, int[] size) -> Tensor", "expand, as a function.", kViewMethod,
      &broadcast_to, "f[3], [2, 3]", .batched = batched_expand);
TS_OP(
    as_strided, "as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    "Any layout on the tensor's storage.", kViewMethod | kLayoutMatters, AsStrided,
    "f[4,3], [2, 2], [3, 1]\n"
    "f[6], [2, 3], [1, 1], 1\n"
    "f[2], [3], [1] -> RuntimeError: setStorage: sizes [3], strides [1], storage offset 0, and itemsize 4 requiring a storage size of 12 are out of bounds for storage of size 8",
    .batched = batched_strided);

}  // namespace
}  // namespace tessera::tensor
