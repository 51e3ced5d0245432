// Special functions of numbers, one row of special.def each, in double as on the CPU (polynomials in the type of x). What the
// CPU's text says for both (special_math.h, special_polynomials.h) is read here too; for Bessel's functions and the error
// function's kin CUDA's own library stands where Boost.Math stands there.
#include "backends/special_math.h"
#include "backends/special_polynomials.h"
#include "backends/cuda/airy.cuh"
#include "backends/cuda/incomplete_gamma.cuh"
#include "backends/cuda/launch.cuh"
#include "runtime/ops/special.h"
#ifdef TESSERA_EXECUTOR
#include "executor_math.h"
#endif

namespace tessera::tensor::cuda {
namespace special {

using cpu::special::Chebyshev;
using cpu::special::chebyshev;
using cpu::special::exponent;
using cpu::special::far_series;
using cpu::special::gcd;
using cpu::special::hermite_h;
using cpu::special::hermite_he;
using cpu::special::kInf;
using cpu::special::kNaN;
using cpu::special::laguerre;
using cpu::special::lcm;
using cpu::special::legendre;
using cpu::special::logaddexp2;
using cpu::special::mantissa;
using cpu::special::xlog1py;
using cpu::special::zeta;

constexpr double kPi = 3.14159265358979323846;

// ---- the gamma function's kin ----

__device__ inline double digamma(double x) {
  if (x == 0) return copysign(kInf, -x);
  if (isinf(x)) return x > 0 ? x : kNaN;
  if (isnan(x) || (x < 0 && x == floor(x))) return kNaN;
  double sum = 0;
  if (x < 0) {  // by reflection; the angle from the distance to the next integer, which is exact
    sum = -kPi / tan(kPi * (x - rint(x)));
    x = 1 - x;
  }
  if (x < 10) {
    // Next to the root at 1.46 the sum of both parts cancels: there by its own distance from the root.
    constexpr double kRoot = 1.4616321449683622, kRest = 9.549995429965697e-17;
    if (fabs(x - kRoot) < 0.05) {
      const double d = (x - kRoot) - kRest;
      double power = d, series = 0;
      for (int n = 1; n < 14; n++, power *= -d) series += power * zeta(n + 1.0, kRoot);
      return sum + series;
    }
    for (; x < 10; x += 1) sum -= 1 / x;
  }
  const double z = 1 / (x * x);
  const double tail =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return sum + log(x) - 0.5 / x - tail;
}

__device__ inline double polygamma(int64_t n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1 && isinf(x) && x > 0) return 0.0;
  const double sign = n % 2 ? 1.0 : -1.0;
  return sign * tgamma(double(n) + 1) * zeta(double(n) + 1, x);
}

// ---- Bessel functions ----

__device__ inline double bessel_j0(double x) { return isfinite(x) ? j0(x) : kNaN; }
__device__ inline double bessel_j1(double x) { return isfinite(x) ? j1(x) : kNaN; }
__device__ inline double bessel_y0(double x) { return x == 0 ? -kInf : x > 0 && isfinite(x) ? y0(x) : kNaN; }
__device__ inline double bessel_y1(double x) { return x == 0 ? -kInf : x > 0 && isfinite(x) ? y1(x) : kNaN; }

constexpr double kFar = 30.0;  // from here on by the expansion in 1 / x

__device__ inline double scaled_i(int order, double x) {
  if (isinf(x)) return 0.0;
  if (x < kFar) return (order ? cyl_bessel_i1(x) : cyl_bessel_i0(x)) * exp(-x);
  return far_series(order, x, -1.0) / sqrt(2 * kPi * x);
}
__device__ inline double plain_i(int order, double x) {
  if (isinf(x)) return kNaN;
  if (x < kFar) return order ? cyl_bessel_i1(x) : cyl_bessel_i0(x);
  const double half = exp(x * 0.5);
  return half * (far_series(order, x, -1.0) / sqrt(2 * kPi * x)) * half;
}
__device__ inline double bessel_i0(double x) { return isnan(x) ? x : plain_i(0, fabs(x)); }
__device__ inline double bessel_i0e(double x) { return isnan(x) ? x : scaled_i(0, fabs(x)); }
__device__ inline double bessel_i1(double x) { return isnan(x) ? x : copysign(1.0, x) * plain_i(1, fabs(x)); }
__device__ inline double bessel_i1e(double x) { return isnan(x) ? x : copysign(1.0, x) * scaled_i(1, fabs(x)); }

// K for 0 < x <= 1 by its series, which has the logarithm of x.
__device__ inline double near_k(int order, double x) {
  constexpr double kEuler = 0.57721566490153286061;
  const double quarter = x * x / 4, log_half = log(x / 2);
  double term = 1, harmonic = 0, sum = order ? 1 - 2 * kEuler : 0.0;
  for (int k = 1; k < 16; k++) {
    term *= quarter / (double(k) * (k + order));
    harmonic += 1.0 / k;
    sum += term * (order ? 2 * harmonic + 1.0 / (k + 1) - 2 * kEuler : harmonic);
  }
  if (order == 0) return sum - (log_half + kEuler) * cyl_bessel_i0(x);
  return 1 / x + log_half * cyl_bessel_i1(x) - x / 4 * sum;
}
// K times exp(x) for x > 0. Between, the trapezoid rule on its integral of exp(-x (cosh t - 1)): it converges faster than any
// power of the step.
__device__ inline double scaled_k(int order, double x) {
  if (isnan(x) || x < 0) return kNaN;
  if (x == 0) return kInf;
  if (isinf(x)) return 0.0;
  if (x <= 1) return near_k(order, x) * exp(x);
  if (x >= kFar) return far_series(order, x, 1.0) * sqrt(kPi / (2 * x));
  constexpr double kStep = 1.0 / 8;
  double sum = 0.5, term = 1;
  for (int i = 1; term > 1e-18; i++) {
    const double s = sinh(i * kStep / 2);
    term = exp(-2 * x * s * s) * (order ? 1 + 2 * s * s : 1.0);
    sum += term;
  }
  return sum * kStep;
}
__device__ inline double bessel_k0e(double x) { return scaled_k(0, x); }
__device__ inline double bessel_k1e(double x) { return scaled_k(1, x); }
__device__ inline double bessel_k0(double x) { return isinf(x) && x > 0 ? 0.0 : scaled_k(0, x) * exp(-x); }
__device__ inline double bessel_k1(double x) { return isinf(x) && x > 0 ? 0.0 : scaled_k(1, x) * exp(-x); }

__device__ inline double spherical_j0(double x) { return isinf(x) ? 0.0 : x == 0 ? 1.0 : sin(x) / x; }

// ---- the normal distribution's ----

__device__ inline double erfcx(double x) { return ::erfcx(x); }
__device__ inline double log_ndtr(double x) {
  const double t = x * 0.70710678118654752440;
  if (x < -1) return log(::erfcx(-t) / 2) - t * t;
  return log1p(-erfc(t) / 2);
}
__device__ inline double ndtri(double p) {
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  return p > 0 && p < 1 ? normcdfinv(p) : kNaN;
}

}  // namespace special

