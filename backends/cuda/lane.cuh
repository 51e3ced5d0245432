// What a body of the op tables is written in, for one number of a CUDA thread: Lane<T> and the functions of namespace m.
//
// A Lane takes literals of any type as its own (`1.0 / x` in float stays float), so no body slips into double. This file
// is also given to NVRTC as text, so it includes nothing but shared_math.inc.
#pragma once

namespace tessera::tensor::cuda {

template <class T>
struct Lane {
  T v;
  Lane() = default;
  template <class U>
  __device__ constexpr Lane(U value) : v(T(value)) {}

  friend __device__ Lane operator+(Lane a, Lane b) { return Lane(T(a.v + b.v)); }
  friend __device__ Lane operator-(Lane a, Lane b) { return Lane(T(a.v - b.v)); }
  friend __device__ Lane operator*(Lane a, Lane b) { return Lane(T(a.v * b.v)); }
  friend __device__ Lane operator/(Lane a, Lane b) { return Lane(T(a.v / b.v)); }
  friend __device__ Lane operator-(Lane a) { return Lane(T(-a.v)); }
  friend __device__ Lane operator&(Lane a, Lane b) { return Lane(T(a.v & b.v)); }
  friend __device__ Lane operator|(Lane a, Lane b) { return Lane(T(a.v | b.v)); }
  friend __device__ Lane operator^(Lane a, Lane b) { return Lane(T(a.v ^ b.v)); }
  friend __device__ Lane operator~(Lane a) { return Lane(T(~a.v)); }
  friend __device__ bool operator==(Lane a, Lane b) { return a.v == b.v; }
  friend __device__ bool operator!=(Lane a, Lane b) { return a.v != b.v; }
  friend __device__ bool operator<(Lane a, Lane b) { return a.v < b.v; }
  friend __device__ bool operator<=(Lane a, Lane b) { return a.v <= b.v; }
  friend __device__ bool operator>(Lane a, Lane b) { return a.v > b.v; }
  friend __device__ bool operator>=(Lane a, Lane b) { return a.v >= b.v; }
};

namespace m {

/// A parameter where a literal may stand too: the type is deduced from the other one.
template <class T>
struct SameType {
  using type = T;
};
template <class T>
using Also = typename SameType<Lane<T>>::type;

template <class T>
inline constexpr bool is_float_type = T(0.5) != T(0);

/// The identities of maximum and minimum.
template <class T>
__device__ Lane<T> lowest(Lane<T>) {
  if constexpr (is_float_type<T>) return T(-1) / T(0);
  else return T(-9223372036854775807ll - 1);
}
template <class T>
__device__ Lane<T> highest(Lane<T>) {
  if constexpr (is_float_type<T>) return T(1) / T(0);
  else return T(9223372036854775807ll);
}
template <class T>
__device__ Lane<T> truth(Lane<T> x) {
  return T(x.v != T(0));
}
template <class T>
__device__ Lane<T> select(bool c, Lane<T> a, Also<T> b) {
  return c ? a : b;
}
__device__ inline bool differ(bool a, bool b) { return a != b; }
__device__ inline bool any(bool x) { return x; }
template <class T>
__device__ Lane<T> mul_add(Lane<T> x, Also<T> y, Also<T> z) {
  return x * y + z;
}
/// c0 + x (c1 + x (c2 + ...)).
template <class T>
__device__ Lane<T> horner(Lane<T>, double c) {
  return c;
}
template <class T, class... C>
__device__ Lane<T> horner(Lane<T> x, double c, C... rest) {
  return horner(x, rest...) * x + Lane<T>(c);
}

// One function for float, one for double; integers never ask for these.
#define TS_FLOAT_FUNCTION(NAME, FLOAT, DOUBLE)                             \
  __device__ inline Lane<float> NAME(Lane<float> x) { return FLOAT(x.v); } \
  __device__ inline Lane<double> NAME(Lane<double> x) { return DOUBLE(x.v); }
TS_FLOAT_FUNCTION(sqrt, ::sqrtf, ::sqrt)
TS_FLOAT_FUNCTION(exp, ::expf, ::exp)
TS_FLOAT_FUNCTION(exp2, ::exp2f, ::exp2)
TS_FLOAT_FUNCTION(expm1, ::expm1f, ::expm1)
TS_FLOAT_FUNCTION(log, ::logf, ::log)
TS_FLOAT_FUNCTION(log2, ::log2f, ::log2)
TS_FLOAT_FUNCTION(log10, ::log10f, ::log10)
TS_FLOAT_FUNCTION(log1p, ::log1pf, ::log1p)
TS_FLOAT_FUNCTION(sin, ::sinf, ::sin)
TS_FLOAT_FUNCTION(cos, ::cosf, ::cos)
TS_FLOAT_FUNCTION(tan, ::tanf, ::tan)
TS_FLOAT_FUNCTION(asin, ::asinf, ::asin)
TS_FLOAT_FUNCTION(acos, ::acosf, ::acos)
TS_FLOAT_FUNCTION(atan, ::atanf, ::atan)
TS_FLOAT_FUNCTION(sinh, ::sinhf, ::sinh)
TS_FLOAT_FUNCTION(cosh, ::coshf, ::cosh)
TS_FLOAT_FUNCTION(tanh, ::tanhf, ::tanh)
TS_FLOAT_FUNCTION(asinh, ::asinhf, ::asinh)
TS_FLOAT_FUNCTION(acosh, ::acoshf, ::acosh)
TS_FLOAT_FUNCTION(atanh, ::atanhf, ::atanh)
TS_FLOAT_FUNCTION(erf, ::erff, ::erf)
TS_FLOAT_FUNCTION(erfc, ::erfcf, ::erfc)
TS_FLOAT_FUNCTION(normal_cdf, ::normcdff, ::normcdf)
TS_FLOAT_FUNCTION(lgamma, ::lgammaf, ::lgamma)
#undef TS_FLOAT_FUNCTION
template <class T>
__device__ Lane<T> exp_near(Lane<T> x) {
  return exp(x);
}
#define TS_FLOAT_FUNCTION2(NAME, FLOAT, DOUBLE)                                                \
  __device__ inline Lane<float> NAME(Lane<float> x, Lane<float> y) { return FLOAT(x.v, y.v); } \
  __device__ inline Lane<double> NAME(Lane<double> x, Lane<double> y) { return DOUBLE(x.v, y.v); }
TS_FLOAT_FUNCTION2(atan2, ::atan2f, ::atan2)
TS_FLOAT_FUNCTION2(hypot, ::hypotf, ::hypot)
TS_FLOAT_FUNCTION2(copysign, ::copysignf, ::copysign)
TS_FLOAT_FUNCTION2(pow, ::powf, ::pow)
TS_FLOAT_FUNCTION2(fmod, ::fmodf, ::fmod)
#undef TS_FLOAT_FUNCTION2

// Rounding leaves integers as they are.
#define TS_ROUNDING(NAME, FLOAT, DOUBLE)                                      \
  __device__ inline Lane<float> NAME(Lane<float> x) { return FLOAT(x.v); }    \
  __device__ inline Lane<double> NAME(Lane<double> x) { return DOUBLE(x.v); } \
  __device__ inline Lane<long long> NAME(Lane<long long> x) { return x; }
TS_ROUNDING(floor, ::floorf, ::floor)
TS_ROUNDING(ceil, ::ceilf, ::ceil)
TS_ROUNDING(round, ::rintf, ::rint)
TS_ROUNDING(trunc, ::truncf, ::trunc)
#undef TS_ROUNDING

template <class T>
__device__ bool is_nan(Lane<T> x) {
  return x.v != x.v;
}
template <class T>
__device__ bool is_inf(Lane<T> x) {
  return is_float_type<T> && x.v == x.v && x.v - x.v != x.v - x.v;
}
template <class T>
__device__ bool is_finite(Lane<T> x) {
  return !is_float_type<T> || x.v - x.v == x.v - x.v;
}
template <class T>
__device__ bool sign_bit(Lane<T> x) {
  if constexpr (is_float_type<T>) return signbit(x.v);
  else return x.v < 0;
}
template <class T>
__device__ Lane<T> abs(Lane<T> x) {
  if constexpr (is_float_type<T>) return ::fabs(x.v);
  else return x.v < 0 ? -x.v : x.v;
}
template <class T>
__device__ Lane<T> sign(Lane<T> x) {
  if (x.v != x.v) return x;
  return T(x.v > T(0)) - T(x.v < T(0));
}
template <class T>
__device__ Lane<T> maximum(Lane<T> x, Also<T> y) {
  return x.v != x.v ? x : y.v != y.v ? y : x.v >= y.v ? x : y;
}
template <class T>
__device__ Lane<T> minimum(Lane<T> x, Also<T> y) {
  return x.v != x.v ? x : y.v != y.v ? y : x.v <= y.v ? x : y;
}
template <class T>
__device__ Lane<T> fmax(Lane<T> x, Also<T> y) {
  return x.v != x.v ? y : y.v != y.v ? x : x.v > y.v ? x : y;
}
template <class T>
__device__ Lane<T> fmin(Lane<T> x, Also<T> y) {
  return x.v != x.v ? y : y.v != y.v ? x : x.v < y.v ? x : y;
}

template <class T>
__device__ Lane<T> sigmoid(Lane<T> x) {
  return Lane<T>(1) / (Lane<T>(1) + exp(-x));
}

// Integers: a division by zero gives zero instead of a trap; the program has refused it where it could see it.
__device__ inline Lane<long long> fmod(Lane<long long> x, Lane<long long> y) { return y.v == 0 ? 0 : x.v % y.v; }
template <class T>
__device__ Lane<T> trunc_divide(Lane<T> x, Lane<T> y) {
  if constexpr (is_float_type<T>) return trunc(x / y);
  else return y.v == 0 ? T(0) : T(x.v / y.v);
}
template <class T>
__device__ Lane<T> floor_divide(Lane<T> x, Lane<T> y) {
  if constexpr (is_float_type<T>) {
    if (y.v == T(0)) return x / y;
    const Lane<T> r = fmod(x, y);
    Lane<T> q = (x - r) / y;
    if (r.v != T(0) && (y.v < T(0)) != (r.v < T(0))) q = q - Lane<T>(1);
    if (q.v == T(0)) return copysign(Lane<T>(0), x / y);
    const Lane<T> f = floor(q);
    return q - f > Lane<T>(T(0.5)) ? f + Lane<T>(1) : f;
  } else {
    if (y.v == 0) return T(0);
    const T q = x.v / y.v;
    return q * y.v != x.v && (x.v < 0) != (y.v < 0) ? T(q - 1) : q;
  }
}
__device__ inline Lane<long long> pow(Lane<long long> base, Lane<long long> exponent) {
  if (exponent.v < 0) return base.v == 1 ? 1 : base.v == -1 ? (exponent.v % 2 ? -1 : 1) : 0;
  unsigned long long result = 1, factor = (unsigned long long)base.v;
  for (unsigned long long e = (unsigned long long)exponent.v; e != 0; e >>= 1, factor *= factor)
    if (e & 1) result *= factor;
  return (long long)result;
}
template <class T>
__device__ Lane<T> shift_left(Lane<T> x, Lane<T> y) {
  return y.v < 0 || y.v >= T(sizeof(T) * 8) ? T(0) : T((unsigned long long)x.v << y.v);
}
template <class T>
__device__ Lane<T> shift_right(Lane<T> x, Lane<T> y) {
  const T bits = y.v < 0 || y.v >= T(sizeof(T) * 8) ? T(sizeof(T) * 8 - 1) : y.v;
  return T(x.v >> bits);
}

#define TS_FN __device__
#define TS_NUM(T) Lane<T>
#include "backends/shared_math.inc"
#undef TS_FN
#undef TS_NUM

}  // namespace m
}  // namespace tessera::tensor::cuda
