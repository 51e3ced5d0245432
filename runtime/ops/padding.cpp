// Items around a tensor: one number, or those of the tensor itself.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/block_moves.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/norm_layers.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

Tensor remainder(const Operand& x, const Operand& y);  // a row of pointwise.def

constinit Kernel<EdgePadCall> edge_pad_kernel("edge_pad");

namespace {

// Sizes and where self starts, from PyTorch's list: last dimension first, (before, after) each.
struct Padding {
  Dims before, after;
  Padding(const Tensor& self, Ints pad) : before(self.sizes().size(), 0), after(self.sizes().size(), 0) {
    check(pad.size() % 2 == 0, TensorErrorKind::Runtime, "Padding length must be divisible by 2");
    check(int64_t(pad.size()) <= 2 * self.dim(), TensorErrorKind::Runtime,
          "Padding length should be less than or equal to two times the input dimension but got padding length ",
          pad.size(), " and input of dimension ", self.dim());
    for (size_t i = 0; i < pad.size() / 2; i++) {
      const size_t d = self.sizes().size() - 1 - i;
      before[d] = pad[2 * i], after[d] = pad[2 * i + 1];
    }
  }
  // Of the result's dimension; negative also where it would be larger than any.
  int64_t size(size_t d, int64_t inside) const {
    int64_t sum;
    const bool overflow =
        __builtin_add_overflow(inside, before[d], &sum) || __builtin_add_overflow(sum, after[d], &sum);
    return overflow ? -1 : sum;
  }
};

// Negative padding cuts so much instead.
int64_t cut(int64_t padding) { return std::max<int64_t>(saturated_sub(0, padding), 0); }

struct ConstantPad {
  static Meta shape(const Tensor& self, Ints pad, Scalar) {
    check(pad.size() % 2 == 0, TensorErrorKind::Runtime, "Length of pad must be even but instead it equals ",
          pad.size());
    check(int64_t(pad.size()) <= 2 * self.dim(), TensorErrorKind::Runtime,
          "Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
          pad.size(), "while the input has ", self.dim(), "dimensions.");
    const Padding p(self, pad);
    Dims sizes(self.sizes());
    for (size_t d = 0; d < sizes.size(); d++) {
      check(cut(p.before[d]) <= sizes[d] && cut(p.after[d]) <= sizes[d] - cut(p.before[d]), TensorErrorKind::Runtime,
            "narrow(): length must be non-negative.");
      sizes[d] = p.size(d, sizes[d]);
      check(sizes[d] >= 0, TensorErrorKind::Runtime, "The input size ", self.sizes()[d], ", plus negative padding ",
            p.before[d], " and ", p.after[d], " resulted in a negative output size, which is invalid. Check dimension ",
            d, " of your input.");
    }
    const bool only_cuts = std::all_of(pad.begin(), pad.end(), [](int64_t n) { return n <= 0; });
    return Meta(sizes, self.dtype(), self.device(),
                only_cuts ? dense_strides(part(self, p)) : suggested_strides(self, sizes));
  }
  static void run(const Tensor& out, const Tensor& self, Ints pad, Scalar value) {
    const Padding p(self, pad);
    fill_into(out, value);
    Tensor to = out;
    for (size_t d = 0; d < out.sizes().size(); d++)
      to = slice(to, d, std::max<int64_t>(p.before[d], 0), out.sizes()[d] - std::max<int64_t>(p.after[d], 0));
    copy_into(to, part(self, p));
  }
  static void grad(Tensor& out, const Tensor& self, Ints pad, Scalar) {
    Dims back;
    for (const int64_t n : pad) back.push_back(saturated_sub(0, n));
    record(out, "ConstantPadNdBackward0", {&self},
           [back](Sweep& s) { s.give(0, [&] { return apply<ConstantPad>(s.g(), Ints(back), Scalar(0)); }); });
  }

