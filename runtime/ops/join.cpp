// cat and stack, and the movers of blocks. All are copies into views of the result, so they need no kernels of their own.
#include "runtime/ops/join.h"

#include <algorithm>
#include <span>

#include "runtime/autograd/record.h"
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {
namespace {

// The node of an op on a list; `split` gives back one gradient for each tensor.
template <class F>
CountedPtr<Node> list_node(const char* name, const TensorList& inputs, F formula) {
  auto node = make_node(name, {}, Kept<0>{}, std::move(formula));
  for (const Tensor& t : inputs) node->add_input(t);
  return node;
}

// PyTorch lets an empty vector join anything.
bool is_nothing(const Tensor& t) { return t.dim() == 1 && t.sizes()[0] == 0; }

DType common_type(const TensorList& tensors) {
  PromotionState state;
  for (const Tensor& t : tensors) state.add(t);
  return state.result();
}

Tensor converted(const Tensor& g, DType dtype) { return g.dtype() == dtype ? g : to_dtype(g, dtype); }

struct Joined {
  Dims shape;
  Dims lengths;  // of each tensor along the dimension; 0 for those that do not count
  int64_t dim = 0;

  Joined(const TensorList& tensors, int64_t dim_given) {
    check(!tensors.empty(), TensorErrorKind::Runtime, "torch.cat(): expected a non-empty list of Tensors");
    for (size_t i = 0; i < tensors.size(); i++)
      check(tensors[i].dim() > 0, TensorErrorKind::Runtime, "zero-dimensional tensor (at position ", i,
            ") cannot be concatenated");
    const auto first = std::find_if_not(tensors.begin(), tensors.end(), is_nothing);
    const Tensor& like = first == tensors.end() ? tensors[0] : *first;
    dim = wrap_dim(dim_given, like.dim());
    shape = Dims(like.sizes());
    shape[dim] = 0;
    for (size_t i = 0; i < tensors.size(); i++) {
      const bool counts = &like == &tensors[i] || !is_nothing(tensors[i]);
      if (counts) compare(like, tensors[i], i);
      lengths.push_back(counts ? tensors[i].sizes()[dim] : 0);
      shape[dim] = checked_add(shape[dim], lengths.back());
    }
  }

 private:
  void compare(const Tensor& like, const Tensor& t, size_t position) const {
    check(t.dim() == like.dim(), TensorErrorKind::Runtime, "Tensors must have same number of dimensions: got ",
          like.dim(), " and ", t.dim());
    for (int64_t d = 0; d < t.dim(); d++)
      check(d == dim || t.sizes()[d] == like.sizes()[d], TensorErrorKind::Runtime,
            "Sizes of tensors must match except in dimension ", dim, ". Expected size ", like.sizes()[d],
            " but got size ", t.sizes()[d], " for tensor number ", position, " in the list.");
  }
};

Tensor part_of(const Tensor& whole, int64_t dim, int64_t start, int64_t length) {
  Dims sizes(whole.sizes());
  sizes[dim] = length;
  return whole.view_of(sizes, whole.strides(), start * whole.strides()[dim]);
}

std::vector<DType> types_of(const TensorList& tensors) {
  std::vector<DType> types;
  for (const Tensor& t : tensors) types.push_back(t.dtype());
  return types;
}

void check_devices(const TensorList& tensors) {
  for (const Tensor& t : tensors) {
    const Tensor* both[] = {&tensors[0], &t};
    common_device(both, 2);
  }
}

}  // namespace

Tensor cat(const TensorList& tensors, int64_t dim_given) {
  const Joined joined(tensors, dim_given);
  check_devices(tensors);
  Tensor out = Tensor::empty(joined.shape, common_type(tensors), tensors[0].device());
  int64_t at = 0;
  for (size_t i = 0; i < tensors.size(); at += joined.lengths[i++])
    if (joined.lengths[i]) copy_into(part_of(out, joined.dim, at, joined.lengths[i]), tensors[i]);
  if (!any_needs_grad(tensors)) return out;
  set_history(out, list_node("CatBackward0", tensors,
                             [dim = joined.dim, lengths = joined.lengths, types = types_of(tensors)](Sweep& s) {
                               int64_t start = 0;
                               for (size_t i = 0; i < lengths.size(); start += lengths[i++])
                                 if (lengths[i])
                                   s.give(i,
                                          [&] { return converted(narrow(s.g(), dim, start, lengths[i]), types[i]); });
                             }));
  return out;
}

Tensor stack(const TensorList& tensors, int64_t dim_given) {
  check(!tensors.empty(), TensorErrorKind::Runtime, "stack expects a non-empty TensorList");
  const Tensor& first = tensors[0];
  const int64_t dim = wrap_dim(dim_given, first.dim() + 1);
  for (size_t i = 1; i < tensors.size(); i++)
    check(tensors[i].sizes() == first.sizes(), TensorErrorKind::Runtime,
          "stack expects each tensor to be equal size, but got ", first.sizes(), " at entry 0 and ", tensors[i].sizes(),
          " at entry ", i);
  check_devices(tensors);
  Dims shape(first.sizes());
  shape.insert(dim, int64_t(tensors.size()));
  Tensor out = Tensor::empty(shape, common_type(tensors), first.device());
  Dims sizes(out.sizes()), strides(out.strides());
  sizes.erase(dim), strides.erase(dim);
  for (size_t i = 0; i < tensors.size(); i++)
    copy_into(out.view_of(sizes, strides, int64_t(i) * out.strides()[dim]), tensors[i]);
  if (!any_needs_grad(tensors)) return out;
  set_history(out, list_node("StackBackward0", tensors, [dim, types = types_of(tensors)](Sweep& s) {
                for (size_t i = 0; i < types.size(); i++)
                  s.give(i, [&] { return converted(select(s.g(), dim, int64_t(i)), types[i]); });
              }));
  return out;
}

// ---- several copies ----

namespace {

// [2, 3] repeated (4, 5) is seen as [4, 2, 5, 3].
Dims interleaved(Ints repeats, Ints sizes) {
  Dims out;
  for (size_t d = 0; d < repeats.size(); d++) out.push_back(repeats[d]), out.push_back(sizes[d]);
  return out;
}

}  // namespace

Tensor repeat(const Tensor& self, Ints repeats) {
  const int64_t extra = int64_t(repeats.size()) - self.dim();
  check(extra >= 0, TensorErrorKind::Runtime,
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  Dims padded(size_t(extra), 1), shape;
  for (const int64_t s : self.sizes()) padded.push_back(s);
  for (size_t d = 0; d < repeats.size(); d++) {
    check(repeats[d] >= 0, TensorErrorKind::Runtime, "Trying to create tensor with negative dimension ",
          saturated_mul(repeats[d], padded[d]), ": ", repeats);
    shape.push_back(checked_mul(padded[d], repeats[d]));
  }
  Tensor out = Tensor::empty(shape, self.dtype(), self.device());
  const Dims blocks = interleaved(repeats, padded);
  {
    const GradMode no_grad(false);
    if (out.numel())
      copy_into(out.view_of(blocks, contiguous_strides(blocks)),
                reshape(self, interleaved(Dims(repeats.size(), 1), padded)));
  }
  if (needs_grad(self))
    record(out, "RepeatBackward0", {&self}, [blocks, sizes = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] {
        Dims copies;
        for (size_t d = 0; d < blocks.size(); d += 2) copies.push_back(int64_t(d));
        return copies.empty() ? s.g() : reshape(sum(reshape(s.g(), blocks), copies), sizes);
      });
    });
  return out;
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim_given) {
  check(repeats >= 0, TensorErrorKind::Runtime, "Repeats must be non-negative");
  const Tensor input = dim_given ? self : reshape(self, {-1});
  const int64_t dim = wrap_dim(dim_given.value_or(0), input.dim());
  const Tensor column = unsqueeze(input, dim + 1);
  Dims wide(input.sizes()), flat(input.sizes());
  wide.insert(dim + 1, repeats);
  flat[dim] = checked_mul(flat[dim], repeats);
  return reshape(expand(column, wide), flat);
}

