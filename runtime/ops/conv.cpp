#include "runtime/ops/conv.h"

#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

int64_t Window::span(int d) const { return saturated_add(saturated_mul(dilation[d], kernel[d] - 1), 1); }
int64_t Window::padded_size(int d, int64_t in) const { return saturated_add(in, saturated_mul(2, padding[d])); }

int64_t Window::out_size(int d, int64_t in, bool round_up) const {
  const int64_t room = saturated_sub(padded_size(d, in), span(d)), rest = room % stride[d];
  const int64_t steps = room / stride[d] + (rest > 0 && round_up ? 1 : rest < 0 && !round_up ? -1 : 0);
  // A window that would start in the padding after the image does not count.
  if (round_up && saturated_mul(steps, stride[d]) >= saturated_add(in, padding[d])) return steps;
  return saturated_add(steps, 1);
}

namespace {

// With `more` rows and columns beyond the padding, which a rounded-up size may need.
Tensor padded(const Tensor& image, const Window& w, double value, int64_t more_rows = 0, int64_t more_columns = 0) {
  if (!w.padding[0] && !w.padding[1] && !more_rows && !more_columns) return contiguous(image);
  const int64_t height = image.sizes()[2], width = image.sizes()[3];
  const Tensor out = full({image.sizes()[0], image.sizes()[1], saturated_add(w.padded_size(0, height), more_rows),
                           saturated_add(w.padded_size(1, width), more_columns)},
                          value, image.dtype(), image.device());
  copy_into(narrow(narrow(out, 2, w.padding[0], height), 3, w.padding[1], width), image);
  return out;
}

// [N, C, kernel height, kernel width, out height, out width] over a padded image, sharing its memory.
Tensor windows(const Tensor& image, const Window& w, int64_t out_height, int64_t out_width) {
  const Ints s = image.strides();
  return image.view_of({image.sizes()[0], image.sizes()[1], w.kernel[0], w.kernel[1], out_height, out_width},
                       {s[0], s[1], saturated_mul(w.dilation[0], s[2]), saturated_mul(w.dilation[1], s[3]),
                        saturated_mul(w.stride[0], s[2]), saturated_mul(w.stride[1], s[3])});
}

}  // namespace

Tensor im2col(const Tensor& image, const Window& w) {
  const int64_t n = image.sizes()[0], channels = image.sizes()[1], height = image.sizes()[2], width = image.sizes()[3];
  const int64_t rows = w.out_size(0, height), columns = w.out_size(1, width);
  Tensor out;
  {
    const GradMode no_grad(false);
    const Tensor seen = windows(padded(image, w, 0.0), w, rows, columns);
    const Tensor copy = Tensor::empty(seen.sizes(), image.dtype(), image.device());
    copy_into(copy, seen);
    const Dims flat{n, checked_mul(channels, checked_mul(w.kernel[0], w.kernel[1])), checked_mul(rows, columns)};
    out = copy.view_of(flat, contiguous_strides(flat));
  }
  if (needs_grad(image))
    record(out, "Im2ColBackward0", {&image}, [w, channels, height, width](Sweep& s) {
      s.give(0, [&] { return col2im(s.g(), w, channels, height, width); });
    });
  return out;
}

Tensor col2im(const Tensor& columns, const Window& w, int64_t channels, int64_t height, int64_t width) {
  const int64_t n = columns.sizes()[0], rows = w.out_size(0, height), places = w.out_size(1, width);
  Tensor out;
  {
    const GradMode no_grad(false);
    const Tensor parts = reshape(columns, {n, channels, w.kernel[0], w.kernel[1], rows, places});
    const Tensor image =
        zeros({n, channels, w.padded_size(0, height), w.padded_size(1, width)}, columns.dtype(), columns.device());
    for (int64_t i = 0; i < w.kernel[0]; i++)
      for (int64_t j = 0; j < w.kernel[1]; j++) {
        const int64_t top = i * w.dilation[0], left = j * w.dilation[1];
        const Tensor place = slice(slice(image, 2, top, top + (rows - 1) * w.stride[0] + 1, w.stride[0]), 3, left,
                                   left + (places - 1) * w.stride[1] + 1, w.stride[1]);
        add_(place, select(select(parts, 2, i), 2, j));
      }
    out = contiguous(narrow(narrow(image, 2, w.padding[0], height), 3, w.padding[1], width));
  }
  if (needs_grad(columns))
    record(out, "Col2ImBackward0", {&columns}, [w](Sweep& s) { s.give(0, [&] { return im2col(s.g(), w); }); });
  return out;
}

// ---- convolution ----

constinit Kernel<ConvCall> conv_kernel("convolution");

