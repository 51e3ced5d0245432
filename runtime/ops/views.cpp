// Views of one tensor by another shape. Nothing is copied but where reshape has to; each derivative undoes the view.
#include "runtime/ops/views.h"

#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/autograd/views.h"
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"

namespace tessera::tensor {
namespace {

constexpr uint32_t kViewMethod = kFunction | kMethod | kView;

Dims with_size(Ints sizes, size_t at, int64_t size) {
  Dims out(sizes);
  out[at] = size;
  return out;
}

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

Tensor reshaped_view(const Tensor& self, Ints shape, Ints strides, const char* name) {
  Tensor out = self.view_of(shape, strides);
  return record_view(out, self, name,
                     [sizes = Dims(self.sizes())](Sweep& s) { s.give(0, [&] { return reshape(s.g(), sizes); }); });
}

// A node that only gives its gradient the input's shape back.
Tensor unsafe_view(const Tensor& self, Ints shape) {
  Tensor out = self.view_of(shape, contiguous_strides(shape));
  if (needs_grad(self))
    record(out, "UnsafeViewBackward0", {&self},
           [sizes = Dims(self.sizes())](Sweep& s) { s.give(0, [&] { return reshape(s.g(), sizes); }); });
  return out;
}

}  // namespace

Tensor as_strided(const Tensor& self, Ints size, Ints stride, std::optional<int64_t> storage_offset) {
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
  Tensor out = self.view_of(size, stride, offset - self.offset());
  if (Context::current().grad_enabled && is_differentiable(self.dtype()))
    set_view_history(out, self, self.requires_grad() ? as_strided_node(out, self) : nullptr);
  return out;
}

Tensor view(const Tensor& self, Ints size) {
  const Dims shape = infer_shape(size, self.numel());
  Dims strides;
  check(
      restride(self, shape, strides), TensorErrorKind::Runtime,
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use "
      ".reshape(...) instead.");
  return reshaped_view(self, shape, strides, "ViewBackward0");
}

Tensor reshape(const Tensor& self, Ints size) {
  const Dims shape = infer_shape(size, self.numel());
  Dims strides;
  if (restride(self, shape, strides)) return reshaped_view(self, shape, strides, "ReshapeAliasBackward0");
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
  check(self.dim() > 0, TensorErrorKind::Runtime, "unflatten: can't unflatten 0-dim tensors");
  check(!sizes.empty(), TensorErrorKind::Runtime, "unflatten: sizes must be non-empty");
  const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.sizes()[dim];
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

Tensor expand(const Tensor& self, Ints size) {
  const int64_t extra = int64_t(size.size()) - self.dim();
  check(extra >= 0, TensorErrorKind::Runtime, "expand(torch.", self.device().is_cuda() ? "cuda." : "",
        scalar_type_name(self.dtype()), "Tensor{", self.sizes(), "}, size=", size, "): the number of sizes provided (",
        size.size(), ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
  Dims sizes(size.size()), strides(size.size());
  for (int64_t d = int64_t(size.size()) - 1; d >= 0; d--) {
    const bool present = d >= extra;
    const int64_t old = present ? self.sizes()[d - extra] : 1;
    check(present || size[d] != -1, TensorErrorKind::Runtime, "The expanded size of the tensor (", size[d],
          ") isn't allowed in a leading, non-existing dimension ", d);
    sizes[d] = size[d] == -1 ? old : size[d];
    check(sizes[d] == old || old == 1, TensorErrorKind::Runtime, "The expanded size of the tensor (", sizes[d],
          ") must match the existing size (", old, ") at non-singleton dimension ", d, ".  Target sizes: ", size,
          ".  Tensor sizes: ", self.sizes());
    strides[d] = sizes[d] != old                ? 0
                 : present                      ? self.strides()[d - extra]
                 : d + 1 < int64_t(size.size()) ? saturated_mul(sizes[d + 1], strides[d + 1])
                                                : 1;
  }
  Tensor out = self.view_of(sizes, strides);
  return record_view(out, self, "ExpandBackward0",
                     [shape = Dims(self.sizes())](Sweep& s) { s.give(0, [&] { return sum_to_size(s.g(), shape); }); });
}

Tensor broadcast_to(const Tensor& self, Ints size) { return expand(self, size); }

namespace {

Dims inverse(Ints order) {
  Dims back(order.size());
  for (size_t d = 0; d < order.size(); d++) back[order[d]] = int64_t(d);
  return back;
}

Tensor permuted(const Tensor& self, Ints order) {
  Dims sizes(order.size()), strides(order.size());
  for (size_t d = 0; d < order.size(); d++) sizes[d] = self.sizes()[order[d]], strides[d] = self.strides()[order[d]];
  return self.view_of(sizes, strides);
}

}  // namespace

Tensor permute(const Tensor& self, Ints dims) {
  check(
      int64_t(dims.size()) == self.dim(), TensorErrorKind::Runtime,
      "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. "
      "input.dim() = ",
      self.dim(), " is not equal to len(dims) = ", dims.size());
  Dims order(dims.size()), seen(dims.size(), 0);
  for (size_t d = 0; d < dims.size(); d++) {
    order[d] = wrap_dim(dims[d], self.dim());
    check(seen[order[d]]++ == 0, TensorErrorKind::Runtime, "permute(): duplicate dims are not allowed.");
  }
  Tensor out = permuted(self, order);
  return record_view(out, self, "PermuteBackward0",
                     [back = inverse(order)](Sweep& s) { s.give(0, [&] { return permute(s.g(), back); }); });
}

namespace {

Tensor exchanged(const Tensor& self, int64_t a, int64_t b, const char* name) {
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.dim()) std::swap(sizes[a], sizes[b]), std::swap(strides[a], strides[b]);
  Tensor out = self.view_of(sizes, strides);
  return record_view(out, self, name,
                     [a, b](Sweep& s) { s.give(0, [&] { return s.g().dim() ? transpose(s.g(), a, b) : s.g(); }); });
}

}  // namespace

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return exchanged(self, wrap_dim(dim0, self.dim()), wrap_dim(dim1, self.dim()), "TransposeBackward0");
}

Tensor t(const Tensor& self) {
  check(self.dim() <= 2, TensorErrorKind::Runtime, "t() expects a tensor with <= 2 dimensions, but self is ",
        self.dim(), "D");
  return exchanged(self, 0, self.dim() < 2 ? 0 : 1, "TBackward0");
}

Tensor numpy_T(const Tensor& self) {
  if (self.dim() != 2 && self.dim() != 0)
    Context::current().warn(
        "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a future "
        "release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions "
        "of a tensor.");
  Dims order;
  for (int64_t d = self.dim(); d-- > 0;) order.push_back(d);
  return permute(self, order);
}

Tensor matrix_T(const Tensor& self) {
  check(self.dim() >= 2, TensorErrorKind::Runtime,
        "tensor.mT is only supported on matrices or batches of matrices. Got ", self.dim(), "-D tensor.");
  return transpose(self, -2, -1);
}

Tensor squeeze(const Tensor& self) {
  Dims sizes, strides;
  for (int64_t d = 0; d < self.dim(); d++)
    if (self.sizes()[d] != 1) sizes.push_back(self.sizes()[d]), strides.push_back(self.strides()[d]);
  Tensor out = self.view_of(sizes, strides);
  return record_view(out, self, "SqueezeBackward0",
                     [shape = Dims(self.sizes())](Sweep& s) { s.give(0, [&] { return reshape(s.g(), shape); }); });
}

Tensor squeeze(const Tensor& self, int64_t dim_given) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  Dims sizes(self.sizes()), strides(self.strides());
  const bool drops = self.dim() && sizes[dim] == 1;
  if (drops) sizes.erase(dim), strides.erase(dim);
  Tensor out = self.view_of(sizes, strides);
  return record_view(out, self, "SqueezeBackward1",
                     [dim, drops](Sweep& s) { s.give(0, [&] { return drops ? unsqueeze(s.g(), dim) : s.g(); }); });
}

