// Pooling: the largest, or the mean, of each window over an image.
// compile: small (the kernel takes longer)
#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/batching.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/views.h"
#include "runtime/ops/windows.h"

namespace tessera::tensor {

constinit Kernel<MaxPoolCall> max_pool_kernel("max_pool2d");
// On the CPU scatter_add adds the gradients up in a fixed order, and means are spread as columns of windows.
constinit Kernel<MaxPoolGradCall> max_pool_grad_kernel("max_pool2d_backward", ServedBy::Devices);
constinit Kernel<AvgPoolCall> avg_pool_kernel("avg_pool2d");
constinit Kernel<AvgPoolGradCall> avg_pool_grad_kernel("avg_pool2d_backward", ServedBy::Devices);

namespace {

const KernelRegistration known{max_pool_grad_kernel};
const KernelRegistration known_too{avg_pool_grad_kernel};

// Before any size is computed: the sizes divide by the stride, and the kernels step by the dilation.
void check_steps(const Window& w) {
  for (int d = 0; d < 2; d++) {
    check(w.stride[d] != 0, TensorErrorKind::Runtime, "stride should not be zero");
    check(w.padding[d] >= 0, TensorErrorKind::Runtime, "pad must be non-negative, but got pad: ", w.padding[d]);
    check(w.padding[d] <= w.span(d) / 2, TensorErrorKind::Runtime,
          "pad should be at most half of effective kernel size, but got pad=", w.padding[d],
          ", kernel_size=", w.kernel[d], " and dilation=", w.dilation[d]);
  }
  check(w.stride[0] > 0 && w.stride[1] > 0, TensorErrorKind::Runtime,
        "stride should be greater than zero, but got dH: ", w.stride[0], " dW: ", w.stride[1]);
  check(w.dilation[0] > 0 && w.dilation[1] > 0, TensorErrorKind::Runtime,
        "dilation should be greater than zero, but got dilationH: ", w.dilation[0], " dilationW: ", w.dilation[1]);
}

// PyTorch pools with 32 bits.
void check_pool_numbers(const Window& w) {
  for (const auto* pair : {&w.kernel, &w.stride, &w.padding, &w.dilation})
    for (const int64_t x : *pair)
      check(x == int32_t(x), TensorErrorKind::Runtime, "value cannot be converted to type int without overflow");
}

void check_pool(const Tensor& self, const Window& w, int64_t rows, int64_t columns) {
  const Ints sizes = self.sizes();
  bool empty = false;  // besides a batch of none
  for (size_t d = self.dim() == 4; d < sizes.size(); d++) empty |= sizes[d] == 0;
  check((self.dim() == 3 || self.dim() == 4) && !empty, TensorErrorKind::Runtime,
        "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:", self.sizes());
  for (int d = 0; d < 2; d++)
    check(w.kernel[d] > 0 && w.stride[d] > 0, TensorErrorKind::Runtime, w.kernel[d] > 0 ? "stride" : "kernel size",
          " should be greater than zero, but got kH: ", w.kernel[0], " kW: ", w.kernel[1]);
  const int64_t channels = self.size(-3);
  check(rows >= 1 && columns >= 1, TensorErrorKind::Runtime, "Given input size: (", channels, "x", self.size(-2), "x",
        self.size(-1), "). Calculated output size: (", channels, "x", rows, "x", columns,
        "). Output size is too small");
}

Dims pooled_shape(const Tensor& self, const Window& w, bool ceil_mode) {
  check_pool_numbers(w);
  (void)self.size(-3);  // says what is wrong with fewer dimensions
  check_steps(w);
  const int64_t rows = w.out_size(0, self.size(-2), ceil_mode), columns = w.out_size(1, self.size(-1), ceil_mode);
  check_pool(self, w, rows, columns);
  Dims shape(self.sizes());
  shape[shape.size() - 2] = rows, shape[shape.size() - 1] = columns;
  return shape;
}

// The stride is the kernel's size where none is given.
Window pool_window(Ints kernel, Ints stride, Ints padding, Ints dilation) {
  return window_of(kernel, stride.empty() ? kernel : stride, padding, dilation);
}

/// The largest elements and their places in the plane.
struct MaxPool {
  static constexpr TypeRule types{kRealTypes - kBool, {"max_pool2d", "max_pool2d_with_indices_out_cuda_frame"}};
  static std::array<Meta, 2> shape(const Tensor& self, Ints kernel, Ints stride, Ints padding, Ints dilation,
                                   bool ceil_mode) {
    check(self.dim() == 3 || self.dim() == 4, TensorErrorKind::Runtime,
          "non-empty 3D or 4D (batch mode) tensor expected for input");
    const Dims sizes = pooled_shape(self, pool_window(kernel, stride, padding, dilation), ceil_mode);
    const Dims layout = suggested_strides(self, sizes);
    return {Meta(sizes, self.dtype(), self.device(), layout), Meta(sizes, kInt64, self.device(), layout)};
  }
  static void run(const Tensor& out, const Tensor& index, const Tensor& self, Ints kernel, Ints stride, Ints padding,
                  Ints dilation, bool ceil_mode) {
    if (out.numel() == 0) return;
    if (!out.is_contiguous()) {  // the kernels write row by row
      const Tensor values = Tensor::empty(out.sizes(), out.dtype(), out.device());
      const Tensor places = Tensor::empty(out.sizes(), kInt64, out.device());
      run(values, places, self, kernel, stride, padding, dilation, ceil_mode);
      copy_into(out, values);
      return copy_into(index, places);
    }
    const Tensor in = contiguous(self);
    const int64_t planes = in.numel() / std::max<int64_t>(1, in.size(-1) * in.size(-2));
    max_pool_kernel(self.device(), MaxPoolCall{in.dtype(), in.data_ptr(), out.data_ptr(), index.data<int64_t>(), planes,
                                               in.size(-2), in.size(-1), out.size(-2), out.size(-1),
                                               pool_window(kernel, stride, padding, dilation)});
  }
  static void grad(Tensor& out, Tensor& index, const Tensor& self, Ints kernel, Ints stride, Ints padding,
                   Ints dilation, bool) {
    record(out, "MaxPool2DWithIndicesBackward0", {&self}, keep(index),
           [shape = Dims(self.sizes()), last = has_channels_last(self),
            w = pool_window(kernel, stride, padding, dilation)](Sweep& s) {
             s.give(0, [&] {
               if (max_pool_grad_kernel.has(s.g().device().type) && s.g().numel() > 0 && !needs_grad(s.g()))
                 return channels_last_if(last, spread(s.g(), s.kept(0), shape, w));
               const Tensor all = flatten(zeros(shape, s.g().dtype(), s.g().device()), -2, -1);
               const Tensor dx = scatter_add(all, -1, flatten(s.kept(0), -2, -1), flatten(s.g(), -2, -1));
               return channels_last_if(last, reshape(dx, shape));
             });
           });
  }

