// Convolution of images and series, and its transpose: products of matrices with im2col, or a kernel that does the same.
// compile: small (the kernel takes longer)
#include "runtime/ops/batching.h"
#include "runtime/ops/conv.h"

#include <algorithm>

#include "runtime/autograd/record.h"
#include "runtime/checked.h"
#include "runtime/class_text.h"
#include "runtime/context.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/norm_layers.h"
#include "runtime/ops/views.h"
#include "runtime/ops/windows.h"

namespace tessera::tensor {

constinit Kernel<ConvCall> conv_kernel("convolution");

namespace {

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

Tensor empty_like(Ints shape, const Tensor& like) { return Tensor::empty(shape, like.dtype(), like.device()); }

/// How a call's operands lie: row by row, or all with their channels last. Only devices' kernels take the latter, of the
/// dtypes for which cuDNN has it; elsewhere results are brought into that order afterwards.
struct Layout {
  bool last;
  Layout(bool wanted, const Tensor& like)
      : last(wanted && !like.device().is_cpu() && (like.dtype() == kFloat32 || is_half(like.dtype()))) {}
  Dims strides(const Tensor& t) const { return last ? strides_in(t, "torch.channels_last") : Dims(); }
  Tensor fresh(Ints shape, const Tensor& like) const {
    Tensor out = empty_like(shape, like);
    if (last) out.impl()->set_layout(shape, strides(out));
    return out;
  }
  /// t itself where it lies so.
  Tensor of(const Tensor& t) const {
    if (!last) return contiguous(t);
    if (lies_in(t, strides(t))) return t;
    const Tensor out = fresh(t.sizes(), t);
    copy_into(out, t);
    return out;
  }
  /// What is to be written: `to` where it is given and lies so.
  Tensor target(const Tensor& to, Ints shape, const Tensor& like) const {
    return to.defined() && lies_in(to, strides(to)) ? to : fresh(shape, like);
  }
};

// Makes one of the three by the device's kernel; undefined where there is none for it, or where a sweep is recorded, which
// needs ops that have derivatives.
Tensor by_kernel(ConvCall::Pass pass, const Tensor& image, const Tensor& weight, const Tensor& result, const Window& w,
                 int64_t groups, const Layout& layout, const Tensor& bias = {}) {
  const Tensor &a = pass == ConvCall::InputGradient ? weight : image, &b = pass == ConvCall::Forward ? weight : result;
  const bool served = conv_kernel.has(a.device().type) &&
                      (a.dtype() == kFloat32 || a.dtype() == kFloat64 || (is_half(a.dtype()) && !a.device().is_cpu()));
  const auto like_a = [&](const Tensor& t) { return t.dtype() == a.dtype() && t.device() == a.device(); };
  if (!served || !like_a(b) || (bias.defined() && !like_a(bias)) || needs_grad(a, b)) return {};
  const GradMode no_grad(false);
  const Tensor dense[] = {layout.of(image), layout.of(weight), layout.of(result)};
  for (const Tensor& t : dense)
    if (t.numel() == 0) return {};
  const Tensor shift = bias.defined() ? contiguous(bias) : bias;
  conv_kernel(a.device(), ConvCall{pass, a.dtype(), dense[0].data_ptr(), dense[1].data_ptr(), dense[2].data_ptr(),
                                   shift.defined() ? shift.data_ptr() : nullptr, image.sizes()[0], image.sizes()[1],
                                   image.sizes()[2], image.sizes()[3], result.sizes()[1], result.sizes()[2],
                                   result.sizes()[3], groups, w, layout.last});
  return dense[pass == ConvCall::InputGradient ? 0 : pass == ConvCall::WeightGradient ? 1 : 2];
}

Tensor with_bias(const Tensor& out, const Tensor& bias) {
  if (bias.defined()) add_(out, reshape(bias, {1, bias.numel(), 1, 1}));
  return out;
}

// The products of convolution; written in recorded ops where the sweep is recorded. With their channels last where `last`
// says so and the kernel can. `to` may be given: the result is there, or fresh.
Tensor conv_product(const Tensor& input, const Tensor& weight, const Window& w, int64_t groups, bool last,
                    const Tensor& bias = {}, const Tensor& to = {}) {
  const int64_t rows = w.out_size(0, input.sizes()[2]), columns = w.out_size(1, input.sizes()[3]);
  const Layout layout(last, input);
  const Tensor result = layout.target(to, {input.sizes()[0], weight.sizes()[0], rows, columns}, input);
  if (const Tensor out = by_kernel(ConvCall::Forward, input, weight, result, w, groups, layout, bias); out.defined())
    return out;
  const Tensor product = matmul(as_matrix(weight, groups), by_group(im2col(input, w), groups));
  return with_bias(reshape(product, {input.sizes()[0], weight.sizes()[0], rows, columns}), bias);
}

Tensor conv_input_gradient(const Tensor& g, const Tensor& weight, const Window& w, int64_t groups, bool last,
                           Ints shape, const Tensor& to = {}) {
  const Layout layout(last, g);
  const Tensor image = by_kernel(ConvCall::InputGradient, layout.target(to, shape, g), weight, g, w, groups, layout);
  if (image.defined()) return image;
  const Tensor flat = reshape(g, {g.sizes()[0], g.sizes()[1], g.sizes()[2] * g.sizes()[3]});
  const Tensor columns = matmul(transpose(as_matrix(weight, groups), -2, -1), by_group(flat, groups));
  // The whole of what the windows reach, cut at the padding: an output padding may show some of it, or be zeros.
  Window open = w;
  Dims edges(4, 0);
  int64_t whole[2];
  for (int d = 0; d < 2; d++) {
    whole[d] = (g.sizes()[size_t(2 + d)] - 1) * w.stride[d] + w.span(d);
    open.padding[d] = 0;
    edges[size_t(2 - 2 * d)] = -w.padding[d];
    edges[size_t(3 - 2 * d)] = shape[size_t(2 + d)] - whole[d] + w.padding[d];
  }
  const Tensor image_columns = reshape(columns, {shape[0], shape[1] * w.kernel[0] * w.kernel[1], flat.sizes()[2]});
  return pad(col2im(image_columns, open, whole[0], whole[1]), edges);
}

Tensor conv_weight_gradient(const Tensor& g, const Tensor& input, const Window& w, int64_t groups, bool last,
                            Ints shape) {
  const Layout layout(last, g);
  const Tensor weight = by_kernel(ConvCall::WeightGradient, input, layout.fresh(shape, g), g, w, groups, layout);
  if (weight.defined()) return weight;
  const Tensor flat = reshape(g, {g.sizes()[0], g.sizes()[1], g.sizes()[2] * g.sizes()[3]});
  const Tensor each = matmul(by_group(flat, groups), transpose(by_group(im2col(input, w), groups), -2, -1));
  return reshape(sum(each, Dims{0}), shape);
}

// What all checks and passes read. A series is an image of one row: index 0 of the window is then that row's.
struct Form {
  Window window;
  int64_t more[2], groups;  // more: rows and columns that a transposed result has at its end
  int spatial;              // dimensions: 1 or 2
  bool transposed;

