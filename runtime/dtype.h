// Element types. One byte each; PyTorch's names in both spellings ("float32" for users,
// "Float" inside PyTorch's messages) and its promotion table.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/half.h"

namespace tessera::tensor {

enum class DType : uint8_t {
  Bool,
  UInt8,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt16,  // these three are storage: few ops take them, and they promote to floating types only
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
  Complex64,
  Complex128,
};
inline constexpr int kDTypeCount = 15;

inline constexpr DType kBool = DType::Bool, kUInt8 = DType::UInt8, kInt8 = DType::Int8, kInt16 = DType::Int16,
                       kInt32 = DType::Int32, kInt64 = DType::Int64, kUInt16 = DType::UInt16, kUInt32 = DType::UInt32,
                       kUInt64 = DType::UInt64, kFloat16 = DType::Float16, kBFloat16 = DType::BFloat16,
                       kFloat32 = DType::Float32, kFloat64 = DType::Float64, kComplex64 = DType::Complex64,
                       kComplex128 = DType::Complex128;

namespace detail {
inline constexpr uint8_t kItemSize[kDTypeCount] = {1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8, 8, 16};
extern const char* const kDTypeName[kDTypeCount];
extern const char* const kScalarTypeName[kDTypeCount];

}  // namespace detail

inline constexpr size_t item_size(DType t) { return detail::kItemSize[int(t)]; }
inline constexpr bool is_bool(DType t) { return t == DType::Bool; }
inline constexpr bool is_integral(DType t) { return t >= DType::UInt8 && t <= DType::UInt64; }  // without bool
inline constexpr bool is_wide_unsigned(DType t) { return t >= DType::UInt16 && t <= DType::UInt64; }
inline constexpr bool is_floating(DType t) { return t >= DType::Float16 && t <= DType::Float64; }
inline constexpr bool is_half(DType t) { return t == DType::Float16 || t == DType::BFloat16; }
inline constexpr bool is_complex(DType t) { return t >= DType::Complex64; }
inline constexpr bool is_differentiable(DType t) { return t >= DType::Float16; }

/// A set of dtypes: what an op or a kernel takes.
struct DTypeSet {
  uint16_t bits = 0;

  constexpr DTypeSet() = default;
  constexpr DTypeSet(DType t) : bits(uint16_t(1u << int(t))) {}
  constexpr bool has(DType t) const { return bits >> int(t) & 1; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) { return from_bits(a.bits | b.bits); }
  friend constexpr DTypeSet operator-(DTypeSet a, DTypeSet b) { return from_bits(a.bits & ~b.bits); }
  friend constexpr bool operator==(DTypeSet a, DTypeSet b) { return a.bits == b.bits; }

