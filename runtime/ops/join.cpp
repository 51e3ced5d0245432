// cat, stack and what is made of them: copies into views of the result, or where those would go over it several times one kernel.
#include "runtime/ops/batching.h"
#include "runtime/ops/join.h"

#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/checked.h"
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/block_moves.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {

constinit Kernel<JoinCall> join_kernel("join");

Tensor part_of(const Tensor& whole, int64_t dim, int64_t start, int64_t length) {
  Dims sizes(whole.sizes());
  sizes[dim] = length;
  return whole.view_of(sizes, whole.strides(), start * whole.strides()[dim]);
}

namespace {

// Makes `out` the result of an op on a list: the formula gives one gradient for each tensor.
template <class F>
void record_list(Tensor& out, const char* name, const TensorList& inputs, F formula) {
  auto node = make_node(name, {}, Kept<0>{}, std::move(formula));
  for (const Tensor& t : inputs) node->add_input(t);
  set_history(out, std::move(node));
}

// PyTorch lets an empty vector join anything.
bool is_nothing(const Tensor& t) { return t.dim() == 1 && t.sizes()[0] == 0; }

DType common_type(const TensorList& tensors) {
  PromotionState state;
  for (const Tensor& t : tensors) state.add(t);
  return state.result();
}

Tensor converted(const Tensor& g, DType dtype) { return g.dtype() == dtype ? g : to_dtype(g, dtype); }

void check_devices(const TensorList& tensors) {
  for (const Tensor& t : tensors)
    if (t.device() != tensors[0].device())
      fail_argument_device("wrapper_CUDA_cat", "tensors", t.device(), tensors[0].device());
}

// All at once, where each row of the result has something of every tensor: from dimension `dim` on their elements lie side by
// side. False where that is not how they lie.
bool join_rows(const Tensor& out, const TensorList& tensors, int64_t dim) {
  const int64_t rows = numel_of(out.sizes().first(size_t(dim)));
  if (rows < 2 || out.numel() == 0 || !out.is_contiguous() || !join_kernel.has(out.device().type)) return false;
  std::vector<const void*> parts;
  std::vector<int64_t> widths;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    if (t.dtype() != out.dtype() || !t.is_contiguous()) return false;
    parts.push_back(t.data_ptr()), widths.push_back(t.numel() / rows);
  }
  join_kernel(out.device(),
              JoinCall{out.dtype(), rows, int64_t(parts.size()), parts.data(), widths.data(), out.data_ptr()});
  return true;
}

struct Cat {
  static constexpr Forward forward = Forward::Linear;
  static Meta shape(const TensorList& tensors, int64_t dim_given) {
    check(!tensors.empty(), TensorErrorKind::Value, "torch.cat(): expected a non-empty list of Tensors");
    for (size_t i = 0; i < tensors.size(); i++)
      check(tensors[i].dim() > 0, TensorErrorKind::Runtime, "zero-dimensional tensor (at position ", i,
            ") cannot be concatenated");
    const auto first = std::find_if_not(tensors.begin(), tensors.end(), is_nothing);
    const Tensor& like = first == tensors.end() ? tensors[0] : *first;
    const int64_t dim = wrap_dim(dim_given, like.dim());
    Dims sizes(like.sizes());
    sizes[dim] = 0;
    for (size_t i = 0; i < tensors.size(); i++) {
      if (is_nothing(tensors[i])) continue;
      compare(like, tensors[i], dim, i);
      sizes[dim] = checked_add(sizes[dim], tensors[i].sizes()[dim]);
    }
    check_devices(tensors);
    return Meta(sizes, common_type(tensors), tensors[0].device(), layout(tensors, sizes));
  }
  static void run(const Tensor& out, const TensorList& tensors, int64_t dim_given) {
    const int64_t dim = wrap_dim(dim_given, out.dim());
    if (join_rows(out, tensors, dim)) return;
    int64_t at = 0;
    for (const Tensor& t : tensors) {
      const int64_t length = is_nothing(t) ? 0 : t.sizes()[dim];
      if (length) copy_into(part_of(out, dim, at, length), t);
      at += length;
    }
  }
  static void grad(Tensor& out, const TensorList& tensors, int64_t dim_given) {
    std::vector<Part> parts;
    const int64_t dim = wrap_dim(dim_given, out.dim());
    for (const Tensor& t : tensors) parts.push_back({is_nothing(t) ? -1 : t.sizes()[dim], t.dtype()});
    record_list(out, "CatBackward0", tensors, [dim, parts = std::move(parts)](Sweep& s) {
      int64_t start = 0;
      for (size_t i = 0; i < parts.size(); i++) {
        const auto [length, dtype] = parts[i];
        s.give(i, [&] {
          return length < 0 ? zeros({0}, dtype, s.g().device()) : converted(narrow(s.g(), dim, start, length), dtype);
        });
        start += std::max<int64_t>(length, 0);
      }
    });
  }

  // Images that all have their channels last give such an image.
  static Dims layout(const TensorList& tensors, const Dims& sizes) {
    if (sizes.size() != 4 && sizes.size() != 5) return {};
    for (const Tensor& t : tensors)
      if (t.dim() != int64_t(sizes.size()) || !has_channels_last(t)) return {};
    return suggested_strides(tensors[0], sizes);
  }

 private:
  struct Part {
    int64_t length;  // along the dimension; -1 of an empty vector
    DType dtype;
  };
  static void compare(const Tensor& like, const Tensor& t, int64_t dim, size_t position) {
    check(t.dim() == like.dim(), TensorErrorKind::Runtime, "Tensors must have same number of dimensions: got ",
          like.dim(), " and ", t.dim());
    for (int64_t d = 0; d < t.dim(); d++)
      check(d == dim || t.sizes()[d] == like.sizes()[d], TensorErrorKind::Runtime,
            "Sizes of tensors must match except in dimension ", dim, ". Expected size ", like.sizes()[d],
            " but got size ", t.sizes()[d], " for tensor number ", position, " in the list.");
  }
};

struct Stack {
  static constexpr Forward forward = Forward::Linear;
  static Meta shape(const TensorList& tensors, int64_t dim_given) {
    check(!tensors.empty(), TensorErrorKind::Runtime, "stack expects a non-empty TensorList");
    const Tensor& first = tensors[0];
    const int64_t dim = wrap_dim(dim_given, first.dim() + 1);
    for (size_t i = 1; i < tensors.size(); i++)
      check(tensors[i].sizes() == first.sizes(), TensorErrorKind::Runtime,
            "stack expects each tensor to be equal size, but got ", first.sizes(), " at entry 0 and ",
            tensors[i].sizes(), " at entry ", i);
    check_devices(tensors);
    Dims sizes(first.sizes());
    sizes.insert(dim, int64_t(tensors.size()));
    return Meta(sizes, common_type(tensors), first.device(), layout(tensors, dim));
  }
  static void run(const Tensor& out, const TensorList& tensors, int64_t dim_given) {
    const int64_t dim = wrap_dim(dim_given, out.dim());
    if (join_rows(out, tensors, dim)) return;
    Dims sizes(out.sizes()), strides(out.strides());
    sizes.erase(dim), strides.erase(dim);
    for (size_t i = 0; i < tensors.size(); i++)
      copy_into(out.view_of(sizes, strides, int64_t(i) * out.strides()[dim]), tensors[i]);
  }
  static void grad(Tensor& out, const TensorList& tensors, int64_t dim_given) {
    std::vector<DType> types;
    for (const Tensor& t : tensors) types.push_back(t.dtype());
    record_list(out, "StackBackward0", tensors,
                [dim = wrap_dim(dim_given, out.dim()), types = std::move(types)](Sweep& s) {
                  for (size_t i = 0; i < types.size(); i++)
                    s.give(i, [&] { return converted(select(s.g(), dim, int64_t(i)), types[i]); });
                });
  }

 private:
  // As if the tensors were joined along the dimension, which is then split.
  static Dims layout(const TensorList& tensors, int64_t dim) {
    const Ints item = tensors[0].sizes();
    if (dim == int64_t(item.size())) return {};
    Dims joined(item);
    joined[dim] = saturated_mul(joined[dim], int64_t(tensors.size()));
    const Dims strides = Cat::layout(tensors, joined);
    if (strides.empty()) return {};
    Dims sizes(item);
    sizes.insert(dim, int64_t(tensors.size()));
    const Tensor plan = Tensor::empty({}, kBool, Device(DeviceType::Meta)).view_of(joined, strides);
    return reshape(plan, sizes).strides();
  }
};

}  // namespace

