// Ops that address one dimension by an index tensor, and those that go by a mask. One kernel (index_kernel.h) serves all.
#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/index_kernel.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {
namespace {

using Mode = IndexCall::Mode;

// What an index out of bounds says.
enum class Complaint { Scatter, Select };

// Moves elements between `values` and the places of `self` that `index` names in `dim`. `shape` is how far each dimension
// goes; index and values may have stride 0.
void run_along(Mode mode, const Tensor& self, int64_t dim, const Tensor& index, Ints index_strides,
               const Tensor& values, Ints shape, Complaint complaint) {
  Dims self_strides(self.sizes().empty() ? Dims(shape.size(), 0) : Dims(self.strides()));
  const int64_t extent = self.dim() ? self.sizes()[dim] : 1, step = self.dim() ? self.strides()[dim] : 1;
  if (!shape.empty()) self_strides[dim] = 0;
  int64_t bad_value = 0;
  int bad_index = -1;
  IndexCall call{};
  call.mode = mode;
  call.negative = IndexCall::Negative::Refuse;
  call.dtype = self.dtype();
  call.ndim = int(shape.size());
  call.sizes = shape.data();
  call.self = self.impl()->data;
  call.self_strides = self_strides.data();
  call.values = values.impl()->data;
  call.value_strides = values.strides().data();
  call.count = 1;
  call.index[0] = index.data<int64_t>();
  call.index_strides[0] = index_strides.data();
  call.extent[0] = extent;
  call.step[0] = step;
  call.bad_value = &bad_value;
  call.bad_index = &bad_index;
  index_kernel(self.device().type, call);
  if (bad_index < 0) return;
  if (complaint == Complaint::Select) fail(TensorErrorKind::Index, "index out of range in self");
  fail(TensorErrorKind::Runtime, "index ", bad_value, " is out of bounds for dimension ", dim, " with size ", extent);
}

void check_same_device(const Tensor& a, const Tensor& b) {
  const Tensor* both[] = {&a, &b};
  common_device(both, 2);
}

// ---- index_select and its inverse ----

// A vector of indices walks along dim only.
void select_along(Mode mode, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& values) {
  Dims strides(values.sizes().size(), 0);
  if (!strides.empty()) strides[dim] = index.dim() ? index.strides()[0] : 0;
  run_along(mode, self, dim, index, strides, values, values.sizes(), Complaint::Select);
}

Tensor check_select_index(const char* name, const Tensor& self, const Tensor& index) {
  check(index.dim() <= 1, TensorErrorKind::Index, name, "(): Index is supposed to be a vector");
  check(index.dtype() == kInt64 || index.dtype() == kInt32, TensorErrorKind::Runtime, name,
        "(): Expected dtype int32 or int64 for index");
  check_same_device(self, index);
  return index.dtype() == kInt64 ? index : to_dtype(index, kInt64);
}

}  // namespace

Tensor index_select(const Tensor& self, int64_t dim_given, const Tensor& given) {
  const Tensor index = check_select_index("index_select", self, given);
  const int64_t dim = wrap_dim(dim_given, self.dim());
  Dims shape(self.sizes());
  if (self.dim()) shape[dim] = index.numel();
  Tensor out = Tensor::empty(shape, self.dtype(), self.device());
  select_along(Mode::Read, self, dim, index, out);
  if (needs_grad(self))
    record(out, "IndexSelectBackward0", {&self}, keep(index), [dim, sizes = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] { return index_add(zeros(sizes, s.g().dtype(), s.g().device()), dim, s.kept(0), s.g(), 1); });
    });
  return out;
}

Tensor index_add(const Tensor& self, int64_t dim_given, const Tensor& given, const Tensor& source, Scalar alpha) {
  const Tensor index = check_select_index("index_add", self, given);
  const int64_t dim = wrap_dim(dim_given, self.dim());
  check(self.dtype() == source.dtype(), TensorErrorKind::Runtime,
        "index_add_(): self and source must have the same scalar type");
  const int64_t length = source.dim() ? source.sizes()[dim] : 1;
  check(index.numel() == length, TensorErrorKind::Runtime, "index_add_(): Number of indices (", index.numel(),
        ") should be equal to source.size(dim): (", length, "), for dim: ", dim);
  Tensor out = Tensor::empty(self.sizes(), self.dtype(), self.device());
  {
    const GradMode no_grad(false);
    copy_into(out, self);
    select_along(Mode::Accumulate, out, dim, index, alpha.equals(1) ? source : source * alpha);
  }
  if (needs_grad(self, source))
    record(out, "IndexAddBackward0", {&self, &source}, keep(index), [dim, alpha](Sweep& s) {
      s.give(0, [&] { return s.g(); });
      s.give(1, [&] {
        return alpha.equals(1) ? index_select(s.g(), dim, s.kept(0)) : index_select(s.g(), dim, s.kept(0)) * alpha;
      });
    });
  return out;
}