Tensor unsqueeze(const Tensor& self, int64_t dim_given) {
  const int64_t dim = wrap_dim(dim_given, self.dim() + 1);
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t stride = dim < self.dim() ? saturated_mul(sizes[dim], strides[dim]) : 1;
  sizes.insert(dim, 1), strides.insert(dim, stride);
  Tensor out = self.view_of(sizes, strides);
  return record_view(out, self, "UnsqueezeBackward0",
                     [dim](Sweep& s) { s.give(0, [&] { return squeeze(s.g(), dim); }); });
}

Tensor select(const Tensor& self, int64_t dim_given, int64_t index_given) {
  check(self.dim() > 0, TensorErrorKind::Index, "select() cannot be applied to a 0-dim tensor.");
  const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.sizes()[dim];
  check(index_given >= -size && index_given < size, TensorErrorKind::Index, "select(): index ", index_given,
        " out of range for tensor of size ", self.sizes(), " at dimension ", dim);
  const int64_t at = index_given < 0 ? index_given + size : index_given;
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t offset = at * strides[dim];
  sizes.erase(dim), strides.erase(dim);
  Tensor out = self.view_of(sizes, strides, offset);
  return record_view(out, self, "SelectBackward0", [shape = Dims(self.sizes()), dim, at](Sweep& s) {
    s.give(0, [&] {
      const Tensor all = zeros(shape, s.g().dtype(), s.g().device());
      copy_(select(all, dim, at), s.g());
      return all;
    });
  });
}