 private:
  // What negative padding leaves of it.
  static Tensor part(const Tensor& self, const Padding& p) {
    Tensor from = self;
    for (size_t d = 0; d < self.sizes().size(); d++)
      from = slice(from, d, cut(p.before[d]), self.sizes()[d] - cut(p.after[d]));
    return from;
  }
};

// Which item of a dimension stands at a place outside it.
int64_t mirrored(int64_t i, int64_t size, const std::string& mode) {
  if (mode == "replicate") return std::clamp<int64_t>(i, 0, size - 1);
  if (mode == "circular") return ((i % size) + size) % size;
  const int64_t period = std::max<int64_t>(2 * (size - 1), 1), at = ((i % period) + period) % period;
  return at < size ? at : period - at;
}

/// Where the items of a padded dimension come from.
std::vector<int64_t> places_along(const Padding& p, size_t d, int64_t size, const std::string& mode) {
  std::vector<int64_t> places(size_t(p.size(d, size)));
  // Around a circle, what negative padding cuts off is not there for the other end.
  const bool circle = mode == "circular";
  const int64_t start = circle ? cut(p.before[d]) : 0, inner = circle ? size - start - cut(p.after[d]) : size;
  for (size_t i = 0; i < places.size(); i++)
    places[i] = start + mirrored(int64_t(i) - (circle ? std::max<int64_t>(p.before[d], 0) : p.before[d]), inner, mode);
  return places;
}
/// The same as an index; on a device it is found there, so that nothing has to be brought from the host.
Tensor index_along(const Padding& p, size_t d, int64_t size, const std::string& mode, Device device) {
  if (device.is_cpu()) {
    const std::vector<int64_t> places = places_along(p, d, size, mode);
    return Tensor::from_values(places, {int64_t(places.size())});
  }
  const bool circle = mode == "circular";
  const int64_t start = circle ? cut(p.before[d]) : 0, inner = circle ? size - start - cut(p.after[d]) : size,
                first = -(circle ? std::max<int64_t>(p.before[d], 0) : p.before[d]);
  const Tensor places = arange(first, first + p.size(d, size), 1, kInt64, device);
  if (mode == "replicate") return clamp(places, Scalar(0), Scalar(inner - 1));
  if (circle) return remainder(places, Scalar(inner)) + start;
  const int64_t period = std::max<int64_t>(2 * (inner - 1), 1);
  const Tensor at = remainder(places, Scalar(period));
  return where(at < Scalar(inner), at, Scalar(period) - at);
}

struct EdgePad {
  static Meta shape(const Tensor& self, Ints pad, const std::string& mode) {
    const Padding p(self, pad);
    const int64_t dims = int64_t(pad.size()) / 2, ndim = self.dim();
    check(dims >= 1 && dims <= 3 && (ndim == dims + 1 || ndim == dims + 2), TensorErrorKind::NotImplemented,
          "Padding size ", pad.size(), " is not supported for ", ndim, "D input tensor.");
    Dims sizes(self.sizes());
    for (int64_t i = 0; i < dims; i++) {
      const size_t d = size_t(ndim - 1 - i);
      if (mode == "circular") check_circle(p, d, sizes[d]);
      else if (mode == "reflect") check_mirror(self, p, d, 4 + 2 * i);
      sizes[d] = p.size(d, sizes[d]);
    }
    if (mode == "circular") return Meta(sizes, self);
    check_lengths(self, sizes, dims);
    return Meta(sizes, self.dtype(), self.device(), suggested_strides(self, sizes));
  }
  static void run(const Tensor& out, const Tensor& self, Ints pad, const std::string& mode) {
    const Padding p(self, pad);
    const size_t ndim = self.sizes().size(), first = ndim - pad.size() / 2;
    std::vector<std::vector<int64_t>> places;
    for (size_t d = first; d < ndim; d++) places.push_back(places_along(p, d, self.sizes()[d], mode));
    if (out.numel() && out.is_contiguous() && edge_pad_kernel.has(out.device().type)) {
      const Tensor in = contiguous(self);
      std::vector<const int64_t*> lists;
      for (const auto& list : places) lists.push_back(list.data());
      return edge_pad_kernel(
          out.device(),
          EdgePadCall{out.dtype(), numel_of(out.sizes().first(first)), int(lists.size()), in.sizes().data() + first,
                      out.sizes().data() + first, lists.data(), in.data_ptr(), out.data_ptr()});
    }
    Tensor from = self;
    for (size_t d = first; d < ndim; d++)
      if (p.before[d] || p.after[d])
        from = index_select(from, int64_t(d), index_along(p, d, self.sizes()[d], mode, self.device()));
    copy_into(out, from);
  }
  static void grad(Tensor& out, const Tensor& self, Ints pad, const std::string& mode) {
    static constexpr const char* kMirrored[] = {"ReflectionPad1DBackward0", "ReflectionPad2DBackward0",
                                                "ReflectionPad3DBackward0"};
    static constexpr const char* kRepeated[] = {"ReplicationPad1DBackward0", "ReplicationPad2DBackward0",
                                                "ReplicationPad3DBackward0"};
    const size_t which = pad.size() / 2 - 1;
    const char* name = mode == "circular"  ? "CopySlices"
                       : mode == "reflect" ? kMirrored[which]
                                           : kRepeated[which];
    const bool last = mode != "circular" && has_channels_last(self);
    record(out, name, {&self}, [p = Padding(self, pad), mode, sizes = Dims(self.sizes()), last](Sweep& s) {
      s.give(0, [&] {
        Tensor g = s.g();
        for (size_t d = 0; d < sizes.size(); d++) {
          if (!p.before[d] && !p.after[d]) continue;
          Dims smaller(g.sizes());
          smaller[d] = sizes[d];
          g = index_add(zeros(smaller, g.dtype(), g.device()), int64_t(d),
                        index_along(p, d, sizes[d], mode, g.device()), g, 1);
        }
        return channels_last_if(last, g);
      });
    });
  }

