// Special functions of numbers, in double: what the kernel of runtime/ops/special.def computes element by element. Each file
// beside this one holds a family; nothing raises: outside its domain a function is NaN or infinite where PyTorch's is.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace tessera::tensor::cpu::special {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Gamma and its kin (special_gamma.cpp).
double digamma(double x);
double polygamma(int64_t n, double x);
double gamma_p(double a, double x);  // the lower incomplete gamma function, regularised
double gamma_q(double a, double x);
double zeta(double s, double q);  // Hurwitz's: the sum of (q + k)^-s

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

inline double xlog1py(double x, double y) { return std::isnan(y) ? y : x == 0 ? 0.0 : x * std::log1p(y); }
inline double logaddexp2(double x, double y) {
  if (x == y && std::isinf(x)) return x;
  const double most = std::fmax(x, y);
  return std::isnan(x) || std::isnan(y) ? x + y
                                        : most + std::log1p(std::exp2(-std::fabs(x - y))) * 1.44269504088896340736;
}

// Of what has no exponent it is 0.
inline double exponent(double x) {
  int e = 0;
  if (std::isfinite(x)) (void)std::frexp(x, &e);
  return e;
}
inline double mantissa(double x) {
  int e = 0;
  return std::isfinite(x) ? std::frexp(x, &e) : x;
}

// Of int64; what overflows wraps round.
inline int64_t gcd(int64_t x, int64_t y) {
  uint64_t a = x < 0 ? 0 - uint64_t(x) : uint64_t(x), b = y < 0 ? 0 - uint64_t(y) : uint64_t(y);
  while (b != 0) a %= b, std::swap(a, b);
  return int64_t(a);
}
inline int64_t lcm(int64_t x, int64_t y) {
  const int64_t divisor = gcd(x, y);
  if (divisor == 0) return 0;
  const int64_t product = int64_t(uint64_t(x / divisor) * uint64_t(y));
  return product < 0 ? int64_t(0 - uint64_t(product)) : product;
}

}  // namespace tessera::tensor::cpu::special
