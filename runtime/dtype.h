// Element types: what there is to ask of them, and promotion. Each is a row of dtypes.def.
#pragma once

#include <string_view>

#include "runtime/dtype_facts.h"

namespace tessera::tensor {

#define DTYPE(NAME, ...) inline constexpr DType k##NAME = DType::NAME;
#include "runtime/dtypes.def"

inline constexpr const DTypeFacts& facts(DType t) { return kDTypeFacts[int(t)]; }

namespace detail {

inline constexpr uint8_t kItemSize[] = {
#define DTYPE(NAME, TYPE, ...) sizeof(TYPE),
#include "runtime/dtypes.def"
};

/// A bit for each dtype of which it is so.
template <class Holds>
constexpr uint32_t types_that(Holds holds) {
  static_assert(kDTypeCount <= 32);
  uint32_t bits = 0;
  for (int i = 0; i < kDTypeCount; i++)
    if (holds(kDTypeFacts[i])) bits |= 1u << i;
  return bits;
}
constexpr bool is_integer(const DTypeFacts& f) {
  return f.of_class == DTypeClass::Unsigned || f.of_class == DTypeClass::Signed;
}
inline constexpr uint32_t kSigned = types_that([](auto& f) { return f.of_class >= DTypeClass::Signed; });
inline constexpr uint32_t kInteger = types_that(is_integer);
inline constexpr uint32_t kStored = types_that([](auto& f) { return f.is_stored; });
inline constexpr uint32_t kFloating = types_that([](auto& f) { return f.of_class == DTypeClass::Floating; });
inline constexpr uint32_t kHalf =
    types_that([](auto& f) { return f.of_class == DTypeClass::Floating && f.bytes == 2; });
inline constexpr uint32_t kComplex = types_that([](auto& f) { return f.of_class == DTypeClass::Complex; });

constexpr bool has(uint32_t types, DType t) { return types >> int(t) & 1; }

}  // namespace detail

inline constexpr size_t item_size(DType t) { return detail::kItemSize[int(t)]; }
inline constexpr bool is_bool(DType t) { return t == DType::Bool; }
inline constexpr bool is_signed(DType t) { return detail::has(detail::kSigned, t); }
inline constexpr bool is_integral(DType t) { return detail::has(detail::kInteger, t); }  // without bool
inline constexpr bool is_wide_unsigned(DType t) { return detail::has(detail::kInteger & detail::kStored, t); }
inline constexpr bool is_floating(DType t) { return detail::has(detail::kFloating, t); }
inline constexpr bool is_half(DType t) { return detail::has(detail::kHalf, t); }
inline constexpr bool is_complex(DType t) { return detail::has(detail::kComplex, t); }
inline constexpr bool is_differentiable(DType t) { return detail::has(detail::kFloating | detail::kComplex, t); }

/// A set of dtypes: what an op or a kernel takes.
struct DTypeSet {
  uint32_t bits = 0;

  constexpr DTypeSet() = default;
  constexpr DTypeSet(DType t) : bits(1u << int(t)) {}
  static constexpr DTypeSet of_bits(uint32_t bits) {
    DTypeSet set;
    set.bits = bits;
    return set;
  }
  constexpr bool has(DType t) const { return bits >> int(t) & 1; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) { return of_bits(a.bits | b.bits); }
  friend constexpr DTypeSet operator-(DTypeSet a, DTypeSet b) { return of_bits(a.bits & ~b.bits); }
  friend constexpr bool operator==(DTypeSet a, DTypeSet b) { return a.bits == b.bits; }
};
inline constexpr DTypeSet kIntegralTypes = DTypeSet::of_bits(detail::kInteger & ~detail::kStored);
inline constexpr DTypeSet kWideUnsignedTypes = DTypeSet::of_bits(detail::kInteger & detail::kStored);
inline constexpr DTypeSet kHalfTypes = DTypeSet::of_bits(detail::kHalf & ~detail::kStored);
inline constexpr DTypeSet kFloatTypes = DTypeSet::of_bits(detail::kFloating & ~detail::kStored);
inline constexpr DTypeSet kComplexTypes = DTypeSet::of_bits(detail::kComplex & ~detail::kStored);
inline constexpr DTypeSet kRealTypes = DTypeSet(DType::Bool) | kIntegralTypes | kFloatTypes;  // what most kernels take
inline constexpr DTypeSet kAllTypes = kRealTypes | kWideUnsignedTypes | kComplexTypes;

/// "float32": what follows "torch." in repr(dtype).
inline const char* name(DType t) { return facts(t).name; }
/// "Float": PyTorch's name inside error messages.
inline const char* scalar_type_name(DType t) { return facts(t).scalar_type; }
/// Finds "float32", "float", "long", "half", ...; false when there is no such type.
bool dtype_from_name(std::string_view text, DType& out);
/// "long int": as C++ calls the numbers, in the words of some refusals.
inline const char* cpp_name(DType t) { return facts(t).cpp_name; }

/// The smallest type that holds both, as torch.promote_types; throws for uint16, uint32 and uint64 among integers.
DType promote_unlike_types(DType a, DType b);
inline DType promote_types(DType a, DType b) { return a == b ? a : promote_unlike_types(a, b); }
/// The type of a complex number's parts (complex64: float32); others stay as they are.
inline constexpr DType real_type(DType t) { return is_complex(t) ? facts(t).parts : t; }
/// The complex type whose parts are of this one; itself where there is none.
inline constexpr DType complex_of_parts(DType t) {
  for (int i = 0; i < kDTypeCount; i++)
    if (is_complex(DType(i)) && kDTypeFacts[i].parts == t) return DType(i);
  return t;
}
/// The complex type beside which a real one is computed.
inline constexpr DType complex_type(DType t) { return t == DType::Float64 ? DType::Complex128 : DType::Complex64; }
/// Whether numbers of a program become tensors of this dtype without being told to: a tensor's repr does not say it.
inline constexpr bool is_implied(DType t, DType default_dtype) {
  return t == default_dtype || facts(t).of_literals || t == complex_type(default_dtype);
}
/// The last of the integers from 0 on that the dtype holds without a gap (of uint64 that of int64, which is all that an int holds).
int64_t last_integer(DType t);
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
template <DType t>
struct ElementType;
#define DTYPE(NAME, TYPE, ...)                         \
  template <>                                          \
  inline constexpr DType dtype_of<TYPE> = DType::NAME; \
  template <>                                          \
  struct ElementType<DType::NAME> {                    \
    using type = TYPE;                                 \
  };
#include "runtime/dtypes.def"

template <class T>
struct TypeTag {
  using type = T;
};

/// Calls f(TypeTag<T>{}) with the C++ type of a dtype of the set, and refuses every other:
/// `with_type<kFloatTypes>(t, [&](auto tag) { using T = typename decltype(tag)::type; ... }, "softmax")`.
template <DTypeSet Set = kRealTypes, class F>
decltype(auto) with_type(DType t, F&& f, const char* kernel = nullptr) {
  switch (t) {
#define DTYPE(NAME, TYPE, ...)                                     \
  case DType::NAME:                                                \
    if constexpr (Set.has(DType::NAME)) return f(TypeTag<TYPE>{}); \
    else break;
#include "runtime/dtypes.def"
  }
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