namespace {

int64_t pick(Ints list, size_t i, int64_t otherwise) {
  return list.empty() ? otherwise : list[list.size() == 1 ? 0 : i];
}

Window window_of(Ints kernel, Ints stride, Ints padding, Ints dilation) {
  Window w;
  for (int d = 0; d < 2; d++) {
    w.kernel[d] = pick(kernel, d, 1);
    w.stride[d] = pick(stride, d, 1);
    w.padding[d] = pick(padding, d, 0);
    w.dilation[d] = pick(dilation, d, 1);
  }
  return w;
}

// Before any size is computed: the sizes divide by the stride, and the kernels step by the dilation.
void check_steps(const Window& w) {
  check(w.stride[0] != 0 && w.stride[1] != 0, TensorErrorKind::Runtime, "stride should not be zero");
  check(w.stride[0] > 0 && w.stride[1] > 0, TensorErrorKind::Runtime,
        "stride should be greater than zero, but got dH: ", w.stride[0], " dW: ", w.stride[1]);
  check(w.dilation[0] > 0 && w.dilation[1] > 0, TensorErrorKind::Runtime,
        "dilation should be greater than zero, but got dilationH: ", w.dilation[0], " dilationW: ", w.dilation[1]);
}

void check_padding(const Window& w) {
  for (int d = 0; d < 2; d++) {
    check(w.padding[d] >= 0, TensorErrorKind::Runtime, "negative padding is not supported");
    check(w.padding[d] <= INT64_MAX / 2, TensorErrorKind::Runtime, "Given padding=", w.padding[d], " at dimension ", d,
          " , expected padding to be at most ", INT64_MAX / 2);
  }
}

void check_conv(const char* name, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                const Window& w, int64_t groups) {
  check(w.dilation[0] > 0 && w.dilation[1] > 0, TensorErrorKind::Runtime,
        "dilation should be greater than zero, but got [", w.dilation[0], ", ", w.dilation[1], "]");
  check(input.dim() == 3 || input.dim() == 4, TensorErrorKind::Runtime,
        "Expected 3D (unbatched) or 4D (batched) input to ", name, ", but got input of size: ", input.sizes());
  check(input.dtype() == weight.dtype(), TensorErrorKind::Runtime, "expected scalar type ",
        scalar_type_name(input.dtype()), " but found ", scalar_type_name(weight.dtype()));
  check(groups > 0, TensorErrorKind::Runtime, "non-positive groups is not supported");
  const int64_t channels = input.size(-3);
  check(w.stride[0] > 0 && w.stride[1] > 0, TensorErrorKind::Runtime, "non-positive stride is not supported");
  check_padding(w);
  check(w.kernel[0] > 0 && w.kernel[1] > 0, TensorErrorKind::Runtime,
        "kernel size should be greater than zero, but got kernel_height: ", w.kernel[0],
        " kernel_width: ", w.kernel[1]);
  check(weight.sizes()[0] >= groups, TensorErrorKind::Runtime, "Given groups=", groups,
        ", expected weight to be at least ", groups, " at dimension 0, but got weight of size ", weight.sizes(),
        " instead");
  check(weight.sizes()[0] % groups == 0, TensorErrorKind::Runtime, "Given groups=", groups,
        ", expected weight to be divisible by ", groups, " at dimension 0, but got weight of size ", weight.sizes(),
        " instead");
  const int64_t expected = saturated_mul(weight.sizes()[1], groups);
  check(channels == expected, TensorErrorKind::Runtime, "Given groups=", groups, ", weight of size ", weight.sizes(),
        ", expected input", input.sizes(), " to have ", expected, " channels, but got ", channels, " channels instead");
  if (bias)
    check(bias->dim() == 1 && bias->sizes()[0] == weight.sizes()[0], TensorErrorKind::Runtime, "Given weight of size ",
          weight.sizes(), ", expected bias to be 1-dimensional with ", weight.sizes()[0],
          " elements, but got bias of size ", bias->sizes(), " instead");
  const int64_t seen[2] = {w.padded_size(0, input.size(-2)), w.padded_size(1, input.size(-1))};
  const int64_t kernel[2] = {w.span(0), w.span(1)};
  check(seen[0] >= kernel[0] && seen[1] >= kernel[1], TensorErrorKind::Runtime,
        "Calculated padded input size per channel: (", seen[0], " x ", seen[1], "). Kernel size: (", kernel[0], " x ",
        kernel[1], "). Kernel size can't be greater than actual input size");
}

// [O, C/g, kh, kw] as matrices: [O, K], or [1, g, O/g, K] for groups.
Tensor as_matrix(const Tensor& weight, int64_t groups) {
  const int64_t outputs = weight.sizes()[0], width = weight.numel() / outputs;
  if (groups == 1) return reshape(weight, {outputs, width});
  return reshape(weight, {1, groups, outputs / groups, width});
}
Tensor by_group(const Tensor& t, int64_t groups) {
  if (groups == 1) return t;
  return reshape(t, {t.sizes()[0], groups, t.sizes()[1] / groups, t.sizes()[2]});
}

// Makes one of the three by the device's kernel; undefined where there is none for it, or where a sweep is recorded, which
// needs ops that have derivatives.
Tensor by_kernel(ConvCall::Pass pass, const Tensor& image, const Tensor& weight, const Tensor& result, const Window& w,
                 int64_t groups, const Tensor& bias = {}) {
  const Tensor &a = pass == ConvCall::InputGradient ? weight : image, &b = pass == ConvCall::Forward ? weight : result;
  const bool served = conv_kernel.has(a.device().type) && (a.dtype() == kFloat32 || a.dtype() == kFloat64);
  const auto like_a = [&](const Tensor& t) { return t.dtype() == a.dtype() && t.device() == a.device(); };
  if (!served || !like_a(b) || (bias.defined() && !like_a(bias)) || needs_grad(a, b)) return {};
  const GradMode no_grad(false);
  const Tensor dense[] = {contiguous(image), contiguous(weight), contiguous(result)};
  for (const Tensor& t : dense)
    if (t.numel() == 0) return {};
  const Tensor shift = bias.defined() ? contiguous(bias) : bias;
  conv_kernel(a.device(), ConvCall{pass, a.dtype(), dense[0].data_ptr(), dense[1].data_ptr(), dense[2].data_ptr(),
                                   shift.defined() ? shift.data_ptr() : nullptr, image.sizes()[0], image.sizes()[1],
                                   image.sizes()[2], image.sizes()[3], result.sizes()[1], result.sizes()[2],
                                   result.sizes()[3], groups, w});
  return dense[pass == ConvCall::InputGradient ? 0 : pass == ConvCall::WeightGradient ? 1 : 2];
}
Tensor empty_like(Ints shape, const Tensor& like) { return Tensor::empty(shape, like.dtype(), like.device()); }

Tensor with_bias(const Tensor& out, const Tensor& bias) {
  if (bias.defined()) add_(out, reshape(bias, {1, bias.numel(), 1, 1}));
  return out;
}

// The products of convolution; written in recorded ops where the sweep is recorded.
Tensor conv_product(const Tensor& input, const Tensor& weight, const Window& w, int64_t groups,
                    const Tensor& bias = {}) {
  const int64_t rows = w.out_size(0, input.sizes()[2]), columns = w.out_size(1, input.sizes()[3]);
  const Tensor result = empty_like({input.sizes()[0], weight.sizes()[0], rows, columns}, input);
  if (const Tensor out = by_kernel(ConvCall::Forward, input, weight, result, w, groups, bias); out.defined())
    return out;
  const Tensor product = matmul(as_matrix(weight, groups), by_group(im2col(input, w), groups));
  return with_bias(reshape(product, {input.sizes()[0], weight.sizes()[0], rows, columns}), bias);
}

Tensor conv_input_gradient(const Tensor& g, const Tensor& weight, const Window& w, int64_t groups, Ints shape) {
  const Tensor image = by_kernel(ConvCall::InputGradient, empty_like(shape, g), weight, g, w, groups);
  if (image.defined()) return image;
  const Tensor flat = reshape(g, {g.sizes()[0], g.sizes()[1], g.sizes()[2] * g.sizes()[3]});
  const Tensor columns = matmul(transpose(as_matrix(weight, groups), -2, -1), by_group(flat, groups));
  return col2im(reshape(columns, {shape[0], shape[1] * w.kernel[0] * w.kernel[1], flat.sizes()[2]}), w, shape[1],
                shape[2], shape[3]);
}

Tensor conv_weight_gradient(const Tensor& g, const Tensor& input, const Window& w, int64_t groups, Ints shape) {
  const Tensor weight = by_kernel(ConvCall::WeightGradient, input, empty_like(shape, g), g, w, groups);
  if (weight.defined()) return weight;
  const Tensor flat = reshape(g, {g.sizes()[0], g.sizes()[1], g.sizes()[2] * g.sizes()[3]});
  const Tensor each = matmul(by_group(flat, groups), transpose(by_group(im2col(input, w), groups), -2, -1));
  return reshape(sum(each, Dims{0}), shape);
}

Tensor batched(const Tensor& t) { return t.dim() == 3 ? unsqueeze(t, 0) : t; }
Tensor unbatched(const Tensor& t, const Tensor& like) { return like.dim() == 3 ? squeeze(t, 0) : t; }

}  // namespace