 private:
  static Tensor spread(const Tensor& grad, const Tensor& places, Ints shape, const Window& w) {
    const GradMode no_grad(false);
    const Tensor g = contiguous(grad), index = contiguous(places), dx = Tensor::empty(shape, g.dtype(), g.device());
    max_pool_grad_kernel(g.device(), MaxPoolGradCall{g.dtype(), g.data_ptr(), index.data<int64_t>(), dx.data_ptr(),
                                                     g.numel() / (g.size(-1) * g.size(-2)), dx.size(-2), dx.size(-1),
                                                     g.size(-2), g.size(-1), w});
    return dx;
  }
};

// How many pixels each window of an average counts.
Tensor window_sizes(const Window& w, int64_t height, int64_t width, int64_t rows, int64_t columns, bool with_padding) {
  const Tensor out = Tensor::empty({rows, columns}, kFloat64);
  const auto length = [&](int d, int64_t at, int64_t size) {
    int64_t start = at * w.stride[d] - w.padding[d], end = std::min(start + w.kernel[d], size + w.padding[d]);
    const int64_t whole = end - start;
    start = std::max<int64_t>(start, 0), end = std::min(end, size);
    return with_padding ? whole : end - start;
  };
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      out.data<double>()[i * columns + j] = double(length(0, i, height) * length(1, j, width));
  return out;
}

using Divisor = std::optional<int64_t>;

struct AvgPool {
  static Meta shape(const Tensor& self, Ints kernel, Ints stride, Ints padding, bool ceil_mode, bool,
                    const Divisor& divisor) {
    const auto one_or_two = [](const char* name, const char* how, Ints numbers) {
      check(numbers.size() == 1 || numbers.size() == 2, TensorErrorKind::Runtime, "avg_pool2d: ", name, " must either ",
            how, "a single int, or a tuple of two ints");
    };
    one_or_two("kernel_size", "be ", kernel);
    if (!stride.empty()) one_or_two("stride", "be omitted, ", stride);
    one_or_two("padding", "be ", padding);
    check(!divisor || *divisor != 0, TensorErrorKind::Runtime, "divisor must be not zero");
    const Dims sizes = pooled_shape(self, pool_window(kernel, stride, padding, {}), ceil_mode);
    const Meta meta(sizes, self.dtype(), self.device(), suggested_strides(self, sizes));
    if (self.dtype() != kInt64) require_type(kFloatTypes, self, {"avg_pool2d", "avg_pool2d_out_cuda_frame"});
    return meta;
  }
  static void run(const Tensor& out, const Tensor& self, Ints kernel, Ints stride, Ints padding, bool,
                  bool with_padding, const Divisor& divisor) {
    if (out.numel() == 0) return;
    if (!out.is_contiguous()) {
      const Tensor rows = Tensor::empty(out.sizes(), out.dtype(), out.device());
      run(rows, self, kernel, stride, padding, false, with_padding, divisor);
      return copy_into(out, rows);
    }
    const Plan p(self, out, pool_window(kernel, stride, padding, {}));
    const bool same = p.counts_the_same(with_padding, divisor);
    const bool served = self.dtype() == kFloat32 || self.dtype() == kFloat64 ||
                        (is_half(self.dtype()) && same && !self.device().is_cpu());
    if (avg_pool_kernel.has(self.device().type) && served) {
      const Tensor in = contiguous(self);
      avg_pool_kernel(self.device(), AvgPoolCall{in.dtype(), in.data_ptr(), out.data_ptr(),
                                                 in.numel() / std::max<int64_t>(1, p.height * p.width), p.height,
                                                 p.width, p.rows, p.columns, p.w, same ? p.count(divisor) : 1.0});
      if (!same) copy_into(out, p.divided(out, with_padding, divisor));
      return;
    }
    const Tensor image = padded_image(reshape(self, {-1, 1, p.height, p.width}), p.w, 0.0, p.below, p.right);
    Tensor sums = sum(windows_over(image, p.w, p.rows, p.columns), Dims{1, 2, 3});
    if (self.dtype() == kInt64) sums = to_dtype(sums, kFloat64);  // the mean is cut to an integer
    copy_into(out, reshape(p.divided(sums, with_padding, divisor), out.sizes()));
  }
  static void grad(Tensor& out, const Tensor& self, Ints kernel, Ints stride, Ints padding, bool, bool with_padding,
                   const Divisor& divisor) {
    const Plan plan(self, out, pool_window(kernel, stride, padding, {}));
    record(out, "AvgPool2DBackward0", {&self},
           [plan, with_padding, divisor, shape = Dims(self.sizes()), last = has_channels_last(self)](Sweep& s) {
             s.give(0, [&] {
               const Tensor dx = plan.spread(plan.divided(s.g(), with_padding, divisor), shape);
               return last ? channels_last_if(last, dx) : contiguous(dx);
             });
           });
  }

