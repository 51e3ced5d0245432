// A tensor cut along a dimension into views: in equal parts, at given places, into its items. All parts have one node, which
// puts their gradients side by side again.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>

#include "runtime/checked.h"
#include "runtime/ops/view_ops.h"

namespace tessera::tensor {
namespace {

int64_t checked_dim(const Tensor& self, int64_t dim, const char* name) {
  check(self.dim() > 0, TensorErrorKind::Runtime, name, " expects at least a 1-dimensional tensor");
  return wrap_dim(dim, self.dim());
}

// Stretches of these lengths, one after the other.
Views cut(const Tensor& self, int64_t dim, Ints lengths) {
  Views parts;
  parts.reserve(lengths.size());
  int64_t start = 0;
  PollBudget budget;
  for (const int64_t length : lengths) {
    budget.take(detail::kViewCost);
    View& part = parts.emplace_back();
    part.sizes.assign(self.sizes()), part.strides.assign(self.strides());
    part.sizes[dim] = length, part.offset = start * part.strides[dim];
    start += length;
  }
  return parts;
}

// `part(all, i)` shows where the gradient of part i belongs.
template <class F>
CountedPtr<Node> parts_node(const char* name, const Tensor& self, size_t count, F part) {
  return make_node(name, {&self}, Kept<0>{}, [shape = Dims(self.sizes()), count, part](Sweep& s) {
    s.give(0, [&] {
      Tensor all;
      for (size_t i = 0; i < count; i++) {
        if (!s.g(i).defined()) continue;
        if (!all.defined()) all = zeros(shape, s.g(i).dtype(), s.g(i).device());
        copy_(part(all, i), s.g(i));
      }
      return all;
    });
  });
}

CountedPtr<Node> cut_node(const char* name, const Tensor& self, int64_t dim_given, const TensorList& parts) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  Dims ends;
  for (const Tensor& part : parts) ends.push_back((ends.empty() ? 0 : ends.back()) + part.sizes()[dim]);
  return parts_node(name, self, parts.size(),
                    [ends, dim](const Tensor& all, size_t i) { return slice(all, dim, i ? ends[i - 1] : 0, ends[i]); });
}

struct Split {
  static Views shape(const Tensor& self, int64_t split_size, int64_t dim_given) {
    const int64_t dim = checked_dim(self, dim_given, "split"), size = self.sizes()[dim];
    check(split_size >= 0, TensorErrorKind::Runtime,
          "split expects split_size be non-negative, but got split_size=", split_size);
    check(split_size > 0 || size == 0, TensorErrorKind::Runtime,
          "split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
    if (split_size) check_list_length(size / split_size);
    Dims lengths;
    for (int64_t left = size; left > 0; left -= lengths.back()) lengths.push_back(std::min(split_size, left));
    if (lengths.empty()) lengths.push_back(0);
    return cut(self, dim, lengths);
  }
  static CountedPtr<Node> grad(const TensorList& parts, const Tensor& self, int64_t, int64_t dim) {
    return cut_node("SplitBackward0", self, dim, parts);
  }
};

struct SplitWithSizes {
  static Views shape(const Tensor& self, Ints sizes, int64_t dim_given) {
    const int64_t dim = checked_dim(self, dim_given, "split"), size = self.sizes()[dim];
    int64_t total = 0;
    for (const int64_t s : sizes) {
      check(s >= 0, TensorErrorKind::Runtime,
            "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", sizes);
      total = saturated_add(total, s);
    }
    check(total == size, TensorErrorKind::Runtime, "split_with_sizes expects split_sizes to sum exactly to ", size,
          " (input tensor's size at dimension ", dim_given, "), but got split_sizes=", sizes);
    return cut(self, dim, sizes);
  }
  static CountedPtr<Node> grad(const TensorList& parts, const Tensor& self, Ints, int64_t dim) {
    return cut_node("SplitWithSizesBackward0", self, dim, parts);
  }
};

struct Unbind {
  static Views shape(const Tensor& self, int64_t dim_given) {
    const int64_t dim = wrap_dim(dim_given, self.dim());
    check(self.dim() > 0, TensorErrorKind::Index, "Dimension specified as ", dim, " but tensor has no dimensions");
    const int64_t count = self.sizes()[dim];
    check_list_length(count);
    View item{self.sizes(), self.strides()};
    item.sizes.erase(dim), item.strides.erase(dim);
    Views items;
    items.reserve(size_t(count));
    PollBudget budget;
    for (int64_t i = 0; i < count; i++) {
      budget.take(detail::kViewCost);
      items.emplace_back(item).offset = i * self.strides()[dim];
    }
    return items;
  }
  static CountedPtr<Node> grad(const TensorList& items, const Tensor& self, int64_t dim_given) {
    return parts_node(
        "UnbindBackward0", self, items.size(),
        [dim = wrap_dim(dim_given, self.dim())](const Tensor& all, size_t i) { return select(all, dim, int64_t(i)); });
  }
};

}  // namespace

// ---- C++ functions ----

TensorList split(const Tensor& self, int64_t split_size, int64_t dim) { return apply<Split>(self, split_size, dim); }
TensorList split_with_sizes(const Tensor& self, Ints sizes, int64_t dim) {
  return apply<SplitWithSizes>(self, sizes, dim);
}
TensorList unbind(const Tensor& self, int64_t dim) { return apply<Unbind>(self, dim); }

TensorList chunk(const Tensor& self, int64_t chunks, int64_t dim_given) {
  const int64_t dim = checked_dim(self, dim_given, "chunk"), size = self.sizes()[dim];
  check(chunks > 0, TensorErrorKind::Runtime, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t length = size ? (size - 1) / chunks + 1 : 0;
  if (length == 0) return split_with_sizes(self, Dims(size_t(chunks), 0), dim);
  return split(self, length, dim);
}

// ---- at places, or in a number of parts that need not divide the size ----

namespace {

void check_splittable(const Tensor& self) {
  check(self.dim() > 0, TensorErrorKind::Runtime,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ", self.dim(), " dims");
}
TensorList tensor_split(const Tensor& self, Ints at, int64_t dim) {
  check_splittable(self);
  TensorList parts;
  int64_t start = 0;
  for (const int64_t end : at) parts.push_back(slice(self, dim, start, end)), start = end;
  parts.push_back(slice(self, dim, start, {}));
  return parts;
}
TensorList tensor_split_count(const Tensor& self, int64_t sections, int64_t dim) {
  check_splittable(self);
  check(sections > 0, TensorErrorKind::Runtime, "number of sections must be larger than 0, got ", sections);
  check_list_length(sections);
  const int64_t size = self.size(dim), small = size / sections, extra = size % sections;
  Dims at;
  for (int64_t i = 1; i < sections; i++) at.push_back(i * small + std::min(i, extra));
  return tensor_split(self, at, dim);
}
// Places, or their number, that the host has to wait for.
TensorList tensor_split_tensor(const Tensor& self, const Tensor& at, int64_t dim) {
  check_splittable(self);
  check(at.dtype() == kInt64, TensorErrorKind::Runtime,
        "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
        scalar_type_name(at.dtype()));
  check(
      at.dim() <= 1, TensorErrorKind::Runtime,
      "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a "
      "tensor with ",
      at.dim(), " dims");
  if (at.dim() == 0) return tensor_split_count(self, at.item().to_int(), dim);
  const Tensor places = contiguous(to_device(at, kCpu));
  return tensor_split(self, Ints(places.data<int64_t>(), size_t(places.numel())), dim);
}
// hsplit, vsplit and dsplit name the dimension and demand equal parts.
constexpr const char* kSplitNames[] = {"vsplit", "hsplit", "dsplit"};
template <int64_t kDim>
int64_t named_dim(const Tensor& self) {
  constexpr int64_t kLeast = kDim == 1 ? 1 : kDim == 0 ? 2 : 3;
  check(self.dim() >= kLeast, TensorErrorKind::Runtime, "torch.", kSplitNames[kDim],
        " requires a tensor with at least ", kLeast, " dimension, but got a tensor with ", self.dim(), " dimensions!");
  return kDim == 1 && self.dim() == 1 ? 0 : kDim;
}
template <int64_t kDim>
TensorList split_equal(const Tensor& self, int64_t sections) {
  const int64_t dim = named_dim<kDim>(self);
  check(sections != 0 && (sections == -1 || self.sizes()[dim] % sections == 0), TensorErrorKind::Runtime, "torch.",
        kSplitNames[kDim], " attempted to split along dimension ", dim, ", but the size of the dimension ",
        self.sizes()[dim], " is not divisible by the split_size ", sections, "!");
  return tensor_split_count(self, sections, dim);
}
template <int64_t kDim>
TensorList split_at(const Tensor& self, Ints at) {
  return tensor_split(self, at, named_dim<kDim>(self));
}

// ---- the registry ----

constexpr char kSplitCall[] = "split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]";
TS_OP(split, "split(Tensor self, int split_size, int dim=0) -> Tensor[]",
      "Parts of equal size along a dimension; the last may be smaller.", kViewMethod, Split,
      "f[5,2], 2\n"
      "f[2,5], 3, 1",
      .python_function = {"tensor split_size_or_sections dim=", kSplitCall, true},
      .python_method = {"self split_size dim=", kSplitCall, true});
TS_OP(
    split, "split.sizes(Tensor self, int[] split_size, int dim=0) -> Tensor[]",
    "Parts of given sizes along a dimension.", kViewMethod, SplitWithSizes,
    "f[5,2], [2, 3]\n"
    "f[5,2], [2, 2] -> RuntimeError: split_with_sizes expects split_sizes to sum exactly to 5 (input tensor's size at dimension 0), but got split_sizes=[2, 2]");
TS_OP(split_with_sizes, "split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
      "Parts of given sizes along a dimension.", kViewMethod, SplitWithSizes, "f[5,2], [2, 3]");
TS_OP(chunk, "chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", "At most that many parts along a dimension.",
      kViewMethod, &chunk, "f[5,2], 2");
TS_OP(unbind, "unbind(Tensor self, int dim=0) -> Tensor[]", "The items along a dimension.", kViewMethod, Unbind,
      "f[3,2]\n"
      "f[3,2], 1");
#define TS_SPLIT(NAME, DIM, DOC)                                                                                    \
  TS_OP(NAME, #NAME "(Tensor self, int sections) -> Tensor[]", DOC, kViewMethod, &split_equal<DIM>, "f[2,4,6], 2"); \
  TS_OP(NAME, #NAME ".array(Tensor self, int[] indices) -> Tensor[]", DOC, kViewMethod, &split_at<DIM>,             \
        "f[3,4,5], [1, 2]")
TS_OP(tensor_split, "tensor_split.sections(Tensor self, int sections, int dim=0) -> Tensor[]",
      "Parts of nearly equal size.", kViewMethod, &tensor_split_count,
      "f[5,2], 3\n"
      "f[2,5], 2, 1");
TS_OP(tensor_split, "tensor_split.indices(Tensor self, int[] indices, int dim=0) -> Tensor[]", "Parts between places.",
      kViewMethod, &tensor_split, "f[5,2], [1, 3]");
TS_OP(
    tensor_split,
    "tensor_split.tensor_indices_or_sections(Tensor self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor[]",
    "Parts between places, or that many.", kViewMethod | kDataDependent, &tensor_split_tensor,
    "f[5,2], i{1,3}\n"
    "f[5,2], f{1,3} -> RuntimeError: tensor_split expected tensor_indices_or_sections to have dtype of long, but got Float");
TS_SPLIT(hsplit, 1, "Equal parts side by side.");
TS_SPLIT(vsplit, 0, "Equal parts one below the other.");
TS_SPLIT(dsplit, 2, "Equal parts along the third dimension.");
#undef TS_SPLIT

}  // namespace
}  // namespace tessera::tensor
