#include "runtime/checked.h"
#include "runtime/ops/norm_layers.h"

#include <algorithm>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<LayerNormCall> layer_norm_kernel("native_layer_norm");
constinit Kernel<LayerNormGradCall> layer_norm_grad_kernel("native_layer_norm_backward");

namespace {

Tensor given(const MaybeTensor& t) { return t.value_or(Tensor()); }

// (x - mean) / sqrt(var + eps) over some dimensions, with the numbers that the derivative needs.
struct Normalised {
  Tensor value, inverse;  // the result and 1 / sqrt(var + eps)

  Normalised(const Tensor& x, const Dims& dims, double eps) {
    const Tensor centred = x - mean(x, dims, true);
    inverse = rsqrt(mean(centred * centred, dims, true) + eps);
    value = centred * inverse;
  }
};

// The gradient through the normalisation: g without its mean and without its part along the result.
Tensor normalised_gradient(const Tensor& g, const Normalised& n, const Dims& dims) {
  return n.inverse * (g - mean(g, dims, true) - n.value * mean(g * n.value, dims, true));
}

Tensor scaled(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Tensor out = weight.defined() ? x * weight : x;
  return bias.defined() ? out + bias : out;
}

DType arithmetic_of(DType t) { return t == kFloat64 ? kFloat64 : kFloat32; }
const void* data_or_null(const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }
void* data_to_fill(const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }

Dims last_dims(const Tensor& x, size_t count) {
  Dims dims;
  for (size_t d = x.sizes().size() - count; d < x.sizes().size(); d++) dims.push_back(int64_t(d));
  return dims;
}

/// The result, and of each row the mean and 1 / sqrt(var + eps), which the gradient needs.
struct LayerNorm {
  static std::array<Meta, 3> shape(const Tensor& input, const Dims& normal, const MaybeTensor& weight,
                                   const MaybeTensor& bias, double) {
    const int64_t inner = int64_t(normal.size()), outer = input.dim() - inner;
    check(
        inner > 0, TensorErrorKind::Runtime,
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = ",
        Ints(normal));
    for (const MaybeTensor* t : {&weight, &bias})
      check(!*t || (*t)->sizes() == Ints(normal), TensorErrorKind::Runtime, "Expected ",
            t == &weight ? "weight" : "bias", " to be of same shape as normalized_shape, but got ",
            t == &weight ? "weight" : "bias", " of shape ", *t ? (*t)->sizes() : Ints(),
            " and normalized_shape = ", Ints(normal));
    std::string wanted = "[*";
    for (const int64_t s : normal) wanted += ", " + std::to_string(s);
    check(outer >= 0 && input.sizes().drop(size_t(std::max<int64_t>(outer, 0))) == Ints(normal),
          TensorErrorKind::Runtime, "Given normalized_shape=", Ints(normal), ", expected input with shape ", wanted,
          "], but got input of size", input.sizes());
    require_type(kFloatTypes, input.dtype(), "LayerNormKernelImpl");
    Dims rows(input.sizes());
    for (int64_t d = outer; d < input.dim(); d++) rows[size_t(d)] = 1;
    const Meta statistic(rows, arithmetic_of(input.dtype()), input.device());
    return {Meta(input.sizes(), input), statistic, statistic};
  }
  static void run(const Tensor& out, const Tensor& mean, const Tensor& inverse, const Tensor& input, const Dims&,
                  const MaybeTensor& weight, const MaybeTensor& bias, double eps) {
    if (out.numel() == 0) return;
    const auto dense = [&](const MaybeTensor& t) { return t ? contiguous(to_dtype(*t, mean.dtype())) : Tensor(); };
    const Tensor x = contiguous(input), w = dense(weight), b = dense(bias);
    layer_norm_kernel(input.device(),
                      {input.dtype(), x.data_ptr(), data_or_null(w), data_or_null(b), out.data_ptr(), mean.data_ptr(),
                       inverse.data_ptr(), mean.numel(), x.numel() / mean.numel(), eps});
  }
  static void grad(Tensor& out, Tensor& mean, Tensor& inverse, const Tensor& input, const Dims& normal,
                   const MaybeTensor& weight_given, const MaybeTensor& bias_given, double eps) {
    const Tensor weight = given(weight_given), bias = given(bias_given);
    record(out, "NativeLayerNormBackward0", {&input, &weight, &bias}, keep(input, weight, mean, inverse),
           [normal, eps](Sweep& s) {
             if (Context::current().grad_enabled) differentiable(s, normal, eps);
             else by_kernel(s, normal);
           });
  }