 private:
  // The image may have to be larger for the last windows of a rounded-up size: `below` and `right` count the pixels.
  struct Plan {
    Window w;
    int64_t height, width, rows, columns, below, right;

    Plan(const Tensor& self, const Tensor& out, const Window& window)
        : w(window),
          height(self.size(-2)),
          width(self.size(-1)),
          rows(out.size(-2)),
          columns(out.size(-1)),
          below(missing(0, rows, height)),
          right(missing(1, columns, width)) {}
    int64_t missing(int d, int64_t count, int64_t size) const {
      return std::max<int64_t>(0, (count - 1) * w.stride[d] + w.kernel[d] - size - 2 * w.padding[d]);
    }
    /// Whether every window has the same divisor, and that.
    bool counts_the_same(bool with_padding, const Divisor& divisor) const {
      const bool inside = w.padding[0] == 0 && w.padding[1] == 0;
      return divisor || ((with_padding || inside) && below == 0 && right == 0);
    }
    double count(const Divisor& divisor) const { return double(divisor ? *divisor : w.kernel[0] * w.kernel[1]); }
    Tensor divided(const Tensor& sums, bool with_padding, const Divisor& divisor) const {
      if (divisor) return sums / *divisor;
      const Tensor counts = window_sizes(w, height, width, rows, columns, with_padding);
      return sums / to_device(to_dtype(counts, sums.dtype()), sums.device());
    }
    // Each number to all pixels of its window.
    Tensor spread(const Tensor& means, Ints shape) const {
      if (avg_pool_grad_kernel.has(means.device().type) && is_floating(means.dtype()) && means.numel() > 0 &&
          !needs_grad(means)) {
        const GradMode no_grad(false);
        const Tensor g = contiguous(means), dx = Tensor::empty(shape, g.dtype(), g.device());
        avg_pool_grad_kernel(
            g.device(), AvgPoolGradCall{g.dtype(), g.data_ptr(), dx.data_ptr(), g.numel() / (rows * columns), height,
                                        width, rows, columns, w});
        return dx;
      }
      const Tensor each = reshape(means, {means.numel() / (rows * columns), 1, rows * columns});
      const Tensor wide = expand(each, {each.sizes()[0], w.kernel[0] * w.kernel[1], rows * columns});
      Window open = w;
      open.padding[0] = open.padding[1] = 0;
      const Tensor image = col2im(wide, open, height + 2 * w.padding[0] + below, width + 2 * w.padding[1] + right);
      return reshape(narrow(narrow(image, 2, w.padding[0], height), 3, w.padding[1], width), shape);
    }
  };
};

}  // namespace

std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, Ints kernel, Ints stride, Ints padding,
                                                   Ints dilation, bool ceil_mode) {
  return apply<MaxPool>(self, kernel, stride, padding, dilation, ceil_mode);
}
Tensor avg_pool2d(const Tensor& self, Ints kernel, Ints stride, Ints padding, bool ceil_mode, bool count_include_pad) {
  return apply<AvgPool>(self, kernel, stride, padding, ceil_mode, count_include_pad, Divisor());
}