Tensor tile(const Tensor& self, Ints dims) {
  Dims repeats(dims);
  while (int64_t(repeats.size()) < self.dim()) repeats.insert(0, 1);
  return repeat(self, repeats);
}

// ---- other orders ----

namespace {

// Self with some dimensions read from their end: an inner view for copying from, which no user may see.
Tensor mirrored(const Tensor& self, Ints dims) {
  Dims strides(self.strides());
  int64_t offset = 0;
  for (const int64_t d : dims) {
    offset += (self.sizes()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return self.view_of(self.sizes(), strides, offset);
}

}  // namespace

Tensor flip(const Tensor& self, Ints dims_given) {
  Dims dims;
  for (const int64_t d : dims_given) {
    const int64_t dim = wrap_dim(d, self.dim());
    check(std::find(dims.begin(), dims.end(), dim) == dims.end(), TensorErrorKind::Runtime, "dim ", dim,
          " appears multiple times in the list of dims");
    dims.push_back(dim);
  }
  Tensor out = empty_like_strided(self, self.dtype());
  if (self.numel()) copy_into(out, self.dim() ? mirrored(self, dims) : self);
  if (needs_grad(self))
    record(out, "FlipBackward0", {&self}, [dims](Sweep& s) { s.give(0, [&] { return flip(s.g(), dims); }); });
  return out;
}

namespace {

// Where the items of one dimension go: the first `length - shift` ones to `shift`, the others to 0.
struct Turn {
  int64_t dim, length, shift;
};

// Copies a block; each turn still to come cuts it in two.
void copy_turned(const Tensor& to, const Tensor& from, std::span<const Turn> turns) {
  if (turns.empty()) return copy_into(to, from);
  const Turn& t = turns.front();
  const auto move = [&](int64_t to_start, int64_t from_start, int64_t length) {
    if (length)
      copy_turned(part_of(to, t.dim, to_start, length), part_of(from, t.dim, from_start, length), turns.subspan(1));
  };
  move(t.shift, 0, t.length - t.shift);
  move(0, t.length - t.shift, t.shift);
}

Tensor rolled(const Tensor& self, Ints shifts, Ints dims) {
  const Tensor out = Tensor::empty(self.sizes(), self.dtype(), self.device());
  std::vector<Turn> turns;
  for (size_t i = 0; i < dims.size(); i++) {
    const int64_t dim = wrap_dim(dims[i], self.dim()), length = self.dim() ? self.sizes()[dim] : 1;
    const auto same = std::find_if(turns.begin(), turns.end(), [&](const Turn& t) { return t.dim == dim; });
    Turn& turn = same == turns.end() ? turns.emplace_back(Turn{dim, length, 0}) : *same;
    if (length) turn.shift = ((turn.shift + shifts[i] % length) % length + length) % length;
  }
  std::erase_if(turns, [](const Turn& t) { return t.shift == 0; });
  if (self.numel()) copy_turned(out, self, turns);
  return out;
}

}  // namespace

Tensor roll(const Tensor& self, Ints shifts, Ints dims) {
  check(!shifts.empty(), TensorErrorKind::Runtime, "`shifts` required");
  check(dims.size() == shifts.size() || (dims.empty() && shifts.size() == 1), TensorErrorKind::Runtime,
        "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  Tensor out;
  {
    const GradMode no_grad(false);
    out = dims.empty() ? reshape(rolled(reshape(self, {-1}), shifts, {0}), self.sizes()) : rolled(self, shifts, dims);
  }
  if (needs_grad(self)) {
    Dims back(shifts);
    for (size_t i = 0; i < back.size(); i++) {  // the least int64 has no negative
      const int64_t size = dims.empty() ? self.numel() : self.size(dims[i]);
      back[i] = size ? -(back[i] % size) : 0;
    }
    record(out, "RollBackward0", {&self},
           [back, dims = Dims(dims)](Sweep& s) { s.give(0, [&] { return roll(s.g(), back, dims); }); });
  }
  return out;
}

Tensor rot90(const Tensor& self, int64_t k, Ints dims) {
  check(dims.size() == 2, TensorErrorKind::Runtime, "expected total rotation dims == 2, but got dims = ", dims.size());
  check(self.dim() >= 2, TensorErrorKind::Runtime, "expected total dims >= 2, but got total dims = ", self.dim());
  check(dims[0] != dims[1], TensorErrorKind::Runtime,
        "expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  switch (((k % 4) + 4) % 4) {
    case 1: return transpose(flip(self, {dims[1]}), dims[0], dims[1]);
    case 2: return flip(self, dims);
    case 3: return transpose(flip(self, {dims[0]}), dims[0], dims[1]);
    default: return clone(self);
  }
}

// ---- triangles ----

namespace {

Tensor triangle(const Tensor& self, int64_t diagonal, bool lower, const char* name) {
  const int64_t rows = self.size(-2), columns = self.size(-1);
  Tensor out;
  {
    const GradMode no_grad(false);
    const Tensor row = reshape(arange(0, rows, 1, kInt64, self.device()), {rows, 1}) + diagonal;
    const Tensor column = arange(0, columns, 1, kInt64, self.device());
    out = where(lower ? row >= column : row <= column, Operand(self), Operand(zeros({}, self.dtype(), self.device())));
  }
  if (needs_grad(self))
    record(out, name, {&self}, [diagonal, lower](Sweep& s) {
      s.give(0, [&] { return lower ? tril(s.g(), diagonal) : triu(s.g(), diagonal); });
    });
  return out;
}

}  // namespace

Tensor tril(const Tensor& self, int64_t diagonal) { return triangle(self, diagonal, true, "TrilBackward0"); }
Tensor triu(const Tensor& self, int64_t diagonal) { return triangle(self, diagonal, false, "TriuBackward0"); }

TensorList broadcast_tensors(const TensorList& tensors) {
  Dims shape;
  for (const Tensor& t : tensors) shape = broadcast_shapes(shape, t.sizes());
  TensorList out;
  for (const Tensor& t : tensors) out.push_back(t.sizes() == Ints(shape) ? t : expand(t, shape));
  return out;
}

TensorList meshgrid(const TensorList& tensors, const std::string& indexing) {
  check(!tensors.empty(), TensorErrorKind::Runtime, "meshgrid expects a non-empty TensorList");
  check(indexing == "ij" || indexing == "xy", TensorErrorKind::Runtime,
        "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  const bool swapped = indexing == "xy" && tensors.size() >= 2;
  TensorList given = tensors;
  if (swapped) std::swap(given[0], given[1]);
  Dims shape;
  for (const Tensor& t : given) {
    check(t.dim() <= 1, TensorErrorKind::Runtime,
          "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ", t.dim());
    check(t.dtype() == given[0].dtype(), TensorErrorKind::Runtime, "meshgrid expects all tensors to have the same dtype");
    shape.push_back(t.numel());
  }
  TensorList out;
  for (size_t i = 0; i < given.size(); i++) {
    Dims sizes(given.size(), 1);
    sizes[i] = shape[i];
    const Tensor grid = expand(view(given[i], sizes), shape);
    out.push_back(grid);
  }
  if (swapped) std::swap(out[0], out[1]);
  return out;
}

// ---- the registry ----

namespace {

TensorList at_least(const TensorList& tensors, int64_t ndim) {
  TensorList out;
  for (Tensor t : tensors) {
    if (t.dim() == 0) t = reshape(t, {1});
    if (ndim >= 2 && t.dim() == 1) t = unsqueeze(t, 0);
    if (ndim >= 3 && t.dim() == 2) t = unsqueeze(t, 2);
    out.push_back(t);
  }
  return out;
}

Tensor hstack(const TensorList& tensors) {
  check(!tensors.empty(), TensorErrorKind::Runtime, "hstack expects a non-empty TensorList");
  const TensorList list = at_least(tensors, 1);
  return cat(list, list[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(const TensorList& tensors) {
  check(!tensors.empty(), TensorErrorKind::Runtime, "vstack expects a non-empty TensorList");
  return cat(at_least(tensors, 2), 0);
}
Tensor dstack(const TensorList& tensors) {
  check(!tensors.empty(), TensorErrorKind::Runtime, "dstack expects a non-empty TensorList");
  return cat(at_least(tensors, 3), 2);
}
Tensor column_stack(const TensorList& tensors) {
  check(!tensors.empty(), TensorErrorKind::Runtime, "column_stack expects a non-empty TensorList");
  TensorList list;
  for (const Tensor& t : tensors) list.push_back(t.dim() <= 1 ? reshape(t, {t.numel(), 1}) : t);
  return cat(list, 1);
}
Tensor fliplr(const Tensor& self) {
  check(self.dim() >= 2, TensorErrorKind::Runtime, "Input must be >= 2-d.");
  return flip(self, {1});
}
Tensor flipud(const Tensor& self) {
  check(self.dim() >= 1, TensorErrorKind::Runtime, "Input must be >= 1-d.");
  return flip(self, {0});
}
Tensor repeat_interleave_tensor(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim_given,
                                std::optional<int64_t>) {
  const Tensor input = dim_given ? self : reshape(self, {-1});
  const int64_t dim = wrap_dim(dim_given.value_or(0), input.dim()), size = input.size(dim);
  check(repeats.dtype() == kInt64 || repeats.dtype() == kInt32, TensorErrorKind::NotImplemented,
        "\"repeat_interleave_cpu\" not implemented for '", scalar_type_name(repeats.dtype()), "'");
  check(repeats.dim() <= 1, TensorErrorKind::Runtime, "repeats must be 0-dim or 1-dim tensor");
  if (repeats.numel() == 1) return repeat_interleave(self, repeats.item().to_int(), dim_given);
  check(repeats.numel() == size, TensorErrorKind::Runtime,
        "repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.numel(),
        " and input.size(", dim, ") = ", size);
  if (size == 0) return clone(input);
  check(min(repeats).item().to_int() >= 0, TensorErrorKind::Runtime, "repeats can not be negative");
  checked_mul(max(repeats).item().to_int(), size);  // what overflows here could not be allocated either
  // Item i stands where its run ends: the place of every copy is found among these ends.
  const Tensor ends = cumsum(repeats, 0);
  const int64_t total = select(ends, 0, size - 1).item().to_int();
  return index_select(input, dim, searchsorted(ends, arange(0, total, 1, kInt64, self.device()), true));
}
Tensor repeat_interleave_int(const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t>) {
  return repeat_interleave(self, repeats, dim);
}
Tensor tril_indices(int64_t rows, int64_t columns, int64_t offset, std::optional<DType> dtype) {
  return to_dtype(contiguous(transpose(nonzero(tril(ones({rows, columns}, kBool), offset)), 0, 1)),
                  dtype.value_or(kInt64));
}
Tensor triu_indices(int64_t rows, int64_t columns, int64_t offset, std::optional<DType> dtype) {
  return to_dtype(contiguous(transpose(nonzero(triu(ones({rows, columns}, kBool), offset)), 0, 1)),
                  dtype.value_or(kInt64));
}

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(cat, "cat(Tensor[] tensors, int dim=0) -> Tensor", "Joins tensors along a dimension.", kFunction | kOut, &cat);
TS_OP(concat, "concat(Tensor[] tensors, int dim=0) -> Tensor", "Joins tensors along a dimension.", kFunction | kOut,
      &cat);
TS_OP(concatenate, "concatenate(Tensor[] tensors, int dim=0) -> Tensor", "Joins tensors along a dimension.",
      kFunction | kOut, &cat);
TS_OP(stack, "stack(Tensor[] tensors, int dim=0) -> Tensor", "Joins tensors of one shape along a new dimension.",
      kFunction | kOut, &stack);
TS_OP(hstack, "hstack(Tensor[] tensors) -> Tensor", "Joins tensors side by side.", kFunction | kOut, &hstack);
TS_OP(vstack, "vstack(Tensor[] tensors) -> Tensor", "Joins tensors one below the other.", kFunction | kOut, &vstack);
TS_OP(row_stack, "row_stack(Tensor[] tensors) -> Tensor", "Joins tensors one below the other.", kFunction | kOut,
      &vstack);
TS_OP(dstack, "dstack(Tensor[] tensors) -> Tensor", "Joins tensors along the third dimension.", kFunction | kOut,
      &dstack);
TS_OP(column_stack, "column_stack(Tensor[] tensors) -> Tensor", "Joins vectors as columns.", kFunction | kOut,
      &column_stack);
TS_OP(repeat, "repeat(Tensor self, int[] repeats) -> Tensor", "Copies of self along each dimension.", kMethod | kSizes,
      &repeat);
TS_OP(tile, "tile(Tensor self, int[] dims) -> Tensor", "Copies of self along each dimension, the last ones first.",
      kBoth | kSizes, &tile);
TS_OP(repeat_interleave,
      "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
      "Each item several times.", kBoth, &repeat_interleave_int);
TS_OP(repeat_interleave,
      "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
      "Each item as often as repeats says.", kBoth, &repeat_interleave_tensor);
TS_OP(flip, "flip(Tensor self, int[] dims) -> Tensor", "The items of the dimensions in reverse order.", kBoth | kSizes,
      &flip);
TS_OP(fliplr, "fliplr(Tensor self) -> Tensor", "Columns in reverse order.", kBoth, &fliplr);
TS_OP(flipud, "flipud(Tensor self) -> Tensor", "Rows in reverse order.", kBoth, &flipud);
TS_OP(roll, "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
      "Moves the items along dimensions, around the end.", kBoth, &roll);
TS_OP(rot90, "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", "Turns by 90 degrees k times.", kBoth, &rot90);
TS_OP(tril, "tril(Tensor self, int diagonal=0) -> Tensor", "The lower triangle, zeros above.", kBoth | kInplace | kOut,
      &tril);
TS_OP(triu, "triu(Tensor self, int diagonal=0) -> Tensor", "The upper triangle, zeros below.", kBoth | kInplace | kOut,
      &triu);
TS_OP(tril_indices, "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=None) -> Tensor",
      "Places of a lower triangle.", kFunction | kNoGrad, &tril_indices);
TS_OP(triu_indices, "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=None) -> Tensor",
      "Places of an upper triangle.", kFunction | kNoGrad, &triu_indices);
TS_OP(broadcast_tensors, "broadcast_tensors(Tensor[] tensors) -> Tensor[]", "All expanded to their common shape.",
      kFunction | kView | kSizes, &broadcast_tensors);
TS_OP(meshgrid, "meshgrid(Tensor[] tensors, *, str indexing='ij') -> Tensor[]",
      "A grid from the coordinates of its axes.", kFunction | kView | kSizes, &meshgrid);

}  // namespace
}  // namespace tessera::tensor