 private:
  // All gradients by one kernel.
  static void by_kernel(Sweep& s, const Dims& normal) {
    const Tensor x = contiguous(s.kept(0)), weight = s.kept(1), mean = s.kept(2), inverse = s.kept(3);
    const Tensor g = contiguous(to_dtype(s.g(), x.dtype()));
    const Tensor w = weight.defined() ? contiguous(to_dtype(weight, mean.dtype())) : weight;
    Tensor dx, dweight, dbias;
    if (s.needs(0)) dx = Tensor::empty(x.sizes(), x.dtype(), x.device());
    if (s.needs(1)) dweight = zeros(normal, mean.dtype(), x.device());
    if (s.needs(2)) dbias = zeros(normal, mean.dtype(), x.device());
    if (x.numel())
      layer_norm_grad_kernel(x.device(), {x.dtype(), g.data_ptr(), x.data_ptr(), data_or_null(w), mean.data_ptr(),
                                               inverse.data_ptr(), data_to_fill(dx), data_to_fill(dweight),
                                               data_to_fill(dbias), mean.numel(), x.numel() / mean.numel()});
    s.give(0, [&] { return dx; });
    s.give(1, [&] { return to_dtype(dweight, weight.dtype()); });
    s.give(2, [&] { return to_dtype(dbias, s.g().dtype()); });
  }
  // The same from ops, where the gradients will be differentiated again.
  static void differentiable(Sweep& s, const Dims& normal, double eps) {
    const Tensor x = s.kept(0), w = s.kept(1);
    const Dims dims = last_dims(x, normal.size());
    const Normalised n(x, dims, eps);
    s.give(0, [&] { return normalised_gradient(w.defined() ? s.g() * w : s.g(), n, dims); });
    s.give(1, [&] { return sum_to_size(s.g() * n.value, normal); });
    s.give(2, [&] { return sum_to_size(s.g(), normal); });
  }
};

}  // namespace

Tensor layer_norm(const Tensor& input, Ints shape, const MaybeTensor& weight, const MaybeTensor& bias, double eps) {
  return std::get<0>(apply<LayerNorm>(input, Dims(shape), weight, bias, eps));
}

namespace {

void move_towards(const MaybeTensor& running, const Tensor& fresh, double momentum) {
  if (!running) return;
  copy_into(*running, *running * (1.0 - momentum) + fresh * momentum);
  running->bump_version();
}

// Channels are the second dimension; everything else is averaged over.
struct Channels {
  Dims others, shape;  // shape: [1, C, 1, ...]
  int64_t count = 0;

  explicit Channels(const Tensor& x) : shape(x.sizes().size(), 1) {
    check(x.dim() >= 2, TensorErrorKind::Value, "expected at least 2D input (got ", x.dim(), "D input)");
    shape[1] = x.sizes()[1];
    for (int64_t d = 0; d < x.dim(); d++)
      if (d != 1) others.push_back(d);
    count = shape[1] ? x.numel() / shape[1] : 0;
  }
  Tensor spread(const Tensor& t) const { return t.defined() ? reshape(t, shape) : t; }
};

}  // namespace