  Form(const Tensor& weight, Ints stride, Ints padding, Ints dilation, bool transposed, Ints output_padding,
       int64_t groups)
      : window{}, more{0, 0}, groups(groups), spatial(int(weight.dim()) - 2), transposed(transposed) {
    window = window_of({}, {}, {}, {});
    for (int d = 0; d < spatial; d++) {
      const int at = d + 2 - spatial;
      window.kernel[at] = weight.sizes()[size_t(2 + d)];
      window.stride[at] = pick(stride, d, 1), window.padding[at] = pick(padding, d, 0);
      window.dilation[at] = pick(dilation, d, 1), more[at] = pick(output_padding, d, 0);
    }
  }
  int first() const { return 2 - spatial; }
  Tensor image(const Tensor& t) const { return spatial == 1 ? unsqueeze(t, -2) : t; }
  Tensor original(const Tensor& t) const { return spatial == 1 ? squeeze(t, -2) : t; }
  /// "5 x 4", or "5" of a series.
  std::string list(const int64_t (&values)[2], const char* between) const {
    return spatial == 1 ? text(values[1]) : text(values[0], between, values[1]);
  }
  template <class F>
  bool each(F&& holds) const {
    for (int d = first(); d < 2; d++)
      if (!holds(d)) return false;
    return true;
  }
};

void check_window(const Form& f) {
  const Window& w = f.window;
  check(f.each([&](int d) { return w.dilation[d] >= 0; }), TensorErrorKind::Runtime,
        "dilation should be greater than zero");
  if (!f.each([&](int d) { return w.dilation[d] > 0; }))
    fail(TensorErrorKind::Runtime, "dilation should be greater than zero, but got [", f.list(w.dilation, ", "), "]");
  check(f.groups > 0, TensorErrorKind::Runtime, "non-positive groups is not supported");
  check(f.each([&](int d) { return w.stride[d] > 0; }), TensorErrorKind::Runtime,
        "non-positive stride is not supported");
  for (int d = f.first(); d < 2; d++) {
    check(w.padding[d] >= 0, TensorErrorKind::Runtime, "negative padding is not supported");
    check(w.padding[d] <= INT64_MAX / 2, TensorErrorKind::Runtime, "Given padding=", w.padding[d], " at dimension ",
          d - f.first(), " , expected padding to be at most ", INT64_MAX / 2);
  }
}

void check_kernel(const Form& f) {
  check(f.each([&](int d) { return f.window.kernel[d] > 0; }), TensorErrorKind::Runtime,
        "kernel size should be greater than zero, but got kernel_height: ", f.window.kernel[0],
        " kernel_width: ", f.window.kernel[1]);
}

// In the words of the library that computes these numbers in PyTorch.
void check_types(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, bool transposed) {
  const DType type = input.dtype();
  const bool in_library = type == kFloat32 || is_half(type);
  const auto check_same = [&](const char* role, const Tensor& other) {
    check(other.dtype() == type && other.device() == input.device(), TensorErrorKind::Runtime, "Input type (",
          class_text(input.dtype(), input.device()), ") and ", role, " type (",
          class_text(other.dtype(), other.device()), ") should be the same",
          in_library && input.device().is_cpu()
              ? text(" or input should be a MKLDNN tensor and ", role, " is a dense tensor")
              : "");
  };
  if (kSmallTypes.has(type) && !traits_of(input.device()).products.has(type)) refuse_type(input, "slow_conv2d_cpu");
  if (in_library || is_complex(type)) {
    check_same("weight", weight);
    if (bias) check_same("bias", *bias);
    return;
  }
  if (transposed && type != kInt64) require_type(kFloatTypes | kComplexTypes, input, "slow_conv_transpose2d_out_cpu");
  check(weight.dtype() == type, TensorErrorKind::Runtime, "expected scalar type ", scalar_type_name(type),
        " but found ", scalar_type_name(weight.dtype()));
}

void check_groups(const Form& f, const Tensor& weight) {
  check(weight.sizes()[0] >= f.groups, TensorErrorKind::Runtime, "Given groups=", f.groups,
        ", expected weight to be at least ", f.groups, " at dimension 0, but got weight of size ", weight.sizes(),
        " instead");
  check(weight.sizes()[0] % f.groups == 0, TensorErrorKind::Runtime, "Given groups=", f.groups,
        ", expected weight to be divisible by ", f.groups, " at dimension 0, but got weight of size ", weight.sizes(),
        " instead");
}

void check_bias(const Form& f, const Tensor& weight, const OptionalTensor& bias, int64_t outputs) {
  if (bias)
    check(bias->dim() == 1 && bias->sizes()[0] == outputs, TensorErrorKind::Runtime, "Given ",
          f.transposed ? "transposed=1, " : "", "weight of size ", weight.sizes(),
          ", expected bias to be 1-dimensional with ", outputs, " elements, but got bias of size ", bias->sizes(),
          " instead");
}

void check_not_empty(const Form& f, const Tensor& input) {
  if (input.numel() || input.sizes()[0] == 0 || input.sizes()[1] == 0) return;
  fail(TensorErrorKind::Runtime,
       "Only zero batch or zero channel inputs are supported, but got input shape: ", f.image(input).sizes());
}

Dims result_shape(const Form& f, const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
  const Window& w = f.window;
  check_groups(f, weight);
  const int64_t expected = saturated_mul(weight.sizes()[1], f.groups), channels = input.sizes()[1];
  check(channels == expected, TensorErrorKind::Runtime, "Given groups=", f.groups, ", weight of size ", weight.sizes(),
        ", expected input", input.sizes(), " to have ", expected, " channels, but got ", channels, " channels instead");
  check_bias(f, weight, bias, weight.sizes()[0]);
  Dims shape{input.sizes()[0], weight.sizes()[0]};
  int64_t seen[2] = {1, 1}, span[2] = {1, 1};
  for (int d = f.first(); d < 2; d++) {
    const int64_t size = input.size(d - 2);
    seen[d] = w.padded_size(d, size), span[d] = w.span(d);
    shape.push_back(w.out_size(d, size));
  }
  if (!f.each([&](int d) { return seen[d] >= span[d]; }))
    fail(TensorErrorKind::Runtime, "Calculated padded input size per channel: (", f.list(seen, " x "),
         "). Kernel size: (", f.list(span, " x "), "). Kernel size can't be greater than actual input size");
  check_not_empty(f, input);
  return shape;
}

/// Checks the result's size of each dimension. PyTorch's native kernels refuse a result without elements; oneDNN, which takes halves and groups of
/// float32, makes it. The shape function of the meta device refuses a result that has no size above zero; its message prints sizes as lists.
void check_transposed_sizes(const Form& f, const Tensor& input, const int64_t (&in)[2], const int64_t (&out)[2]) {
  const bool meta = input.device().is_meta();
  const bool empty = meta ? !f.each([&](int d) { return out[d] <= 0; })
                          : is_half(input.dtype()) || (input.dtype() == kFloat32 && f.groups > 1);
  if (f.each([&](int d) { return empty ? out[d] >= 0 : out[d] > 0; })) return;
  const auto sizes = [&](const int64_t(&of)[2]) {
    return meta ? text("[", f.list(of, ", "), "]") : text("(", of[0], " x ", of[1], ")");
  };
  fail(TensorErrorKind::Runtime, "Given input size per channel: ", sizes(in),
       ". Calculated output size per channel: ", sizes(out), ". Output size is too small");
}

Dims transposed_shape(const Form& f, const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
  const Window& w = f.window;
  check(f.more[0] >= 0 && f.more[1] >= 0, TensorErrorKind::Runtime, "negative output_padding is not supported");
  check(f.each([&](int d) { return f.more[d] < std::max(w.stride[d], w.dilation[d]); }), TensorErrorKind::Runtime,
        "output padding must be smaller than either stride or dilation, but got output_padding_height: ", f.more[0],
        " output_padding_width: ", f.more[1], " stride_height: ", w.stride[0], " stride_width: ", w.stride[1],
        " dilation_height: ", w.dilation[0], " dilation_width: ", w.dilation[1]);
  check_groups(f, weight);
  const int64_t outputs = checked_mul(weight.sizes()[1], f.groups), channels = input.sizes()[1];
  check(channels == weight.sizes()[0], TensorErrorKind::Runtime, "Given transposed=1, weight of size ", weight.sizes(),
        ", expected input", input.sizes(), " to have ", weight.sizes()[0], " channels, but got ", channels,
        " channels instead");
  check_bias(f, weight, bias, outputs);
  check_not_empty(f, input);
  Dims shape{input.sizes()[0], outputs};
  int64_t in[2] = {1, 1}, out[2] = {1, 1};
  for (int d = f.first(); d < 2; d++) {
    in[d] = input.size(d - 2);
    const int64_t spread = saturated_add(saturated_mul(in[d] - 1, w.stride[d]), w.span(d));
    out[d] = saturated_sub(saturated_add(spread, f.more[d]), 2 * w.padding[d]);
    shape.push_back(out[d]);
  }
  check_transposed_sizes(f, input, in, out);
  return shape;
}

/// What the windows of a transposed convolution's input reach of its result, zeros where that is padding. An output padding
/// as large as the stride shows more windows than the input has elements.
Tensor reached(const Tensor& result, const Tensor& input, Window& w) {
  Dims edges(4, 0);
  bool fits = true;
  for (int d = 0; d < 2; d++) {
    const int64_t seen = result.sizes()[size_t(2 + d)], size = input.sizes()[size_t(2 + d)];
    fits &= w.out_size(d, seen) == size;
    edges[size_t(2 - 2 * d)] = w.padding[d];
    edges[size_t(3 - 2 * d)] = (size - 1) * w.stride[d] + w.span(d) - seen - w.padding[d];
  }
  if (fits) return result;
  w.padding[0] = w.padding[1] = 0;
  return pad(result, edges);
}

/// The settings of a call, as the functions of one name take them.
struct Settings {
  Ints stride, padding, dilation;
  bool transposed = false;
  Ints output_padding = {};
};

/// Of a batch of images or series. Each of the two ways is what the other does to the gradient of its input.
struct Convolution {
  static Meta shape(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Ints stride, Ints padding,
                    Ints dilation, bool transposed, Ints output_padding, int64_t groups) {
    if (bias && !transposed)
      check(bias->dtype() == input.dtype(), TensorErrorKind::Runtime, "Input type (", cpp_name(input.dtype()),
            ") and bias type (", cpp_name(bias->dtype()), ") should be the same");
    if (is_complex(input.dtype())) check_types(input, weight, bias, transposed);
    check_ranks(input, weight, {stride, padding, dilation, transposed, output_padding});
    const Form f(weight, stride, padding, dilation, transposed, output_padding, groups);
    check_window(f);
    const Dims sizes = transposed ? transposed_shape(f, input, weight, bias) : result_shape(f, input, weight, bias);
    check_types(input, weight, bias, transposed);
    check_kernel(f);
    return Meta(sizes, input.dtype(), input.device(), suggested_strides(last_of(input, weight), sizes));
  }
  static void run(const Tensor& out, const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Ints stride,
                  Ints padding, Ints dilation, bool transposed, Ints output_padding, int64_t groups) {
    const Form f(weight, stride, padding, dilation, transposed, output_padding, groups);
    const Tensor x = f.image(input), k = f.image(weight), shift = bias.value_or(Tensor()), to = f.image(out);
    const bool last = has_channels_last(last_of(input, weight));
    const Tensor result = transposed
                              ? with_bias(conv_input_gradient(x, k, f.window, groups, last, to.sizes(), to), shift)
                              : conv_product(x, k, f.window, groups, last, shift, to);
    if (!result.same(to)) copy_into(to, result);
  }
  static void grad(Tensor& out, const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Ints stride,
                   Ints padding, Ints dilation, bool transposed, Ints output_padding, int64_t groups) {
    const Form f(weight, stride, padding, dilation, transposed, output_padding, groups);
    const Tensor shift = bias.value_or(Tensor());
    const bool last = has_channels_last(last_of(input, weight));
    record(out, "ConvolutionBackward0", {&input, &weight, &shift}, keep(input, weight), [form = f, last](Sweep& s) {
      Form f = form;
      const Tensor x = conj(f.image(s.kept(0))), k = conj(f.image(s.kept(1))), all = f.image(s.g());
      Tensor g = f.transposed ? reached(all, x, f.window) : all;
      const auto bring = [&] {  // into order, once for both of its readers
        if (!needs_grad(g)) g = Layout(last, g).of(g);
      };
      s.give(0, [&] {
        bring();
        const Tensor dx = f.transposed ? conv_product(g, k, f.window, f.groups, last)
                                       : conv_input_gradient(g, k, f.window, f.groups, last, x.sizes());
        return f.original(channels_last_if(last, dx));
      });
      s.give(1, [&] {
        bring();
        const Tensor dk = f.transposed ? conv_weight_gradient(x, g, f.window, f.groups, last, k.sizes())
                                       : conv_weight_gradient(g, x, f.window, f.groups, last, k.sizes());
        return f.original(channels_last_if(last, dk));
      });
      s.give(2, [&] { return sum(all, Dims{0, 2, 3}); });
    });
  }

