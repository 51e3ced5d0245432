// Num<T>: one number with the operators that op bodies use, and namespace number_math over it. What a SIMD lane is to the
// CPU's vector code, Num is to plain code: the ref backend computes in Num<double> and Num<int64_t>, the CPU its integers in
// Num<int32_t> and Num<int64_t> (integer arithmetic wraps round), CUDA everything. A Num takes literals of any type as its
// own, so that no body slips into double. NVRTC is given this file as text, so it includes nothing but its neighbours.
#pragma once

#include "backends/number_words.h"

namespace tessera::tensor {

template <class T>
struct Num {
  T v;

  Num() = default;
  template <class U>
  requires requires(U x) { static_cast<T>(x); }
  TS_NUMBER constexpr Num(U x) : v(static_cast<T>(x)) {}

  static constexpr bool kInteger = is_integer_number<T>;
  using W = typename Wrapping<T>::type;

  friend TS_NUMBER Num operator+(Num a, Num b) { return Num(W(W(a.v) + W(b.v))); }
  friend TS_NUMBER Num operator-(Num a, Num b) { return Num(W(W(a.v) - W(b.v))); }
  friend TS_NUMBER Num operator*(Num a, Num b) {
    if constexpr (kInteger) return Num(W(1U * W(a.v) * W(b.v)));  // shorts would become int and might overflow
    else return Num(a.v * b.v);
  }
  friend TS_NUMBER Num operator/(Num a, Num b) {
    if constexpr (kInteger) {
      // A quotient by zero is 0, a quotient by -1 the negative. Masks, for a branch would keep compilers from vectorising the division.
      const W some = W(0) - W(b.v != 0), minus = T(-1) < T(0) ? W(0) - W(b.v == T(-1)) : W(0), whole = W(~some | minus);
      const W divided = W(quotient(a.v, T(W(b.v ^ ((b.v ^ 1) & T(whole))))));
      return Num(W(((divided & some) ^ minus) - minus));
    } else {
      return Num(a.v / b.v);
    }
  }
  friend TS_NUMBER Num operator-(Num a) { return kInteger ? Num(0) - a : Num(-a.v); }
  friend TS_NUMBER bool operator==(Num a, Num b) { return a.v == b.v; }
  friend TS_NUMBER bool operator!=(Num a, Num b) { return a.v != b.v; }
  friend TS_NUMBER bool operator<(Num a, Num b) { return a.v < b.v; }
  friend TS_NUMBER bool operator<=(Num a, Num b) { return a.v <= b.v; }
  friend TS_NUMBER bool operator>(Num a, Num b) { return a.v > b.v; }
  friend TS_NUMBER bool operator>=(Num a, Num b) { return a.v >= b.v; }
  friend TS_NUMBER Num operator&(Num a, Num b) requires kInteger { return Num(T(a.v & b.v)); }
  friend TS_NUMBER Num operator|(Num a, Num b) requires kInteger { return Num(T(a.v | b.v)); }
  friend TS_NUMBER Num operator^(Num a, Num b) requires kInteger { return Num(T(a.v ^ b.v)); }
  friend TS_NUMBER constexpr Num operator~(Num a) requires kInteger { return Num(T(~a.v)); }

