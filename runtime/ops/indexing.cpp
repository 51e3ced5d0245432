// t[...] read and written: numbers, slices, None and ... become views; tensors are gathered at the end by one kernel.
#include "runtime/ops/indexing.h"

#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/device/meta.h"
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/result_layout.h"
#include "runtime/ops/index_along.h"
#include "runtime/ops/masks.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

using Indices = std::vector<std::optional<Tensor>>;

namespace {

bool is_mask(const Tensor& t) { return t.dtype() == kBool || t.dtype() == kUInt8; }

void warn_byte_mask(const Tensor& t) {
  if (t.dtype() == kUInt8)
    Context::current().warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
}

// Masks become one index tensor for each of their dimensions.
Indices expand_masks(const Tensor& self, const Indices& given) {
  Indices out;
  for (const auto& item : given) {
    if (!item || !item->defined()) {
      out.emplace_back();
      continue;
    }
    const Tensor& t = *item;
    check(is_mask(t) || t.dtype() == kInt64 || t.dtype() == kInt32, TensorErrorKind::Index,
          "tensors used as indices must be long, int, byte or bool tensors");
    if (!is_mask(t)) {
      out.emplace_back(t.dtype() == kInt64 ? t : to_dtype(t, kInt64));
      continue;
    }
    warn_byte_mask(t);
    const int64_t first = int64_t(out.size());
    for (int64_t d = 0; d < t.dim(); d++)
      check(first + d < self.dim() && t.sizes()[d] == self.sizes()[first + d], TensorErrorKind::Index,
            "The shape of the mask ", t.sizes(), " at index ", d, " does not match the shape of the indexed tensor ",
            self.sizes(), " at index ", first + d);
    const Tensor places = nonzero(t);
    for (int64_t d = 0; d < t.dim(); d++) out.emplace_back(select(places, 1, d));
  }
  check(int64_t(out.size()) <= self.dim(), TensorErrorKind::Index, "too many indices for tensor of dimension ",
        self.dim(), " (got ", out.size(), ")");
  return out;
}

[[noreturn]] void fail_broadcast(const Indices& indices) {
  std::string shapes;
  for (const auto& t : indices)
    if (t) shapes += (shapes.empty() ? "" : ", ") + shape_str(t->sizes());
  fail(TensorErrorKind::Index, "shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes);
}

// Everything that reading and writing by index tensors have in common: where the results' dimensions come from.
struct Gathering {
  Tensor self;
  std::vector<Tensor> index;  // broadcast to one shape
  std::vector<int64_t> dims;  // that each addresses
  Dims shape;                 // of the result
  Dims self_strides;          // per result dimension
  int64_t at = 0;             // where the index dimensions stand in the result
  Dims index_shape;

  Gathering(const Tensor& tensor, const Indices& indices) : self(tensor) {
    bool first = true;
    for (size_t d = 0; d < indices.size(); d++) {
      if (!indices[d]) continue;
      index_shape = first ? Dims(indices[d]->sizes()) : join(indices, indices[d]->sizes());
      first = false;
      dims.push_back(int64_t(d));
    }
    check(dims.size() <= kMaxIndices, TensorErrorKind::Runtime, "more than ", kMaxIndices,
          " index tensors are not supported");
    for (const int64_t d : dims) {
      check(indices[d]->device().is_cpu() || indices[d]->device() == self.device() || self.device().is_meta(),
            TensorErrorKind::Runtime, "indices should be either on cpu or on the same device as the indexed tensor (",
            self.device().str(), ")");
      index.push_back(to_device(indices[d]->view_of(indices[d]->sizes(), indices[d]->strides()), self.device()));
    }
    const bool adjacent = dims.empty() || dims.back() - dims.front() + 1 == int64_t(dims.size());
    at = adjacent && !dims.empty() ? dims.front() : 0;
    lay_out();
  }

  /// A fresh tensor for what is read, in the order in memory of the dimensions that stay.
  Tensor room() const {
    Tensor out = Tensor::empty(shape, self.dtype(), self.device());
    if (self.is_contiguous() || out.numel() == 0) return out;
    std::vector<Tensor> operands{self.view_of(shape, self_strides)};
    for (const Tensor& t : index) {
      const Tensor full = t.sizes() == Ints(index_shape) ? t : expand(t, index_shape);
      // Around it dimensions of one element, with the strides of a reshape.
      const bool scalar = full.dim() == 0;
      Dims sizes(shape.size(), 1), strides(shape.size(), scalar ? 1 : full.strides()[full.dim() - 1]);
      for (int64_t d = 0; d < at && !scalar; d++) strides[size_t(d)] = full.sizes()[0] * full.strides()[0];
      std::copy(full.sizes().begin(), full.sizes().end(), sizes.begin() + at);
      std::copy(full.strides().begin(), full.strides().end(), strides.begin() + at);
      operands.push_back(t.view_of(sizes, strides));
    }
    std::vector<const Tensor*> all;
    for (const Tensor& t : operands) all.push_back(&t);
    if (const Dims strides = result_strides(all, shape); !strides.empty()) out.impl()->set_layout(shape, strides);
    return out;
  }

  void run(IndexCall::Mode mode, const Tensor& values) {
    IndexCall call{};
    call.mode = mode;
    call.negative = IndexCall::Negative::Wrap;
    call.complaint = IndexCall::Complaint::Index;
    call.dtype = self.dtype();
    call.ndim = int(shape.size());
    call.sizes = shape.data();
    call.self = self.bytes();
    call.self_strides = self_strides.data();
    call.values = values.bytes();
    call.value_strides = values.strides().data();
    call.count = int(index.size());
    std::vector<Dims> strides(index.size());
    for (size_t k = 0; k < index.size(); k++) {
      strides[k] = Dims(shape.size(), 0);
      const Tensor full = index[k].sizes() == Ints(index_shape) ? index[k] : expand(index[k], index_shape);
      std::copy(full.strides().begin(), full.strides().end(), strides[k].begin() + at);
      call.index[k] = full.data<int64_t>();
      call.index_strides[k] = strides[k].data();
      call.extent[k] = self.sizes()[dims[k]];
      call.step[k] = self.strides()[dims[k]];
      call.dim[k] = dims[k];
    }
    check_empty();
    check(!index.empty(), TensorErrorKind::Index, "masks without dimensions name no dimension of the tensor");
    index_kernel(self.device(), call);
  }

 private:
  Dims join(const Indices& indices, Ints sizes) const {
    try {
      return broadcast_shapes(index_shape, sizes);
    } catch (const TensorError&) {
      fail_broadcast(indices);
    }
  }
  void lay_out() {
    const auto put_index_shape = [&] {
      for (const int64_t s : index_shape) shape.push_back(s), self_strides.push_back(0);
    };
    int64_t kept = 0;
    for (int64_t d = 0; d < self.dim(); d++) {
      if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
      if (kept++ == at) put_index_shape();
      shape.push_back(self.sizes()[d]), self_strides.push_back(self.strides()[d]);
    }
    if (kept <= at) put_index_shape();
  }
  void check_empty() const {
    if (numel_of(index_shape) == 0) return;
    for (const int64_t d : dims)
      check(self.sizes()[d] != 0, TensorErrorKind::Index, "index is out of bounds for dimension with size 0");
  }
};

// ---- a mask alone: no places need to be found ----

// A mask without dimensions says whether there is the whole: that of one more dimension, which may have no item.
bool is_yes_or_no(const Indices& given) {
  return given.size() == 1 && given[0] && given[0]->defined() && is_mask(*given[0]) && given[0]->dim() == 0;
}
Indices as_line(const Indices& given) { return {reshape(*given[0], {1})}; }

bool is_mask_alone(const Tensor& self, const Indices& given) {
  if (given.size() != 1 || !given[0] || !given[0]->defined()) return false;
  const Tensor& mask = *given[0];
  return mask.dtype() == kBool && mask.device() == self.device() && mask.dim() > 0 && mask.dim() <= self.dim() &&
         mask.sizes() == self.sizes().first(size_t(mask.dim()));
}

// The mask's own dimensions become one, as long as the mask has places.
Dims masked_shape(const Tensor& self, const Tensor& mask, int64_t count) {
  Dims shape(self.sizes().drop(size_t(mask.dim())));
  shape.insert(0, count);
  return shape;
}

Tensor read_mask(const Tensor& self, const Tensor& given) {
  const Tensor mask = contiguous(given), in = contiguous(self);
  Tensor out = Tensor::empty(masked_shape(self, mask, count_set(mask)), self.dtype(), self.device());
  move_masked_rows(false, mask, in, out);
  return out;
}

[[noreturn]] void fail_values(const Tensor& values, Ints shape) {
  fail(TensorErrorKind::Runtime, "shape mismatch: value tensor of shape ", values.sizes(),
       " cannot be broadcast to indexing result of shape ", shape);
}

Tensor broadcast_values(const Tensor& values, Ints shape) {
  try {
    return expand(values, shape);
  } catch (const TensorError&) {
    fail_values(values, shape);
  }
}

// False where the general way has to be gone.
bool write_mask(const Tensor& self, const Tensor& mask_given, const Tensor& values) {
  const Tensor given = &mask_given.storage() == &self.storage() ? clone(mask_given) : mask_given;
  if (values.numel() == 1) {
    Tensor mask = given;
    while (mask.dim() < self.dim()) mask = unsqueeze(mask, -1);
    fill_where(self, self, mask, reshape(values, {}));
    return true;
  }
  if (!self.is_contiguous()) return false;
  const Tensor mask = contiguous(given);
  const Tensor wide = broadcast_values(values, masked_shape(self, mask, count_set(mask)));
  move_masked_rows(true, mask, self, contiguous(wide));
  return true;
}

// ---- the ops: their records keep the indices, however many ----

KeptList keep_indices(const Indices& given) {
  KeptList kept;
  for (const auto& t : given) kept.tensors.push_back(t ? SavedTensor(*t) : SavedTensor());
  return kept;
}

Indices kept_indices(const Sweep& s, size_t count) {
  Indices out;
  for (size_t i = 0; i < count; i++) {
    const Tensor t = s.kept(i);
    out.push_back(t.defined() ? std::optional(t) : std::nullopt);
  }
  return out;
}

void record_read(Tensor& out, const Tensor& self, const Indices& given) {
  record(out, "IndexBackward0", {&self}, keep_indices(given),
         [shape = Dims(self.sizes()), dtype = self.dtype(), count = given.size()](Sweep& s) {
           s.give(0,
                  [&] { return index_put_(zeros(shape, dtype, s.g().device()), kept_indices(s, count), s.g(), true); });
         });
}

bool has_masks(const Indices& given) {
  return std::any_of(given.begin(), given.end(), [](const auto& t) { return t && t->defined() && is_mask(*t); });
}

// One value for the places of masks is a masked fill, which converts it.
bool is_fill(const Indices& given, const Tensor& value, bool accumulate) {
  if (accumulate || value.numel() != 1) return false;
  size_t masks = 0;
  for (const auto& t : given) {
    if (!t || !t->defined()) continue;
    if (!is_mask(*t)) return false;
    masks++;
  }
  return masks == 1;
}

struct IndexPut {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self, const Indices& given, const Tensor& values, bool accumulate) {
    check(values.dtype() == self.dtype() || is_fill(given, values, accumulate), TensorErrorKind::Runtime,
          "Index put requires the source and destination dtypes match, got ", scalar_type_name(self.dtype()),
          " for the destination and ", scalar_type_name(values.dtype()), " for the source.");
    if (values.device() != self.device() && values.dim() != 0) fail_two_devices(self.device(), values.device());
    // Where there is data, laying out the places is what checks the rest, before anything is written.
    if (self.device().is_meta() && !has_masks(given))
      broadcast_values(values, Gathering(self, expand_masks(self, given)).shape);
    return Meta(self.sizes(), self.dtype(), self.device(), dense_strides(self));
  }
  static void run(const Tensor& out, const Tensor& self, const Indices& given, const Tensor& values_given,
                  bool accumulate) {
    const Tensor values = to_dtype(apart_from(out, to_device(values_given, out.device())), out.dtype());
    if (!out.same(self)) copy_into(out, self);
    if (is_yes_or_no(given)) {
      const Tensor whole = unsqueeze(out, 0);
      return run(whole, whole, as_line(given), values, accumulate);
    }
    if (!accumulate && is_mask_alone(out, given) && write_mask(out, *given[0], values)) return;
    Indices apart;
    for (const auto& t : given) apart.push_back(t ? std::optional(apart_from(out, *t)) : std::nullopt);
    Gathering g(out, expand_masks(out, apart));
    g.run(accumulate ? IndexCall::Mode::Accumulate : IndexCall::Mode::Write, broadcast_values(values, g.shape));
  }
  static void grad(Tensor& out, const Tensor& self, const Indices& given, const Tensor& values, bool accumulate) {
    set_history(out, node(self, given, values, accumulate));
  }
  static CountedPtr<Node> node(const Tensor& self, const Indices& given, const Tensor& values, bool accumulate) {
    return make_node(
        "IndexPutBackward0", {&self, &values}, keep_indices(given),
        [shape = Dims(values.sizes()), dtype = values.dtype(), count = given.size(), accumulate](Sweep& s) {
          const Indices at = kept_indices(s, count);
          s.give(0,
                 [&] { return accumulate ? s.g() : index_put(s.g(), at, zeros({}, s.g().dtype(), s.g().device())); });
          s.give(1, [&] { return to_dtype(sum_to_size(index(s.g(), at), shape), dtype); });
        });
  }
};

}  // namespace