 private:
  // One of both with its channels last leads.
  static const Tensor& last_of(const Tensor& input, const Tensor& weight) {
    return has_channels_last(weight) ? weight : input;
  }
  static void check_ranks(const Tensor& input, const Tensor& weight, const Settings& s) {
    check(weight.dim() >= 3, TensorErrorKind::Runtime, "weight should have at least three dimensions");
    const int64_t spatial = weight.dim() - 2;
    const auto check_count = [&](const char* name, Ints values) {
      check(values.size() == 1 || int64_t(values.size()) == spatial, TensorErrorKind::Runtime, "expected ", name,
            " to be a single integer value or a list of ", spatial,
            " values to match the convolution dimensions, but got ", name, "=", values);
    };
    check_count("stride", s.stride), check_count("padding", s.padding), check_count("dilation", s.dilation);
    if (s.transposed) check_count("output_padding", s.output_padding);
    check(input.dim() == weight.dim(), TensorErrorKind::Runtime, "Expected ", weight.dim(), "-dimensional input for ",
          weight.dim(), "-dimensional weight ", weight.sizes(), ", but got ", input.dim(),
          "-dimensional input of size ", input.sizes(), " instead");
    check(spatial <= 2, TensorErrorKind::NotImplemented, "convolution over more than two dimensions");
  }
};

// One item alone is a batch of one.
Tensor convolved(const char* name, int64_t spatial, const Tensor& input, const Tensor& weight,
                 const OptionalTensor& bias, const Settings& s, int64_t groups) {
  check(input.dim() == spatial + 1 || input.dim() == spatial + 2, TensorErrorKind::Runtime, "Expected ", spatial + 1,
        "D (unbatched) or ", spatial + 2, "D (batched) input to ", name, ", but got input of size: ", input.sizes());
  const bool alone = input.dim() == spatial + 1;
  const Tensor out = apply<Convolution>(alone ? unsqueeze(input, 0) : input, weight, bias, s.stride, s.padding,
                                        s.dilation, s.transposed, s.output_padding, groups);
  return alone ? squeeze(out, 0) : out;
}

// 'same' keeps the size; what does not come out even is put behind the image first.
Tensor convolved_named(const char* name, int64_t spatial, const Tensor& input, const Tensor& weight,
                       const OptionalTensor& bias, Ints stride, const std::string& padding, Ints dilation,
                       int64_t groups) {
  check(padding == "same" || padding == "valid", TensorErrorKind::Runtime, "Invalid padding string: '", padding, "'");
  Dims before(size_t(spatial), 0),
      behind(2 * size_t(spatial), 0);  // behind: as pad takes them, the last dimension first
  bool even = true;
  if (padding == "same") {
    const bool alone = input.dim() == spatial + 1;
    check(weight.dim() == input.dim() + alone, TensorErrorKind::Runtime, "Expected ", weight.dim(),
          "-dimensional input for ", weight.dim(), "-dimensional weight", weight.sizes(), ", but got ",
          input.dim() + alone, "-dimensional input of size ", alone ? unsqueeze(input, 0).sizes() : input.sizes(),
          " instead");
    for (size_t d = 0; d < size_t(spatial); d++) {
      check(pick(stride, d, 1) == 1, TensorErrorKind::Runtime,
            "padding='same' is not supported for strided convolutions");
      const int64_t kernel = int64_t(d) + 2 < weight.dim() ? weight.sizes()[2 + d] : 1;
      const int64_t total = saturated_mul(pick(dilation, d, 1), kernel - 1);
      before[d] = total / 2, behind[2 * (size_t(spatial) - 1 - d) + 1] = total % 2;
      even &= total % 2 == 0;
    }
  }
  return convolved(name, spatial, even ? input : pad(input, behind), weight, bias, {stride, before, dilation}, groups);
}

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Ints stride, Ints padding,
              Ints dilation, int64_t groups) {
  return convolved("conv2d", 2, input, weight, bias, {stride, padding, dilation}, groups);
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Ints stride,
                        Ints padding, Ints output_padding, int64_t groups, Ints dilation) {
  return convolved("conv_transpose2d", 2, input, weight, bias, {stride, padding, dilation, true, output_padding},
                   groups);
}

namespace {

Tensor conv1d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Ints stride, Ints padding,
              Ints dilation, int64_t groups) {
  return convolved("conv1d", 1, input, weight, bias, {stride, padding, dilation}, groups);
}
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Ints stride,
                        Ints padding, Ints output_padding, int64_t groups, Ints dilation) {
  return convolved("conv_transpose1d", 1, input, weight, bias, {stride, padding, dilation, true, output_padding},
                   groups);
}
Tensor conv2d_named(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Ints stride,
                    const std::string& padding, Ints dilation, int64_t groups) {
  return convolved_named("conv2d", 2, input, weight, bias, stride, padding, dilation, groups);
}
Tensor conv1d_named(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, Ints stride,
                    const std::string& padding, Ints dilation, int64_t groups) {
  return convolved_named("conv1d", 1, input, weight, bias, stride, padding, dilation, groups);
}