Tensor slice(const Tensor& self, int64_t dim_given, std::optional<int64_t> start_given,
             std::optional<int64_t> end_given, int64_t step) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "slice() cannot be applied to a 0-dim tensor.");
  check(step > 0, TensorErrorKind::Value, "step must be greater than zero");
  const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.sizes()[dim];
  const auto bound = [&](int64_t x) { return std::clamp<int64_t>(x < 0 ? x + size : x, 0, size); };
  const int64_t start = bound(start_given.value_or(0)), end = std::max(start, bound(end_given.value_or(INT64_MAX)));
  const int64_t count = start < end ? (end - start - 1) / step + 1 : 0;
  Dims strides(self.strides());
  const int64_t offset = saturated_mul(start, strides[dim]);
  strides[dim] = saturated_mul(strides[dim], step);  // too large only where there is no second item
  Tensor out = self.view_of(with_size(self.sizes(), dim, count), strides, offset);
  return record_view(out, self, "SliceBackward0", [shape = Dims(self.sizes()), dim, start, end, step](Sweep& s) {
    s.give(0, [&] {
      const Tensor all = zeros(shape, s.g().dtype(), s.g().device());
      copy_(slice(all, dim, start, end, step), s.g());
      return all;
    });
  });
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

Tensor diagonal(const Tensor& self, int64_t offset, int64_t first, int64_t second) {
  const int64_t a = wrap_dim(first, self.dim()), b = wrap_dim(second, self.dim());
  check(a != b, TensorErrorKind::Runtime, "diagonal dimensions cannot be identical ", first, ", ", second);
  const int64_t down = std::max<int64_t>(saturated_sub(0, offset), 0), right = std::max<int64_t>(offset, 0);
  const int64_t length = std::max<int64_t>(std::min(self.sizes()[a] - down, self.sizes()[b] - right), 0);
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t step = saturated_add(strides[a], strides[b]),
                start = length ? down * strides[a] + right * strides[b] : 0;
  sizes.erase(std::max(a, b)), sizes.erase(std::min(a, b));
  strides.erase(std::max(a, b)), strides.erase(std::min(a, b));
  sizes.push_back(length), strides.push_back(step);
  Tensor out = self.view_of(sizes, strides, start);
  return record_view(out, self, "DiagonalBackward0", [shape = Dims(self.sizes()), offset, a, b](Sweep& s) {
    s.give(0, [&] {
      const Tensor all = zeros(shape, s.g().dtype(), s.g().device());
      copy_(diagonal(all, offset, a, b), s.g());
      return all;
    });
  });
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t dim = wrap_dim(dimension, self.dim()), whole = self.dim() ? self.sizes()[dim] : 1;
  check(size <= whole, TensorErrorKind::Runtime, "maximum size for tensor at dimension ", dim, " is ", whole,
        " but size is ", size);
  check(size >= 0, TensorErrorKind::Runtime, "size is ", size, " but must be >= 0");
  check(step > 0, TensorErrorKind::Runtime, "step is ", step, " but must be > 0");
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t stride = self.dim() ? strides[dim] : 1;
  if (self.dim()) sizes[dim] = (whole - size) / step + 1, strides[dim] = saturated_mul(stride, step);
  sizes.push_back(size), strides.push_back(stride);
  Tensor out = self.view_of(sizes, strides);
  if (Context::current().grad_enabled && is_differentiable(self.dtype()))
    set_view_history(out, self, self.requires_grad() ? as_strided_node(out, self, "UnfoldBackward0") : nullptr);
  return out;
}

