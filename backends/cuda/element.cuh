// Elements of every dtype on the device, and their values as another type: what convert_element (runtime/dtype.h) gives on
// the CPU, which differs from a CUDA cast where a float has no integer.
#pragma once

#include "backends/complex_number.h"
#include "backends/cuda/half.cuh"

namespace tessera::tensor::cuda {

/// F(name in DType, type of an element).
#define TS_DEVICE_REALS(F)                                                                                          \
  F(Bool, bool)                                                                                                     \
  F(UInt8, uint8_t)                                                                                                 \
  F(Int8, int8_t)                                                                                                   \
  F(Int16, int16_t) F(Int32, int32_t) F(Int64, int64_t) F(UInt16, uint16_t) F(UInt32, uint32_t) F(UInt64, uint64_t) \
      F(Float16, Float16) F(BFloat16, Brain16) F(Float32, float) F(Float64, double)
#define TS_DEVICE_COMPLEX(F) F(Complex64, Cx<float>) F(Complex128, Cx<double>)
#define TS_DEVICE_TYPES(F) TS_DEVICE_REALS(F) TS_DEVICE_COMPLEX(F)
/// Types that kernels read and write element by element only (load_as, store_as).
#define TS_DEVICE_SMALL(F)                                                                      \
  F(Float8E4M3FN, Float8E4M3FN)                                                                 \
  F(Float8E5M2, Float8E5M2) F(Float8E4M3FNUZ, Float8E4M3FNUZ) F(Float8E5M2FNUZ, Float8E5M2FNUZ) \
      F(Float8E8M0FNU, Float8E8M0FNU) F(Complex32, Cx<Float16>) F(BComplex32, Cx<Brain16>)

/// A set of dtypes that device code may ask (DTypeSet's functions are the host's).
using TypeBits = unsigned;
static_assert(kAllTypes.bits >> 32 == 0);
constexpr TypeBits bits_of(DTypeSet set) { return TypeBits(set.bits); }
__host__ __device__ constexpr bool has_type(TypeBits set, DType type) {
  return int(type) < 32 && (set >> int(type) & 1);
}

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<Cx<T>> = true;
template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, Float16> || std::is_same_v<T, Brain16>;
/// Halves and float8, which are computed as float.
template <class T>
inline constexpr bool is_narrow_type = is_half_type<T> || kFloat8Types.has(dtype_of<T>);

/// The integer of a float as the processors of the CPU backend give it: the lowest of 32 bits (of 64 for what has more)
/// where there is none, cut to the type's size.
template <class To, class From>
__device__ inline To to_integer(From x) {
  constexpr From k63 = From(9223372036854775808.0);
  if constexpr (sizeof(To) < 4 || std::is_same_v<To, int32_t>) {
    constexpr From below = sizeof(From) == 4 ? From(-2147483904.0) : From(-2147483649.0);  // the next one under -2^31
    return To(x > below && x < From(2147483648.0) ? int32_t(x) : INT32_MIN);
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    if (x >= k63) return uint64_t(to_integer<int64_t>(x - k63)) ^ (uint64_t(1) << 63);
    return uint64_t(to_integer<int64_t>(x));
  } else {
    return To(x >= -k63 && x < k63 ? int64_t(x) : INT64_MIN);
  }
}

template <class To, class From>
__device__ inline To convert(From x) {
  if constexpr (std::is_same_v<To, From>) return x;
  else if constexpr (is_complex_number<From>) {
    if constexpr (is_complex_number<To>) return To(convert<decltype(To::re)>(x.re), convert<decltype(To::re)>(x.im));
    else if constexpr (std::is_same_v<To, bool>) return convert<bool>(x.re) || convert<bool>(x.im);
    else return convert<To>(x.re);
  } else if constexpr (is_complex_number<To>) return To(convert<decltype(To::re)>(x));
  else if constexpr (is_narrow_type<From>) return convert<To>(float(x));
  else if constexpr (is_narrow_type<To>) return To(float(x));
  else if constexpr (std::is_same_v<To, bool>) return x != From(0);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) return to_integer<To>(x);
  else return To(x);
}

/// What a lane of the op tables holds, and back.
template <class T>
struct LaneOf {
  using Number = T;
  static __device__ T number(T x) { return x; }
};
template <class T>
struct LaneOf<Num<T>> {
  using Number = T;
  static __device__ T number(Num<T> x) { return x.v; }
};

/// Element `at` of an array of a run-time dtype as T: operands may have other dtypes than the arithmetic.
template <class T>
__device__ inline T load_as(const char* data, int64_t at, DType dtype) {
  switch (dtype) {
#define TS_CASE(NAME, TYPE) \
  case DType::NAME: return convert<T>(reinterpret_cast<const TYPE*>(data)[at]);
    TS_DEVICE_TYPES(TS_CASE)
    TS_DEVICE_SMALL(TS_CASE)
#undef TS_CASE
    default: return T(0);
  }
}
template <class T>
__device__ inline void store_as(char* data, int64_t at, DType dtype, T value) {
  switch (dtype) {
#define TS_CASE(NAME, TYPE) \
  case DType::NAME: reinterpret_cast<TYPE*>(data)[at] = convert<TYPE>(value); return;
    TS_DEVICE_TYPES(TS_CASE)
    TS_DEVICE_SMALL(TS_CASE)
#undef TS_CASE
    default: return;
  }
}

}  // namespace tessera::tensor::cuda
