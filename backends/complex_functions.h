// Functions of complex numbers made of real ones, for devices, which have no library for them. Special values are those of
// C's annex G. The inverse functions are Kahan's ("Branch Cuts for Complex Elementary Functions", 1987): roots and real
// functions of them, which keep signs of zeros along the cuts.
#pragma once

#include "backends/complex_number.h"

namespace tessera::tensor::complex_functions {

inline constexpr double kPi = 3.14159265358979323846;

/// Beyond it exp overflows, and half of it squared need not.
template <class T>
TS_NUMBER inline T largest_exponent() {
  return sizeof(T) == 4 ? T(88.0) : T(709.0);
}
/// A number whose square overflows nearly, and its reciprocal.
template <class T>
TS_NUMBER inline T large() {
  return sizeof(T) == 4 ? T(9.2233720e18) : T(6.7039039649712985e153);  // 2^63, 2^511
}
template <class T>
TS_NUMBER inline T largest(T a, T b) {
  return a > b ? a : b;
}
template <class T>
TS_NUMBER inline bool is_finite(Cx<T> z) {
  return words::is_finite(z.re) && words::is_finite(z.im);
}
template <class T>
TS_NUMBER inline T nan() {
  return words::infinity<T>() - words::infinity<T>();
}

/// exp(x) (c, s): in two steps where exp(x) alone would overflow.
template <class T>
TS_NUMBER Cx<T> times_exp(T x, T c, T s) {
  if (x > largest_exponent<T>() && words::is_finite(x)) {
    const T half = words::exp(x / 2);
    return Cx<T>(c * half * half, s * half * half);
  }
  const T e = words::exp(x);
  return Cx<T>(e * c, e * s);
}

template <class T>
TS_NUMBER Cx<T> exp(Cx<T> z) {
  const T x = z.re, y = z.im;
  if (y == 0) return Cx<T>(words::exp(x), y);
  if (!words::is_finite(y)) {
    if (!words::is_inf(x)) return Cx<T>(nan<T>(), nan<T>());
    return x < 0 ? Cx<T>(T(0), words::copysign(T(0), y)) : Cx<T>(x, nan<T>());
  }
  return times_exp(x, words::cos(y), words::sin(y));
}

template <class T>
TS_NUMBER Cx<T> log(Cx<T> z) {
  const T a = words::fabs(z.re), b = words::fabs(z.im), angle = words::atan2(z.im, z.re);
  const T most = largest(a, b), least = a > b ? b : a;
  if (!is_finite(z) || most == 0) return Cx<T>(words::log(words::hypot(a, b)), angle);
  if (most > T(0.5) && most < T(2))  // near 1 the logarithm is of what is left beside 1
    return Cx<T>(T(0.5) * words::log1p((most - 1) * (most + 1) + least * least), angle);
  if (most > large<T>()) return Cx<T>(words::log(words::hypot(a / 2, b / 2)) + T(0.69314718055994530942), angle);
  return Cx<T>(words::log(words::hypot(a, b)), angle);
}

template <class T>
TS_NUMBER Cx<T> sqrt(Cx<T> z) {
  const T x = z.re, y = z.im;
  if (x == 0 && y == 0) return Cx<T>(T(0), y);
  if (words::is_inf(y)) return Cx<T>(words::infinity<T>(), y);
  if (words::is_inf(x)) {
    const T none = words::is_nan(y) ? y : T(0);
    return x > 0 ? Cx<T>(x, words::is_nan(y) ? y : words::copysign(T(0), y)) : Cx<T>(none, words::copysign(-x, y));
  }
  const T most = largest(words::fabs(x), words::fabs(y));
  const T scale = most > large<T>() ? T(0.25) : most < 1 / large<T>() ? large<T>() * large<T>() / 4 : T(1);
  const T back = scale == T(1) ? T(1) : 1 / words::sqrt(scale);
  const T a = x * scale, b = y * scale;
  const T t = words::sqrt((words::fabs(a) + words::hypot(a, b)) / 2);
  return a >= 0 ? Cx<T>(t * back, b / (2 * t) * back)
                : Cx<T>(words::fabs(b) / (2 * t) * back, words::copysign(t * back, b));
}

// ---- hyperbolic functions, and the trigonometric ones, which are the same of i z ----

template <class T>
TS_NUMBER Cx<T> sinh(Cx<T> z) {
  const T x = z.re, y = z.im;
  if (y == 0) return Cx<T>(words::sinh(x), y);
  if (words::is_inf(x) && !words::is_finite(y)) return Cx<T>(x, nan<T>());
  const T c = words::cos(y), s = words::sin(y);
  if (x == 0) return Cx<T>(words::is_finite(y) ? x * c : x, s);
  if (words::fabs(x) > largest_exponent<T>()) {
    const Cx<T> e = times_exp(words::fabs(x), c / 2, s / 2);
    return Cx<T>(x < 0 ? -e.re : e.re, e.im);
  }
  return Cx<T>(words::sinh(x) * c, words::cosh(x) * s);
}

template <class T>
TS_NUMBER Cx<T> cosh(Cx<T> z) {
  const T x = z.re, y = z.im;
  if (y == 0) return Cx<T>(words::cosh(x), words::copysign(T(1), x) * y);
  if (words::is_inf(x) && !words::is_finite(y)) return Cx<T>(words::fabs(x), nan<T>());
  if (x == 0) return Cx<T>(words::cos(y), words::is_finite(y) ? x * words::sin(y) : x);
  const T c = words::cos(y), s = words::sin(y);
  if (words::fabs(x) > largest_exponent<T>()) {
    const Cx<T> e = times_exp(words::fabs(x), c / 2, s / 2);
    return Cx<T>(e.re, x < 0 ? -e.im : e.im);
  }
  return Cx<T>(words::cosh(x) * c, words::sinh(x) * s);
}

template <class T>
TS_NUMBER Cx<T> tanh(Cx<T> z) {
  const T x = z.re, y = z.im;
  if (words::is_inf(x)) {
    const T sign = words::is_finite(y) ? words::sin(2 * y) : T(1);
    return Cx<T>(words::copysign(T(1), x), words::copysign(T(0), sign));
  }
  if (y == 0) return Cx<T>(words::tanh(x), y);
  if (!words::is_finite(y)) return Cx<T>(x == 0 ? x : nan<T>(), nan<T>());
  if (words::fabs(x) > (sizeof(T) == 4 ? T(11) : T(22)))  // the real part is 1 by then
    return Cx<T>(words::copysign(T(1), x), 4 * words::sin(y) * words::cos(y) * words::exp(-2 * words::fabs(x)));
  const T t = words::tan(y), beta = 1 + t * t, s = words::sinh(x), rho = words::sqrt(1 + s * s);
  if (words::is_inf(t)) return Cx<T>(rho / s, 1 / t);
  const T below = 1 + beta * s * s;
  return Cx<T>(beta * rho * s / below, t / below);
}

template <class T>
TS_NUMBER Cx<T> times_i(Cx<T> z) {
  return Cx<T>(-z.im, z.re);
}
template <class T>
TS_NUMBER Cx<T> over_i(Cx<T> z) {
  return Cx<T>(z.im, -z.re);
}
template <class T>
TS_NUMBER Cx<T> sin(Cx<T> z) {
  return over_i(sinh(times_i(z)));
}
template <class T>
TS_NUMBER Cx<T> cos(Cx<T> z) {
  return cosh(times_i(z));
}
template <class T>
TS_NUMBER Cx<T> tan(Cx<T> z) {
  return over_i(tanh(times_i(z)));
}

// ---- inverse functions ----

// arccosine where a part is infinite or NaN.
template <class T>
TS_NUMBER Cx<T> acos_beyond(Cx<T> z) {
  const T x = z.re, y = z.im, inf = words::infinity<T>();
  if (words::is_inf(x)) {
    if (words::is_nan(y)) return Cx<T>(y, inf);
    const T angle = words::is_inf(y) ? (x > 0 ? T(kPi / 4) : T(3 * kPi / 4)) : x > 0 ? T(0) : T(kPi);
    return Cx<T>(angle, words::copysign(inf, -y));
  }
  if (words::is_inf(y)) return Cx<T>(words::is_nan(x) ? x : T(kPi / 2), -y);
  return Cx<T>(x == 0 ? T(kPi / 2) : nan<T>(), nan<T>());
}

template <class T>
TS_NUMBER Cx<T> acos(Cx<T> z) {
  if (!is_finite(z)) return acos_beyond(z);
  const Cx<T> below = sqrt(Cx<T>(1 - z.re, -z.im)), above = sqrt(Cx<T>(1 + z.re, z.im));
  return Cx<T>(2 * words::atan2(below.re, above.re), words::asinh(above.re * below.im - above.im * below.re));
}

template <class T>
TS_NUMBER Cx<T> asin(Cx<T> z) {
  if (!is_finite(z)) {
    if (z.re == 0) return Cx<T>(z.re, z.im);  // NaN or infinite along the axis
    const Cx<T> w = acos_beyond(z);
    return Cx<T>(words::copysign(T(kPi / 2) - w.re, z.re), words::copysign(w.im, z.im));
  }
  const Cx<T> below = sqrt(Cx<T>(1 - z.re, -z.im)), above = sqrt(Cx<T>(1 + z.re, z.im));
  return Cx<T>(words::atan2(z.re, below.re * above.re - below.im * above.im),
               words::asinh(below.re * above.im - below.im * above.re));
}

template <class T>
TS_NUMBER Cx<T> acosh(Cx<T> z) {
  if (!is_finite(z)) {
    const Cx<T> w = acos_beyond(z);
    return Cx<T>(words::fabs(w.im), words::copysign(w.re, z.im));
  }
  const Cx<T> below = sqrt(Cx<T>(z.re - 1, z.im)), above = sqrt(Cx<T>(z.re + 1, z.im));
  return Cx<T>(words::asinh(below.re * above.re + below.im * above.im), 2 * words::atan2(below.im, above.re));
}

template <class T>
TS_NUMBER Cx<T> asinh(Cx<T> z) {
  return over_i(asin(times_i(z)));
}

template <class T>
TS_NUMBER Cx<T> atanh(Cx<T> z) {
  const T x = z.re, y = z.im;
  if (!is_finite(z)) {
    if (words::is_inf(y)) return Cx<T>(words::copysign(T(0), x), words::copysign(T(kPi / 2), y));
    if (words::is_inf(x)) return Cx<T>(words::copysign(T(0), x), words::is_nan(y) ? y : words::copysign(T(kPi / 2), y));
    return Cx<T>(x == 0 ? x : nan<T>(), nan<T>());
  }
  const T most = largest(words::fabs(x), words::fabs(y));
  if (most > large<T>() / 4) {  // 1 / z, and a quarter turn
    const T a = x / most, b = y / most;
    return Cx<T>(a / (a * a + b * b) / most, words::copysign(T(kPi / 2), y));
  }
  const T beside = 1 - words::fabs(x), wide = words::fabs(x);
  const T re = wide == 1 ? (words::log(words::hypot(T(2), y)) - words::log(words::fabs(y))) / 2
                         : words::log1p(4 * wide / (beside * beside + y * y)) / 4;
  return Cx<T>(words::copysign(re, x), words::atan2(2 * y, beside * (1 + wide) - y * y) / 2);
}

template <class T>
TS_NUMBER Cx<T> atan(Cx<T> z) {
  return over_i(atanh(times_i(z)));
}

}  // namespace tessera::tensor::complex_functions
