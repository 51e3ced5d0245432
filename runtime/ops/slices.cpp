// Views of a part: one item, a stretch, a diagonal, windows; and copies with such a part replaced.
#include <algorithm>

#include "runtime/autograd/views.h"
#include "runtime/checked.h"
#include "runtime/ops/view_ops.h"

namespace tessera::tensor {
namespace {

struct Select {
  static constexpr const char* kScatterNode = "SelectScatterBackward0";
  // The dimension and the place in it, both counted from the front.
  static std::pair<int64_t, int64_t> place(const Tensor& self, int64_t dim_given, int64_t index) {
    check(self.dim() > 0, TensorErrorKind::Index, "select() cannot be applied to a 0-dim tensor.");
    const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.sizes()[dim];
    check(index >= -size && index < size, TensorErrorKind::Index, "select(): index ", index,
          " out of range for tensor of size ", self.sizes(), " at dimension ", dim);
    return {dim, index < 0 ? index + size : index};
  }
  static View shape(const Tensor& self, int64_t dim_given, int64_t index) {
    const auto [dim, at] = place(self, dim_given, index);
    View out{self.sizes(), self.strides()};
    out.offset = at * out.strides[dim];
    out.sizes.erase(dim), out.strides.erase(dim);
    return out;
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self, int64_t dim_given, int64_t index) {
    const auto [dim, at] = place(self, dim_given, index);
    return view_node("SelectBackward0", self, [shape = Dims(self.sizes()), dim = dim, at = at](const Tensor& g) {
      return placed(shape, g, [&](const Tensor& all) { return select(all, dim, at); });
    });
  }
};

using MaybeInt = std::optional<int64_t>;

struct Slice {
  static constexpr const char* kScatterNode = "SliceScatterBackward0";
  struct Range {
    int64_t dim, start, end;
  };
  static Range range(const Tensor& self, int64_t dim_given, const MaybeInt& start_given, const MaybeInt& end_given,
                     int64_t step) {
    check(self.dim() > 0, TensorErrorKind::Index, "slice() cannot be applied to a 0-dim tensor.");
    check(step > 0, TensorErrorKind::Value, "step must be greater than zero");
    const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.sizes()[dim];
    const auto bound = [&](int64_t x) { return std::clamp<int64_t>(x < 0 ? x + size : x, 0, size); };
    const int64_t start = bound(start_given.value_or(0));
    return {dim, start, std::max(start, bound(end_given.value_or(INT64_MAX)))};
  }
  static View shape(const Tensor& self, int64_t dim_given, const MaybeInt& start_given, const MaybeInt& end_given,
                    int64_t step) {
    const auto [dim, start, end] = range(self, dim_given, start_given, end_given, step);
    View out{self.sizes(), self.strides()};
    out.sizes[dim] = start < end ? (end - start - 1) / step + 1 : 0;
    out.offset = saturated_mul(start, out.strides[dim]);
    out.strides[dim] = saturated_mul(out.strides[dim], step);  // too large only where there is no second item
    return out;
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self, int64_t dim_given, const MaybeInt& start_given,
                               const MaybeInt& end_given, int64_t step) {
    const Range r = range(self, dim_given, start_given, end_given, step);
    return view_node("SliceBackward0", self, [shape = Dims(self.sizes()), r, step](const Tensor& g) {
      return placed(shape, g, [&](const Tensor& all) { return slice(all, r.dim, r.start, r.end, step); });
    });
  }
};

struct Diagonal {
  static constexpr const char* kScatterNode = "DiagonalScatterBackward0";
  static View shape(const Tensor& self, int64_t offset, int64_t first, int64_t second) {
    const int64_t a = wrap_dim(first, self.dim()), b = wrap_dim(second, self.dim());
    check(a != b, TensorErrorKind::Runtime, "diagonal dimensions cannot be identical ", first, ", ", second);
    const int64_t down = std::max<int64_t>(saturated_sub(0, offset), 0), right = std::max<int64_t>(offset, 0);
    const int64_t length = std::max<int64_t>(std::min(self.sizes()[a] - down, self.sizes()[b] - right), 0);
    View out{self.sizes(), self.strides()};
    const int64_t step = saturated_add(out.strides[a], out.strides[b]);
    if (length) out.offset = down * out.strides[a] + right * out.strides[b];
    for (Dims* list : {&out.sizes, &out.strides}) list->erase(std::max(a, b)), list->erase(std::min(a, b));
    out.sizes.push_back(length), out.strides.push_back(step);
    return out;
  }
  static CountedPtr<Node> grad(const Tensor&, const Tensor& self, int64_t offset, int64_t first, int64_t second) {
    return view_node("DiagonalBackward0", self, [shape = Dims(self.sizes()), offset, first, second](const Tensor& g) {
      return placed(shape, g, [&](const Tensor& all) { return diagonal(all, offset, first, second); });
    });
  }
};

struct Unfold {
  static View shape(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
    const int64_t dim = wrap_dim(dimension, self.dim()), whole = self.dim() ? self.sizes()[dim] : 1;
    check(size <= whole, TensorErrorKind::Runtime, "maximum size for tensor at dimension ", dim, " is ", whole,
          " but size is ", size);
    check(size >= 0, TensorErrorKind::Runtime, "size is ", size, " but must be >= 0");
    check(step > 0, TensorErrorKind::Runtime, "step is ", step, " but must be > 0");
    View out{self.sizes(), self.strides()};
    const int64_t stride = self.dim() ? out.strides[dim] : 1;
    if (self.dim()) out.sizes[dim] = (whole - size) / step + 1, out.strides[dim] = saturated_mul(stride, step);
    out.sizes.push_back(size), out.strides.push_back(stride);
    return out;
  }
  static CountedPtr<Node> grad(const Tensor& out, const Tensor& self, int64_t, int64_t, int64_t) {
    return as_strided_node(out, self, "UnfoldBackward0");
  }
};

}  // namespace

// ---- C++ functions ----

Tensor select(const Tensor& self, int64_t dim, int64_t index) { return apply<Select>(self, dim, index); }
Tensor slice(const Tensor& self, int64_t dim, MaybeInt start, MaybeInt end, int64_t step) {
  return apply<Slice>(self, dim, start, end, step);
}
Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return apply<Diagonal>(self, offset, dim1, dim2);
}
Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return apply<Unfold>(self, dimension, size, step);
}