Tensor conv2d(const Tensor& given, const Tensor& weight, const std::optional<Tensor>& bias, Ints stride, Ints padding,
              Ints dilation, int64_t groups) {
  check(weight.dim() == 4, TensorErrorKind::Runtime, "weight should have at least three dimensions");
  const Window w = window_of(weight.sizes().drop(2), stride, padding, dilation);
  check_conv("conv2d", given, weight, bias, w, groups);
  const Tensor input = batched(given), shift = bias.value_or(Tensor());
  Tensor out;
  {
    const GradMode no_grad(false);
    out = conv_product(input, weight, w, groups, shift);
  }
  if (needs_grad(input, weight, shift))
    record(out, "ConvolutionBackward0", {&input, &weight, &shift}, keep(input, weight),
           [w, groups, in_shape = Dims(input.sizes()), weight_shape = Dims(weight.sizes())](Sweep& s) {
             s.give(0, [&] { return conv_input_gradient(s.g(), s.kept(1), w, groups, in_shape); });
             s.give(1, [&] { return conv_weight_gradient(s.g(), s.kept(0), w, groups, weight_shape); });
             s.give(2, [&] { return sum(s.g(), Dims{0, 2, 3}); });
           });
  return unbatched(out, given);
}

namespace {

void check_transposed(const Window& w, Ints output_padding, const Tensor& weight, const std::optional<Tensor>& bias,
                      int64_t groups) {
  check(groups > 0, TensorErrorKind::Runtime, "non-positive groups is not supported");
  check(w.stride[0] > 0 && w.stride[1] > 0, TensorErrorKind::Runtime, "non-positive stride is not supported");
  check_padding(w);
  const int64_t more[2] = {pick(output_padding, 0, 0), pick(output_padding, 1, 0)};
  check(more[0] >= 0 && more[1] >= 0, TensorErrorKind::Runtime, "negative output_padding is not supported");
  check(w.dilation[0] > 0 && w.dilation[1] > 0, TensorErrorKind::Runtime,
        "dilation should be greater than zero, but got dilation_height: ", w.dilation[0],
        ", dilation_width: ", w.dilation[1]);
  check(w.kernel[0] > 0 && w.kernel[1] > 0, TensorErrorKind::Runtime,
        "kernel size should be greater than zero, but got kernel_height: ", w.kernel[0],
        " kernel_width: ", w.kernel[1]);
  for (int d = 0; d < 2; d++)
    check(more[d] < std::max(w.stride[d], w.dilation[d]), TensorErrorKind::Runtime,
          "output padding must be smaller than either stride or dilation, but got output_padding_height: ", more[0],
          " output_padding_width: ", more[1], " stride_height: ", w.stride[0], " stride_width: ", w.stride[1],
          " dilation_height: ", w.dilation[0], " dilation_width: ", w.dilation[1]);
  check(weight.sizes()[0] >= groups, TensorErrorKind::Runtime, "Given groups=", groups,
        ", expected weight to be at least ", groups, " at dimension 0, but got weight of size ", weight.sizes(),
        " instead");
  check(weight.sizes()[0] % groups == 0, TensorErrorKind::Runtime, "Given groups=", groups,
        ", expected weight to be divisible by ", groups, " at dimension 0, but got weight of size ", weight.sizes(),
        " instead");
  const int64_t outputs = checked_mul(weight.sizes()[1], groups);
  if (bias)
    check(bias->dim() == 1 && bias->sizes()[0] == outputs, TensorErrorKind::Runtime,
          "Given transposed=1, weight of size ", weight.sizes(), ", expected bias to be 1-dimensional with ", outputs,
          " elements, but got bias of size ", bias->sizes(), " instead");
}

}  // namespace