Tensor adaptive_avg_pool2d(const Tensor& self, Ints output_size) {
  const bool to_one = pick(output_size, 0, 1) == 1 && pick(output_size, 1, 1) == 1;
  if (to_one && (self.dim() < 3 || self.dim() > 4)) return mean(self, Dims{-2, -1}, true);  // of any rank from two on
  check(self.dim() == 3 || self.dim() == 4, TensorErrorKind::Runtime,
        "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got ", self.sizes());
  if (self.numel() > 0 && to_one)
    if (!is_floating(self.dtype())) return mean(self, Dims{-2, -1}, true);  // which takes complex numbers, or refuses
  const bool sized = pick(output_size, 0, 1) >= 0 && pick(output_size, 1, 1) >= 0;
  if (sized && !is_floating(self.dtype()) && self.size(0) == 0 && self.size(-1) > 0 && self.size(-2) > 0) {
    Dims none(self.sizes());
    none[none.size() - 2] = pick(output_size, 0, 1), none.back() = pick(output_size, 1, 1);
    return Tensor::empty(none, self.dtype(), self.device());
  }
  if (self.numel() > 0 && sized) require_type(kFloatTypes, self, {"adaptive_avg_pool2d", "adaptive_avg_pool2d_cuda"});
  Tensor out = self;
  for (int d = 0; d < 2; d++) {
    const int64_t dim = self.dim() - 2 + d, size = self.sizes()[dim], wanted = pick(output_size, d, 1);
    check(wanted >= 0, TensorErrorKind::Runtime,
          "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received {",
          pick(output_size, 0, 1), ", ", pick(output_size, 1, 1), "}");
    check(size > 0, TensorErrorKind::Runtime,
          "adaptive_avg_pool2d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
          self.sizes(), " with dimension ", dim, " being empty");
    if (wanted == size) continue;
    checked_mul(size, wanted);
    check_list_length(wanted);
    TensorList parts;
    for (int64_t i = 0; i < wanted; i++) {
      const int64_t start = i * size / wanted, end = ((i + 1) * size + wanted - 1) / wanted;
      parts.push_back(mean(slice(out, dim, start, end), Dims{dim}, true));
    }
    out = parts.empty() ? narrow(out, dim, 0, 0) : parts.size() == 1 ? parts[0] : cat(parts, dim);
  }
  if (out.numel() == 0 && !needs_grad(self)) return Tensor::empty(out.sizes(), out.dtype(), out.device());
  if (out.same(self)) out = to_one ? mean(self, Dims{-2, -1}, true) : clone(self);
  out = channels_last_if(has_channels_last(self), out);
  return to_one ? out : renamed(out, "AdaptiveAvgPool2DBackward0");
}

