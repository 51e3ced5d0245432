// Windows for the short-time Fourier transform, in the order of operations that PyTorch has: the same last digits.
// compile: small (seldom in a step, and the kernel takes longer)
#include <cmath>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

Tensor cos(const Tensor& x);  // a row of pointwise.def

namespace {

#define TS_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
using Ignored = std::optional<bool>;
using NoLayout = std::optional<Dims>;
constexpr double kPi = 3.14159265358979323846;

/// shape(points, count) makes the window of `count` points from 0, 1, ...; a periodic one is one longer and loses the last.
template <class Shape>
Tensor window(const char* name, int64_t length, bool periodic, MaybeType dtype, MaybeDevice device,
              const Shape& shape) {
  const DType type = dtype.value_or(Context::current().default_dtype);
  check(is_floating(type) || is_complex(type), TensorErrorKind::Runtime, name,
        " expects floating point dtypes, got: ", scalar_type_name(type));
  check(length >= 0, TensorErrorKind::Runtime, name,
        " requires non-negative window_length, got window_length=", length);
  if (length == 0) return empty({0}, type, device);
  if (length == 1) return ones({1}, type, device);
  if (is_complex(type)) refuse_type(type, device.value_or(Context::current().default_device), "arange_cpu");
  const int64_t count = periodic ? length + 1 : length;
  const DType exact = type == kFloat64 ? kFloat64 : kFloat32;
  const Tensor made = shape(arange(0, count, 1, exact, device), count);
  return to_dtype(periodic ? narrow(made, 0, 0, length) : made, type);
}

Tensor cosine(const char* name, int64_t length, bool periodic, double alpha, double beta, MaybeType dtype,
              MaybeDevice device) {
  return window(name, length, periodic, dtype, device, [&](const Tensor& points, int64_t count) {
    return cos(points * (kPi * 2 / double(count - 1))) * -beta + alpha;
  });
}
Tensor hann_window(int64_t length, bool periodic, MaybeType dtype, const NoLayout&, MaybeDevice device, Ignored) {
  return cosine("hann_window", length, periodic, 0.5, 0.5, dtype, device);
}
Tensor hamming_window(int64_t length, bool periodic, double alpha, double beta, MaybeType dtype, const NoLayout&,
                      MaybeDevice device, Ignored) {
  return cosine("hamming_window", length, periodic, alpha, beta, dtype, device);
}
Tensor blackman_window(int64_t length, bool periodic, MaybeType dtype, const NoLayout&, MaybeDevice device, Ignored) {
  return window("blackman_window", length, periodic, dtype, device, [](const Tensor& points, int64_t count) {
    const Tensor angle = points * (kPi / double(count - 1));
    return cos(angle * 4) * 0.08 - cos(angle * 2) * 0.5 + 0.42;
  });
}
Tensor bartlett_window(int64_t length, bool periodic, MaybeType dtype, const NoLayout&, MaybeDevice device, Ignored) {
  return window("bartlett_window", length, periodic, dtype, device, [](const Tensor& points, int64_t count) {
    const Tensor rising = points * (2.0 / double(count - 1));
    const int64_t first = (count - 1) / 2 + 1;
    return cat({narrow(rising, 0, 0, first), narrow(rising, 0, first, count - first) * -1 + 2});
  });
}

// The modified Bessel function I0 by its series, all of whose terms are positive.
Tensor bessel_i0(const Tensor& x, double largest) {
  const Tensor square = x * x * 0.25;
  Tensor total = ones_like(square);
  for (int64_t k = int64_t(1.5 * largest) + 24; k >= 1; k--) total = total * square * (1.0 / double(k * k)) + 1.0;
  return total;
}
Tensor kaiser_window(int64_t length, bool periodic, double beta, MaybeType dtype, const NoLayout&, MaybeDevice device,
                     Ignored) {
  return window("kaiser_window", length, periodic, dtype, device, [&](const Tensor& points, int64_t count) {
    const Tensor at = to_dtype(points, kFloat64) * (2.0 / double(count - 1)) - 1.0;
    const Tensor height = sqrt(clamp_min(1.0 - at * at, 0.0)) * beta;
    const Tensor most = full({1}, beta, kFloat64, points.device());
    return to_dtype(bessel_i0(height, std::fabs(beta)) / bessel_i0(most, std::fabs(beta)), points.dtype());
  });
}

Tensor hamming_default(int64_t n, bool periodic, MaybeType t, const NoLayout& l, MaybeDevice d, Ignored i) {
  return hamming_window(n, periodic, 0.54, 0.46, t, l, d, i);
}
Tensor hamming_alpha(int64_t n, bool periodic, double alpha, MaybeType t, const NoLayout& l, MaybeDevice d, Ignored i) {
  return hamming_window(n, periodic, alpha, 0.46, t, l, d, i);
}
Tensor kaiser_default(int64_t n, bool periodic, MaybeType t, const NoLayout& l, MaybeDevice d, Ignored i) {
  return kaiser_window(n, periodic, 12.0, t, l, d, i);
}
/// The form without `periodic`, which is true then.
template <auto Window>
Tensor periodic(int64_t n, MaybeType t, const NoLayout& l, MaybeDevice d, Ignored i) {
  return Window(n, true, t, l, d, i);
}

constexpr uint32_t kMake = kFunction | kNoGrad;
#define TS_WINDOW(NAME, DEFAULT, DOC)                                                                                 \
  TS_OP(NAME, #NAME "(int window_length, *, " TS_OPTIONS ") -> Tensor", DOC, kMake, &periodic<&DEFAULT>,              \
        "6\n0\n1\n-1 -> RuntimeError: " #NAME " requires non-negative window_length, got window_length=-1");          \
  TS_OP(NAME, #NAME ".periodic(int window_length, bool periodic, *, " TS_OPTIONS ") -> Tensor", DOC, kMake, &DEFAULT, \
        "6, False\n5, True, dtype=float64\n3, True, dtype=int64 -> RuntimeError: " #NAME                              \
        " expects floating point dtypes")
TS_WINDOW(hann_window, hann_window, "The Hann window.");
TS_WINDOW(hamming_window, hamming_default, "The Hamming window: alpha - beta * cos.");
TS_WINDOW(blackman_window, blackman_window, "The Blackman window.");
TS_WINDOW(bartlett_window, bartlett_window, "The Bartlett window, a triangle.");
TS_WINDOW(kaiser_window, kaiser_default, "The Kaiser window with shape parameter beta.");
TS_OP(hamming_window,
      "hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, " TS_OPTIONS ") -> Tensor",
      "The Hamming window: alpha - beta * cos.", kMake, &hamming_alpha, "6, True, 0.5");
TS_OP(hamming_window,
      "hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, " TS_OPTIONS
      ") -> Tensor",
      "The Hamming window: alpha - beta * cos.", kMake, &hamming_window, "6, False, 0.5, 0.25");
TS_OP(kaiser_window, "kaiser_window.beta(int window_length, bool periodic, float beta, *, " TS_OPTIONS ") -> Tensor",
      "The Kaiser window with shape parameter beta.", kMake, &kaiser_window, "6, True, 3.5");

}  // namespace
}  // namespace tessera::tensor