Tensor conv_transpose2d(const Tensor& given, const Tensor& weight, const std::optional<Tensor>& bias, Ints stride,
                        Ints padding, Ints output_padding, int64_t groups, Ints dilation) {
  check(weight.dim() == 4, TensorErrorKind::Runtime, "weight should have at least three dimensions");
  check(given.dim() == 3 || given.dim() == 4, TensorErrorKind::Runtime,
        "Expected 3D (unbatched) or 4D (batched) input to conv_transpose2d, but got input of size: ", given.sizes());
  const Window w = window_of(weight.sizes().drop(2), stride, padding, dilation);
  const Tensor input = batched(given), shift = bias.value_or(Tensor());
  check_transposed(w, output_padding, weight, bias, groups);
  check(input.sizes()[1] == weight.sizes()[0], TensorErrorKind::Runtime, "Given transposed=1, weight of size ",
        weight.sizes(), ", expected input", given.sizes(), " to have ", weight.sizes()[0], " channels, but got ",
        input.sizes()[1], " channels instead");
  Dims shape{input.sizes()[0], weight.sizes()[1] * groups, 0, 0};
  for (int d = 0; d < 2; d++) {
    const int64_t spread = saturated_add(saturated_mul(input.sizes()[2 + d] - 1, w.stride[d]), w.span(d));
    shape[2 + d] = saturated_sub(saturated_add(spread, pick(output_padding, d, 0)), 2 * w.padding[d]);
  }
  check(shape[2] > 0 && shape[3] > 0, TensorErrorKind::Runtime, "Given input size per channel: (", input.sizes()[2],
        " x ", input.sizes()[3], "). Calculated output size per channel: (", shape[2], " x ", shape[3],
        "). Output size is too small");
  // It is what convolution does to the gradient of its input, so each is the other's derivative.
  Tensor out;
  {
    const GradMode no_grad(false);
    out = with_bias(conv_input_gradient(input, weight, w, groups, shape), shift);
  }
  if (needs_grad(input, weight, shift))
    record(out, "ConvolutionBackward0", {&input, &weight, &shift}, keep(input, weight),
           [w, groups, weight_shape = Dims(weight.sizes())](Sweep& s) {
             s.give(0, [&] { return conv_product(s.g(), s.kept(1), w, groups); });
             s.give(1, [&] { return conv_weight_gradient(s.kept(0), s.g(), w, groups, weight_shape); });
             s.give(2, [&] { return sum(s.g(), Dims{0, 2, 3}); });
           });
  return unbatched(out, given);
}