Tensor batch_norm(const Tensor& input, const MaybeTensor& weight_given, const MaybeTensor& bias_given,
                  const MaybeTensor& running_mean, const MaybeTensor& running_var, bool training, double momentum,
                  double eps) {
  const Channels c(input);
  const Tensor weight = given(weight_given), bias = given(bias_given);
  for (const MaybeTensor* t : {&running_mean, &running_var, &weight_given, &bias_given})
    if (*t)
      check((*t)->numel() == c.shape[1], TensorErrorKind::Runtime,
            t == &running_mean || t == &running_var ? "running_mean" : "weight", " should contain ", c.shape[1],
            " elements not ", (*t)->numel());
  check(!training || c.count > 1, TensorErrorKind::Value,
        "Expected more than 1 value per channel when training, got input size torch.Size(", input.sizes(), ")");
  Tensor out, fixed_mean, fixed_inverse;
  {
    const GradMode no_grad(false);
    Tensor normal;
    if (training) {
      const Normalised n(input, c.others, eps);
      normal = n.value;
      move_towards(running_mean, mean(input, c.others), momentum);
      if (running_var) move_towards(running_var, var(input, c.others, 1), momentum);
    } else {
      check(running_mean && running_var, TensorErrorKind::Runtime, "running_mean must be defined in evaluation mode");
      fixed_mean = clone(c.spread(*running_mean)), fixed_inverse = rsqrt(c.spread(*running_var) + eps);
      normal = (input - fixed_mean) * fixed_inverse;
    }
    out = scaled(normal, c.spread(weight), c.spread(bias));
  }
  if (needs_grad(input, weight, bias))
    record(out, "NativeBatchNormBackward0", {&input, &weight, &bias}, keep(input, weight, fixed_mean, fixed_inverse),
           [c, eps, training](Sweep& s) {
             const Tensor x = s.kept(0), w = c.spread(s.kept(1)), inverse = s.kept(3);
             const Tensor g = w.defined() ? s.g() * w : s.g();
             if (!training) {
               s.give(0, [&] { return g * inverse; });
               s.give(1, [&] { return sum(s.g() * ((x - s.kept(2)) * inverse), c.others); });
             } else {
               const Normalised n(x, c.others, eps);
               s.give(0, [&] { return normalised_gradient(g, n, c.others); });
               s.give(1, [&] { return sum(s.g() * n.value, c.others); });
             }
             s.give(2, [&] { return sum(s.g(), c.others); });
           });
  return out;
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx) {
  check(weight.dim() == 2, TensorErrorKind::Runtime, "'weight' must be 2-D");
  check(indices.dtype() == kInt64 || indices.dtype() == kInt32, TensorErrorKind::Runtime,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got ",
        indices.device().is_cuda() ? "torch.cuda." : "torch.", scalar_type_name(indices.dtype()),
        "Tensor instead (while checking arguments for embedding)");
  Dims shape(indices.sizes());
  shape.push_back(weight.sizes()[1]);
  Tensor out;
  const Tensor flat = reshape(indices, {-1});
  {
    const GradMode no_grad(false);
    out = reshape(index_select(weight, 0, flat), shape);
  }
  if (needs_grad(weight))
    record(out, "EmbeddingBackward0", {&weight}, keep(flat), [sizes = Dims(weight.sizes()), padding_idx](Sweep& s) {
      s.give(0, [&] {
        const Tensor rows = reshape(s.g(), {-1, sizes[1]});
        const Tensor all = index_add(zeros(sizes, rows.dtype(), rows.device()), 0, s.kept(0), rows, 1);
        return padding_idx < 0 ? all : index_fill(all, 0, Tensor::from_values<int64_t>({padding_idx}, {1}), 0);
      });
    });
  return out;
}

// ---- padding ----

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

Tensor constant_pad(const Tensor& self, const Padding& p, double value) {
  Dims shape(self.sizes());
  for (size_t d = 0; d < shape.size(); d++) {
    shape[d] = p.size(d, shape[d]);
    check(shape[d] >= 0, TensorErrorKind::Runtime, "The input size ", self.sizes()[d], ", plus negative padding ",
          p.before[d], " and ", p.after[d], " resulted in a negative output size, which is invalid. Check dimension ",
          d, " of your input.");
  }
  Tensor out;
  {
    const GradMode no_grad(false);
    out = full(shape, value, self.dtype(), self.device());
    // Negative padding cuts the input instead.
    const auto cut = [](int64_t padding) { return std::max<int64_t>(saturated_sub(0, padding), 0); };
    Tensor to = out, from = self;
    for (size_t d = 0; d < shape.size(); d++) {
      to = slice(to, d, std::max<int64_t>(p.before[d], 0), shape[d] - std::max<int64_t>(p.after[d], 0));
      from = slice(from, d, cut(p.before[d]), self.sizes()[d] - cut(p.after[d]));
    }
    copy_into(to, from);
  }
  if (needs_grad(self))
    record(out, "ConstantPadNdBackward0", {&self}, [p](Sweep& s) {
      s.give(0, [&] {
        Padding back = p;
        for (size_t d = 0; d < p.before.size(); d++)
          back.before[d] = saturated_sub(0, p.before[d]), back.after[d] = saturated_sub(0, p.after[d]);
        return constant_pad(s.g(), back, 0.0);
      });
    });
  return out;
}