#define TS_CONV "Tensor input, Tensor weight, Tensor? bias=None, "
TS_OP(
    convolution,
    "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, "
    "int[] output_padding, int groups) -> Tensor",
    "Convolution of a batch of images or series, or its transpose.", kFunction, Convolution,
    "f[2,2,5,4], f[3,2,2,3], f[3], [1], [0], [1], False, [0], 1\n"
    "f[1,4,5,5], f[4,2,3,3], None, [2, 1], [1, 1], [1, 1], False, [0, 0], 2\n"
    "f[2,2,6], f[3,2,3], f[3], [2], [1], [1], False, [0], 1\n"
    "f[1,2,3,3], f[2,3,2,2], f[3], [2, 2], [0, 0], [1, 1], True, [1, 0], 1\n"
    "f[1,2,3], f[2,1,3], None, [2], [1], [2], True, [1], 2\n"
    "f[1,2,5,5], f[3,2,3], None, [1, 1], [0], [1], False, [0], 1 -> RuntimeError: expected stride to be a single "
    "integer value or a list of 1 values to match the convolution dimensions, but got stride=[1, 1]\n"
    "f[2,5,5], f[3,2,3,3], None, [1], [0], [1], False, [0], 1 -> RuntimeError: Expected 4-dimensional input for "
    "4-dimensional weight [3, 2, 3, 3], but got 3-dimensional input of size [2, 5, 5] instead\n"
    "f[1,2,5], f[3,2,3], None, [0], [0], [1], False, [0], 1 -> RuntimeError: non-positive stride is not supported\n"
    "f[1,2,5], f[3,2,3], None, [1], [-1], [1], False, [0], 1 -> RuntimeError: negative padding is not supported\n"
    "f[1,2,5], f[3,2,3], None, [1], [0], [0], False, [0], 1 -> RuntimeError: dilation should be greater than zero, "
    "but got [0]\n"
    "f[1,2,5], f[3,2,3], None, [1], [0], [-1], False, [0], 1 -> RuntimeError: dilation should be greater than zero\n"
    "f[1,2,5], f[2,1,3], None, [1], [0], [1], True, [1], 1 -> RuntimeError: output padding must be smaller than either "
    "stride or dilation",
    .any_device = true, .autocast_cuda = Autocast::Lower);