namespace {

// 'same' keeps the size; an odd padding goes after the image.
Tensor conv2d_named(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, Ints stride,
                    const std::string& padding, Ints dilation, int64_t groups) {
  check(padding == "same" || padding == "valid", TensorErrorKind::Runtime, "Invalid padding string: '", padding, "'");
  if (padding == "valid") return conv2d(input, weight, bias, stride, {0, 0}, dilation, groups);
  check(pick(stride, 0, 1) == 1 && pick(stride, 1, 1) == 1, TensorErrorKind::Runtime,
        "padding='same' is not supported for strided convolutions");
  int64_t before[2], after[2];
  for (int d = 0; d < 2; d++) {
    const int64_t total = saturated_mul(pick(dilation, d, 1), weight.sizes()[2 + d] - 1);
    before[d] = total / 2, after[d] = total - before[d];
  }
  if (before[0] == after[0] && before[1] == after[1])
    return conv2d(input, weight, bias, stride, {before[0], before[1]}, dilation, groups);
  const Tensor wide = conv2d(input, weight, bias, stride, {after[0], after[1]}, dilation, groups);
  return slice(slice(wide, -2, after[0] - before[0], INT64_MAX), -1, after[1] - before[1], INT64_MAX);
}

Tensor conv1d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, Ints stride, Ints padding,
              Ints dilation, int64_t groups) {
  check(input.dim() == 2 || input.dim() == 3, TensorErrorKind::Runtime,
        "Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: ", input.sizes());
  const Tensor out = conv2d(unsqueeze(input, -2), unsqueeze(weight, -2), bias, {1, pick(stride, 0, 1)},
                            {0, pick(padding, 0, 0)}, {1, pick(dilation, 0, 1)}, groups);
  return squeeze(out, -2);
}

Tensor conv1d_named(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, Ints stride,
                    const std::string& padding, Ints dilation, int64_t groups) {
  return squeeze(conv2d_named(unsqueeze(input, -2), unsqueeze(weight, -2), bias, {1, pick(stride, 0, 1)}, padding,
                              {1, pick(dilation, 0, 1)}, groups),
                 -2);
}

#define TS_CONV "Tensor input, Tensor weight, Tensor? bias=None, "
TS_OP(
    conv2d, "conv2d(" TS_CONV "int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor",
    "Cross-correlation of images with kernels.", kFunction | kFunctional, &conv2d,
    "f[2,2,5,4], f[3,2,2,3], f[3]\nf[2,5,5], f[4,1,3,3], stride=[2, 1], padding=1, groups=2\nf[1,2,5,5], f[2,2,2,2], dilation=2\nf[1,2,4,4], f[3,3,2,2] -> RuntimeError: Given groups=1, weight of size [3, 3, 2, 2], expected input[1, 2, 4, 4] to have 3 channels, but got 2 channels instead");