// Which item of a dimension stands at a place outside it.
int64_t mirrored(int64_t i, int64_t size, const std::string& mode) {
  if (mode == "replicate") return std::clamp<int64_t>(i, 0, size - 1);
  if (mode == "circular") return ((i % size) + size) % size;
  const int64_t period = 2 * (size - 1), at = ((i % period) + period) % period;
  return at < size ? at : period - at;
}

}  // namespace

Tensor pad(const Tensor& self, Ints pad, const std::string& mode, std::optional<double> value) {
  const Padding p(self, pad);
  if (mode == "constant") return constant_pad(self, p, value.value_or(0.0));
  check(mode == "reflect" || mode == "replicate" || mode == "circular", TensorErrorKind::NotImplemented,
        "Unrecognised padding mode ", mode);
  Tensor out = self;
  for (int64_t d = 0; d < self.dim(); d++) {
    if (!p.before[d] && !p.after[d]) continue;
    const int64_t size = self.sizes()[d];
    check(mode != "reflect" || (p.before[d] < size && p.after[d] < size), TensorErrorKind::Runtime,
          "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (",
          p.before[d], ", ", p.after[d], ") at dimension ", d, " of input ", self.sizes());
    check(mode != "circular" || (p.before[d] <= size && p.after[d] <= size), TensorErrorKind::Runtime,
          "Padding value causes wrapping around more than once.");
    const int64_t length = p.size(size_t(d), size);
    check(length > 0 && size > 0, TensorErrorKind::Runtime, "input (W: ", size,
          ") is too small. Calculated output W: ", length);
    const Tensor places = Tensor::empty({length}, kInt64);
    for (int64_t i = 0; i < length; i++) places.data<int64_t>()[i] = mirrored(i - p.before[d], size, mode);
    out = index_select(out, d, to_device(places, self.device()));
  }
  return out;
}

namespace {

TS_OP(
    layer_norm,
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
    "Normalises over the last dimensions.", kFunction | kFunctional,
    +[](const Tensor& x, Ints shape, const MaybeTensor& w, const MaybeTensor& b, double eps, bool) {
      return layer_norm(x, shape, w, b, eps);
    },
    "f[3,4], [4]\nf[3,4], [4], f[4], f[4]\nf[2,3,4], [3, 4], f[3,4]\nf[2,40], [40], None, f[40], 0.1\n"
    "f[3,4], [3] -> RuntimeError: Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[3, 4]\n"
    "f[3,4], [4], f[3] -> RuntimeError: Expected weight to be of same shape as normalized_shape");
TS_OP(
    native_layer_norm,
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
    "layer_norm, with the mean of each row and 1 / sqrt(var + eps).", kFunction, LayerNorm,
    "f[3,4], [4], f[4], f[4], 1e-05\nf[2,3,40], [40], None, None, 1e-05");
TS_OP(
    batch_norm,
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool "
    "cudnn_enabled=True) -> Tensor",
    "Normalises each channel over the batch.", kFunction,
    +[](const Tensor& x, const MaybeTensor& w, const MaybeTensor& b, const MaybeTensor& m, const MaybeTensor& v,
        bool training, double momentum, double eps,
        bool) { return batch_norm(x, w, b, m, v, training, momentum, eps); });
TS_OP(
    embedding,
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    "Rows of weight by their number.", kFunction,
    +[](const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool, bool) {
      return embedding(weight, indices, padding_idx);
    });
TS_OP(pad, "pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor",
      "Items around the tensor; the last dimension is named first.", kFunctional | kInternal, &pad);

}  // namespace
}  // namespace tessera::tensor