namespace {

Tensor max_pool2d(const Tensor& self, Ints kernel, Ints stride, Ints padding, Ints dilation, bool ceil_mode) {
  return std::get<0>(max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceil_mode));
}
void check_one(const char* name, const char* kinds, Ints given) {
  check(given.size() <= 1, TensorErrorKind::Runtime, "max_pool1d() ", name, " must be ", kinds,
        " tuple of ints of size 1 but got size ", given.size());
}
/// Of pooling along lines: an argument that is one int, or a list of one.
void check_lines(const char* op, const Tensor& self, std::initializer_list<std::pair<const char*, Ints>> arguments) {
  check(self.dim() == 2 || self.dim() == 3, TensorErrorKind::Runtime, "Expected 2 to 3 dimensions, but got ",
        self.dim(), "-dimensional tensor for argument #1 'self' (while checking arguments for ", op, ")");
  for (const auto& [name, given] : arguments)
    check(given.size() <= 1, TensorErrorKind::Runtime, op, "() argument '", name, "' should contain one int (got ",
          given.size(), ")");
}
// The refusals of max_pool1d, in PyTorch's order and words.
void check_line_pool(const Tensor& self, Ints kernels, Ints strides, Ints paddings, Ints dilations, bool ceil_mode) {
  bool empty = false;  // besides a batch of none
  for (int64_t d = self.dim() == 3; d < self.dim(); d++) empty |= self.sizes()[size_t(d)] == 0;
  check((self.dim() == 2 || self.dim() == 3) && !empty, TensorErrorKind::Runtime,
        "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:",
        self.sizes());
  check_one("kernel_size", "an int, list of ints or", kernels);
  check_one("stride", "None, an int, list of ints, or", strides);
  check_one("padding", "an int, list of ints, or", paddings);
  check_one("dilation", "an int, list of ints or", dilations);
  const int64_t kernel = pick(kernels, 0, 1), stride = strides.empty() ? kernel : strides[0],
                padding = pick(paddings, 0, 0), dilation = pick(dilations, 0, 1);
  const auto positive = [](const char* name, int64_t x) {
    check(x > 0, TensorErrorKind::Runtime, "max_pool1d() ", name, " must be greater than zero, but got ", x);
  };
  positive("kernel_size", kernel);
  positive("stride", stride);
  check(padding >= 0, TensorErrorKind::Runtime, "max_pool1d() padding must be non-negative, but got ", padding);
  check(padding <= kernel / 2, TensorErrorKind::Runtime,
        "max_pool1d() padding should be at most half of kernel size, but got padding=", padding,
        " and kernel_size=", kernel);
  positive("dilation", dilation);
  check(saturated_mul(dilation, kernel - 1) < INT64_MAX, TensorErrorKind::Runtime,
        "effective kernel size overflows, but got kernel_size=", kernel, " and dilation=", dilation);
  const Window w = window_of({1, kernel}, {1, stride}, {0, padding}, {1, dilation});
  const int64_t count = w.out_size(1, self.size(-1), ceil_mode);
  check(count > 0, TensorErrorKind::Runtime, "max_pool1d() Invalid computed output size: ", count);
}
std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, Ints kernel, Ints stride, Ints padding,
                                                   Ints dilation, bool ceil_mode) {
  check_lines("max_pool1d", self,
              {{"kernel_size", kernel}, {"stride", stride}, {"padding", padding}, {"dilation", dilation}});
  const int64_t step = stride.empty() ? kernel[0] : stride[0];
  const auto [values, index] = max_pool2d_with_indices(unsqueeze(self, -2), {1, kernel[0]}, {1, step},
                                                       {0, pick(padding, 0, 0)}, {1, pick(dilation, 0, 1)}, ceil_mode);
  return {squeeze(values, -2), squeeze(index, -2)};
}
Tensor max_pool1d(const Tensor& self, Ints kernel, Ints stride, Ints padding, Ints dilation, bool ceil_mode) {
  check_line_pool(self, kernel, stride, padding, dilation, ceil_mode);
  const bool alone = !needs_grad(self);  // without places, and always row by row
  if (alone) require_type(kFloatTypes, self, {"max_pool1d_impl", "max_pool2d_with_indices_out_cuda_frame"});
  return std::get<0>(
      max_pool1d_with_indices(alone ? contiguous(self) : self, kernel, stride, padding, dilation, ceil_mode));
}
Tensor avg_pool1d(const Tensor& self, Ints kernel, Ints stride, Ints padding, bool ceil_mode, bool count_include_pad) {
  check_lines("avg_pool1d", self, {{"kernel_size", kernel}, {"stride", stride}, {"padding", padding}});
  const int64_t step = stride.empty() ? kernel[0] : stride[0];
  return squeeze(avg_pool2d(unsqueeze(self, -2), {1, kernel[0]}, {1, step}, {0, pick(padding, 0, 0)}, ceil_mode,
                            count_include_pad),
                 -2);
}