TS_OP(conv2d,
      "conv2d.padding(" TS_CONV "int[2] stride=1, str padding='valid', int[2] dilation=1, int groups=1) -> Tensor",
      "Cross-correlation of images with kernels.", kFunction | kFunctional, &conv2d_named,
      "f[1,2,5,4], f[3,2,3,2], padding='same'");
TS_OP(conv1d, "conv1d(" TS_CONV "int[1] stride=1, int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor",
      "Cross-correlation of series with kernels.", kFunction | kFunctional, &conv1d, "f[2,2,6], f[3,2,3], f[3], 2, 1");
TS_OP(conv1d,
      "conv1d.padding(" TS_CONV "int[1] stride=1, str padding='valid', int[1] dilation=1, int groups=1) -> Tensor",
      "Cross-correlation of series with kernels.", kFunction | kFunctional, &conv1d_named,
      "f[1,2,6], f[3,2,3], padding='same'");
TS_OP(conv_transpose2d,
      "conv_transpose2d(" TS_CONV
      "int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
      "The transpose of conv2d: spreads each pixel by a kernel.", kFunction | kFunctional, &conv_transpose2d,
      "f[1,2,3,3], f[2,3,2,2], f[3], 2\nf[1,2,3,3], f[2,1,3,3], None, 2, 1, 1, 2");
#undef TS_CONV

}  // namespace

// ---- pooling ----

constinit Kernel<MaxPoolCall> max_pool_kernel("max_pool2d");

namespace {

// PyTorch pools with 32 bits.
void check_pool_numbers(const Window& w) {
  for (const auto* pair : {&w.kernel, &w.stride, &w.padding, &w.dilation})
    for (const int64_t x : *pair)
      check(x == int32_t(x), TensorErrorKind::Runtime, "value cannot be converted to type int without overflow");
}

void check_pool(const Tensor& self, const Window& w, int64_t rows, int64_t columns, const char* name) {
  check(self.dim() == 3 || self.dim() == 4, TensorErrorKind::Runtime, name,
        ": Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:", self.sizes());
  for (int d = 0; d < 2; d++) {
    check(w.kernel[d] > 0 && w.stride[d] > 0, TensorErrorKind::Runtime, w.kernel[d] > 0 ? "stride" : "kernel size",
          " should be greater than zero, but got kH: ", w.kernel[0], " kW: ", w.kernel[1]);
    check(w.padding[d] >= 0, TensorErrorKind::Runtime, "pad must be non-negative, but got pad: ", w.padding[d]);
    check(w.padding[d] <= w.span(d) / 2, TensorErrorKind::Runtime,
          "pad should be at most half of effective kernel size, but got pad=", w.padding[d],
          ", kernel_size=", w.kernel[d], " and dilation=", w.dilation[d]);
  }
  const int64_t channels = self.size(-3);
  check(rows >= 1 && columns >= 1, TensorErrorKind::Runtime, "Given input size: (", channels, "x", self.size(-2), "x",
        self.size(-1), "). Calculated output size: (", channels, "x", std::max<int64_t>(rows, 0), "x",
        std::max<int64_t>(columns, 0), "). Output size is too small");
}

Dims pooled_shape(const Tensor& self, int64_t rows, int64_t columns) {
  Dims shape(self.sizes());
  shape[shape.size() - 2] = rows, shape[shape.size() - 1] = columns;
  return shape;
}

}  // namespace

std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, Ints kernel, Ints stride, Ints padding,
                                                   Ints dilation, bool ceil_mode) {
  const Window w = window_of(kernel, stride.empty() ? kernel : stride, padding, dilation);
  check_pool_numbers(w);
  check_steps(w);
  check(self.dim() >= 3, TensorErrorKind::Runtime, "non-empty 3D or 4D (batch mode) tensor expected for input");
  const int64_t rows = w.out_size(0, self.size(-2), ceil_mode), columns = w.out_size(1, self.size(-1), ceil_mode);
  check_pool(self, w, rows, columns, "max_pool2d");
  Tensor out = Tensor::empty(pooled_shape(self, rows, columns), self.dtype(), self.device());
  const Tensor index = Tensor::empty(out.sizes(), kInt64, self.device());
  {
    const GradMode no_grad(false);
    const Tensor in = contiguous(self);
    const int64_t planes = in.numel() / std::max<int64_t>(1, in.size(-1) * in.size(-2));
    if (out.numel())
      max_pool_kernel(self.device(), MaxPoolCall{in.dtype(), in.data_ptr(), out.data_ptr(), index.data<int64_t>(),
                                                 planes, in.size(-2), in.size(-1), rows, columns, w});
  }
  if (needs_grad(self))
    record(out, "MaxPool2DWithIndicesBackward0", {&self}, keep(index), [shape = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] {
        const Tensor all = flatten(zeros(shape, s.g().dtype(), s.g().device()), -2, -1);
        return reshape(scatter_add(all, -1, flatten(s.kept(0), -2, -1), flatten(s.g(), -2, -1)), shape);
      });
    });
  return {out, index};
}