Tensor index_copy(const Tensor& self, int64_t dim_given, const Tensor& given, const Tensor& source) {
  const Tensor index = check_select_index("index_copy", self, given);
  const int64_t dim = wrap_dim(dim_given, self.dim());
  check(self.dtype() == source.dtype(), TensorErrorKind::Runtime,
        "index_copy_(): self and source expected to have the same dtype, but got (self) ",
        scalar_type_name(self.dtype()), " and (source) ", scalar_type_name(source.dtype()));
  Tensor out = Tensor::empty(self.sizes(), self.dtype(), self.device());
  copy_into(out, self);
  select_along(Mode::Write, out, dim, index, source);
  if (needs_grad(self, source))
    record(out, "IndexCopyBackward0", {&self, &source}, keep(index), [dim](Sweep& s) {
      s.give(0, [&] { return index_fill(s.g(), dim, s.kept(0), 0); });
      s.give(1, [&] { return index_select(s.g(), dim, s.kept(0)); });
    });
  return out;
}

Tensor index_fill(const Tensor& self, int64_t dim_given, const Tensor& given, Scalar value) {
  const Tensor index = check_select_index("index_fill", self, given);
  const int64_t dim = wrap_dim(dim_given, self.dim());
  Tensor out = Tensor::empty(self.sizes(), self.dtype(), self.device());
  copy_into(out, self);
  Dims shape(self.sizes());
  if (self.dim()) shape[dim] = index.numel();
  const Tensor number = Tensor::scalar(value, self.dtype(), self.device());
  select_along(Mode::Write, out, dim, index, number.view_of(shape, Dims(shape.size(), 0)));
  if (needs_grad(self))
    record(out, "IndexFillBackward0", {&self}, keep(index),
           [dim](Sweep& s) { s.give(0, [&] { return index_fill(s.g(), dim, s.kept(0), 0); }); });
  return out;
}

// ---- gather and scatter ----

namespace {

void check_gather(const char* name, const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src) {
  check(index.dtype() == kInt64, TensorErrorKind::Runtime, name, "(): Expected dtype int64 for index");
  check_same_device(self, index);
  if (index.numel() == 0) return;
  const auto rank = [](const Tensor& t) { return std::max<int64_t>(t.dim(), 1); };
  check(rank(index) == rank(self), TensorErrorKind::Runtime, "Index tensor must have the same number of dimensions as ",
        src ? "self" : "input", " tensor");
  if (src)
    check(rank(index) == rank(*src), TensorErrorKind::Runtime,
          "Index tensor must have the same number of dimensions as src tensor");
  for (int64_t d = 0; d < std::min(self.dim(), index.dim()); d++) {
    const bool small =
        (d == dim || index.sizes()[d] <= self.sizes()[d]) && (!src || index.sizes()[d] <= src->sizes()[d]);
    if (src)
      check(small, TensorErrorKind::Runtime, "Expected index ", index.sizes(), " to be smaller than self ",
            self.sizes(), " apart from dimension ", dim, " and to be smaller size than src ", src->sizes());
    else
      check(small, TensorErrorKind::Runtime, "Size does not match at dimension ", d, " expected index ", index.sizes(),
            " to be smaller than self ", self.sizes(), " apart from dimension ", dim);
  }
}

void move_along(Mode mode, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& values) {
  if (index.numel() == 0) return;
  const Tensor flat_self = self.dim() ? self : self.view_of({1}, {1}),
               flat_index = index.dim() ? index : index.view_of({1}, {1});
  const Tensor flat_values = values.dim() ? values : values.view_of({1}, {1});
  run_along(mode, flat_self, dim, flat_index, flat_index.strides(), flat_values, flat_index.sizes(),
            Complaint::Scatter);
}

Tensor scattered(Mode mode, const char* name, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_gather(name, self, dim, index, &src);
  check(src.dtype() == self.dtype(), TensorErrorKind::Runtime, name,
        "(): Expected self.dtype to be equal to src.dtype");
  Tensor out = Tensor::empty(self.sizes(), self.dtype(), self.device());
  copy_into(out, self);
  move_along(mode, out, dim, index, src);
  return out;
}

}  // namespace