Tensor narrow(const Tensor& self, int64_t dim_given, int64_t start, int64_t length) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "narrow() cannot be applied to a 0-dim tensor.");
  const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.sizes()[dim];
  check(length >= 0, TensorErrorKind::Runtime, "narrow(): length must be non-negative.");
  check(start >= -size && start <= size, TensorErrorKind::Index, "start out of range (expected to be in range of [",
        -size, ", ", size, "], but got ", start, ")");
  if (start < 0) start += size;
  check(start <= size - length, TensorErrorKind::Runtime, "start (", start, ") + length (", length,
        ") exceeds dimension size (", size, ").");
  return slice(self, dim, start, start + length, 1);
}

// ---- copies with a part replaced ----

namespace {

// Strides of a copy that lies in memory as self does, gaps included; where elements may share memory they lie densely.
Dims kept_strides(const Tensor& self) {
  std::vector<size_t> order;
  for (size_t d = 0; d < self.sizes().size(); d++)
    if (self.sizes()[d] > 1) order.push_back(d);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return self.strides()[a] < self.strides()[b]; });
  int64_t reach = 0;
  for (const size_t d : order) {
    if (self.strides()[d] <= reach) return dense_strides(self);
    reach += (self.sizes()[d] - 1) * self.strides()[d];
  }
  return Dims(self.strides());
}

void check_replacement(const Tensor& src, Ints part) {
  check(src.sizes() == part, TensorErrorKind::Runtime,
        "expected src to have a size equal to the slice of self. src size = ", src.sizes(), ", slice size = ", part);
}

/// A copy of self with the part that the view `Part` shows taken from src.
template <class Part, class... P>
struct Replaced {
  static Meta shape(const Tensor& self, const Tensor& src, P... place) {
    const View part = Part::shape(self, place...);
    check_replacement(src, part.sizes);
    return {self.sizes(), self.dtype(), self.device(), kept_strides(self)};
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& src, P... place) {
    copy_into(out, self);
    const View part = Part::shape(out, place...);
    copy_into(out.view_of(part.sizes, part.strides, part.offset), src);
  }
  static void grad(Tensor& out, const Tensor& self, const Tensor& src, P... place) {
    record(out, Part::kScatterNode, {&self, &src}, [=, part = Dims(src.sizes())](Sweep& s) {
      s.give(0, [&] { return apply<Replaced>(s.g(), zeros(part, s.g().dtype(), s.g().device()), place...); });
      s.give(1, [&] { return apply<Part>(s.g(), place...); });
    });
  }
};
using SelectScatter = Replaced<Select, int64_t, int64_t>;
using SliceScatter = Replaced<Slice, int64_t, MaybeInt, MaybeInt, int64_t>;
using DiagonalScatter = Replaced<Diagonal, int64_t, int64_t, int64_t>;