namespace {

Dims wrapped(Ints dims, int64_t ndim, const char* which) {
  Dims out(dims.size()), seen(size_t(std::max<int64_t>(ndim, 1)), 0);
  for (size_t i = 0; i < dims.size(); i++) {
    out[i] = wrap_dim(dims[i], ndim);
    check(seen[out[i]]++ == 0, TensorErrorKind::Runtime, "movedim: repeated dim in `", which, "` (", dims, ")");
  }
  return out;
}

}  // namespace

Tensor movedim(const Tensor& self, Ints source, Ints destination) {
  check(source.size() == destination.size(), TensorErrorKind::Runtime,
        "movedim: Invalid source or destination dims: source (", source,
        " dims) should contain the same number of dims as destination (", destination, " dims)");
  const Dims from = wrapped(source, self.dim(), "source"), to = wrapped(destination, self.dim(), "destination");
  if (self.dim() == 0) return self;
  Dims order(self.dim(), -1), taken(self.dim(), 0);
  for (size_t i = 0; i < from.size(); i++) order[to[i]] = from[i], taken[from[i]] = 1;
  int64_t next = 0;
  for (auto& d : order) {
    if (d >= 0) continue;
    while (taken[next]) next++;
    d = next++;
  }
  return permute(self, order);
}

// ---- several views at once ----

