// The regularised incomplete gamma functions of doubles: the power series, Legendre's continued fraction, and for large a Temme's
// uniform expansion (Gautschi 1979; Temme 1979; DLMF 8.7.1, 8.9.2, 8.12).
#pragma once

#include "backends/special_math.h"
#include "backends/cuda/launch.cuh"

namespace tessera::tensor::cuda::special {

namespace incomplete {

constexpr double kEpsilon = 1.2e-16, kTwoPi = 6.28318530717958647693, kEuler = 0.57721566490153286061;
constexpr double kLarge = 1e5;  // for a beyond, nothing is left farther away than the expansion reaches

// log(x / a) - m with m = (x - a) / a
__device__ inline double log_less(double x, double a) {
  const double m = (x - a) / a;
  if (fabs(m) > 0.3) return log(x / a) - m;
  double power = -m * m, sum = 0;
  for (int n = 2; fabs(power) > kEpsilon * fabs(sum) * n; n++, power *= -m) sum += power / n;
  return sum;
}

// x^a e^-x / gamma(a + 1)
__device__ inline double power_part(double a, double x) {
  if (a < 10) return exp(a * log(x) - x) / tgamma(a + 1);
  const double z = 1 / (a * a);
  const double stirling =
      (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * (691.0 / 360360)))))) / a;
  return exp(a * log_less(x, a) - stirling) / sqrt(kTwoPi * a);
}

// The lower one.
__device__ inline double series(double a, double x) {
  double term = 1, sum = 1;
  for (double n = a + 1; term > kEpsilon * sum; n += 1) {
    term *= x / n;
    sum += term;
  }
  return power_part(a, x) * sum;
}

// The upper one, for x > 1 and not far below a (Lentz's method).
__device__ inline double fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / (b != 0 ? b : kTiny), h = d;
  for (int n = 1; n < 100000; n++) {
    const double top = n * (a - n);
    b += 2;
    d = top * d + b;
    d = 1 / (d != 0 ? d : kTiny);
    c = b + top / c;
    if (c == 0) c = kTiny;
    h *= c * d;
    if (fabs(c * d - 1) < 2 * kEpsilon) break;
  }
  return power_part(a, x) * a * h;
}

// log(gamma(1 + a)) next to 0, where 1 + a is rounded.
__device__ inline double log_gamma1p(double a) {
  if (a > 0.5) return lgamma(1 + a);
  double power = a * a, sum = -kEuler * a;
  for (int n = 2; n < 60 && fabs(power) > kEpsilon * fabs(sum); n++, power *= -a)
    sum += power * cpu::special::zeta(n, 1) / n;
  return sum;
}

// The upper one of small numbers: what is left of 1 would cancel.
__device__ inline double upper_series(double a, double x) {
  double factor = 1, sum = 0, term = 1;
  for (int n = 1; fabs(term) > kEpsilon * fabs(sum); n++) {
    factor *= -x / n;
    term = factor / (a + n);
    sum += term;
  }
  const double log_x = log(x);
  return -expm1(a * log_x - log_gamma1p(a)) - exp(a * log_x - lgamma(a)) * sum;
}

__device__ inline double uniform(double a, double x, bool upper) {
  const double m = (x - a) / a, half = -log_less(x, a);  // half of eta squared
  if (fabs(m) > 0.3) return (x > a) == upper ? 0.0 : 1.0;
  const double eta = copysign(sqrt(2 * half), m);
  const double c0 =
      -1.0 / 3 +
      eta * (1.0 / 12 + eta * (-2.0 / 135 + eta * (1.0 / 864 + eta * (1.0 / 2835 + eta * (-139.0 / 777600)))));
  const double c1 = -1.0 / 540 + eta * (-1.0 / 288 + eta * (1.0 / 378 + eta * (-77.0 / 77760)));
  const double rest = exp(-a * half) / sqrt(kTwoPi * a) * (c0 + (c1 + 25.0 / 6048 / a) / a);
  const double middle = erfc((upper ? eta : -eta) * sqrt(a / 2)) / 2;
  return upper ? middle + rest : middle - rest;
}

__device__ inline double upper(double a, double x) {
  const bool below = x > 1.1 ? x < a : x > 0.5 ? x * 1.1 < a : -0.4 / log(x) < a;
  if (below) return 1 - series(a, x);
  return x > 1.1 ? fraction(a, x) : upper_series(a, x);
}

// Where the answer is known or there is none; else false.
__device__ inline bool at_the_ends(double a, double x, bool upper, double& answer) {
  using cpu::special::kNaN;
  const double low = upper ? 1.0 : 0.0;
  if (x < 0 || a < 0) answer = kNaN;
  else if (a == 0) answer = x > 0 ? 1 - low : kNaN;
  else if (x == 0) answer = low;
  else if (isinf(a)) answer = isinf(x) ? kNaN : low;
  else if (isinf(x)) answer = 1 - low;
  else if (isnan(a) || isnan(x)) answer = kNaN;
  else return false;
  return true;
}

}  // namespace incomplete

__device__ inline double gamma_p(double a, double x) {
  double answer;
  if (incomplete::at_the_ends(a, x, false, answer)) return answer;
  if (a > incomplete::kLarge) return incomplete::uniform(a, x, false);
  return x > 1 && x > a ? 1 - incomplete::upper(a, x) : incomplete::series(a, x);
}
__device__ inline double gamma_q(double a, double x) {
  double answer;
  if (incomplete::at_the_ends(a, x, true, answer)) return answer;
  return a > incomplete::kLarge ? incomplete::uniform(a, x, true) : incomplete::upper(a, x);
}

}  // namespace tessera::tensor::cuda::special
