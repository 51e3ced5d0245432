// Normalisation as one op: over the last dimensions of each item, groups of its channels, or the batch in each channel.
// compile: small (the kernel takes longer)
#include "runtime/ops/batching.h"
#include "runtime/ops/norm_layers.h"

#include <algorithm>

#include "runtime/checked.h"
#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<LayerNormCall> layer_norm_kernel("native_layer_norm");
constinit Kernel<LayerNormGradCall> layer_norm_grad_kernel("native_layer_norm_backward");
constinit Kernel<BatchNormCall> batch_norm_kernel("native_batch_norm");
constinit Kernel<BatchNormGradCall> batch_norm_grad_kernel("native_batch_norm_backward");

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
Tensor dense(const Tensor& t, DType dtype) { return t.defined() ? contiguous(to_dtype(t, dtype)) : t; }
Tensor dense(const MaybeTensor& t, DType dtype) { return dense(given(t), dtype); }

// The parameters have the input's type, or all are float32 beside halves.
void check_parameters(const Tensor& input, std::initializer_list<const MaybeTensor*> parameters) {
  const MaybeTensor* first = nullptr;
  for (const MaybeTensor* p : parameters)
    if (!first && *p && (*p)->defined()) first = p;
  if (!first) return;
  const bool mixed = (*first)->dtype() != input.dtype();
  for (const MaybeTensor* p : parameters) {
    if (!*p || !(*p)->defined()) continue;
    const DType type = (*p)->dtype();
    check(!mixed || type == kFloat32, TensorErrorKind::Runtime,
          "mixed dtype (CPU): expect parameter to have scalar type of Float");
    check(mixed || type == input.dtype(), TensorErrorKind::Runtime, "expected scalar type ",
          scalar_type_name(input.dtype()), " but found ", scalar_type_name(type));
  }
  check(!mixed || is_half(input.dtype()), TensorErrorKind::Runtime,
        "mixed dtype (CPU): all inputs must share same datatype.");
}
// As PyTorch hands out what was computed in float32: of halves as halves, unless the parameters are float32.
DType statistic_type(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias) {
  const MaybeTensor& first = weight ? weight : bias;
  return first && first->defined() ? first->dtype() : input.dtype();
}

// As the gradient reads what was handed out: on the CPU PyTorch keeps it in that dtype.
Tensor as_kept(const Tensor& statistic, DType handed_out) {
  if (!is_half(handed_out) || !statistic.device().is_cpu()) return statistic;
  return to_dtype(to_dtype(statistic, handed_out), statistic.dtype());
}

Dims last_dims(const Tensor& x, size_t count) {
  Dims dims;
  for (size_t d = x.sizes().size() - count; d < x.sizes().size(); d++) dims.push_back(int64_t(d));
  return dims;
}

/// The result, and of each row the mean and 1 / sqrt(var + eps), which the gradient needs.
struct LayerNorm {
  static std::array<Meta, 3> shape(const Tensor& input, const Dims& normal, const MaybeTensor& weight,
                                   const MaybeTensor& bias, double) {
    check_one_device("wrapper_CUDA__native_layer_norm",
                     {{"input", input}, {"weight", weight.value_or(Tensor())}, {"bias", bias.value_or(Tensor())}});
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
    check_parameters(input, {&weight, &bias});
    require_type(kFloatTypes, input, "LayerNormKernelImpl");
    Dims rows(input.sizes());
    for (int64_t d = outer; d < input.dim(); d++) rows[size_t(d)] = 1;
    const Meta statistic(rows, arithmetic_of(input.dtype()), input.device());
    return {Meta(input.sizes(), input), statistic, statistic};
  }
  static void run(const Tensor& out, const Tensor& mean, const Tensor& inverse, const Tensor& input, const Dims&,
                  const MaybeTensor& weight, const MaybeTensor& bias, double eps) {
    if (out.numel() == 0) return;
    const Tensor x = contiguous(input), w = dense(weight, mean.dtype()), b = dense(bias, mean.dtype());
    layer_norm_kernel(input.device(),
                      {input.dtype(), x.data_ptr(), data_or_null(w), data_or_null(b), out.data_ptr(), mean.data_ptr(),
                       inverse.data_ptr(), mean.numel(), x.numel() / mean.numel(), eps});
  }
  static void grad(Tensor& out, Tensor& mean, Tensor& inverse, const Tensor& input, const Dims& normal,
                   const MaybeTensor& weight_given, const MaybeTensor& bias_given, double eps) {
    const Tensor weight = given(weight_given), bias = given(bias_given);
    const DType kept = statistic_type(input, weight_given, bias_given);
    record(out, "NativeLayerNormBackward0", {&input, &weight, &bias}, keep(input, weight, as_kept(mean, kept), as_kept(inverse, kept)),
           [normal, eps](Sweep& s) {
             if (Context::current().records) differentiable(s, normal, eps);
             else by_kernel(s, normal);
           });
  }

