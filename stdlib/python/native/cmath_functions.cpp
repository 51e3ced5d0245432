// The functions of cmath, with CPython's formulas, so that the last digit is the same: Kahan's "Branch cuts for complex elementary
// functions" for the inverse functions and the square root, scaled forms near the ends of the range. Arguments that are infinite or
// NaN have the values of C's Annex G, as the functions of the C library have them; where the annex leaves a sign open, CPython's is chosen.
#include "stdlib/python/native/cmath_functions.h"

#include <cfloat>
#include <cmath>
#include <numbers>

namespace tessera::stdlib {
namespace {

using C = std::complex<double>;
constexpr double kLarge = DBL_MAX / 4.0;
constexpr double kLn2 = std::numbers::ln2;
const double kSqrtLarge = std::sqrt(kLarge), kLogLarge = std::log(kLarge), kSqrtLeast = std::sqrt(DBL_MIN);
constexpr int kScaleUp = 2 * (DBL_MANT_DIG / 2) + 1, kScaleDown = -(kScaleUp + 1) / 2;

bool is_finite(C z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
bool is_large(C z) { return std::fabs(z.real()) > kLarge || std::fabs(z.imag()) > kLarge; }

// log |z| of a large z
double log_of_large(C z) { return std::log(std::hypot(z.real() / 2.0, z.imag() / 2.0)) + kLn2 * 2.0; }

// The result without what the C library has said of a part that is too small for a double.
C settled(double real, double imag) {
  errno = 0;
  return {real, imag};
}

// f(iz) / i: how the trigonometric functions come from the hyperbolic ones.
template <class F>
C turned(C z, F f) {
  const C w = f(C(-z.imag(), z.real()));
  return {w.imag(), -w.real()};
}

}  // namespace

C complex_sqrt(C z) {
  if (!is_finite(z)) return std::sqrt(z);
  if (z.real() == 0.0 && z.imag() == 0.0) return {0.0, z.imag()};
  double ax = std::fabs(z.real()), s;
  const double ay = std::fabs(z.imag());
  if (ax < DBL_MIN && ay < DBL_MIN && (ax > 0.0 || ay > 0.0)) {
    ax = std::ldexp(ax, kScaleUp);  // both are subnormal
    s = std::ldexp(std::sqrt(ax + std::hypot(ax, std::ldexp(ay, kScaleUp))), kScaleDown);
  } else {
    ax /= 8.0;
    s = 2.0 * std::sqrt(ax + std::hypot(ax, ay / 8.0));
  }
  const double d = ay / (2.0 * s);
  if (z.real() >= 0.0) return {s, std::copysign(d, z.imag())};
  return {d, std::copysign(s, z.imag())};
}

C complex_acos(C z) {
  if (std::isinf(z.real()) && std::isnan(z.imag())) return {z.imag(), HUGE_VAL};
  if (!is_finite(z)) return std::acos(z);
  const double x = z.real(), y = z.imag();
  if (is_large(z)) return settled(std::atan2(std::fabs(y), x), std::copysign(log_of_large(z), -y));
  const C a = complex_sqrt({1.0 - x, -y}), b = complex_sqrt({1.0 + x, y});
  return settled(2.0 * std::atan2(a.real(), b.real()), std::asinh(b.real() * a.imag() - b.imag() * a.real()));
}

C complex_acosh(C z) {
  const double x = z.real(), y = z.imag();
  if (x == 0.0 && std::isnan(y)) return {y, y};
  if (!is_finite(z)) return std::acosh(z);
  if (is_large(z)) return settled(log_of_large(z), std::atan2(y, x));
  const C a = complex_sqrt({x - 1.0, y}), b = complex_sqrt({x + 1.0, y});
  return settled(std::asinh(a.real() * b.real() + a.imag() * b.imag()), 2.0 * std::atan2(a.imag(), b.real()));
}

C complex_asinh(C z) {
  if (std::isnan(z.real()) && std::isinf(z.imag())) return {HUGE_VAL, z.real()};
  if (!is_finite(z)) return std::asinh(z);
  const double x = z.real(), y = z.imag();
  if (is_large(z)) return settled(std::copysign(log_of_large(z), x), std::atan2(y, std::fabs(x)));
  const C a = complex_sqrt({1.0 + y, -x}), b = complex_sqrt({1.0 - y, x});
  return settled(std::asinh(a.real() * b.imag() - b.real() * a.imag()),
                 std::atan2(y, a.real() * b.real() - a.imag() * b.imag()));
}

C complex_asin(C z) { return turned(z, complex_asinh); }

C complex_atanh(C z) {
  if (std::isnan(z.real()) && std::isinf(z.imag())) return {0.0, std::copysign(std::numbers::pi / 2.0, z.imag())};
  if (!is_finite(z)) return std::atanh(z);
  const double x = z.real(), y = z.imag(), ay = std::fabs(y);
  if (std::signbit(x)) return -complex_atanh(-z);
  if (x > kSqrtLarge || ay > kSqrtLarge) {
    const double h = std::hypot(x / 2.0, y / 2.0);
    return settled(x / 4.0 / h / h, -std::copysign(std::numbers::pi / 2.0, -y));
  }
  if (x == 1.0 && ay < kSqrtLeast) {
    if (ay == 0.0) {
      errno = EDOM;
      return {HUGE_VAL, y};
    }
    return settled(-std::log(std::sqrt(ay) / std::sqrt(std::hypot(ay, 2.0))), std::copysign(std::atan2(2.0, -ay) / 2, y));
  }
  return settled(std::log1p(4.0 * x / ((1 - x) * (1 - x) + ay * ay)) / 4.0,
                 -std::atan2(-2.0 * y, (1 - x) * (1 + x) - ay * ay) / 2.0);
}

C complex_atan(C z) { return turned(z, complex_atanh); }

C complex_cosh(C z) {
  const double x = z.real(), y = z.imag();
  if (!is_finite(z)) {
    if (std::isinf(y) && !std::isnan(x)) errno = EDOM;
    if (std::isnan(x) && y == 0.0) return {x, 0.0};
    return std::cosh(z);
  }
  C w;
  if (std::fabs(x) > kLogLarge) {  // cosh(x) alone might overflow
    const double less = x - std::copysign(1.0, x);
    w = {std::cos(y) * std::cosh(less) * std::numbers::e, std::sin(y) * std::sinh(less) * std::numbers::e};
  } else {
    w = {std::cos(y) * std::cosh(x), std::sin(y) * std::sinh(x)};
  }
  errno = std::isinf(w.real()) || std::isinf(w.imag()) ? ERANGE : 0;
  return w;
}

C complex_sinh(C z) {
  const double x = z.real(), y = z.imag();
  if (!is_finite(z)) {
    if (std::isinf(y) && !std::isnan(x)) errno = EDOM;
    if (x == 0.0 && std::isnan(y)) return {0.0, y};
    return std::sinh(z);
  }
  C w;
  if (std::fabs(x) > kLogLarge) {
    const double less = x - std::copysign(1.0, x);
    w = {std::cos(y) * std::sinh(less) * std::numbers::e, std::sin(y) * std::cosh(less) * std::numbers::e};
  } else {
    w = {std::cos(y) * std::sinh(x), std::sin(y) * std::cosh(x)};
  }
  errno = std::isinf(w.real()) || std::isinf(w.imag()) ? ERANGE : 0;
  return w;
}

C complex_tanh(C z) {
  const double x = z.real(), y = z.imag();
  if (!is_finite(z)) {
    if (std::isinf(y) && std::isfinite(x)) errno = EDOM;
    if (x == 0.0 && std::isnan(y)) return {y, y};
    if (std::isinf(x) && !std::isfinite(y)) return {std::copysign(1.0, x), 0.0};
    return std::tanh(z);
  }
  if (std::fabs(x) > kLogLarge)  // tanh(x + iy) = 1 + 2 exp(-2x) (...) in the limit
    return settled(std::copysign(1.0, x), 4.0 * std::sin(y) * std::cos(y) * std::exp(-2.0 * std::fabs(x)));
  const double tx = std::tanh(x), ty = std::tan(y), cx = 1.0 / std::cosh(x), both = tx * ty, denominator = 1.0 + both * both;
  return settled(tx * (1.0 + ty * ty) / denominator, ((ty / denominator) * cx) * cx);
}

C complex_cos(C z) { return complex_cosh({-z.imag(), z.real()}); }
C complex_sin(C z) { return turned(z, complex_sinh); }
C complex_tan(C z) { return turned(z, complex_tanh); }

C complex_exp(C z) {
  const double x = z.real(), y = z.imag();
  if (!is_finite(z)) {
    if (std::isinf(y) && (std::isfinite(x) || (std::isinf(x) && x > 0))) errno = EDOM;
    if (std::isinf(y) && std::isinf(x) && x < 0) return {0.0, 0.0};
    return std::exp(z);
  }
  C w;
  if (x > kLogLarge) {
    const double size = std::exp(x - 1.0);
    w = {size * std::cos(y) * std::numbers::e, size * std::sin(y) * std::numbers::e};
  } else {
    const double size = std::exp(x);
    w = {size * std::cos(y), size * std::sin(y)};
  }
  errno = std::isinf(w.real()) || std::isinf(w.imag()) ? ERANGE : 0;
  return w;
}

C complex_log(C z) {
  if (!is_finite(z)) return std::log(z);
  const double ax = std::fabs(z.real()), ay = std::fabs(z.imag()), angle = std::atan2(z.imag(), z.real());
  errno = 0;  // also where atan2 has underflowed
  if (ax > kLarge || ay > kLarge) return {std::log(std::hypot(ax / 2.0, ay / 2.0)) + kLn2, angle};
  if (ax < DBL_MIN && ay < DBL_MIN) {
    if (ax > 0.0 || ay > 0.0)
      return {std::log(std::hypot(std::ldexp(ax, DBL_MANT_DIG), std::ldexp(ay, DBL_MANT_DIG))) - DBL_MANT_DIG * kLn2, angle};
    errno = EDOM;
    return {-HUGE_VAL, angle};
  }
  const double h = std::hypot(ax, ay);
  if (0.71 <= h && h <= 1.73) {  // near one the logarithm would lose digits
    const double more = std::max(ax, ay), less = std::min(ax, ay);
    return {std::log1p((more - 1) * (more + 1) + less * less) / 2.0, angle};
  }
  return {std::log(h), angle};
}

C complex_log10(C z) {
  const C w = complex_log(z);
  return {w.real() / std::numbers::ln10, w.imag() / std::numbers::ln10};
}

C complex_rect(double r, double phi) {
  if (std::isfinite(r) && std::isfinite(phi)) {
    if (phi == 0.0) return {r, r * phi};  // 0 * an infinity of the sine's does not come in
    return {r * std::cos(phi), r * std::sin(phi)};
  }
  if (std::isinf(phi) && r != 0.0 && !std::isnan(r)) errno = EDOM;
  if (r == 0.0) return {0.0, 0.0};
  if (std::isinf(r) && phi == 0.0) return {r, r > 0 ? phi : -phi};
  if (std::isinf(r) && std::isfinite(phi)) {
    const double sign = std::copysign(1.0, r);
    return {std::copysign(r, sign * std::cos(phi)), std::copysign(r, sign * std::sin(phi))};
  }
  const double nan = std::nan("");
  if (std::isinf(r)) return {HUGE_VAL, nan};
  return {nan, phi == 0.0 ? 0.0 : nan};
}

}  // namespace tessera::stdlib