TS_OP(
    conv2d, "conv2d(" TS_CONV "int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor",
    "Cross-correlation of images with kernels.", kFunction | kFunctional, &conv2d,
    "f[2,2,5,4], f[3,2,2,3], f[3]\n"
    "f[2,5,5], f[4,1,3,3], stride=[2, 1], padding=1, groups=2\n"
    "f[1,2,5,5], f[2,2,2,2], dilation=2\n"
    "f[1,2,4,4], f[3,3,2,2] -> RuntimeError: Given groups=1, weight of size [3, 3, 2, 2], expected input[1, 2, 4, 4] "
    "to have 3 channels, but got 2 channels instead\n"
    "f[2,4,4], f[3,3,2,2] -> RuntimeError: Given groups=1, weight of size [3, 3, 2, 2], expected input[1, 2, 4, 4] to "
    "have 3 channels, but got 2 channels instead\n"
    "f[1,2,4,4], f[3,2,2,2], f[2] -> RuntimeError: Given weight of size [3, 2, 2, 2], expected bias to be 1-dimensional "
    "with 3 elements, but got bias of size [2] instead\n"
    "f[4,4], f[3,2,2,2] -> RuntimeError: Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of "
    "size: [4, 4]\n"
    "f[1,2,4,4], f[3,2,5,5] -> RuntimeError: Calculated padded input size per channel: (4 x 4). Kernel size: (5 x 5). "
    "Kernel size can't be greater than actual input size",
    .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower, .batched = batched_images<2>);