constexpr uint32_t kPool = kFunctional | kInternal;
#define TS_POOL(N) "Tensor self, int[" #N "] kernel_size, int[" #N "] stride=[], int[" #N "] padding=0, "
TS_OP(max_pool2d, "max_pool2d(" TS_POOL(2) "int[2] dilation=1, bool ceil_mode=False) -> Tensor",
      "The largest of each window.", kPool, &max_pool2d,
      "f[2,2,6,5], 2\n"
      "f[1,4,4], [3, 2], [2, 1], 1",
      .batched = batched_images<2>);
TS_OP(max_pool2d_with_indices,
      "max_pool2d_with_indices(" TS_POOL(2) "int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
      "The largest of each window and its place in the plane.", kPool, MaxPool,
      "f[1,2,4,5], 2\n"
      "f[2,5,5].t, 2, 1, 1, 2\n"
      "f[1,5,5], 2, ceil_mode=True\n"
      "i[1,4,4]<9, 2\n"
      "f[0,1,4,4], 2\n"
      "f[4,4], 2 -> RuntimeError: non-empty 3D or 4D (batch mode) tensor expected for input\n"
      "f[1,4,4], 5 -> RuntimeError: Given input size: (1x4x4). Calculated output size: (1x0x0). Output size is too "
      "small\n"
      "f[1,4,4], 0 -> RuntimeError: stride should not be zero\n"
      "f[1,4,4], 2, -1 -> RuntimeError: stride should be greater than zero, but got dH: -1 dW: -1\n"
      "f[1,4,4], 2, 2, 2 -> RuntimeError: pad should be at most half of effective kernel size, but got pad=2, "
      "kernel_size=2 and dilation=1\n"
      "f[1,4,4], 2, 2, 0, 0 -> RuntimeError: dilation should be greater than zero, but got dilationH: 0 dilationW: 0\n"
      "b[1,4,4], 2 -> NotImplementedError: \"max_pool2d\" not implemented for 'Bool'",
      .batched = batched_images<2>);
TS_OP(max_pool1d, "max_pool1d(" TS_POOL(1) "int[1] dilation=1, bool ceil_mode=False) -> Tensor",
      "The largest of each window.", kPool, &max_pool1d,
      "f[2,3,7], 2\n"
      "f[3,7], 3, 2, 1",
      .batched = batched_images<1>);
TS_OP(max_pool1d_with_indices,
      "max_pool1d_with_indices(" TS_POOL(1) "int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
      "The largest of each window and its place in the line.", kPool, &max_pool1d_with_indices, "f[2,3,7], 2",
      .batched = batched_images<1>);
TS_OP(
    avg_pool2d,
    "avg_pool2d(" TS_POOL(2) "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    "The mean of each window.", kPool | kOut, AvgPool,
    "f[2,2,6,5], 2\n"
    "f[1,4,4], 3, 1, 1, False, False\n"
    "f[1,5,5].t, 2, 2, 1, True\n"
    "f[2,4,4], 3, 2, 1, False, True, 3\n"
    "f[1,4,4], 2, divisor_override=0 -> RuntimeError: divisor must be not zero\n"
    "f[1,4,4], 5 -> RuntimeError: Given input size: (1x4x4). Calculated output size: (1x0x0). Output size is too "
    "small\n"
    "f[1,4,4], 2, 0 -> RuntimeError: stride should not be zero",
    .out = kOutStructured, .batched = batched_images<2>);
TS_OP(avg_pool1d, "avg_pool1d(" TS_POOL(1) "bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
      "The mean of each window.", kPool, &avg_pool1d, "f[2,3,7], 2", .batched = batched_images<1>);
TS_OP(
    adaptive_avg_pool2d, "adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
    "The means of equal parts of the image.", kPool, &adaptive_avg_pool2d,
    "f[2,2,5,6], [2, 3]\n"
    "f[2,4,4], 1\n"
    "f[4,4], 2 -> RuntimeError: adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got [4, 4]\n"
    "f[1,4,4], [-1, 2] -> RuntimeError: adaptive_avg_pool2d: elements of output_size must be greater than or equal to "
    "0 but received {-1, 2}",
    .batched = batched_images<2>);
#undef TS_POOL

}  // namespace
}  // namespace tessera::tensor