 private:
  static void check_circle(const Padding& p, size_t d, int64_t size) {
    check(p.before[d] <= size && p.after[d] <= size, TensorErrorKind::Runtime,
          "Padding value causes wrapping around more than once.");
    const int64_t length = p.size(d, size), inner = size - cut(p.before[d]) - cut(p.after[d]);
    check(length >= 0 && (length == 0 || inner > 0), TensorErrorKind::Runtime,
          "Negative padding value is resulting in an empty dimension");
  }
  static void check_mirror(const Tensor& self, const Padding& p, size_t d, int64_t argument) {
    const int64_t size = self.sizes()[d];
    check(size == 0 || (p.before[d] < size && p.after[d] < size), TensorErrorKind::Runtime, "Argument #", argument,
          ": Padding size should be less than the corresponding input dimension, but got: padding (", p.before[d], ", ",
          p.after[d], ") at dimension ", d, " of input ", self.sizes());
  }
  // Neither the image nor the result may be empty; the batch may.
  static void check_lengths(const Tensor& self, Ints sizes, int64_t dims) {
    const int64_t first = self.dim() - dims;
    bool empty = false;
    for (int64_t d = self.dim() - dims - 1; d < self.dim(); d++) empty |= self.sizes()[size_t(d)] == 0;
    check(!empty, TensorErrorKind::Runtime, "Expected ", dims + 1, "D or ", dims + 2,
          "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
          self.sizes());
    const char* names = &"DHW"[3 - dims];
    std::string in, out;
    bool small = false;
    for (int64_t i = 0; i < dims; i++) {
      in += text(i ? ", " : "", names[i], ": ", self.sizes()[size_t(first + i)]);
      out += text(i ? " " : "", names[i], ": ", sizes[size_t(first + i)]);
      small |= sizes[size_t(first + i)] < 1;
    }
    check(!small || dims > 1, TensorErrorKind::Runtime, "input (", in, ") is too small. Calculated output ", out);
    check(!small, TensorErrorKind::Runtime, "Calculated output ", out, " must be >= 1 in every dimension (input ", in,
          ")");
  }
};

}  // namespace