TS_OP(conv2d,
      "conv2d.padding(" TS_CONV "int[2] stride=1, str padding='valid', int[2] dilation=1, int groups=1) -> Tensor",
      "Cross-correlation of images with kernels.", kFunction | kFunctional, &conv2d_named,
      "f[1,2,5,4], f[3,2,3,2], padding='same'\n"
      "f[2,5,4], f[3,2,3,2], padding='valid'\n"
      "f[1,2,5,4], f[3,2,3,2], padding='most' -> RuntimeError: Invalid padding string: 'most'\n"
      "f[1,2,5,4], f[3,2,3,2], None, 2, 'same' -> RuntimeError: padding='same' is not supported for strided "
      "convolutions",
      .batched = batched_images<2>);
TS_OP(conv1d, "conv1d(" TS_CONV "int[1] stride=1, int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor",
      "Cross-correlation of series with kernels.", kFunction | kFunctional, &conv1d,
      "f[2,2,6], f[3,2,3], f[3], 2, 1\n"
      "f[2,6], f[3,2,3]\n"
      "f[2,5], f[4,3,3] -> RuntimeError: Given groups=1, weight of size [4, 3, 3], expected input[1, 2, 5] to have 3 "
      "channels, but got 2 channels instead",
      .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower, .batched = batched_images<1>);
