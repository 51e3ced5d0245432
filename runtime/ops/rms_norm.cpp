#include "runtime/ops/batching.h"
#include "runtime/ops/rms_norm.h"

#include <limits>

#include "runtime/device/two_devices.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/memory_format.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

constinit Kernel<RmsNormCall> rms_norm_kernel("rms_norm");
constinit Kernel<RmsNormGradCall> rms_norm_grad_kernel("rms_norm_backward");

namespace {

DType arithmetic_of(DType t) { return t == kFloat64 ? kFloat64 : kFloat32; }

double eps_or_default(std::optional<double> eps, DType dtype) {
  if (eps) return *eps;
  return dtype == kFloat64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

Tensor dense(const OptionalTensor& t, DType dtype) { return t ? contiguous(to_dtype(*t, dtype)) : Tensor(); }
void* data_of(const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }

/// The result, and of each row 1 / sqrt(mean(x^2) + eps), which the gradient needs.
struct RmsNorm {
  static constexpr TypeRule types{kFloatTypes, "rms_norm"};
  static std::array<Meta, 2> shape(const Tensor& input, const Dims& normal, const OptionalTensor& weight,
                                   std::optional<double>) {
    check_one_device("wrapper_CUDA___fused_rms_norm", {{"input", input}, {"weight", weight.value_or(Tensor())}});
    const int64_t outer = input.dim() - int64_t(normal.size());
    check(!normal.empty(), TensorErrorKind::Runtime,
          "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
          "normalized_shape = ",
          Ints(normal));
    check(!weight || weight->sizes() == Ints(normal), TensorErrorKind::Runtime,
          "Expected weight to be of same shape as normalized_shape, but got weight of shape ",
          weight ? weight->sizes() : Ints(), " and normalized_shape = ", Ints(normal));
    check(outer >= 0, TensorErrorKind::Value, "Input tensor must have at least ", normal.size(),
          " dimensions, but got ", input.dim());
    std::string wanted = "[*";
    for (size_t d = 0; d < normal.size(); d++) wanted += text(d ? ", " : "", normal[d]);
    check(outer >= 0 && input.sizes().drop(size_t(std::max<int64_t>(outer, 0))) == Ints(normal),
          TensorErrorKind::Runtime, "Given normalized_shape=", Ints(normal), ", expected input with shape ", wanted,
          "], but got input of size", input.sizes());
    Dims rows(input.sizes());
    for (int64_t d = outer; d < input.dim(); d++) rows[size_t(d)] = 1;
    return {Meta(input.sizes(), input.dtype(), input.device(), suggested_strides(input, input.sizes())),
            Meta(rows, arithmetic_of(input.dtype()), input.device())};
  }
  static void run(const Tensor& out, const Tensor& inverse, const Tensor& input, const Dims&,
                  const OptionalTensor& weight, std::optional<double> eps) {
    if (out.numel() == 0) return;
    if (!out.is_contiguous()) {  // the kernels write row by row
      const Tensor lines = Tensor::empty(out.sizes(), out.dtype(), out.device());
      run(lines, inverse, input, {}, weight, eps);
      return copy_into(out, lines);
    }
    const Tensor x = contiguous(input), w = dense(weight, inverse.dtype());
    rms_norm_kernel(input.device(), {input.dtype(), x.data_ptr(), data_of(w), out.data_ptr(), inverse.data_ptr(),
                                     inverse.numel(), x.numel() / inverse.numel(), eps_or_default(eps, input.dtype())});
  }
  static void grad(Tensor& out, Tensor& inverse, const Tensor& input, const Dims& normal, const OptionalTensor& weight,
                   std::optional<double> eps_given) {
    const Tensor w = weight.value_or(Tensor());
    const double eps = eps_or_default(eps_given, input.dtype());
    // The CPU's PyTorch makes it of other ops, and its last one gives the name.
    const char* node = words_are_cudas(input.device())                 ? "FusedRmsNormBackward0"
                       : arithmetic_of(input.dtype()) != input.dtype() ? "ToCopyBackward0"
                                                                       : "MulBackward0";
    record(out, node, {&input, &w}, keep(input, w, inverse), [normal, eps](Sweep& s) {
      if (Context::current().records) differentiable(s, normal, eps);
      else by_kernel(s, normal);
    });
  }

 private:
  static void by_kernel(Sweep& s, const Dims& normal) {
    const Tensor x = contiguous(s.kept(0)), weight = s.kept(1), inverse = s.kept(2);
    const Tensor g = contiguous(to_dtype(s.g(), x.dtype()));
    const Tensor w = weight.defined() ? dense(weight, inverse.dtype()) : weight;
    Tensor dx, dweight;
    if (s.needs(0)) dx = Tensor::empty(x.sizes(), x.dtype(), x.device());
    if (s.needs(1)) dweight = zeros(normal, inverse.dtype(), x.device());
    if (x.numel())
      rms_norm_grad_kernel(x.device(), {x.dtype(), g.data_ptr(), x.data_ptr(), data_of(w), inverse.data_ptr(),
                                        data_of(dx), data_of(dweight), inverse.numel(), x.numel() / inverse.numel()});
    s.give(0, [&] { return dx; });
    s.give(1, [&] { return to_dtype(dweight, weight.dtype()); });
  }
  // The same from ops, where the gradients will be differentiated again.
  static void differentiable(Sweep& s, const Dims& normal, double eps) {
    const Tensor x = s.kept(0), w = s.kept(1), g = w.defined() ? s.g() * w : s.g();
    Dims dims;
    for (int64_t d = x.dim() - int64_t(normal.size()); d < x.dim(); d++) dims.push_back(d);
    const Tensor inverse = rsqrt(mean(x * x, dims, true) + eps), y = x * inverse;
    s.give(0, [&] { return inverse * (g - y * mean(g * y, dims, true)); });
    s.give(1, [&] { return sum_to_size(s.g() * y, normal); });
  }
};

// Of complex numbers it is no length: PyTorch takes the mean of the squares themselves.
Tensor complex_rms_norm(const Tensor& input, const Dims& normal, const OptionalTensor& weight,
                        std::optional<double> eps) {
  RmsNorm::shape(input, normal, weight, eps);
  Dims dims;
  for (int64_t d = input.dim() - int64_t(normal.size()); d < input.dim(); d++) dims.push_back(d);
  const double least = eps_or_default(eps, real_type(input.dtype()));
  const Tensor out = input * rsqrt(mean(input * input, dims, true) + least);
  return weight ? to_dtype(out * *weight, input.dtype()) : out;
}

// A weight of more digits than the arithmetic takes part with all of them.
bool is_wider(const OptionalTensor& weight, DType arithmetic) {
  return weight && promote_types(weight->dtype(), arithmetic) != arithmetic;
}

Tensor rms_norm(const Tensor& input, Ints shape, const OptionalTensor& weight, std::optional<double> eps) {
  if (is_complex(input.dtype())) return complex_rms_norm(input, Dims(shape), weight, eps);
  if (const DType wide = arithmetic_of(input.dtype()); is_wider(weight, wide)) {
    RmsNorm::shape(input, Dims(shape), weight, eps);
    const double least = eps_or_default(eps, input.dtype());
    const auto result = apply<RmsNorm>(to_dtype(input, wide), Dims(shape), OptionalTensor(), least);
    return to_dtype(std::get<0>(result) * *weight, input.dtype());
  }
  return std::get<0>(apply<RmsNorm>(input, Dims(shape), weight, eps));
}

TS_OP(rms_norm, "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
      "Divides the last dimensions by their root mean square.", kFunction | kFunctional, &rms_norm,
      "f[3,4], [4]\n"
      "f[3,40], [40], f[40]\n"
      "f[40,33], [33], f[33], 0.01\n"
      "f[2,3,4], [3, 4], f[3,4], 0.5\n"
      "f[4,3].t, [3], f[3]\n"
      "f[0,3], [3], f[3]\n"
      "f[2,3], [2] -> RuntimeError: Given normalized_shape=[2], expected input with shape [*2], but got input of "
      "size[2, 3]\n"
      "f[2,3], [3], f[2] -> RuntimeError: Expected weight to be of same shape as normalized_shape, but got weight of "
      "shape [2] and normalized_shape = [3]\n"
      "i[2,3], [3] -> NotImplementedError: \"rms_norm\" not implemented for 'Long'",
      .autocast_cuda = Autocast::Float32, .batched = batched_through<0>);

}  // namespace
}  // namespace tessera::tensor