Tensor gather(const Tensor& self, int64_t dim_given, const Tensor& index) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  check_gather("gather", self, dim, index, nullptr);
  Tensor out = Tensor::empty(index.sizes(), self.dtype(), self.device());
  move_along(Mode::Read, self, dim, index, out);
  if (needs_grad(self))
    record(out, "GatherBackward0", {&self}, keep(index), [dim, sizes = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] { return scatter_add(zeros(sizes, s.g().dtype(), s.g().device()), dim, s.kept(0), s.g()); });
    });
  return out;
}

Tensor scatter(const Tensor& self, int64_t dim_given, const Tensor& index, const Tensor& src) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  Tensor out = scattered(Mode::Write, "scatter", self, dim, index, src);
  if (needs_grad(self, src))
    record(out, "ScatterBackward0", {&self, &src}, keep(index), [dim](Sweep& s) {
      s.give(0, [&] { return scatter(s.g(), dim, s.kept(0), Scalar(0)); });
      s.give(1, [&] { return gather(s.g(), dim, s.kept(0)); });
    });
  return out;
}

Tensor scatter(const Tensor& self, int64_t dim_given, const Tensor& index, Scalar value) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  const Tensor number = Tensor::scalar(value, self.dtype(), self.device());
  Tensor out =
      scattered(Mode::Write, "scatter", self, dim, index, number.view_of(index.sizes(), Dims(index.sizes().size(), 0)));
  if (needs_grad(self))
    record(out, "ScatterBackward1", {&self}, keep(index),
           [dim](Sweep& s) { s.give(0, [&] { return scatter(s.g(), dim, s.kept(0), Scalar(0)); }); });
  return out;
}

Tensor scatter_add(const Tensor& self, int64_t dim_given, const Tensor& index, const Tensor& src) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  Tensor out = scattered(Mode::Accumulate, "scatter", self, dim, index, src);
  if (needs_grad(self, src))
    record(out, "ScatterAddBackward0", {&self, &src}, keep(index), [dim](Sweep& s) {
      s.give(0, [&] { return s.g(); });
      s.give(1, [&] { return gather(s.g(), dim, s.kept(0)); });
    });
  return out;
}

Tensor take(const Tensor& self, const Tensor& given) {
  check(given.dtype() == kInt64, TensorErrorKind::Runtime, "take(): Expected a long tensor for index, but got ",
        scalar_type_name(given.dtype()));
  const Tensor flat = reshape(self, {-1}), index = contiguous(given);
  const int64_t n = flat.numel();
  for (int64_t i = 0; given.device().is_cpu() && i < index.numel(); i++) {
    const int64_t at = index.data<int64_t>()[i];
    check(at >= -n && at < n, TensorErrorKind::Index, "out of range: tried to access index ", at, " on a tensor of ", n,
          " elements.");
  }
  return tensor::index(flat, {index});
}

// ---- masks ----

namespace {

Tensor as_mask(const Tensor& mask, const char* name) {
  check(mask.dtype() == kBool || mask.dtype() == kUInt8, TensorErrorKind::Runtime, name,
        " only supports boolean masks, but got mask with dtype ", tensor::name(mask.dtype()));
  return mask.dtype() == kBool ? mask : to_dtype(mask, kBool);
}

Tensor fill_masked(const Tensor& self, const Tensor& given, const Tensor& value) {
  const Tensor mask = as_mask(given, "masked_fill");
  check(can_cast(value.dtype(), self.dtype()), TensorErrorKind::Runtime, "value cannot be converted to type ",
        name(self.dtype()), " without overflow");
  Tensor out;
  {
    const GradMode no_grad(false);
    out = where(mask, Operand(to_dtype(value, self.dtype())), Operand(self));
  }
  if (needs_grad(self, value))
    record(out, "MaskedFillBackward0", {&self, &value}, keep(mask), [shape = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] { return sum_to_size(masked_fill(s.g(), s.kept(0), Scalar(0)), shape); });
      s.give(1, [&] { return sum(where(s.kept(0), Operand(s.g()), Operand(0.0))); });
    });
  return out;
}

}  // namespace

Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value) {
  return fill_masked(self, mask, Tensor::scalar(value, self.dtype(), self.device()));
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check(value.dim() == 0, TensorErrorKind::Runtime,
        "masked_fill only supports a 0-dimensional value tensor, but got tensor with ", value.dim(), " dimension(s).");
  return fill_masked(self, mask, value);
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  check(mask.dtype() == kBool || mask.dtype() == kUInt8, TensorErrorKind::Runtime,
        "masked_select: expected BoolTensor or ByteTensor for mask");
  const Dims shape = broadcast_shapes(self.sizes(), mask.sizes());
  const Tensor wide = expand(self, shape), kept = expand(mask.dtype() == kBool ? mask : to_dtype(mask, kBool), shape);
  if (shape.empty()) return index(reshape(wide, {1}), {reshape(kept, {1})});
  Tensor out;
  {
    const GradMode no_grad(false);
    out = index(wide, {kept});
  }
  if (needs_grad(wide))
    record(out, "MaskedSelectBackward0", {&wide}, keep(kept), [shape](Sweep& s) {
      s.give(0, [&] { return index_put(zeros(shape, s.g().dtype(), s.g().device()), {s.kept(0)}, s.g(), false); });
    });
  return out;
}