 private:
  static constexpr DTypeSet from_bits(int bits) {
    DTypeSet set;
    set.bits = uint16_t(bits);
    return set;
  }
};
inline constexpr DTypeSet kIntegralTypes =
    DTypeSet(DType::UInt8) | DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64;
inline constexpr DTypeSet kWideUnsignedTypes = DTypeSet(DType::UInt16) | DType::UInt32 | DType::UInt64;
inline constexpr DTypeSet kHalfTypes = DTypeSet(DType::Float16) | DType::BFloat16;
inline constexpr DTypeSet kFloatTypes = kHalfTypes | DType::Float32 | DType::Float64;
inline constexpr DTypeSet kComplexTypes = DTypeSet(DType::Complex64) | DType::Complex128;
inline constexpr DTypeSet kRealTypes = DTypeSet(DType::Bool) | kIntegralTypes | kFloatTypes;  // what most kernels take
inline constexpr DTypeSet kAllTypes = kRealTypes | kWideUnsignedTypes | kComplexTypes;

/// "float32": what follows "torch." in repr(dtype).
inline const char* name(DType t) { return detail::kDTypeName[int(t)]; }
/// "Float": PyTorch's name inside error messages.
inline const char* scalar_type_name(DType t) { return detail::kScalarTypeName[int(t)]; }
/// Finds "float32", "float", "long", "half", ...; false when there is no such type.
bool dtype_from_name(std::string_view text, DType& out);

/// The smallest type that holds both, as torch.promote_types; throws for uint16, uint32 and uint64 among integers.
DType promote_unlike_types(DType a, DType b);
inline DType promote_types(DType a, DType b) { return a == b ? a : promote_unlike_types(a, b); }
/// The type of a complex number's parts (complex64: float32), and back; others stay as they are.
inline constexpr DType real_type(DType t) {
  return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
}
inline constexpr DType complex_type(DType t) { return t == DType::Float64 ? DType::Complex128 : DType::Complex64; }
/// Throws PyTorch's '"sort" not implemented for 'ComplexFloat''; without a kernel's name: "not implemented for ...".
[[noreturn]] void refuse_type(DType t, const char* kernel = nullptr);
inline void require_type(DTypeSet set, DType t, const char* kernel) {
  if (!set.has(t)) [[unlikely]]
    refuse_type(t, kernel);
}
/// torch.can_cast: whether `from` may be written into `to` (in-place and out= results).
bool can_cast(DType from, DType to);

template <class T>
inline constexpr DType dtype_of = DType::Bool;
template <>
inline constexpr DType dtype_of<bool> = DType::Bool;
template <>
inline constexpr DType dtype_of<uint8_t> = DType::UInt8;
template <>
inline constexpr DType dtype_of<int8_t> = DType::Int8;
template <>
inline constexpr DType dtype_of<int16_t> = DType::Int16;
template <>
inline constexpr DType dtype_of<int32_t> = DType::Int32;
template <>
inline constexpr DType dtype_of<int64_t> = DType::Int64;
template <>
inline constexpr DType dtype_of<uint16_t> = DType::UInt16;
template <>
inline constexpr DType dtype_of<uint32_t> = DType::UInt32;
template <>
inline constexpr DType dtype_of<uint64_t> = DType::UInt64;
template <>
inline constexpr DType dtype_of<Half> = DType::Float16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::BFloat16;
template <>
inline constexpr DType dtype_of<float> = DType::Float32;
template <>
inline constexpr DType dtype_of<double> = DType::Float64;
template <>
inline constexpr DType dtype_of<std::complex<float>> = DType::Complex64;
template <>
inline constexpr DType dtype_of<std::complex<double>> = DType::Complex128;

template <class T>
struct TypeTag {
  using type = T;
};

/// Calls f(TypeTag<T>{}) with the C++ type of a dtype of the set, and refuses every other:
/// `with_type<kFloatTypes>(t, [&](auto tag) { using T = typename decltype(tag)::type; ... }, "softmax")`.
template <DTypeSet Set = kRealTypes, class F>
decltype(auto) with_type(DType t, F&& f, const char* kernel = nullptr) {
#define TS_CASE(NAME, TYPE)                                        \
  case DType::NAME:                                                \
    if constexpr (Set.has(DType::NAME)) return f(TypeTag<TYPE>{}); \
    else break;
  switch (t) {
    TS_CASE(Bool, bool)
    TS_CASE(UInt8, uint8_t)
    TS_CASE(Int8, int8_t)
    TS_CASE(Int16, int16_t)
    TS_CASE(Int32, int32_t)
    TS_CASE(Int64, int64_t)
    TS_CASE(UInt16, uint16_t)
    TS_CASE(UInt32, uint32_t)
    TS_CASE(UInt64, uint64_t)
    TS_CASE(Float16, Half)
    TS_CASE(BFloat16, BFloat16)
    TS_CASE(Float32, float)
    TS_CASE(Float64, double)
    TS_CASE(Complex64, std::complex<float>)
    TS_CASE(Complex128, std::complex<double>)
  }
#undef TS_CASE
  refuse_type(t, kernel);
}

/// Calls f with an unsigned integer type of the element's size: for moving elements without looking at them.
template <class F>
decltype(auto) with_size(DType t, F&& f) {
  switch (item_size(t)) {
    case 1: return f(TypeTag<uint8_t>{});
    case 2: return f(TypeTag<uint16_t>{});
    case 4: return f(TypeTag<uint32_t>{});
    case 16: return f(TypeTag<std::complex<double>>{});
    default: return f(TypeTag<uint64_t>{});
  }
}

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

/// Value conversion between element types, as a C cast but defined for halves, for bool, and for complex numbers (their
/// real part is what a real type takes).
template <class To, class From>
inline To convert_element(From value) {
  if constexpr (std::is_same_v<To, From>) return value;
  else if constexpr (is_complex_type<From>) {
    if constexpr (is_complex_type<To>) return To(value);
    else if constexpr (std::is_same_v<To, bool>) return value != From(0);
    else return convert_element<To>(value.real());
  } else if constexpr (is_complex_type<To>) return To(convert_element<typename To::value_type>(value));
  else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>)
    return convert_element<To>(float(value));
  else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) return To(float(value));
  else if constexpr (std::is_same_v<To, bool>) return value != From(0);
  else return static_cast<To>(value);
}

}  // namespace tessera::tensor