// A composition: how many places a mask has is known when it has been read.
Tensor index(const Tensor& self, const Indices& given) {
  if (is_yes_or_no(given)) return index(unsqueeze(self, 0), as_line(given));
  Tensor out;
  {
    const GradMode no_grad(false);
    // Of a mask before several dimensions in another order the places are wanted, as the result is laid out by them.
    if (is_mask_alone(self, given) && (self.is_contiguous() || self.dim() <= given[0]->dim() + 1)) {
      refuse_meta_nonzero(*given[0]);
      out = read_mask(self, *given[0]);
    } else {
      Gathering g(self, expand_masks(self, given));
      out = g.room();
      g.run(IndexCall::Mode::Read, out);
    }
  }
  if (needs_grad(self)) record_read(out, self, given);
  return out;
}

Tensor index_put_(const Tensor& self, const Indices& given, const Tensor& values, bool accumulate) {
  IndexPut::shape(self, given, values, accumulate);
  const bool recorded = needs_grad(self, values);
  if (recorded) check_inplace(self);
  CountedPtr<Node> node = recorded ? IndexPut::node(self, given, values, accumulate) : nullptr;
  if (!self.device().is_meta()) {
    const GradMode no_grad(false);
    IndexPut::run(self, self, given, values, accumulate);
  }
  self.bump_version();
  Tensor handle = self;
  if (recorded) rebase_history(handle, std::move(node));
  return handle;
}