TS_OP(conv1d,
      "conv1d.padding(" TS_CONV "int[1] stride=1, str padding='valid', int[1] dilation=1, int groups=1) -> Tensor",
      "Cross-correlation of series with kernels.", kFunction | kFunctional, &conv1d_named,
      "f[1,2,6], f[3,2,3], padding='same'", .batched = batched_images<1>);
TS_OP(
    conv_transpose2d,
    "conv_transpose2d(" TS_CONV
    "int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
    "The transpose of conv2d: spreads each pixel by a kernel.", kFunction | kFunctional, &conv_transpose2d,
    "f[1,2,3,3], f[2,3,2,2], f[3], 2\n"
    "f[1,2,3,3], f[2,1,3,3], None, 2, 1, 1, 2\n"
    "f[2,5,5], f[4,3,3,3] -> RuntimeError: Given transposed=1, weight of size [4, 3, 3, 3], expected input[1, 2, 5, 5] "
    "to have 4 channels, but got 2 channels instead",
    .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower, .batched = batched_images<2>);
TS_OP(conv_transpose1d,
      "conv_transpose1d(" TS_CONV
      "int[1] stride=1, int[1] padding=0, int[1] output_padding=0, int groups=1, int[1] dilation=1) -> Tensor",
      "The transpose of conv1d: spreads each element by a kernel.", kFunction | kFunctional, &conv_transpose1d,
      "f[1,2,3], f[2,3,2], f[3], 2", .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower,
      .batched = batched_images<1>);
#undef TS_CONV

}  // namespace
}  // namespace tessera::tensor