Tensor pad(const Tensor& self, Ints pad, const std::string& mode, std::optional<double> value) {
  check(mode == "constant" || mode == "reflect" || mode == "replicate" || mode == "circular",
        TensorErrorKind::NotImplemented, "Unrecognised padding mode ", mode);
  Padding(self, pad);  // refuses a list of the wrong length
  if (mode == "constant") return apply<ConstantPad>(self, pad, Scalar(value.value_or(0.0)));
  check(value.value_or(0.0) == 0.0, TensorErrorKind::Runtime, "Padding mode \"", mode,
        "\" doesn't take in value argument");
  return apply<EdgePad>(self, pad, mode);
}

namespace {

TS_OP(
    pad, "pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor",
    "Items around the tensor; the last dimension is named first.", kFunctional | kInternal, &pad,
    "f[2,3], [1, 2]\n"
    "f[2,3], [1, -1, -1, 2], 'constant', 1.5\n"
    "f[2,3,4], [1, 2], 'reflect'\n"
    "f[1,2,3,4], [2, -1, 1, 2], 'reflect'\n"
    "f[2,4], [-1, 3], 'replicate'\n"
    "f[1,2,3,2], [1, 1, 0, 1, 2, 0], 'replicate'\n"
    "f[1,3,4], [-1, 2, 1, -1], 'circular'\n"
    "f[1,6], [2, -1], 'circular'\n"
    "f[1,3,4], [0, 0, 1, 2], 'circular'\n"
    "f[2,3], [1] -> RuntimeError: Padding length must be divisible by 2\n"
    "f[2], [1, 1, 1, 1] -> RuntimeError: Padding length should be less than or equal to two times the input dimension "
    "but got padding length 4 and input of dimension 1\n"
    "f[2,3], [-2, -2] -> RuntimeError: narrow(): length must be non-negative.\n"
    "f[2,3], [1, 1, 1, 1], 'circular' -> NotImplementedError: Padding size 4 is not supported for 2D input tensor.\n"
    "f[1,2,3], [3, 1], 'reflect' -> RuntimeError: Argument #4: Padding size should be less than the corresponding input "
    "dimension, but got: padding (3, 1) at dimension 2 of input [1, 2, 3]\n"
    "f[1,3,4], [5, 0], 'circular' -> RuntimeError: Padding value causes wrapping around more than once.\n"
    "f[1,3,4], [-3, -2], 'circular' -> RuntimeError: Negative padding value is resulting in an empty dimension\n"
    "f[1,2,3], [-2, -2], 'replicate' -> RuntimeError: input (W: 3) is too small. Calculated output W: -1\n"
    "f[1,2,3,4], [-2, -2, 0, 0], 'reflect' -> RuntimeError: Calculated output H: 3 W: 0 must be >= 1 in every dimension "
    "(input H: 3, W: 4)\n"
    "f[2,3], [1, 1], 'mirror' -> NotImplementedError: Unrecognised padding mode mirror\n"
    "f[2,3], [1, 1], 'reflect', 2 -> RuntimeError: Padding mode \"reflect\" doesn't take in value argument");
TS_OP(constant_pad_nd, "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
      "A number around the tensor; the last dimension is named first.", kFunction, ConstantPad,
      "f[2,3].t, [1, 2, -1, 0], 0.5\n"
      "i[2]<5, [0, 1], 7\n"
      "f[], []\n"
      "f[2,3], [1] -> RuntimeError: Length of pad must be even but instead it equals 1",
      .batching = Batching::Front);

}  // namespace
}  // namespace tessera::tensor