Tensor cat(const TensorList& tensors, int64_t dim) { return apply<Cat>(tensors, dim); }
Tensor stack(const TensorList& tensors, int64_t dim) { return apply<Stack>(tensors, dim); }

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
    check(t.dtype() == given[0].dtype(), TensorErrorKind::Runtime,
          "meshgrid expects all tensors to have the same dtype");
    check(t.device() == given[0].device(), TensorErrorKind::Runtime,
          "meshgrid expects all tensors to have the same device");
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

TS_OP(cat, "cat(Tensor[] tensors, int dim=0) -> Tensor", "Joins tensors along a dimension.", kFunction | kOut, Cat,
      "(f[2,3], f[1,3])\n"
      "(f[2,3], f[2,2].t, f[2,1]), 1\n"
      "(f[2,3], i[2,3]<5), -1\n"
      "(f[0], f[2,2], f[0,2])\n"
      "(f[0], f[0])\n"
      "(f[2,3], f[2,2]) -> RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 3 but got "
      "size 2 for tensor number 1 in the list.\n"
      "(f[2], f[]) -> RuntimeError: zero-dimensional tensor (at position 1) cannot be concatenated\n"
      "(f[2,2], f[2]) -> RuntimeError: Tensors must have same number of dimensions: got 2 and 1\n"
      "(f[2], f[2]), 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)\n"
      "() -> ValueError: torch.cat(): expected a non-empty list of Tensors",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "cat", .autocast = Autocast::Widest);
