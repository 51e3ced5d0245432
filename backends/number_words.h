// The words that number.h and complex_number.h are made of, where compilers differ: the host's standard library, CUDA's
// functions under nvcc, and NVRTC, which has no headers at all.
#pragma once

#ifdef __CUDACC__
#define TS_NUMBER __host__ __device__
#else
#define TS_NUMBER
#endif

#ifndef __CUDACC_RTC__
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#endif

namespace tessera::tensor {

/// A parameter whose type another argument decides, where a literal may stand too.
template <class T>
struct SameType {
  using type = T;
};
template <class T>
using Same = typename SameType<T>::type;

template <class T>
inline constexpr bool is_integer_number = T(0.5) == T(0);

/// The unsigned type of an integer's size, in which arithmetic wraps round; other types stay as they are.
template <class T, unsigned bytes = is_integer_number<T> ? sizeof(T) : 0>
struct Wrapping {
  using type = T;
};
template <class T>
struct Wrapping<T, 1> {
  using type = unsigned char;
};
template <class T>
struct Wrapping<T, 2> {
  using type = unsigned short;
};
template <class T>
struct Wrapping<T, 4> {
  using type = unsigned;
};
template <class T>
struct Wrapping<T, 8> {
  using type = unsigned long long;
};

namespace words {

#ifdef __CUDACC__
#define TS_WORD(NAME, FLOAT, DOUBLE)                          \
  TS_NUMBER inline float NAME(float x) { return ::FLOAT(x); } \
  TS_NUMBER inline double NAME(double x) { return ::DOUBLE(x); }
#define TS_WORD2(NAME, FLOAT, DOUBLE)                                     \
  TS_NUMBER inline float NAME(float x, float y) { return ::FLOAT(x, y); } \
  TS_NUMBER inline double NAME(double x, double y) { return ::DOUBLE(x, y); }
TS_WORD(nearbyint, rintf, rint)
TS_WORD(normal_cdf, normcdff, normcdf)
TS_WORD(lgamma, lgammaf, lgamma)
#else
#define TS_WORD(NAME, FLOAT, DOUBLE) using std::NAME;
#define TS_WORD2(NAME, FLOAT, DOUBLE) using std::NAME;
using std::nearbyint;
template <class T>
inline T normal_cdf(T x) {
  return T(0.5) * std::erfc(x * T(-0.70710678118654752440));
}
template <class T>
inline T lgamma(T x) {
  int sign;  // std::lgamma writes it to memory that threads share
  return T(::lgamma_r(double(x), &sign));
}
#endif
TS_WORD(sqrt, sqrtf, sqrt)
TS_WORD(exp, expf, exp)
TS_WORD(exp2, exp2f, exp2)
TS_WORD(expm1, expm1f, expm1)
TS_WORD(log, logf, log)
TS_WORD(log2, log2f, log2)
TS_WORD(log10, log10f, log10)
TS_WORD(log1p, log1pf, log1p)
TS_WORD(sin, sinf, sin)
TS_WORD(cos, cosf, cos)
TS_WORD(tan, tanf, tan)
TS_WORD(asin, asinf, asin)
TS_WORD(acos, acosf, acos)
TS_WORD(atan, atanf, atan)
TS_WORD(sinh, sinhf, sinh)
TS_WORD(cosh, coshf, cosh)
TS_WORD(tanh, tanhf, tanh)
TS_WORD(asinh, asinhf, asinh)
TS_WORD(acosh, acoshf, acosh)
TS_WORD(atanh, atanhf, atanh)
TS_WORD(erf, erff, erf)
TS_WORD(erfc, erfcf, erfc)
TS_WORD(floor, floorf, floor)
TS_WORD(ceil, ceilf, ceil)
TS_WORD(trunc, truncf, trunc)
TS_WORD(fabs, fabsf, fabs)
TS_WORD2(fmod, fmodf, fmod)
TS_WORD2(pow, powf, pow)
TS_WORD2(atan2, atan2f, atan2)
TS_WORD2(hypot, hypotf, hypot)
TS_WORD2(copysign, copysignf, copysign)
#undef TS_WORD
#undef TS_WORD2

template <class T>
TS_NUMBER inline T infinity() {
#ifdef __CUDACC__
  return T(1) / T(0);
#else
  return std::numeric_limits<T>::infinity();
#endif
}
template <class T>
TS_NUMBER inline bool is_nan(T x) {
  return x != x;
}
template <class T>
TS_NUMBER inline bool is_inf(T x) {
  return fabs(x) == infinity<T>();
}
template <class T>
TS_NUMBER inline bool is_finite(T x) {
  return fabs(x) < infinity<T>();
}
template <class T>
TS_NUMBER inline bool sign_bit(T x) {
#ifdef __CUDACC__
  return copysign(T(1), x) < T(0);
#else
  return std::signbit(x);
#endif
}
/// x * y + z, rounded once where that costs nothing: on the device, and on whoever stands in for one.
template <class T>
TS_NUMBER inline T mul_add(T x, T y, T z) {
#ifdef TESSERA_EXECUTOR
  return std::fma(x, y, z);
#else
  return x * y + z;  // nvcc makes one instruction of it
#endif
}

}  // namespace words
}  // namespace tessera::tensor
