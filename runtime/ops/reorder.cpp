// Ops that move blocks of elements of one tensor: several copies of it, and other orders. Most are copies into views of the
// result, so they need no kernels of their own.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>
#include <span>

#include "runtime/autograd/record.h"
#include "runtime/checked.h"
#include "runtime/device/meta.h"
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/block_moves.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<RunNumbersCall> run_numbers_kernel("run_numbers");

// ---- several copies ----

namespace {

// [2, 3] repeated (4, 5) is seen as [4, 2, 5, 3].
Dims interleaved(Ints repeats, Ints sizes) {
  Dims out;
  for (size_t d = 0; d < repeats.size(); d++) out.push_back(repeats[d]), out.push_back(sizes[d]);
  return out;
}

// With dimensions of size 1 before, so that there is a repeat for each.
Dims padded_sizes(const Tensor& self, Ints repeats) {
  Dims padded(repeats.size() - self.sizes().size(), 1);
  for (const int64_t s : self.sizes()) padded.push_back(s);
  return padded;
}

struct Repeat {
  static Meta shape(const Tensor& self, Ints repeats) {
    check(int64_t(repeats.size()) >= self.dim(), TensorErrorKind::Runtime,
          "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
    const Dims padded = padded_sizes(self, repeats);
    Dims sizes;
    for (size_t d = 0; d < repeats.size(); d++) {
      sizes.push_back(repeats[d] < 0 ? saturated_mul(repeats[d], padded[d]) : checked_mul(padded[d], repeats[d]));
    }
    for (size_t d = 0; d < repeats.size(); d++)
      check(repeats[d] >= 0, TensorErrorKind::Runtime, "Trying to create tensor with negative dimension ", sizes[d],
            ": ", sizes);
    return Meta(sizes, self);
  }
  static void run(const Tensor& out, const Tensor& self, Ints repeats) {
    if (out.numel() == 0) return;
    const Dims padded = padded_sizes(self, repeats), blocks = interleaved(repeats, padded);
    copy_into(out.view_of(blocks, contiguous_strides(blocks)),
              reshape(self, interleaved(Dims(repeats.size(), 1), padded)));
  }
  static void grad(Tensor& out, const Tensor& self, Ints repeats) {
    record(out, "RepeatBackward0", {&self},
           [blocks = interleaved(repeats, padded_sizes(self, repeats)), sizes = Dims(self.sizes())](Sweep& s) {
             s.give(0, [&] {
               Dims copies;
               for (size_t d = 0; d < blocks.size(); d += 2) copies.push_back(int64_t(d));
               return copies.empty() ? s.g() : reshape(sum(reshape(s.g(), blocks), copies), sizes);
             });
           });
  }
};

}  // namespace

Tensor repeat(const Tensor& self, Ints repeats) { return apply<Repeat>(self, repeats); }

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim_given) {
  check(repeats >= 0, TensorErrorKind::Runtime, "Repeats must be non-negative");
  const Tensor input = dim_given ? self : reshape(self, {-1});
  const int64_t dim = wrap_dim(dim_given.value_or(0), input.dim());
  const Tensor column = unsqueeze(input, dim + 1);
  Dims wide(input.sizes()), flat(input.sizes());
  wide.insert(dim + 1, repeats);
  flat[dim] = checked_mul(flat[dim], repeats);
  return view(to_format(expand(column, wide), self.dtype(), true, "torch.contiguous_format"), flat);
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

struct Flip {
  static Meta shape(const Tensor& self, Ints dims) {
    wrapped(dims, self.dim());
    return {self.sizes(), self.dtype(), self.device(), dense_strides(self)};
  }
  static void run(const Tensor& out, const Tensor& self, Ints dims) {
    if (self.numel()) copy_into(out, self.dim() ? mirrored(self, wrapped(dims, self.dim())) : self);
  }
  static void grad(Tensor& out, const Tensor& self, Ints dims) {
    record(out, "FlipBackward0", {&self},
           [dims = Dims(dims)](Sweep& s) { s.give(0, [&] { return flip(s.g(), dims); }); });
  }

 private:
  static Dims wrapped(Ints given, int64_t ndim) {
    Dims dims;
    for (const int64_t d : given) {
      const int64_t dim = wrap_dim(d, ndim);
      check(std::find(dims.begin(), dims.end(), dim) == dims.end(), TensorErrorKind::Runtime, "dim ", dim,
            " appears multiple times in the list of dims");
      dims.push_back(dim);
    }
    return dims;
  }
};

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

struct Roll {
  static Meta shape(const Tensor& self, Ints shifts, Ints dims) {
    check(!shifts.empty(), TensorErrorKind::Runtime, "`shifts` required");
    check(dims.size() == shifts.size() || (dims.empty() && shifts.size() == 1), TensorErrorKind::Runtime,
          "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
    if (self.numel())
      for (const int64_t d : dims) {
        check(self.dim() > 0, TensorErrorKind::Index, "Dimension specified as ", d, " but tensor has no dimensions");
        wrap_dim(d, self.dim());
      }
    return {self.sizes(), self.dtype(), self.device(),
            self.numel() == 0 ? dense_strides(self)
            : dims.empty()    ? Dims()
                              : suggested_strides(self, self.sizes())};
  }
  static void run(const Tensor& out, const Tensor& self, Ints shifts, Ints dims) {
    if (self.numel() == 0) return;
    if (dims.empty()) move(out.view_of({out.numel()}, {1}), reshape(self, {-1}), shifts, Dims{0});
    else move(out, self, shifts, dims);
  }
  static void grad(Tensor& out, const Tensor& self, Ints shifts, Ints dims) {
    Dims back(shifts);
    for (size_t i = 0; i < back.size(); i++) {  // the least int64 has no negative
      const int64_t size = dims.empty() ? self.numel() : self.size(dims[i]);
      back[i] = size ? -(back[i] % size) : 0;
    }
    record(out, "RollBackward0", {&self},
           [back, dims = Dims(dims)](Sweep& s) { s.give(0, [&] { return roll(s.g(), back, dims); }); });
  }

 private:
  static void move(const Tensor& out, const Tensor& self, Ints shifts, Ints dims) {
    std::vector<Turn> turns;
    for (size_t i = 0; i < dims.size(); i++) {
      const int64_t dim = wrap_dim(dims[i], self.dim()), length = self.dim() ? self.sizes()[dim] : 1;
      const auto same = std::find_if(turns.begin(), turns.end(), [&](const Turn& t) { return t.dim == dim; });
      Turn& turn = same == turns.end() ? turns.emplace_back(Turn{dim, length, 0}) : *same;
      turn.shift = ((turn.shift + shifts[i] % length) % length + length) % length;
    }
    std::erase_if(turns, [](const Turn& t) { return t.shift == 0; });
    copy_turned(out, self, turns);
  }
};

}  // namespace

Tensor flip(const Tensor& self, Ints dims) { return apply<Flip>(self, dims); }
Tensor roll(const Tensor& self, Ints shifts, Ints dims) { return apply<Roll>(self, shifts, dims); }

Tensor rot90(const Tensor& self, int64_t k, Ints dims) {
  check(dims.size() == 2, TensorErrorKind::Runtime, "expected total rotation dims == 2, but got dims = ", dims.size());
  check(self.dim() >= 2, TensorErrorKind::Runtime, "expected total dims >= 2, but got total dims = ", self.dim());
  check(wrap_dim(dims[0], self.dim()) != wrap_dim(dims[1], self.dim()), TensorErrorKind::Runtime,
        "expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  static constexpr const char* kNode = "Rot90Backward0";
  switch (((k % 4) + 4) % 4) {
    case 1: return renamed(transpose(flip(self, {dims[1]}), dims[0], dims[1]), kNode);
    case 2: return renamed(flip(self, dims), kNode);
    case 3: return renamed(transpose(flip(self, {dims[0]}), dims[0], dims[1]), kNode);
    default: return renamed(to_format(self, self.dtype(), true, "torch.contiguous_format"), kNode);
  }
}

namespace {

Tensor fliplr(const Tensor& self) {
  check(self.dim() >= 2, TensorErrorKind::Runtime, "Input must be >= 2-d.");
  return flip(self, {1});
}
Tensor flipud(const Tensor& self) {
  check(self.dim() >= 1, TensorErrorKind::Runtime, "Input must be >= 1-d.");
  return flip(self, {0});
}
// What repeats without data give: output_size items.
Tensor of_length(const Tensor& input, int64_t dim, int64_t length) {
  Dims sizes(input.sizes());
  sizes[dim] = length;
  return Tensor::empty(sizes, input.dtype(), input.device());
}
// Of runs that end there, the last one at `total`. Each number is how many runs have ended before.
Tensor numbers_of_runs(const Tensor& ends, int64_t total) {
  if (run_numbers_kernel.has(ends.device().type)) {
    const Tensor out = Tensor::empty({total}, kInt64, ends.device());
    run_numbers_kernel(ends.device(), RunNumbersCall{ends.data<int64_t>(), ends.numel(), out.data<int64_t>()});
    return out;
  }
  const Tensor marks = zeros({total + 1}, kInt64, ends.device());
  index_put_(marks, {narrow(ends, 0, 0, ends.numel() - 1)}, ones({}, kInt64, ends.device()), true);
  return cumsum(narrow(marks, 0, 0, total), 0);
}
Tensor repeat_interleave_tensor(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim_given,
                                std::optional<int64_t> output_size) {
  check_one_device("wrapper_CUDA__index_select", {{"self", self}, {"index", repeats}});
  const Tensor input = dim_given ? self : reshape(self, {-1});
  const int64_t dim = wrap_dim(dim_given.value_or(0), input.dim()), size = input.size(dim);
  require_type(kIntegralTypes | kWideUnsignedTypes, repeats, "repeat_interleave_cpu");
  check(repeats.dim() <= 1, TensorErrorKind::Runtime, "repeats must be 0-dim or 1-dim tensor");
  check(!repeats.device().is_meta() || output_size, TensorErrorKind::Runtime,
        "cannot repeat_interleave a meta tensor without output_size");
  if (repeats.device().is_meta()) return of_length(input, dim, *output_size);
  if (repeats.numel() == 1) {  // of all items
    const Tensor out = repeat_interleave(self, repeats.item().to_int(), dim_given);
    check(!output_size || *output_size == out.size(dim), TensorErrorKind::Runtime,
          "allocated size does not match required size");
    return out;
  }
  check(repeats.numel() == size, TensorErrorKind::Runtime,
        "repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.numel(),
        " and input.size(", dim_given.value_or(0), ") = ", size);
  if (size == 0) return clone(input);
  const Tensor ends = cumsum(repeats, 0);
  // The least, the most and the sum of them, in one wait for the device.
  const Tensor known = to_device(
      stack({to_dtype(min(repeats), kInt64), to_dtype(max(repeats), kInt64), select(ends, 0, size - 1)}), kCpu);
  check(known.data<int64_t>()[0] >= 0, TensorErrorKind::Runtime, "repeats can not be negative");
  checked_mul(known.data<int64_t>()[1], size);  // what overflows here could not be allocated either
  const int64_t total = known.data<int64_t>()[2];
  check(!output_size || *output_size == total, TensorErrorKind::Runtime, "allocated size does not match required size");
  return index_select(input, dim, numbers_of_runs(ends, total));
}
Tensor repeat_interleave_int(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                             std::optional<int64_t> output_size) {
  const Tensor out = repeat_interleave(self, repeats, dim);
  const int64_t total = out.size(dim.value_or(0));
  check(!output_size || *output_size == total, TensorErrorKind::Runtime,
        "repeat_interleave: Invalid output_size, expected ", total, " but got ", output_size.value_or(0));
  return out;
}

// The number of each repeat, as often as it says.
Tensor repeat_numbers(const Tensor& repeats, std::optional<int64_t> output_size) {
  require_type(kIntegralTypes | kWideUnsignedTypes, repeats, "repeat_interleave_cpu");
  check(repeats.dim() == 1, TensorErrorKind::Runtime, "repeat_interleave only accept 1D vector as repeat");
  const Tensor numbers = arange(0, repeats.numel(), 1, repeats.dtype(), repeats.device());
  return repeat_interleave_tensor(numbers, repeats, 0, output_size);
}

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(
    repeat, "repeat(Tensor self, int[] repeats) -> Tensor", "Copies of self along each dimension.", kMethod | kSizes,
    Repeat,
    "f[2,3], [2, 1]\n"
    "f[2,3].t, [2, 3, 2]\n"
    "f[], [3]\n"
    "f[2], [0]\n"
    "f[], []\n"
    "f[2,3], [2] -> RuntimeError: Number of dimensions of repeat dims can not be smaller than number of dimensions of "
    "tensor\n"
    "f[2], [-1] -> RuntimeError: Trying to create tensor with negative dimension -2: [-2]");
TS_OP(tile, "tile(Tensor self, int[] dims) -> Tensor", "Copies of self along each dimension, the last ones first.",
      kBoth | kSizes, &tile,
      "f[2,3], [2]\n"
      "f[3], [2, 2]");
TS_OP(
    repeat_interleave,
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
    "Each item as often as repeats says.", kBoth | kDataDependent, &repeat_interleave_tensor,
    "f[2,3], i{2,0,1}, 1\n"
    "f[2,2], i{1,0,2,3}\n"
    "f[3,2], i{2}, 0\n"
    "f[0,2], i[0], 0\n"
    "f[3], i{1,2} -> RuntimeError: repeats must have the same size as input along dim, but got repeats.size(0) = 2 and "
    "input.size(0) = 3\n"
    "f[2], i{1,-1} -> RuntimeError: repeats can not be negative\n"
    "f[2], f[2] -> NotImplementedError: \"repeat_interleave_cpu\" not implemented for 'Float'");
TS_OP(repeat_interleave,
      "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
      "Each item several times.", kBoth, &repeat_interleave_int,
      "f[2,3], 2\n"
      "f[2,3].t, 3, -1\n"
      "f[2,3], 0, 0\n"
      "f[2], -1 -> RuntimeError: Repeats must be non-negative\n"
      "f[2], 2, 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
TS_OP(repeat_interleave, "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
      "The number of each repeat, as often as it says.", kFunction | kNoGrad | kDataDependent, &repeat_numbers,
      "i{2,0,3}\n"
      "i[2,2]<3 -> RuntimeError: repeat_interleave only accept 1D vector as repeat");
TS_OP(flip, "flip(Tensor self, int[] dims) -> Tensor", "The items of the dimensions in reverse order.", kBoth | kSizes,
      Flip,
      "f[2,3], [0]\n"
      "f[2,3].t, [-1, 0]\n"
      "f[2,0], [1]\n"
      "f[], [0]\n"
      "f[2,3], []\n"
      "f[2,3], [0, -2] -> RuntimeError: dim 0 appears multiple times in the list of dims\n"
      "f[2], [1] -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
TS_OP(fliplr, "fliplr(Tensor self) -> Tensor", "Columns in reverse order.", kBoth, &fliplr,
      "f[2,3]\n"
      "f[2] -> RuntimeError: Input must be >= 2-d.");
TS_OP(flipud, "flipud(Tensor self) -> Tensor", "Rows in reverse order.", kBoth, &flipud,
      "f[2,3]\n"
      "f[] -> RuntimeError: Input must be >= 1-d.");
TS_OP(roll, "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
      "Moves the items along dimensions, around the end.", kBoth, Roll,
      "f[2,3], [1]\n"
      "f[2,3].t, [-1, 4], [0, 1]\n"
      "f[3,4], [1, 2], [1, 1]\n"
      "f[0,2], [1], [0]\n"
      "f[], [1]\n"
      "f[2,3], [1, 2] -> RuntimeError: shifts and dimensions must align. shifts: 2, dims:0\n"
      "f[2,3], [] -> RuntimeError: `shifts` required\n"
      "f[2], [1], [1] -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
TS_OP(rot90, "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", "Turns by 90 degrees k times.", kBoth, &rot90,
      "f[2,3]\n"
      "f[2,3], 2\n"
      "f[2,3,2], -1, [1, 2]\n"
      "f[2,3], 4\n"
      "f[2] -> RuntimeError: expected total dims >= 2, but got total dims = 1\n"
      "f[2,3], 1, [0] -> RuntimeError: expected total rotation dims == 2, but got dims = 1\n"
      "f[2,3], 1, [1, 1] -> RuntimeError: expected rotation dims to be different, but got dim0 = 1 and dim1 = 1");

}  // namespace
}  // namespace tessera::tensor