namespace {

// One kernel a function: most of them are loops of double arithmetic, and a switch would give each the registers of all.
template <SpecialId id, class T>
__global__ void special_elements(SpecialCall c) {
  const T* at_x = static_cast<const T*>(c.x);
  [[maybe_unused]] const T* at_y = static_cast<const T*>(c.y);
  T* out = static_cast<T*>(c.out);
  each_in_grid(c.n, [&](int64_t i) {
    const T x = at_x[i];
#define SPECIAL1(NAME, DOC, TYPES, KERNEL, ...) \
  if constexpr (id == SpecialId::NAME) out[i] = T(__VA_ARGS__);
#define SPECIAL2(NAME, DOC, TYPES, KERNEL, ...) \
  if constexpr (id == SpecialId::NAME) {        \
    const T y = at_y[i];                        \
    out[i] = T(__VA_ARGS__);                    \
  }
#define INTEGER2 SPECIAL2
#include "runtime/ops/special.def"
#undef SPECIAL1
#undef SPECIAL2
#undef INTEGER2
  });
}

template <SpecialId id, class T>
void run(const SpecialCall& c) {
  const Place place(c.launch);
  launch<special_elements<id, T>>(place, {blocks_for(c.n, 1), kThreads}, c);
}
template <SpecialId id>
void run_float(const SpecialCall& c) {
  c.dtype == DType::Float64 ? run<id, double>(c) : run<id, float>(c);
}

void special_call(const SpecialCall& c) {
  if (c.n == 0) return;
  switch (SpecialId(c.op)) {
    case SpecialId::gcd: return run<SpecialId::gcd, int64_t>(c);
    case SpecialId::lcm: return run<SpecialId::lcm, int64_t>(c);
    default: break;
  }
#define SPECIAL1(NAME, ...) \
  if (SpecialId(c.op) == SpecialId::NAME) return run_float<SpecialId::NAME>(c);
#define SPECIAL2 SPECIAL1
#define INTEGER2(...)
#include "runtime/ops/special.def"
#undef SPECIAL1
#undef SPECIAL2
#undef INTEGER2
}

const CudaKernel<SpecialCall> entry("special", special_call);

}  // namespace
}  // namespace tessera::tensor::cuda