// ---- the registry ----

namespace {

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const Tensor wide = expand(mask, self.sizes());
  const int64_t count = nonzero(wide).sizes()[0];
  check(source.numel() >= count, TensorErrorKind::Runtime, "Number of elements of source < number of ones in mask");
  return index_put(self, {to_dtype(wide, kBool)}, slice(reshape(source, {-1}), 0, 0, count), false);
}
TensorList nonzero_tuple(const Tensor& self) { return unbind(nonzero(self.dim() ? self : reshape(self, {1})), 1); }
Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  if (!dim) return gather(reshape(self, {-1}), 0, reshape(indices, {-1}));
  const int64_t at = wrap_dim(*dim, self.dim());
  Dims ours(self.sizes()), theirs(indices.sizes());
  ours[at] = theirs[at] = 1;
  Dims shape = broadcast_shapes(ours, theirs), wide = shape;
  shape[at] = indices.sizes()[at], wide[at] = self.sizes()[at];
  return gather(expand(self, wide), at, expand(indices, shape));
}

constexpr uint32_t kBoth = kFunction | kMethod, kWrites = kFunction | kMethod | kInplace;
using Index3 = Tensor (*)(const Tensor&, int64_t, const Tensor&, const Tensor&);
using IndexNumber = Tensor (*)(const Tensor&, int64_t, const Tensor&, Scalar);
using MaskTensor = Tensor (*)(const Tensor&, const Tensor&, const Tensor&);
using MaskNumber = Tensor (*)(const Tensor&, const Tensor&, Scalar);

TS_OP(index_select, "index_select(Tensor self, int dim, Tensor index) -> Tensor",
      "The items of a dimension that index names.", kBoth | kOut, &index_select);
TS_OP(index_add, "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
      "Adds source's items to those that index names.", kWrites, &index_add);
TS_OP(index_copy, "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
      "Puts source's items where index says.", kWrites, &index_copy);
TS_OP(index_fill, "index_fill(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
      "Fills the items that index names.", kWrites, &index_fill);
TS_OP(
    gather, "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    "Elements by their index along a dimension.", kBoth | kOut,
    +[](const Tensor& self, int64_t dim, const Tensor& index, bool) { return gather(self, dim, index); });
TS_OP(scatter, "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
      "Writes elements to their index along a dimension.", kWrites, static_cast<Index3>(&scatter));
TS_OP(scatter, "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
      "Writes a number to places along a dimension.", kWrites, static_cast<IndexNumber>(&scatter));
TS_OP(scatter_add, "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
      "Adds elements to their index along a dimension.", kWrites, &scatter_add);
TS_OP(take, "take(Tensor self, Tensor index) -> Tensor", "Elements by their place in the flattened tensor.", kBoth,
      &take);
TS_OP(take_along_dim, "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", "gather that broadcasts.",
      kBoth, &take_along_dim);
TS_OP(masked_fill, "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", "value where mask is true.",
      kWrites, static_cast<MaskNumber>(&masked_fill));
TS_OP(masked_fill, "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", "value where mask is true.",
      kWrites, static_cast<MaskTensor>(&masked_fill));
TS_OP(masked_select, "masked_select(Tensor self, Tensor mask) -> Tensor",
      "The elements where mask is true, as a vector.", kBoth | kOut, &masked_select);
TS_OP(masked_scatter, "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
      "source's elements, in order, where mask is true.", kWrites, &masked_scatter);
TS_OP(nonzero_numpy, "nonzero_numpy(Tensor self) -> Tensor[]",
      "The places of nonzero elements, a vector for each dimension.", kInternal | kNoGrad, &nonzero_tuple);
TS_OP(where, "where(Tensor condition) -> Tensor[]", "The places of nonzero elements, a vector for each dimension.",
      kFunction | kNoGrad, &nonzero_tuple);

}  // namespace
}  // namespace tessera::tensor