namespace {

// Parts along one dimension; each knows what place it takes in the gradient.
TensorList cut(const Tensor& self, int64_t dim, Ints lengths, const char* name) {
  TensorList parts;
  int64_t start = 0;
  const bool recorded = Context::current().grad_enabled && is_differentiable(self.dtype());
  CountedPtr<Node> node;
  if (recorded && self.requires_grad()) {
    node = make_node(name, {&self}, Kept<0>{}, [shape = Dims(self.sizes()), lengths = Dims(lengths), dim](Sweep& s) {
      s.give(0, [&] {
        Tensor all;
        int64_t at = 0;
        for (size_t i = 0; i < lengths.size(); at += lengths[i++]) {
          if (!s.g(i).defined()) continue;
          if (!all.defined()) all = zeros(shape, s.g(i).dtype(), s.g(i).device());
          copy_(slice(all, dim, at, at + lengths[i]), s.g(i));
        }
        return all;
      });
    });
    node->outputs = uint32_t(lengths.size());
  }
  for (size_t i = 0; i < lengths.size(); start += lengths[i++]) {
    Tensor part = self.view_of(with_size(self.sizes(), dim, lengths[i]), self.strides(), start * self.strides()[dim]);
    if (recorded) set_view_history(part, self, node, uint32_t(i), true);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

TensorList split(const Tensor& self, int64_t split_size, int64_t dim_given) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "split expects at least a 1-dimensional tensor");
  check(split_size >= 0, TensorErrorKind::Runtime,
        "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.sizes()[dim];
  check(split_size > 0 || size == 0, TensorErrorKind::Runtime,
        "split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
  if (split_size) check_list_length(size / split_size);
  Dims lengths;
  for (int64_t left = size; left > 0; left -= lengths.back()) lengths.push_back(std::min(split_size, left));
  if (lengths.empty()) lengths.push_back(0);
  return cut(self, dim, lengths, "SplitBackward0");
}

TensorList split_with_sizes(const Tensor& self, Ints sizes, int64_t dim_given) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "split expects at least a 1-dimensional tensor");
  const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.sizes()[dim];
  int64_t total = 0;
  for (const int64_t s : sizes) {
    check(s >= 0, TensorErrorKind::Runtime,
          "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", sizes);
    total = saturated_add(total, s);
  }
  check(total == size, TensorErrorKind::Runtime, "split_with_sizes expects split_sizes to sum exactly to ", size,
        " (input tensor's size at dimension ", dim, "), but got split_sizes=", sizes);
  return cut(self, dim, sizes, "SplitWithSizesBackward0");
}

TensorList chunk(const Tensor& self, int64_t chunks, int64_t dim_given) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "chunk expects at least a 1-dimensional tensor");
  check(chunks > 0, TensorErrorKind::Runtime, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t dim = wrap_dim(dim_given, self.dim()), size = self.sizes()[dim];
  const int64_t length = size ? (size - 1) / chunks + 1 : 0;
  if (length == 0) return cut(self, dim, Dims(size_t(chunks), 0), "SplitWithSizesBackward0");
  return split(self, length, dim);
}

TensorList unbind(const Tensor& self, int64_t dim_given) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "Dimension specified as ", dim_given,
        " but tensor has no dimensions");
  const int64_t dim = wrap_dim(dim_given, self.dim()), count = self.sizes()[dim];
  check_list_length(count);
  const bool recorded = Context::current().grad_enabled && is_differentiable(self.dtype());
  CountedPtr<Node> node;
  if (recorded && self.requires_grad()) {
    node = make_node("UnbindBackward0", {&self}, Kept<0>{}, [shape = Dims(self.sizes()), dim, count](Sweep& s) {
      s.give(0, [&] {
        Tensor all;
        for (int64_t i = 0; i < count; i++) {
          if (!s.g(i).defined()) continue;
          if (!all.defined()) all = zeros(shape, s.g(i).dtype(), s.g(i).device());
          copy_(select(all, dim, i), s.g(i));
        }
        return all;
      });
    });
    node->outputs = uint32_t(count);
  }
  Dims sizes(self.sizes()), strides(self.strides());
  sizes.erase(dim), strides.erase(dim);
  TensorList parts;
  for (int64_t i = 0; i < count; i++) {
    Tensor part = self.view_of(sizes, strides, i * self.strides()[dim]);
    if (recorded) set_view_history(part, self, node, uint32_t(i), true);
    parts.push_back(std::move(part));
  }
  return parts;
}

// ---- the registry ----

namespace {

Tensor view_as(const Tensor& self, const Tensor& other) { return view(self, other.sizes()); }
Tensor reshape_as(const Tensor& self, const Tensor& other) { return reshape(self, other.sizes()); }
Tensor expand_method(const Tensor& self, Ints size, bool) { return expand(self, size); }
Tensor expand_as(const Tensor& self, const Tensor& other) { return expand(self, other.sizes()); }
Tensor movedim_one(const Tensor& self, int64_t source, int64_t destination) {
  return movedim(self, {source}, {destination});
}
Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  return narrow(self, dim, start.item().to_int(), length);
}
Tensor squeeze_all(const Tensor& self) { return squeeze(self); }
Tensor squeeze_dim(const Tensor& self, int64_t dim) { return squeeze(self, dim); }
Tensor ravel(const Tensor& self) { return reshape(self, {-1}); }
Tensor adjoint(const Tensor& self) { return conj(matrix_T(self)); }