 private:
  // Integers of 32 bits are divided as doubles, for which processors have vector instructions; the truncated quotient is exact.
  static TS_NUMBER constexpr T quotient(T a, T b) {
#ifndef __CUDACC__
    if constexpr (sizeof(T) == 4) return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
#endif
    return a / b;
  }
};

namespace number_math {

#define TS_WORD(NAME)                \
  template <class T>                 \
  TS_NUMBER Num<T> NAME(Num<T> x) {  \
    return Num<T>(words::NAME(x.v)); \
  }
TS_WORD(sqrt)
TS_WORD(exp)
TS_WORD(exp2)
TS_WORD(expm1)
TS_WORD(log)
TS_WORD(log2)
TS_WORD(log10)
TS_WORD(log1p)
TS_WORD(sin)
TS_WORD(cos)
TS_WORD(tan)
TS_WORD(asin)
TS_WORD(acos)
TS_WORD(atan)
TS_WORD(sinh)
TS_WORD(cosh)
TS_WORD(tanh)
TS_WORD(asinh)
TS_WORD(acosh)
TS_WORD(atanh)
TS_WORD(erf)
TS_WORD(erfc)
TS_WORD(lgamma)
TS_WORD(normal_cdf)
#undef TS_WORD
#define TS_ROUND(NAME, CALL)                  \
  template <class T>                          \
  TS_NUMBER Num<T> NAME(Num<T> x) {           \
    if constexpr (Num<T>::kInteger) return x; \
    else return Num<T>(words::CALL(x.v));     \
  }
TS_ROUND(floor, floor)
TS_ROUND(ceil, ceil)
TS_ROUND(round, nearbyint)
TS_ROUND(trunc, trunc)
#undef TS_ROUND

template <class T>
TS_NUMBER Num<T> abs(Num<T> x) {
  if constexpr (Num<T>::kInteger) return x.v < 0 ? -x : x;
  else return Num<T>(words::fabs(x.v));
}
template <class T>
TS_NUMBER Num<T> sign(Num<T> x) {
  return Num<T>((x.v > 0) - (x.v < 0));
}
template <class T>
TS_NUMBER bool is_nan(Num<T> x) {
  return x.v != x.v;
}
template <class T>
TS_NUMBER bool is_inf(Num<T> x) {
  if constexpr (Num<T>::kInteger) return false;
  else return words::is_inf(x.v);
}
template <class T>
TS_NUMBER bool is_finite(Num<T> x) {
  if constexpr (Num<T>::kInteger) return true;
  else return words::is_finite(x.v);
}
template <class T>
TS_NUMBER bool sign_bit(Num<T> x) {
  if constexpr (Num<T>::kInteger) return x.v < 0;
  else return words::sign_bit(x.v);
}
template <class T>
TS_NUMBER Num<T> select(bool c, Num<T> a, Same<Num<T>> b) {
  return Num<T>(c ? a.v : b.v);
}
TS_NUMBER inline bool differ(bool a, bool b) { return a != b; }
TS_NUMBER inline bool any(bool x) { return x; }
/// What `exp` as an op is; on lanes it is nearer to the exact value than what other functions are made of.
template <class T>
TS_NUMBER Num<T> exp_near(Num<T> x) {
  return exp(x);
}
/// x * y + z; lanes round once where the instruction set can, as PyTorch's kernels do.
template <class T>
TS_NUMBER Num<T> mul_add(Num<T> x, Same<Num<T>> y, Same<Num<T>> z) {
  if constexpr (Num<T>::kInteger) return x * y + z;
  else return Num<T>(words::mul_add(x.v, y.v, z.v));
}
/// c0 + x (c1 + x (c2 + ...)).
template <class T>
TS_NUMBER Num<T> horner(Num<T>, double c) {
  return Num<T>(c);
}
template <class T, class... C>
TS_NUMBER Num<T> horner(Num<T> x, double c, C... rest) {
  return horner(x, rest...) * x + c;
}

template <class T>
TS_NUMBER Num<T> maximum(Num<T> x, Same<Num<T>> y) {
  return x.v >= y.v || is_nan(x) ? x : y;
}
template <class T>
TS_NUMBER Num<T> minimum(Num<T> x, Same<Num<T>> y) {
  return x.v <= y.v || is_nan(x) ? x : y;
}
template <class T>
TS_NUMBER Num<T> fmax(Num<T> x, Num<T> y) {
  return x.v > y.v || is_nan(y) ? x : y;
}
template <class T>
TS_NUMBER Num<T> fmin(Num<T> x, Num<T> y) {
  return x.v < y.v || is_nan(y) ? x : y;
}

template <class T>
TS_NUMBER Num<T> trunc_divide(Num<T> x, Num<T> y) {
  if constexpr (Num<T>::kInteger) return x / y;
  else return Num<T>(words::trunc(x.v / y.v));
}
template <class T>
TS_NUMBER Num<T> fmod(Num<T> x, Num<T> y) {
  if constexpr (Num<T>::kInteger) return x - (x / y) * y;
  else return Num<T>(words::fmod(x.v, y.v));
}
/// Python's //: exact for floats too, as it starts from the remainder.
template <class T>
TS_NUMBER Num<T> floor_divide(Num<T> x, Num<T> y) {
  if constexpr (Num<T>::kInteger) {
    Num<T> q = x / y;
    const bool below = (y.v != 0) & ((q * y).v != x.v) & ((x.v < 0) != (y.v < 0));
    return q - Num<T>(below);
  } else {
    if (y.v == 0) return x / y;
    T r = words::fmod(x.v, y.v);
    T q = (x.v - r) / y.v;
    if (r != 0 && (y.v < 0) != (r < 0)) q -= 1;
    if (q == 0) return Num<T>(words::copysign(T(0), x.v / y.v));
    T whole = words::floor(q);
    return Num<T>(q - whole > T(0.5) ? whole + 1 : whole);
  }
}
template <class T>
TS_NUMBER Num<T> pow(Num<T> x, Num<T> y) {
  if constexpr (Num<T>::kInteger) {
    if (y.v < 0) return x.v == 1 ? Num<T>(1) : x.v == -1 ? Num<T>((y.v & 1) ? -1 : 1) : Num<T>(0);
    Num<T> result(1), base = x;
    for (T n = y.v; n; n >>= 1) {
      if (n & 1) result = result * base;
      base = base * base;
    }
    return result;
  } else {
    return Num<T>(words::pow(x.v, y.v));
  }
}
template <class T>
TS_NUMBER Num<T> atan2(Num<T> x, Num<T> y) {
  return Num<T>(words::atan2(x.v, y.v));
}
template <class T>
TS_NUMBER Num<T> hypot(Num<T> x, Num<T> y) {
  return Num<T>(words::hypot(x.v, y.v));
}
template <class T>
TS_NUMBER Num<T> copysign(Num<T> x, Num<T> y) {
  return Num<T>(words::copysign(x.v, y.v));
}
template <class T>
TS_NUMBER Num<T> sigmoid(Num<T> x) {
  return Num<T>(1 / (1 + words::exp(-x.v)));
}
template <class T>
TS_NUMBER Num<T> shift_left(Num<T> x, Num<T> y) {
  constexpr int bits = 8 * sizeof(T);
  return y.v < 0 || y.v >= bits ? Num<T>(0) : Num<T>(typename Num<T>::W(typename Num<T>::W(x.v) << y.v));
}
template <class T>
TS_NUMBER Num<T> shift_right(Num<T> x, Num<T> y) {
  constexpr int bits = 8 * sizeof(T);
  constexpr bool has_sign = T(-1) < T(0);
  return Num<T>(T(x.v >> (y.v < 0 || y.v >= bits ? bits - (has_sign || bits > 16) : y.v)));
}

/// The identities of maximum and minimum.
template <class T>
TS_NUMBER constexpr Num<T> lowest(Num<T>) {
  using W = typename Num<T>::W;
  if constexpr (!Num<T>::kInteger) return Num<T>(-words::infinity<T>());
  else return Num<T>(T(-1) < T(0) ? W(W(1) << (8 * sizeof(T) - 1)) : W(0));
}
template <class T>
TS_NUMBER constexpr Num<T> highest(Num<T> x) {
  if constexpr (!Num<T>::kInteger) return Num<T>(words::infinity<T>());
  else return ~lowest(x);
}
template <class T>
TS_NUMBER Num<T> truth(Num<T> x) {
  return Num<T>(x.v != 0);
}

#define TS_FN TS_NUMBER
#define TS_NUM(T) Num<T>
#include "backends/shared_math.inc"
#undef TS_FN
#undef TS_NUM

}  // namespace number_math
}  // namespace tessera::tensor