namespace {

// How many pixels each window of an average counts.
Tensor window_sizes(const Window& w, int64_t height, int64_t width, int64_t rows, int64_t columns, bool with_padding,
                    DType dtype) {
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
  return to_dtype(out, dtype);
}

}  // namespace

Tensor avg_pool2d(const Tensor& self, Ints kernel, Ints stride, Ints padding, bool ceil_mode, bool count_include_pad) {
  const Window w = window_of(kernel, stride.empty() ? kernel : stride, padding, {1, 1});
  check_pool_numbers(w);
  check_steps(w);
  check(self.dim() >= 3, TensorErrorKind::Runtime, "non-empty 3D or 4D (batch mode) tensor expected for input");
  const int64_t height = self.size(-2), width = self.size(-1);
  const int64_t rows = w.out_size(0, height, ceil_mode), columns = w.out_size(1, width, ceil_mode);
  check_pool(self, w, rows, columns, "avg_pool2d");
  // The image may have to be larger for the last windows.
  const int64_t below = std::max<int64_t>(0, (rows - 1) * w.stride[0] + w.kernel[0] - height - 2 * w.padding[0]);
  const int64_t right = std::max<int64_t>(0, (columns - 1) * w.stride[1] + w.kernel[1] - width - 2 * w.padding[1]);
  Tensor out, counts;
  {
    const GradMode no_grad(false);
    counts = to_device(window_sizes(w, height, width, rows, columns, count_include_pad, self.dtype()), self.device());
    const Tensor image = padded(reshape(self, {-1, 1, height, width}), w, 0.0, below, right);
    out = reshape(sum(windows(image, w, rows, columns), Dims{1, 2, 3}) / counts, pooled_shape(self, rows, columns));
  }
  if (needs_grad(self))
    record(out, "AvgPool2DBackward0", {&self}, keep(counts),
           [w, shape = Dims(self.sizes()), height, width, rows, columns, below, right](Sweep& s) {
             s.give(0, [&] {
               const Tensor each = reshape(s.g() / s.kept(0), {-1, 1, rows * columns});
               const Tensor wide = expand(each, {each.sizes()[0], w.kernel[0] * w.kernel[1], rows * columns});
               Window open = w;
               open.padding[0] = open.padding[1] = 0;
               const Tensor image =
                   col2im(wide, open, 1, height + 2 * w.padding[0] + below, width + 2 * w.padding[1] + right);
               return reshape(narrow(narrow(image, 2, w.padding[0], height), 3, w.padding[1], width), shape);
             });
           });
  return out;
}

Tensor adaptive_avg_pool2d(const Tensor& self, Ints output_size) {
  check(self.dim() >= 3, TensorErrorKind::Runtime, "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got ",
        self.sizes());
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
  return out;
}

namespace {

Tensor max_pool2d(const Tensor& self, Ints kernel, Ints stride, Ints padding, Ints dilation, bool ceil_mode) {
  return std::get<0>(max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceil_mode));
}
Tensor max_pool1d(const Tensor& self, Ints kernel, Ints stride, Ints padding, Ints dilation, bool ceil_mode) {
  const int64_t step = stride.empty() ? kernel[0] : stride[0];
  return squeeze(max_pool2d(unsqueeze(self, -2), {1, kernel[0]}, {1, step}, {0, pick(padding, 0, 0)},
                            {1, pick(dilation, 0, 1)}, ceil_mode),
                 -2);
}
Tensor avg_pool1d(const Tensor& self, Ints kernel, Ints stride, Ints padding, bool ceil_mode, bool count_include_pad) {
  const int64_t step = stride.empty() ? kernel[0] : stride[0];
  return squeeze(avg_pool2d(unsqueeze(self, -2), {1, kernel[0]}, {1, step}, {0, pick(padding, 0, 0)}, ceil_mode,
                            count_include_pad),
                 -2);
}
std::string pair(const int64_t (&two)[2]) { return text("(", two[0], ", ", two[1], ")"); }

// Of unfold and fold.
void check_blocks(const Window& w) {
  const auto all = [](const int64_t(&two)[2], int64_t least, const char* message, const char* name) {
    check(two[0] >= least && two[1] >= least, TensorErrorKind::Runtime, message, ", but got ", name,
          "_height: ", two[0], " ", name, "_width: ", two[1]);
  };
  all(w.kernel, 1, "kernel size should be greater than zero", "kernel");
  all(w.stride, 1, "stride should be greater than zero", "stride");
  all(w.dilation, 1, "dilation should be greater than zero", "dilation");
  all(w.padding, 0, "padding should be non-negative", "pad");
}