// A copy with as much memory around it as self has: offsets and strides lead to the same places.
Tensor copy_in_place(const Tensor& self) {
  const Dims strides = kept_strides(self);
  if (Ints(strides) != self.strides()) return clone(self);
  const int64_t room = int64_t(self.storage().bytes() / size_t(item_size(self.dtype())));
  const Tensor out = Tensor::empty({room}, self.dtype(), self.device()).view_of(self.sizes(), strides, self.offset());
  copy_(out, self);
  return out;
}

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, Ints size, Ints stride, MaybeInt offset) {
  const Tensor out = copy_in_place(self), part = as_strided(out, size, stride, offset);
  check_replacement(src, part.sizes());
  copy_(part, src);
  return out;
}

// ---- the registry ----

Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  check(start.dim() == 0 && is_integral(start.dtype()), TensorErrorKind::Runtime,
        "start must be an 0-dim integral Tensor.");
  return narrow(self, dim, start.item().to_int(), length);
}

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(select, "select(Tensor self, int dim, int index) -> Tensor", "One item along a dimension.", kViewMethod, Select,
      "f[3,4], 1, 2\n"
      "f[3,4], 0, -1\n"
      "f[3], 0, 3 -> IndexError: select(): index 3 out of range for tensor of size [3] at dimension 0");
TS_OP(narrow, "narrow(Tensor self, int dim, int start, int length) -> Tensor", "A stretch of a dimension.", kViewMethod,
      &narrow,
      "f[4,3], 0, 1, 2\n"
      "f[4], 0, 3, 2 -> RuntimeError: start (3) + length (2) exceeds dimension size (4).");
TS_OP(narrow, "narrow.Tensor(Tensor self, int dim, Tensor start, int length) -> Tensor", "A stretch of a dimension.",
      kViewMethod | kDataDependent, &narrow_tensor,
      "f[4,3], 0, i[]<2, 2\n"
      "f[4,3], 0, i{1}, 2 -> RuntimeError: start must be an 0-dim integral Tensor.");
TS_OP(diagonal, "diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
      "The diagonal of two dimensions, as the last dimension.", kViewMethod, Diagonal,
      "f[3,4]\n"
      "f[2,3,3], 1, 1, 2");
TS_OP(unfold, "unfold(Tensor self, int dimension, int size, int step) -> Tensor",
      "All windows of a size along a dimension, as the last dimension.", kMethod | kView, Unfold,
      "f[5,2], 0, 3, 1\n"
      "f[6], 0, 2, 2");
TS_OP(
    select_scatter, "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
    "A copy with one item replaced.", kBoth, SelectScatter,
    "f[3,4], f[4], 0, 1\nf[3,4], f[3], 1, -1\n"
    "f[3,3], f[2], 0, 1 -> RuntimeError: expected src to have a size equal to the slice of self. src size = [2], slice size = [3]",
    .any_device = true);
TS_OP(slice_scatter,
      "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
      "A copy with a stretch replaced.", kBoth, SliceScatter,
      "f[4,3], f[2,3], 0, 1, 3\nf[], f[] -> IndexError: slice() cannot be applied to a 0-dim tensor.",
      .out = kOutStructured, .any_device = true);
TS_OP(diagonal_scatter, "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
      "A copy with the diagonal replaced.", kBoth, DiagonalScatter, "f[3,3], f[3]", .any_device = true);
TS_OP(
    as_strided_scatter,
    "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    "A copy with a strided part replaced.", kBoth | kLayoutMatters, &as_strided_scatter,
    "f[3,3], f[2], [2], [4]\nf[3,3].t, f[2,2], [2,2], [2,1]\n"
    "f[3,3], f[2], [2,2], [2,1] -> RuntimeError: expected src to have a size equal to the slice of self. src size = [2], "
    "slice size = [2, 2]",
    .batching = Batching::ByExample);

}  // namespace
}  // namespace tessera::tensor
