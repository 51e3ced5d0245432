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
  Float16,
  BFloat16,
  Float32,
  Float64,
  Complex64,
  Complex128,
};
inline constexpr int kDTypeCount = 12;

inline constexpr DType kBool = DType::Bool, kUInt8 = DType::UInt8, kInt8 = DType::Int8, kInt16 = DType::Int16,
                       kInt32 = DType::Int32, kInt64 = DType::Int64, kFloat16 = DType::Float16,
                       kBFloat16 = DType::BFloat16, kFloat32 = DType::Float32, kFloat64 = DType::Float64,
                       kComplex64 = DType::Complex64, kComplex128 = DType::Complex128;

namespace detail {
inline constexpr uint8_t kItemSize[kDTypeCount] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
extern const char* const kDTypeName[kDTypeCount];
extern const char* const kScalarTypeName[kDTypeCount];
extern const DType kPromotion[kDTypeCount][kDTypeCount];
}  // namespace detail

inline constexpr size_t item_size(DType t) { return detail::kItemSize[int(t)]; }
inline constexpr bool is_bool(DType t) { return t == DType::Bool; }
inline constexpr bool is_integral(DType t) { return t >= DType::UInt8 && t <= DType::Int64; }  // without bool
inline constexpr bool is_floating(DType t) { return t >= DType::Float16 && t <= DType::Float64; }
inline constexpr bool is_half(DType t) { return t == DType::Float16 || t == DType::BFloat16; }
inline constexpr bool is_complex(DType t) { return t >= DType::Complex64; }
inline constexpr bool is_differentiable(DType t) { return t >= DType::Float16; }

/// "float32": what follows "torch." in repr(dtype).
inline const char* name(DType t) { return detail::kDTypeName[int(t)]; }
/// "Float": PyTorch's name inside error messages.
inline const char* scalar_type_name(DType t) { return detail::kScalarTypeName[int(t)]; }
/// Finds "float32", "float", "long", "half", ...; false when there is no such type.
bool dtype_from_name(std::string_view text, DType& out);

/// The smallest type that holds both, as torch.promote_types.
inline DType promote_types(DType a, DType b) { return a == b ? a : detail::kPromotion[int(a)][int(b)]; }
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

/// Calls f(TypeTag<T>{}) with the C++ type of a real dtype: `with_type(t, [&](auto tag) { using T = typename decltype(tag)::type; ... })`.
template <class F>
decltype(auto) with_type(DType t, F&& f) {
  switch (t) {
    case DType::Bool: return f(TypeTag<bool>{});
    case DType::UInt8: return f(TypeTag<uint8_t>{});
    case DType::Int8: return f(TypeTag<int8_t>{});
    case DType::Int16: return f(TypeTag<int16_t>{});
    case DType::Int32: return f(TypeTag<int32_t>{});
    case DType::Int64: return f(TypeTag<int64_t>{});
    case DType::Float16: return f(TypeTag<Half>{});
    case DType::BFloat16: return f(TypeTag<BFloat16>{});
    case DType::Float64: return f(TypeTag<double>{});
    default: return f(TypeTag<float>{});
  }
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

/// Value conversion between element types, as a C cast but defined for halves and for bool.
template <class To, class From>
inline To convert_element(From value) {
  if constexpr (std::is_same_v<To, From>) return value;
  else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>)
    return convert_element<To>(float(value));
  else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) return To(float(value));
  else if constexpr (std::is_same_v<To, bool>) return value != From(0);
  else return static_cast<To>(value);
}

}  // namespace tessera::tensor