Tensor unfold_images(const Tensor& self, Ints kernel, Ints dilation, Ints padding, Ints stride) {
  check(
      self.dim() == 3 || self.dim() == 4, TensorErrorKind::Runtime,
      "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
      self.sizes());
  const Window w = window_of(kernel, stride, padding, dilation);
  check_blocks(w);
  const int64_t rows = w.out_size(0, self.size(-2)), columns = w.out_size(1, self.size(-1));
  check(rows >= 1 && columns >= 1, TensorErrorKind::Runtime, "Given input with spatial size (", self.size(-2), ", ",
        self.size(-1), "), kernel_size=", pair(w.kernel), ", dilation=", pair(w.dilation),
        ", padding=", pair(w.padding), ", calculated shape of the array of sliding blocks as (", rows, ", ", columns,
        "), but its components must be at least one.");
  return unbatched(im2col(batched(self), w), self);
}
Tensor fold_images(const Tensor& self, Ints output_size, Ints kernel, Ints dilation, Ints padding, Ints stride) {
  const Window w = window_of(kernel, stride, padding, dilation);
  check_blocks(w);
  check(
      self.dim() == 2 || self.dim() == 3, TensorErrorKind::Runtime,
      "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: ",
      self.sizes());
  const Tensor columns = self.dim() == 2 ? unsqueeze(self, 0) : self;
  const int64_t size[2] = {pick(output_size, 0, 1), pick(output_size, 1, 1)};
  const int64_t block = saturated_mul(w.kernel[0], w.kernel[1]);
  check(block != INT64_MAX, TensorErrorKind::Runtime, "Given kernel_width = ", w.kernel[1],
        " and kernel_height = ", w.kernel[0], " the product of kernel_width and kernel_height overflowed.");
  check(columns.sizes()[1] % block == 0, TensorErrorKind::Runtime,
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=",
        columns.sizes()[1], " and kernel_size=", pair(w.kernel), ".");
  const int64_t rows = w.out_size(0, size[0]), places = w.out_size(1, size[1]), blocks = saturated_mul(rows, places);
  check(rows > 0 && places > 0 && columns.sizes()[2] == blocks, TensorErrorKind::Runtime,
        "Given output_size=", pair(size), ", kernel_size=", pair(w.kernel), ", dilation=", pair(w.dilation),
        ", padding=", pair(w.padding), ", stride=", pair(w.stride),
        ", expected size of input's dimension 2 to match the calculated number of sliding blocks ", rows, " * ", places,
        " = ", blocks, ", but got input.size(2)=", columns.sizes()[2], ".");
  const Tensor out = col2im(columns, w, columns.sizes()[1] / block, size[0], size[1]);
  return self.dim() == 2 ? squeeze(out, 0) : out;
}

constexpr uint32_t kPool = kFunctional | kInternal;
TS_OP(
    max_pool2d,
    "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
    "The largest of each window.", kPool, &max_pool2d,
    "f[2,2,6,5], 2\n"
    "f[1,4,4], [3, 2], [2, 1], 1");
TS_OP(
    max_pool2d_with_indices,
    "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
    "The largest of each window and its place in the plane.", kPool, &max_pool2d_with_indices, "f[1,2,4,5], 2");
TS_OP(
    max_pool1d,
    "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor",
    "The largest of each window.", kPool, &max_pool1d,
    "f[2,3,7], 2\n"
    "f[3,7], 3, 2, 1");
TS_OP(
    avg_pool2d,
    "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
    "The mean of each window.", kPool, &avg_pool2d,
    "f[2,2,6,5], 2\n"
    "f[1,4,4], 3, 1, 1, False, False");
TS_OP(
    avg_pool1d,
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
    "The mean of each window.", kPool, &avg_pool1d, "f[2,3,7], 2");
TS_OP(adaptive_avg_pool2d, "adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
      "The means of equal parts of the image.", kPool, &adaptive_avg_pool2d, "f[2,2,5,6], [2, 3]");
TS_OP(im2col, "im2col(Tensor self, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
      "What each place of a window sees, as columns.", kPool, &unfold_images, "f[1,2,4,4], 2");
TS_OP(
    col2im,
    "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
    "Columns back to images; overlaps add up.", kPool, &fold_images, "f[1,8,9], [4, 4], 2");

}  // namespace
}  // namespace tessera::tensor