 private:
  // All gradients by one kernel.
  static void by_kernel(Sweep& s, const Dims& normal) {
    const Tensor x = contiguous(s.kept(0)), weight = s.kept(1), mean = s.kept(2), inverse = s.kept(3);
    const Tensor g = contiguous(to_dtype(s.g(), x.dtype()));
    const Tensor w = dense(weight, mean.dtype());
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

/// Layer norm of the groups of an item's channels, with a weight and a bias for each channel; the mean and
/// 1 / sqrt(var + eps) of each group, [items, groups].
struct GroupNorm {
  static constexpr TypeRule types{kFloatTypes, "GroupNormKernelImpl"};

  static std::array<Meta, 3> shape(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                                   int64_t items, int64_t channels, int64_t size, int64_t groups, double) {
    check_one_device("wrapper_CUDA__native_group_norm",
                     {{"X", input}, {"weight", weight.value_or(Tensor())}, {"bias", bias.value_or(Tensor())}});
    check(groups > 0, TensorErrorKind::Runtime, "Expected num groups to be greater than 0, got ", groups);
    check(channels % groups == 0, TensorErrorKind::Runtime,
          "Expected number of channels in input to be divisible by num_groups, but got input of shape ", input.sizes(),
          " and num_groups=", groups);
    for (const MaybeTensor* t : {&weight, &bias})
      check(!*t || ((*t)->dim() == 1 && (*t)->numel() == channels), TensorErrorKind::Runtime, "Expected ",
            t == &weight ? "weight" : "bias",
            " to be a vector of size equal to the number of channels in input, but got ",
            t == &weight ? "weight" : "bias", " of shape ", *t ? (*t)->sizes() : Ints(), " and input of shape ",
            input.sizes());
    check(size >= 0, TensorErrorKind::Runtime, "Expected HxW to be greater than 0, got ", size);
    check(
        std::min({items, channels, size}) >= 0 && input.numel() == checked_mul(checked_mul(items, channels), size),
        TensorErrorKind::Runtime,
        "Expected X.numel() == N * C * HxW to be true, but got false.  (Could this error message be improved?  If so, "
        "please report an enhancement request to PyTorch.)");
    check_parameters(input, {&weight, &bias});
    const Meta statistic(Dims{items, groups}, arithmetic_of(input.dtype()), input.device());
    return {Meta(input.sizes(), input.dtype(), input.device(), suggested_strides(input, input.sizes())), statistic,
            statistic};
  }
  static void run(const Tensor& result, const Tensor& mean, const Tensor& inverse, const Tensor& input,
                  const MaybeTensor& weight, const MaybeTensor& bias, int64_t, int64_t channels, int64_t,
                  int64_t groups, double eps) {
    if (result.numel() == 0) {  // groups of nothing
      fill_into(mean, 0);
      return fill_into(inverse, 0);
    }
    const Tensor out = result.is_contiguous() ? result : Tensor::empty(result.sizes(), result.dtype(), result.device());
    const Tensor x = contiguous(input), w = dense(weight, mean.dtype()), b = dense(bias, mean.dtype());
    layer_norm_kernel(input.device(),
                      {input.dtype(), x.data_ptr(), data_or_null(w), data_or_null(b), out.data_ptr(), mean.data_ptr(),
                       inverse.data_ptr(), mean.numel(), x.numel() / mean.numel(), eps, channels, channels / groups});
    if (!out.same(result)) copy_into(result, out);
  }
  static void grad(Tensor& out, Tensor& mean, Tensor& inverse, const Tensor& input, const MaybeTensor& weight_given,
                   const MaybeTensor& bias_given, int64_t items, int64_t channels, int64_t size, int64_t groups,
                   double eps) {
    const Tensor weight = given(weight_given), bias = given(bias_given);
    const DType kept = statistic_type(input, weight_given, bias_given);
    record(out, "NativeGroupNormBackward0", {&input, &weight, &bias}, keep(input, weight, as_kept(mean, kept), as_kept(inverse, kept)),
           [by_channel = Dims{items, channels, size}, by_group = Dims{items, groups, channels / groups * size},
            eps](Sweep& s) {
             const Tensor x = s.kept(0), weight = s.kept(1), g = reshape(s.g(), by_channel);
             const Tensor gw = weight.defined() ? g * reshape(weight, {1, by_channel[1], 1}) : g;
             if (Context::current().records) {
               const Normalised n(reshape(x, by_group), {2}, eps);
               s.give(0, [&] {
                 const Tensor dx = normalised_gradient(reshape(gw, by_group), n, Dims{2});
                 return channels_last_if(has_channels_last(x), reshape(dx, x.sizes()));
               });
               s.give(1, [&] { return sum(g * reshape(n.value, by_channel), Dims{0, 2}); });
             } else {
               s.give(0, [&] {
                 const Tensor dx = of_input(contiguous(to_dtype(gw, x.dtype())), contiguous(x), s);
                 return channels_last_if(has_channels_last(x), dx);
               });
               s.give(1, [&] { return of_weight(g, reshape(x, by_channel), s, by_group[1]); });
             }
             s.give(2, [&] { return sum(g, Dims{0, 2}); });
           });
  }

 private:
  static Tensor of_input(const Tensor& g, const Tensor& x, Sweep& s) {
    const Tensor mean = s.kept(2), inverse = s.kept(3), dx = Tensor::empty(x.sizes(), x.dtype(), x.device());
    if (x.numel())
      layer_norm_grad_kernel(x.device(),
                             {x.dtype(), g.data_ptr(), x.data_ptr(), nullptr, mean.data_ptr(), inverse.data_ptr(),
                              dx.data_ptr(), nullptr, nullptr, mean.numel(), x.numel() / mean.numel()});
    return dx;
  }
  // sum(g (x - mean) inverse), from two sums for each channel of an item.
  static Tensor of_weight(const Tensor& g, const Tensor& x, Sweep& s, int64_t groups) {
    const int64_t items = x.sizes()[0], channels = x.sizes()[1];
    const Dims split{items, groups, channels / groups}, one{items, groups, 1};
    const Tensor gx = reshape(sum(g * x, Dims{2}), split), total = reshape(sum(g, Dims{2}), split);
    const Tensor along = (gx - total * reshape(s.kept(2), one)) * reshape(s.kept(3), one);
    return to_dtype(reshape(sum(along, Dims{0}), {channels}), s.kept(1).dtype());
  }
};

}  // namespace

namespace {

void move_towards(const MaybeTensor& running, const Tensor& fresh, double momentum) {
  if (!running) return;
  copy_into(*running, add(*running * (1.0 - momentum), fresh, momentum));
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

void refuse_integers(const Tensor& input, bool training) {
  if (input.numel() == 0 || is_differentiable(input.dtype())) return;
  refuse_type(input, KernelName("batch_norm", training ? "batch_norm_stats_cuda" : "batch_norm_elementwise_cuda"));
}

/// The result, and of each channel the mean and 1 / sqrt(var + eps) that it was made with.
struct BatchNorm {
  static constexpr TypeRule types{kFloatTypes, {"batch_norm", "batch_norm_stats_cuda"}};
  static std::array<Meta, 3> shape(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                                   const MaybeTensor& running_mean, const MaybeTensor& running_var, bool training,
                                   double, double) {
    check_one_device("wrapper_CUDA__native_batch_norm", {{"input", input},
                                                         {"weight", weight.value_or(Tensor())},
                                                         {"bias", bias.value_or(Tensor())},
                                                         {"running_mean", running_mean.value_or(Tensor())},
                                                         {"running_var", running_var.value_or(Tensor())}});
    const Channels c(input);
    const std::pair<const char*, const MaybeTensor*> each[] = {
        {"running_mean", &running_mean}, {"running_var", &running_var}, {"weight", &weight}, {"bias", &bias}};
    for (const auto& [name, t] : each)
      if (*t)
        check((*t)->numel() == c.shape[1], TensorErrorKind::Runtime, name, " should contain ", c.shape[1],
              " elements not ", (*t)->numel());
    check(training || (running_mean && running_var), TensorErrorKind::Runtime,
          "running_mean must be defined in evaluation mode");
    refuse_integers(input, training);
    check_parameters(input, {&weight, &bias, &running_mean, &running_var});
    const Meta statistic(c.shape, arithmetic_of(input.dtype()), input.device());
    const Dims strides = input.numel() ? suggested_strides(input, input.sizes()) : dense_strides(input);
    return {Meta(input.sizes(), input.dtype(), input.device(), strides), statistic, statistic};
  }
  static void run(const Tensor& out, const Tensor& centre, const Tensor& inverse, const Tensor& input,
                  const MaybeTensor& weight, const MaybeTensor& bias, const MaybeTensor& running_mean,
                  const MaybeTensor& running_var, bool training, double momentum, double eps) {
    const Channels c(input);
    if (training && c.count == 0) {  // of an empty batch nothing is learned
      fill_into(centre, 0.0), fill_into(inverse, 0.0);
      return;
    }
    if (has_kernel(input))
      return by_kernel(out, centre, inverse, input, weight, bias, running_mean, running_var, training, momentum, eps);
    Tensor normal;
    if (training) {
      const Tensor average = mean(input, c.others, true);
      const Normalised n(input, c.others, eps);
      normal = n.value;
      copy_into(centre, average), copy_into(inverse, n.inverse);
      move_towards(running_mean, reshape(average, {c.shape[1]}), momentum);
      if (running_var) move_towards(running_var, var(input, c.others, 1), momentum);
    } else {
      copy_into(centre, c.spread(*running_mean)), copy_into(inverse, rsqrt(c.spread(*running_var) + eps));
      normal = (input - centre) * inverse;
    }
    copy_into(out, scaled(normal, c.spread(given(weight)), c.spread(given(bias))));
  }
  static void grad(Tensor& out, Tensor& centre, Tensor& inverse, const Tensor& input, const MaybeTensor& weight_given,
                   const MaybeTensor& bias_given, const MaybeTensor&, const MaybeTensor&, bool training, double,
                   double eps) {
    const Tensor weight = given(weight_given), bias = given(bias_given);
    record(out, "NativeBatchNormBackward0", {&input, &weight, &bias}, keep(input, weight, centre, inverse),
           [c = Channels(input), eps, training](Sweep& s) {
             if (!Context::current().records && has_kernel(s.kept(0))) return by_kernel(s, c, training);
             const Tensor x = s.kept(0), w = c.spread(s.kept(1)), inverse = s.kept(3);
             const Tensor g = w.defined() ? s.g() * w : s.g();
             const DType type = x.dtype(), weight_type = w.defined() ? w.dtype() : type;
             if (!training) {
               s.give(0, [&] { return to_dtype(g * inverse, type); });
               s.give(1, [&] { return to_dtype(sum(s.g() * ((x - s.kept(2)) * inverse), c.others), weight_type); });
             } else {
               const Normalised n(x, c.others, eps);
               s.give(0, [&] { return to_dtype(normalised_gradient(g, n, c.others), type); });
               s.give(1, [&] { return to_dtype(sum(s.g() * n.value, c.others), weight_type); });
             }
             s.give(2, [&] { return sum(s.g(), c.others); });
           });
  }

 private:
  /// Elsewhere it is made of other ops.
  static bool has_kernel(const Tensor& x) {
    return batch_norm_kernel.has(x.device().type) && arithmetic_of(x.dtype()) == x.dtype() && x.numel() > 0;
  }
  static void by_kernel(const Tensor& out, const Tensor& centre, const Tensor& inverse, const Tensor& input,
                        const MaybeTensor& weight, const MaybeTensor& bias, const MaybeTensor& running_mean,
                        const MaybeTensor& running_var, bool training, double momentum, double eps) {
    if (!out.is_contiguous()) {  // the kernels write row by row
      const Tensor rows = Tensor::empty(out.sizes(), out.dtype(), out.device());
      by_kernel(rows, centre, inverse, input, weight, bias, running_mean, running_var, training, momentum, eps);
      return copy_into(out, rows);
    }
    const Channels c(input);
    const Tensor x = contiguous(input), w = dense(weight, x.dtype()), b = dense(bias, x.dtype());
    Tensor variance;
    if (training && running_var) variance = Tensor::empty({c.shape[1]}, x.dtype(), x.device());
    if (!training) copy_into(centre, c.spread(*running_mean)), copy_into(inverse, rsqrt(c.spread(*running_var) + eps));
    const int64_t items = x.sizes()[0];
    batch_norm_kernel(x.device(),
                      {x.dtype(), x.data_ptr(), data_or_null(w), data_or_null(b), out.data_ptr(), centre.data_ptr(),
                       data_to_fill(variance), inverse.data_ptr(), items, c.shape[1], c.count / items, training, eps});
    if (!training) return;
    move_towards(running_mean, reshape(centre, {c.shape[1]}), momentum);
    if (running_var) move_towards(running_var, variance, momentum);
  }
  static void by_kernel(Sweep& s, const Channels& c, bool training) {
    const Tensor x = contiguous(s.kept(0)), weight = s.kept(1), mean = s.kept(2), inverse = s.kept(3);
    const Tensor g = contiguous(to_dtype(s.g(), x.dtype())), w = dense(weight, x.dtype());
    const auto wanted = [&](size_t input, Ints sizes) {
      return s.needs(input) ? Tensor::empty(sizes, x.dtype(), x.device()) : Tensor();
    };
    const Dims each{c.shape[1]};
    const Tensor dx = wanted(0, x.sizes()), dweight = wanted(1, each), dbias = wanted(2, each);
    const int64_t items = x.sizes()[0];
    batch_norm_grad_kernel(x.device(), {x.dtype(), g.data_ptr(), x.data_ptr(), data_or_null(w), mean.data_ptr(),
                                        inverse.data_ptr(), data_to_fill(dx), data_to_fill(dweight),
                                        data_to_fill(dbias), items, c.shape[1], c.count / items, training});
    s.give(0, [&] { return channels_last_if(has_channels_last(s.kept(0)), dx); });
    s.give(1, [&] { return to_dtype(dweight, weight.dtype()); });
    s.give(2, [&] { return dbias; });
  }
};

}  // namespace

Tensor batch_norm(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                  const MaybeTensor& running_mean, const MaybeTensor& running_var, bool training, double momentum,
                  double eps) {
  return std::get<0>(apply<BatchNorm>(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

Three native_layer_norm(const Tensor& input, Ints normal, const MaybeTensor& weight, const MaybeTensor& bias,
                        double eps) {
  const auto [out, mean, inverse] = apply<LayerNorm>(input, Dims(normal), weight, bias, eps);
  const DType type = statistic_type(input, weight, bias);
  return {out, to_dtype(mean, type), to_dtype(inverse, type)};
}
Three native_group_norm(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias, int64_t items,
                        int64_t channels, int64_t size, int64_t groups, double eps) {
  auto [out, average, inverse] = apply<GroupNorm>(input, weight, bias, items, channels, size, groups, eps);
  if (needs_grad(input)) {  // these have derivatives of their own
    const Tensor rows = reshape(input, {items, groups, input.numel() / std::max<int64_t>(1, items * groups)});
    average = mean(rows, Dims{2});
    inverse = reshape(Normalised(rows, {2}, eps).inverse, {items, groups});
  }
  const DType type = statistic_type(input, weight, bias);
  return {out, to_dtype(average, type), to_dtype(inverse, type)};
}
// Where nothing is learned there are no statistics to hand out.
Three native_batch_norm(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                        const MaybeTensor& running_mean, const MaybeTensor& running_var, bool training, double momentum,
                        double eps) {
  wrap_dim(1, input.dim());
  check(!training || input.numel() > 0, TensorErrorKind::Runtime,
        "input tensor must have at least one element, but got input_sizes = ", input.sizes());
  if (training || (running_mean && running_var)) refuse_integers(input, training);
  const auto [out, mean, inverse] =
      apply<BatchNorm>(input, weight, bias, running_mean, running_var, training, momentum, eps);
  const auto statistic = [&](const Tensor& t) {
    const DType type = statistic_type(input, weight, bias);
    return training ? to_dtype(reshape(t, {input.sizes()[1]}), type) : Tensor::empty({0}, type, input.device());
  };
  return {out, statistic(mean), statistic(inverse)};
}

TS_OP(
    layer_norm,
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
    "Normalises over the last dimensions.", kFunction | kFunctional,
    +[](const Tensor& x, Ints shape, const MaybeTensor& w, const MaybeTensor& b, double eps, bool) {
      return layer_norm(x, shape, w, b, eps);
    },
    "f[3,4], [4]\nf[3,4], [4], f[4], f[4]\nf[2,3,4], [3, 4], f[3,4]\nf[2,40], [40], None, f[40], 0.1\n"
    "f[3,4], [3] -> RuntimeError: Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[3, 4]\n"
    "f[3,4], [4], f[3] -> RuntimeError: Expected weight to be of same shape as normalized_shape",
    .autocast_cuda = Autocast::Float32, .batched = batched_through<0>);
TS_OP(
    native_layer_norm,
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
    "layer_norm, with the mean of each row and 1 / sqrt(var + eps).", kFunction | kOut, &native_layer_norm,
    "f[3,4], [4], f[4], f[4], 1e-05\nf[2,3,40], [40], None, None, 1e-05", .one_device = "_native_layer_norm",
    .autocast_cuda = Autocast::Float32);
TS_OP(
    group_norm,
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
    "Normalises groups of channels of each item.", kFunction,
    +[](const Tensor& x, int64_t groups, const MaybeTensor& w, const MaybeTensor& b, double eps, bool) {
      wrap_dim(1, x.dim());
      int64_t size = 1;
      for (const int64_t s : x.sizes().drop(2)) size *= s;
      return std::get<0>(apply<GroupNorm>(x, w, b, x.sizes()[0], x.sizes()[1], size, groups, eps));
    },
    "f[3,4], 2, f[4], f[4]\nf[2,4,5], 2, None, f[4]\nf[2,4,3,11], 1, f[4], None, 0.1\n"
    "f[2,4,3], 3 -> RuntimeError: Expected number of channels in input to be divisible by num_groups, but got input of "
    "shape [2, 4, 3] and num_groups=3\n"
    "f[2,4,3], 0 -> RuntimeError: Expected num groups to be greater than 0, got 0\n"
    "f[2,4,3], 2, f[3] -> RuntimeError: Expected weight to be a vector of size equal to the number of channels in "
    "input, but got weight of shape [3] and input of shape [2, 4, 3]\n"
    "f[4], 2 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    .autocast_cuda = Autocast::Float32);
TS_OP(
    native_group_norm,
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
    "group_norm, with the mean of each group and 1 / sqrt(var + eps).", kFunction, &native_group_norm,
    "f[2,4,3], f[4], None, 2, 4, 3, 2, 1e-05\n"
    "f[2,4,3], None, None, 2, 4, 4, 2, 1e-05 -> RuntimeError: Expected X.numel() == N * C * HxW to be true",
    .one_device = "_native_group_norm");
TS_OP(
    native_batch_norm,
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor)",
    "batch_norm, with the mean of each channel and 1 / sqrt(var + eps) where it trains.", kFunction | kOut,
    &native_batch_norm,
    "f[4,3], f[3], f[3], None, None, True, 0.1, 1e-05\n"
    "f[4,3,2]:float32, f[3]:float32, f[3]:float32, f[3]:float32, p[3]:float32, False, 0.1, 1e-05\n"
    "f[0,3], None, None, None, None, True, 0.1, 1e-05 -> RuntimeError: input tensor must have at least one element, but "
    "got input_sizes = [0, 3]",
    .out = kOutOfScalarType, .one_device = "_native_batch_norm");
TS_OP(
    batch_norm,
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool "
    "cudnn_enabled=True) -> Tensor",
    "Normalises each channel over the batch.", kFunction,
    +[](const Tensor& x, const MaybeTensor& w, const MaybeTensor& b, const MaybeTensor& m, const MaybeTensor& v,
        bool training, double momentum, double eps,
        bool) { return batch_norm(x, w, b, m, v, training, momentum, eps); },
    "f[4,3], f[3], f[3], None, None, True, 0.1, 1e-05\n"
    "f[2,3,4], None, f[3], f[3], p[3], True, 0.5, 0.1\n"
    "f[2,3,2,2]:float32, f[3]:float32, None, f[3]:float32, p[3]:float32, False, 0.1, 1e-05\n"
    "f[1,3], None, None, None, None, True, 0.1, 1e-05\n"
    "f[0,3], f[3], f[3], None, None, True, 0.1, 1e-05\n"
    "f[4,3], None, None, None, None, False, 0.1, 1e-05 -> RuntimeError: running_mean must be defined in evaluation "
    "mode\n"
    "f[4,3], f[2], None, None, None, True, 0.1, 1e-05 -> RuntimeError: weight should contain 3 elements not 2\n"
    "f[4], None, None, None, None, True, 0.1, 1e-05 -> ValueError: expected at least 2D input (got 1D input)");

}  // namespace
}  // namespace tessera::tensor