// unsqueeze_ and its like: the tensor itself takes the view's layout and record.
Tensor become(const Tensor& self, const Tensor& view) {
  if (self.requires_grad()) check_inplace(self);
  Tensor handle = self;
  const CountedPtr<Node> node = view.requires_grad() ? grad_fn_of(view) : nullptr;
  self.impl()->set_layout(view.sizes(), view.strides());
  if (node) set_history(handle, node);
  return handle;
}
Tensor squeeze_in_place(const Tensor& self) { return become(self, squeeze(self)); }
Tensor squeeze_dim_in_place(const Tensor& self, int64_t dim) { return become(self, squeeze(self, dim)); }
Tensor unsqueeze_in_place(const Tensor& self, int64_t dim) { return become(self, unsqueeze(self, dim)); }
Tensor transpose_in_place(const Tensor& self, int64_t a, int64_t b) { return become(self, transpose(self, a, b)); }
Tensor t_in_place(const Tensor& self) { return become(self, t(self)); }

TS_OP(squeeze_, "squeeze_(Tensor self) -> Tensor", "squeeze, of the tensor itself.", kMethod, &squeeze_in_place,
      "f[2,1,3]");
TS_OP(squeeze_, "squeeze_.dim(Tensor self, int dim) -> Tensor", "squeeze, of the tensor itself.", kMethod,
      &squeeze_dim_in_place, "f[2,1,3], 1");
TS_OP(unsqueeze_, "unsqueeze_(Tensor self, int dim) -> Tensor", "unsqueeze, of the tensor itself.", kMethod,
      &unsqueeze_in_place, "f[2,3], 1");
TS_OP(transpose_, "transpose_(Tensor self, int dim0, int dim1) -> Tensor", "transpose, of the tensor itself.", kMethod,
      &transpose_in_place, "f[2,3], 0, 1");
TS_OP(t_, "t_(Tensor self) -> Tensor", "t, of the tensor itself.", kMethod, &t_in_place, "f[2,3]");
TS_OP(view, "view(Tensor self, int[] size) -> Tensor", "The same elements in another shape, sharing memory.",
      kMethod | kView | kSizes, &view,
      "f[2,6], [3, 4]\n"
      "f[2,6], [-1]\n"
      "f[2,3], [4] -> RuntimeError: shape '[4]' is invalid for input of size 6");
TS_OP(view_as, "view_as(Tensor self, Tensor other) -> Tensor", "view in the shape of other.", kMethod | kView, &view_as,
      "f[2,6], f[4,3]");
TS_OP(reshape, "reshape(Tensor self, int[] shape) -> Tensor",
      "The same elements in another shape; a view if possible, else a copy.", kViewMethod | kSizes, &reshape,
      "f[2,6], [3, 4]\n"
      "f[3,4].t, [2, 6]\n"
      "f[2,3], [-1, -1] -> RuntimeError: only one dimension can be inferred");
TS_OP(reshape_as, "reshape_as(Tensor self, Tensor other) -> Tensor", "reshape in the shape of other.", kMethod | kView,
      &reshape_as, "f[2,6], f[4,3]");
TS_OP(flatten, "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
      "Joins the dimensions from start_dim to end_dim.", kViewMethod, &flatten,
      "f[2,3,4]\n"
      "f[2,3,4], 1\n"
      "f[]");
TS_OP(ravel, "ravel(Tensor self) -> Tensor", "All elements in one dimension.", kViewMethod, &ravel, "f[2,3]");
TS_OP(
    unflatten, "unflatten(Tensor self, int dim, int[] sizes) -> Tensor", "Cuts one dimension into several.",
    kViewMethod, &unflatten,
    "f[2,6], 1, [2, -1]\n"
    "f[2,6], 1, [4, 2] -> RuntimeError: unflatten: Provided sizes [4, 2] don't multiply up to the size of dim 1 (6) in the input tensor");
