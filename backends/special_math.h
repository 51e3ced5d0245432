// Special functions of numbers, in double: what the kernel of runtime/ops/special.def computes element by element. Each file
// beside this one holds a family; nothing raises: outside its domain a function is NaN or infinite where PyTorch's is.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/device/stream.h"

namespace tessera::tensor::cpu::special {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Gamma and its kin (special_gamma.cpp).
double digamma(double x);
double polygamma(int64_t n, double x);
double gamma_p(double a, double x);  // the lower incomplete gamma function, regularised
double gamma_q(double a, double x);

// Bessel and Airy functions (special_bessel.cpp); `e`: times exp(-|x|), `ke`: times exp(x).
double bessel_j0(double x);
double bessel_j1(double x);
double bessel_y0(double x);
double bessel_y1(double x);
double bessel_i0(double x);
double bessel_i0e(double x);
double bessel_i1(double x);
double bessel_i1e(double x);
double bessel_k0(double x);
double bessel_k0e(double x);
double bessel_k1(double x);
double bessel_k1e(double x);
double spherical_j0(double x);
double airy_ai(double x);

// The normal distribution's (special_normal.cpp).
double erfcx(double x);  // exp(x^2) erfc(x)
double log_ndtr(double x);
double ndtri(double p);

// ---- what host and devices share ----

// Hurwitz's zeta function, the sum of (q + k)^-s. Ten terms and more one by one, then the rest as an integral with corrections.
TS_ON_BOTH inline double zeta(double s, double q) {
  if (s == 1) return kInf;
  if (s < 1) return kNaN;
  if (q <= 0) {
    if (q == std::floor(q)) return kInf;
    if (s != std::floor(s)) return kNaN;  // the power of a negative number
  }
  constexpr double kLeast = 1.1e-16;
  double at = q, term = 0, sum = std::pow(q, -s);
  for (int i = 0; i < 9 || at <= 9; i++) {
    at += 1;
    term = std::pow(at, -s);
    sum += term;
    if (std::fabs(term) < kLeast * std::fabs(sum)) return sum;
  }
  sum += term * at / (s - 1) - 0.5 * term;
  // (2k)! / B(2k): the divisors of Euler and Maclaurin's corrections.
  const double corrections[] = {12.0,
                                -720.0,
                                30240.0,
                                -1209600.0,
                                47900160.0,
                                -1307674368000.0 / 691.0,
                                74724249600.0,
                                -10670622842880000.0 / 3617.0,
                                5109094217170944000.0 / 43867.0,
                                -802857662698291200000.0 / 174611.0,
                                14101100039391805440000.0 / 77683.0,
                                -1693824136731743669452800000.0 / 236364091.0};
  double factor = 1, k = 0;
  for (const double divisor : corrections) {
    factor *= s + k++;
    term /= at;
    const double correction = factor * term / divisor;
    sum += correction;
    if (std::fabs(correction) < kLeast * std::fabs(sum)) break;
    factor *= s + k++;
    term /= at;
  }
  return sum;
}

// 1 + sum of the products of (sign * (mu - (2k - 1)^2) / (8 k x)), mu = 4 order^2: what I and K are far out, without their
// exponential and root.
TS_ON_BOTH inline double far_series(int order, double x, double sign) {
  const double mu = 4.0 * order * order;
  double term = 1, sum = 1;
  for (int k = 1; k < 60 && std::fabs(term) > 1e-17 * std::fabs(sum); k++) {
    const double odd = 2.0 * k - 1;
    term *= sign * (mu - odd * odd) / (8.0 * k * x);
    sum += term;
  }
  return sum;
}

TS_ON_BOTH inline double xlog1py(double x, double y) { return std::isnan(y) ? y : x == 0 ? 0.0 : x * std::log1p(y); }
TS_ON_BOTH inline double logaddexp2(double x, double y) {
  if (x == y && std::isinf(x)) return x;
  const double most = std::fmax(x, y);
  return std::isnan(x) || std::isnan(y) ? x + y
                                        : most + std::log1p(std::exp2(-std::fabs(x - y))) * 1.44269504088896340736;
}

// Of what has no exponent it is 0.
TS_ON_BOTH inline double exponent(double x) {
  int e = 0;
  if (std::isfinite(x)) (void)std::frexp(x, &e);
  return e;
}
TS_ON_BOTH inline double mantissa(double x) {
  int e = 0;
  return std::isfinite(x) ? std::frexp(x, &e) : x;
}

// Of int64; what overflows wraps round.
TS_ON_BOTH inline int64_t gcd(int64_t x, int64_t y) {
  uint64_t a = x < 0 ? 0 - uint64_t(x) : uint64_t(x), b = y < 0 ? 0 - uint64_t(y) : uint64_t(y);
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b, b = rest;
  }
  return int64_t(a);
}
TS_ON_BOTH inline int64_t lcm(int64_t x, int64_t y) {
  const int64_t divisor = gcd(x, y);
  if (divisor == 0) return 0;
  const int64_t product = int64_t(uint64_t(x / divisor) * uint64_t(y));
  return product < 0 ? int64_t(0 - uint64_t(product)) : product;
}

}  // namespace tessera::tensor::cpu::special