Tensor index_put(const Tensor& self, const Indices& given, const Tensor& values, bool accumulate) {
  return apply<IndexPut>(self, given, values, accumulate);
}

// ---- the brackets ----

namespace {

int64_t specified_dims(std::span<const TensorIndex> items) {
  int64_t n = 0;
  for (const TensorIndex& item : items) {
    if (item.kind == TensorIndex::Kind::Tensor) n += is_mask(item.tensor) ? item.tensor.dim() : 1;
    else n += item.kind == TensorIndex::Kind::Int || item.kind == TensorIndex::Kind::Slice;
  }
  return n;
}

[[noreturn]] void fail_scalar_index() {
  fail(
      TensorErrorKind::Index,
      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
}

Tensor pick(const Tensor& t, int64_t dim, int64_t i, size_t position) {
  if (t.dim() == 0) fail_scalar_index();
  const int64_t size = t.size(dim);
  check(i >= -size && i < size, TensorErrorKind::Index, "index ", i, " is out of bounds for dimension ", position,
        " with size ", size);
  return select(t, dim, i);
}

// Among others it makes no view of its own, as in PyTorch: a column's node is that of select alone.
bool takes_all(const TensorIndex& slice, int64_t size) {
  return slice.step == 1 && slice.start == 0 && (!slice.has_stop || slice.stop >= size);
}

Tensor cut(const Tensor& t, int64_t dim, const TensorIndex& item) {
  return slice(t, dim, item.has_start ? std::optional(item.start) : std::nullopt,
               item.has_stop ? std::optional(item.stop) : std::nullopt, item.step);
}

// What the items that are no tensors leave of a tensor, and the index tensors by their dimension.
struct Sliced {
  Tensor view;
  Indices indices;

  Sliced(const Tensor& self, std::span<const TensorIndex> items) : view(self) {
    const int64_t specified = specified_dims(items);
    if (self.dim() == 0 && !items.empty() && items[0].kind == TensorIndex::Kind::Int) fail_scalar_index();
    check(self.dim() > 0 || items.size() != 1 || items[0].kind != TensorIndex::Kind::Slice, TensorErrorKind::Index,
          "slice() cannot be applied to a 0-dim tensor.");
    check(specified <= self.dim(), TensorErrorKind::Index, "too many indices for tensor of dimension ", self.dim());
    int64_t dim = 0;
    for (size_t i = 0; i < items.size(); i++) apply(items[i], i, dim, self.dim() - specified);
  }

 private:
  void apply(const TensorIndex& item, size_t position, int64_t& dim, int64_t unnamed) {
    using Kind = TensorIndex::Kind;
    switch (item.kind) {
      case Kind::Int: view = pick(view, dim, item.start, position); return;
      case Kind::None: view = unsqueeze(view, dim++); return;
      case Kind::Ellipsis: dim += unnamed; return;
      case Kind::Slice:
        if (!takes_all(item, view.sizes()[dim])) view = cut(view, dim, item);
        dim++;
        return;
      case Kind::Bool:
        view = unsqueeze(view, dim);
        note(dim++, full({item.start ? 1 : 0}, 0, kInt64, view.device()));
        return;
      case Kind::Tensor: apply_tensor(item.tensor, position, dim); return;
    }
  }
  void apply_tensor(const Tensor& t, size_t position, int64_t& dim) {
    if (t.dim() == 0 && !is_floating(t.dtype())) {
      if (!is_mask(t)) return void(view = pick(view, dim, t.item().to_int(), position));
      warn_byte_mask(t);
      view = unsqueeze(view, dim);
      return note(dim++, full({t.item().to_bool() ? 1 : 0}, 0, kInt64, view.device()));
    }
    note(dim++, t);
  }
  void note(int64_t dim, Tensor t) {
    indices.resize(std::max(indices.size(), size_t(dim) + 1));
    indices[dim] = std::move(t);
  }
};

}  // namespace

Tensor alias(const Tensor& self) {
  Tensor out = self.view_of(self.sizes(), self.strides());
  return record_view(out, self, "AliasBackward0", [](Sweep& s) { s.give(0, [&] { return s.g(); }); });
}

namespace {

// A value may have more leading dimensions of size 1 than the place that it is written to.
Tensor without_leading_ones(const Tensor& value, int64_t ndim) {
  Dims sizes(value.sizes());
  while (int64_t(sizes.size()) > ndim && sizes[0] == 1) sizes.erase(0);
  return sizes.size() == value.sizes().size() ? value : reshape(value, sizes);
}

}  // namespace

Tensor get_index(const Tensor& self, std::span<const TensorIndex> items) {
  if (items.size() == 1 && items[0].kind == TensorIndex::Kind::Int) return pick(self, 0, items[0].start, 0);
  if (items.size() == 1 && items[0].kind == TensorIndex::Kind::Slice) return cut(self, 0, items[0]);
  Sliced s(self, items);
  if (!s.indices.empty()) return index(Plain(s.view), s.indices);
  return s.view.same(self) ? alias(self) : s.view;
}

void set_index(const Tensor& self, std::span<const TensorIndex> items, const Tensor& value) {
  // Without a gradient in sight the view that is written needs no record.
  const bool recorded = needs_grad(self, value);
  const GradMode mode(recorded && Context::current().grad_enabled, recorded);
  const Sliced s(self, items);
  const Tensor given = without_leading_ones(value, s.view.dim());
  if (s.indices.empty()) {
    copy_(s.view, given.sizes() == s.view.sizes() ? given : expand(given, s.view.sizes()));
  } else {
    const Plain whole(s.view);
    index_put_(whole, s.indices, resolved(to_dtype(given, self.dtype())));
    if (s.view.has_math_bits()) copy_(s.view, whole);
  }
}

namespace {

TS_OP(index, "index(Tensor self, Tensor?[] indices) -> Tensor", "The elements that index tensors name.",
      kInternal | kDataDependent, &index,
      "f[3,4], (i{0,2,-1})\n"
      "f[3,4].t, (None, i[2,2]<4)\n"
      "f[2,3,4], (i{0,1}, None, i{3,0})\n"
      "f[2,3,4], (i[2,1]<2, i[3]<3)\n"
      "f[3,4], (b[3,4])\n"
      "f[2,3,2], (i{1,0,1}, b{1,1,1})\n"
      "f[3], (i[0])\n"
      "f[3], (i{3}) -> IndexError: index 3 is out of bounds for dimension 0 with size 3\n"
      "f[3], (f[1]) -> IndexError: tensors used as indices must be long, int, byte or bool tensors\n"
      "f[3], (i{0}, i{0}) -> IndexError: too many indices for tensor of dimension 1 (got 2)\n"
      "f[3], (b[2]) -> IndexError: The shape of the mask [2] at index 0 does not match the shape of the indexed tensor "
      "[3] at index 0\n"
      "f[3,3], (i{0,1}, i{0,1,2}) -> IndexError: shape mismatch: indexing tensors could not be broadcast together with "
      "shapes [2], [3]");
TS_OP(index_put, "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
      "Writes values at the places that the indices name; adds them up when accumulate is set.",
      kFunction | kMethod | kInplace, IndexPut,
      "f[3,4], (i{2,0}), f[2,4]\n"
      "f[3,4].t, (i{0,0,1}), f[4], True\n"
      "f[3,4], (None, i{3,1}), f[3,2]\n"
      "f[2,3], (b[2,3]), f[]\n"
      "f[2,3], (b{1,0}), f[3]\n"
      "f[2,3], (b{1,0}), f[1,3], True\n"
      "f[2,3], (b{0,1}, i{2}), f[1]\n"
      "f[2,3], (b[2,3]), i{5}\n"
      "f[2,3], (i{0}), i{5} -> RuntimeError: Index put requires the source and destination dtypes match, got Float for "
      "the destination and Long for the source.\n"
      "f[2,3], (i{0}), f[2] -> RuntimeError: shape mismatch: value tensor of shape [2] cannot be broadcast to indexing "
      "result of shape [1, 3]\n"
      "f[2,3], (i{2}), f[] -> IndexError: index 2 is out of bounds for dimension 0 with size 2\n"
      "f[2,3], (f[1]), f[] -> IndexError: tensors used as indices must be long, int, byte or bool tensors",
      .any_device = true, .autocast_cuda = Autocast::Widest);

}  // namespace
}  // namespace tessera::tensor