TS_OP(
    expand, "expand(Tensor self, int[] size, *, bool implicit=False) -> Tensor",
    "Repeats dimensions of size 1 without copying.", kMethod | kView | kSizes, &expand_method,
    "f[1,3], [2, 3]\n"
    "f[3], [2, -1]\n"
    "f[3], [2] -> RuntimeError: The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 0.");
TS_OP(expand_as, "expand_as(Tensor self, Tensor other) -> Tensor", "expand to the shape of other.", kMethod | kView,
      &expand_as, "f[1,3], f[2,3]");
TS_OP(broadcast_to, "broadcast_to(Tensor self, int[] size) -> Tensor", "expand, as a function.", kViewMethod,
      &broadcast_to, "f[3], [2, 3]");
TS_OP(permute, "permute(Tensor self, int[] dims) -> Tensor", "The dimensions in another order.", kViewMethod | kSizes,
      &permute,
      "f[2,3,4], [2, 0, 1]\n"
      "f[2,3], [0, 0] -> RuntimeError: permute(): duplicate dims are not allowed.");
TS_OP(transpose, "transpose(Tensor self, int dim0, int dim1) -> Tensor", "Exchanges two dimensions.", kViewMethod,
      &transpose,
      "f[2,3,4], 0, 2\n"
      "f[], 0, -1\n"
      "f[2], 0, 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
TS_OP(swapaxes, "swapaxes(Tensor self, int axis0, int axis1) -> Tensor", "Exchanges two dimensions.", kViewMethod,
      &transpose, "f[2,3,4], 0, 2");
TS_OP(swapdims, "swapdims(Tensor self, int dim0, int dim1) -> Tensor", "Exchanges two dimensions.", kViewMethod,
      &transpose, "f[2,3,4], 0, 2");
TS_OP(t, "t(Tensor self) -> Tensor", "The transpose of a matrix; vectors stay.", kViewMethod, &t,
      "f[2,3]\n"
      "f[3]\n"
      "f[2,2,2] -> RuntimeError: t() expects a tensor with <= 2 dimensions, but self is 3D");
TS_OP(T, "T(Tensor self) -> Tensor", "The dimensions in reverse order.", kProperty | kView, &numpy_T, "f[2,3]");
TS_OP(mT, "mT(Tensor self) -> Tensor", "The last two dimensions exchanged.", kProperty | kView, &matrix_T, "f[2,3,4]");
TS_OP(H, "H(Tensor self) -> Tensor", "The conjugate transpose.", kProperty | kView, &adjoint, "f[2,3]");
TS_OP(mH, "mH(Tensor self) -> Tensor", "The last two dimensions exchanged, conjugated.", kProperty | kView, &adjoint,
      "f[2,3,4]");
TS_OP(adjoint, "adjoint(Tensor self) -> Tensor", "The last two dimensions exchanged, conjugated.", kViewMethod,
      &adjoint, "f[2,3,4]");
TS_OP(squeeze, "squeeze(Tensor self) -> Tensor", "Without the dimensions of size 1.", kViewMethod, &squeeze_all,
      "f[2,1,3,1]");
TS_OP(squeeze, "squeeze.dim(Tensor self, int dim) -> Tensor", "Without that dimension, if its size is 1.", kViewMethod,
      &squeeze_dim,
      "f[2,1,3], 1\n"
      "f[2,1,3], 0");
TS_OP(unsqueeze, "unsqueeze(Tensor self, int dim) -> Tensor", "With a dimension of size 1 put in.", kViewMethod,
      &unsqueeze,
      "f[2,3], 1\n"
      "f[2,3], -1");
TS_OP(select, "select(Tensor self, int dim, int index) -> Tensor", "One item along a dimension.", kViewMethod, &select,
      "f[3,4], 1, 2\n"
      "f[3,4], 0, -1\n"
      "f[3], 0, 3 -> IndexError: select(): index 3 out of range for tensor of size [3] at dimension 0");
TS_OP(narrow, "narrow(Tensor self, int dim, int start, int length) -> Tensor", "A stretch of a dimension.", kViewMethod,
      &narrow,
      "f[4,3], 0, 1, 2\n"
      "f[4], 0, 3, 2 -> RuntimeError: start (3) + length (2) exceeds dimension size (4).");
TS_OP(narrow, "narrow.Tensor(Tensor self, int dim, Tensor start, int length) -> Tensor", "A stretch of a dimension.",
      kViewMethod | kDataDependent, &narrow_tensor, "f[4,3], 0, i{1}, 2");
TS_OP(diagonal, "diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
      "The diagonal of two dimensions, as the last dimension.", kViewMethod, &diagonal,
      "f[3,4]\n"
      "f[2,3,3], 1, 1, 2");
TS_OP(unfold, "unfold(Tensor self, int dimension, int size, int step) -> Tensor",
      "All windows of a size along a dimension, as the last dimension.", kMethod | kView, &unfold,
      "f[5,2], 0, 3, 1\n"
      "f[6], 0, 2, 2");
TS_OP(movedim, "movedim(Tensor self, int[] source, int[] destination) -> Tensor", "Moves dimensions to other places.",
      kViewMethod, &movedim, "f[2,3,4], [0, 1], [2, 0]");
TS_OP(movedim, "movedim.int(Tensor self, int source, int destination) -> Tensor", "Moves a dimension to another place.",
      kViewMethod, &movedim_one, "f[2,3,4], 0, 2");
TS_OP(moveaxis, "moveaxis(Tensor self, int[] source, int[] destination) -> Tensor", "Moves dimensions to other places.",
      kViewMethod, &movedim, "f[2,3,4], [0, 1], [2, 0]");
TS_OP(moveaxis, "moveaxis.int(Tensor self, int source, int destination) -> Tensor",
      "Moves a dimension to another place.", kViewMethod, &movedim_one, "f[2,3,4], 0, 2");
TS_OP(
    as_strided, "as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    "Any layout on the tensor's storage.", kViewMethod | kLayoutMatters, &as_strided,
    "f[4,3], [2, 2], [3, 1]\n"
    "f[6], [2, 3], [1, 1], 1\n"
    "f[2], [3], [1] -> RuntimeError: setStorage: sizes [3], strides [1], storage offset 0, and itemsize 4 requiring a storage size of 12 are out of bounds for storage of size 8");
TS_OP(split, "split(Tensor self, int split_size, int dim=0) -> Tensor[]",
      "Parts of equal size along a dimension; the last may be smaller.", kViewMethod, &split,
      "f[5,2], 2\n"
      "f[2,5], 3, 1");
TS_OP(
    split, "split.sizes(Tensor self, int[] split_size, int dim=0) -> Tensor[]",
    "Parts of given sizes along a dimension.", kViewMethod, &split_with_sizes,
    "f[5,2], [2, 3]\n"
    "f[5,2], [2, 2] -> RuntimeError: split_with_sizes expects split_sizes to sum exactly to 5 (input tensor's size at dimension 0), but got split_sizes=[2, 2]");
TS_OP(split_with_sizes, "split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
      "Parts of given sizes along a dimension.", kViewMethod, &split_with_sizes, "f[5,2], [2, 3]");
TS_OP(chunk, "chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", "At most that many parts along a dimension.",
      kViewMethod, &chunk, "f[5,2], 2");
TS_OP(unbind, "unbind(Tensor self, int dim=0) -> Tensor[]", "The items along a dimension.", kViewMethod, &unbind,
      "f[3,2]\n"
      "f[3,2], 1");

}  // namespace
}  // namespace tessera::tensor