TS_OP(concat, "concat(Tensor[] tensors, int dim=0) -> Tensor", "", kFunction | kOut,
      Cat, "(f[2,3], f[2,1]), 1",
      .alias_of = "cat",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "cat");
TS_OP(concatenate, "concatenate(Tensor[] tensors, int dim=0) -> Tensor", "",
      kFunction | kOut, Cat, "(f[2,3], f[1,3])",
      .alias_of = "cat",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "cat");
TS_OP(stack, "stack(Tensor[] tensors, int dim=0) -> Tensor", "Joins tensors of one shape along a new dimension.",
      kFunction | kOut, Stack,
      "(f[2,3], f[2,3].t)\n"
      "(f[2,3], i[2,3]<4, f[2,3]), -1\n"
      "(f[], f[])\n"
      "(f[2], f[3]) -> RuntimeError: stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at "
      "entry 1\n"
      "() -> RuntimeError: stack expects a non-empty TensorList\n"
      "(f[2], f[2]), 2 -> IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "cat", .autocast = Autocast::Widest);
TS_OP(hstack, "hstack(Tensor[] tensors) -> Tensor", "Joins tensors side by side.", kFunction | kOut, &hstack,
      "(f[2,3], f[2,1])\n"
      "(f[], f[3])\n"
      "() -> RuntimeError: hstack expects a non-empty TensorList",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "cat");
TS_OP(vstack, "vstack(Tensor[] tensors) -> Tensor", "Joins tensors one below the other.", kFunction | kOut, &vstack,
      "(f[2,3], f[3])\n"
      "() -> RuntimeError: vstack expects a non-empty TensorList",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "cat");
TS_OP(row_stack, "row_stack(Tensor[] tensors) -> Tensor", "Joins tensors one below the other.", kFunction | kOut,
      &vstack, "(f[3], f[3])",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "cat");
TS_OP(dstack, "dstack(Tensor[] tensors) -> Tensor", "Joins tensors along the third dimension.", kFunction | kOut,
      &dstack,
      "(f[2,3], f[2,3])\n"
      "(f[2,3,2], f[2,3,1])\n"
      "() -> RuntimeError: dstack expects a non-empty TensorList",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "cat");
TS_OP(column_stack, "column_stack(Tensor[] tensors) -> Tensor", "Joins vectors as columns.", kFunction | kOut,
      &column_stack,
      "(f[3], f[3,2])\n"
      "(f[], f[1])\n"
      "() -> RuntimeError: column_stack expects a non-empty TensorList",
      .out = {OutRule::Castable, "torch.cat(): input types can't be cast to the desired output type $O",
              TensorErrorKind::Type},
      .one_device = "cat");
TS_OP(broadcast_tensors, "broadcast_tensors(Tensor[] tensors) -> Tensor[]", "All expanded to their common shape.",
      kFunction | kView | kSizes, &broadcast_tensors,
      "(f[2,1], f[3])\n"
      "(f[2], f[3]) -> RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton "
      "dimension 0",
      .gathers = true, .batched = batched_to_results);
TS_OP(meshgrid, "meshgrid(Tensor[] tensors, *, str indexing='ij') -> Tensor[]",
      "A grid from the coordinates of its axes.", kFunction | kView | kSizes, &meshgrid,
      "(f[2], f[3])\n"
      "(f[2], f[], f[3]), indexing='xy'\n"
      "(f[2], f[3]), indexing='yx' -> RuntimeError: torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but "
      "received: yx\n"
      "(f[2,2], f[3]) -> RuntimeError: torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: 2",
      .gathers = true, .batched = batched_grid);

}  // namespace
}  // namespace tessera::tensor
