// Element types: what there is to ask of them, and promotion. Each is a row of dtypes.def.
#pragma once

#include <string_view>
#include <type_traits>

#include "runtime/dtype_facts.h"

namespace tessera::tensor {

#define DTYPE(NAME, ...) inline constexpr DType k##NAME = DType::NAME;
#include "runtime/dtypes.def"

inline constexpr const DTypeFacts& facts(DType t) { return kDTypeFacts[int(t)]; }

namespace detail {

inline constexpr uint8_t kItemSize[] = {
#define DTYPE(NAME, TYPE, ...) sizeof(TYPE),
#define PACKED_DTYPE(NAME, BYTES, ...) BYTES,
#include "runtime/dtypes.def"
};

/// A bit for each dtype of which it is so.
template <class Holds>
constexpr uint64_t types_that(Holds holds) {
  static_assert(kDTypeCount <= 64);
  uint64_t bits = 0;
  for (int i = 0; i < kDTypeCount; i++)
    if (holds(kDTypeFacts[i])) bits |= uint64_t(1) << i;
  return bits;
}
constexpr bool is_integer(const DTypeFacts& f) {
  return f.of_class == DTypeClass::Unsigned || f.of_class == DTypeClass::Signed;
}
inline constexpr uint64_t kSigned = types_that(
    [](auto& f) { return f.of_class >= DTypeClass::Signed && f.of_class <= DTypeClass::Complex && !f.has_no_sign; });
inline constexpr uint64_t kInteger = types_that(is_integer);
inline constexpr uint64_t kStored = types_that([](auto& f) { return f.is_stored; });
inline constexpr uint64_t kPacked = types_that([](auto& f) { return f.is_packed; });
inline constexpr uint64_t kFloating = types_that([](auto& f) { return f.of_class == DTypeClass::Floating; });
inline constexpr uint64_t kHalf =
    types_that([](auto& f) { return f.of_class == DTypeClass::Floating && f.bytes == 2; });
inline constexpr uint64_t kComplex = types_that([](auto& f) { return f.of_class == DTypeClass::Complex; });
inline constexpr uint64_t kWideUnsigned = kInteger & kStored & ~kPacked;
inline constexpr uint64_t kFloat8 = kFloating & kStored & ~kPacked;
inline constexpr uint64_t kSmallComplex = kComplex & kStored;

constexpr bool has(uint64_t types, DType t) { return types >> int(t) & 1; }

}  // namespace detail

inline constexpr size_t item_size(DType t) { return detail::kItemSize[int(t)]; }
inline constexpr bool is_bool(DType t) { return t == DType::Bool; }
inline constexpr bool is_signed(DType t) { return detail::has(detail::kSigned, t); }
inline constexpr bool is_integral(DType t) { return detail::has(detail::kInteger, t); }  // without bool
inline constexpr bool is_wide_unsigned(DType t) { return detail::has(detail::kWideUnsigned, t); }
inline constexpr bool is_floating(DType t) { return detail::has(detail::kFloating, t); }
inline constexpr bool is_half(DType t) { return detail::has(detail::kHalf, t); }
inline constexpr bool is_complex(DType t) { return detail::has(detail::kComplex, t); }
inline constexpr bool is_float8(DType t) { return detail::has(detail::kFloat8, t); }
inline constexpr bool is_packed(DType t) { return detail::has(detail::kPacked, t); }
inline constexpr bool is_differentiable(DType t) { return detail::has(detail::kFloating | detail::kComplex, t); }

/// A set of dtypes: what an op or a kernel takes.
struct DTypeSet {
  uint64_t bits = 0;

  constexpr DTypeSet() = default;
  constexpr DTypeSet(DType t) : bits(uint64_t(1) << int(t)) {}
  static constexpr DTypeSet of_bits(uint64_t bits) {
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
inline constexpr DTypeSet kWideUnsignedTypes = DTypeSet::of_bits(detail::kWideUnsigned);
inline constexpr DTypeSet kHalfTypes = DTypeSet::of_bits(detail::kHalf & ~detail::kStored);
inline constexpr DTypeSet kFloatTypes = DTypeSet::of_bits(detail::kFloating & ~detail::kStored);
inline constexpr DTypeSet kComplexTypes = DTypeSet::of_bits(detail::kComplex & ~detail::kStored);
inline constexpr DTypeSet kRealTypes = DTypeSet(DType::Bool) | kIntegralTypes | kFloatTypes;  // what most kernels take
inline constexpr DTypeSet kAllTypes = kRealTypes | kWideUnsignedTypes | kComplexTypes;
inline constexpr DTypeSet kFloat8Types = DTypeSet::of_bits(detail::kFloat8);
inline constexpr DTypeSet kSmallComplexTypes = DTypeSet::of_bits(detail::kSmallComplex);
inline constexpr DTypeSet kSmallTypes = kFloat8Types | kSmallComplexTypes;  // converted by way of wide_type
inline constexpr DTypeSet kElementTypes = kAllTypes | kSmallTypes;          // all whose elements are numbers of C++

/// "float32": what follows "torch." in repr(dtype).
inline const char* name(DType t) { return facts(t).name; }
/// "Float": PyTorch's name inside error messages.
inline const char* scalar_type_name(DType t) { return facts(t).scalar_type; }
/// Finds "float32", "float", "long", "half", ...; false when there is no such type.
bool dtype_from_name(std::string_view text, DType& out);
/// "long int": as C++ calls the numbers, in the words of some refusals.
inline const char* cpp_name(DType t) { return facts(t).cpp_name; }

/// The smallest type that holds both, as torch.promote_types; throws for uint16, uint32 and uint64 among integers, and for
/// float8 and packed types.
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
inline constexpr DType complex_type(DType t) {
  if (t == DType::Float64) return DType::Complex128;
  return is_half(t) ? complex_of_parts(t) : DType::Complex64;
}
/// The type by way of which elements of a small type are converted, which holds them exactly: float32 of float8, complex64 of
/// complex32; of others the type itself.
inline constexpr DType wide_type(DType t) {
  return is_float8(t) ? DType::Float32 : kSmallComplexTypes.has(t) ? DType::Complex64 : t;
}
/// An integer type of the size of a packed type's elements, as whose numbers they are shown and moved; of others the type itself.
inline constexpr DType raw_type(DType t) {
  if (!is_packed(t)) return t;
  return item_size(t) == 1 ? DType::UInt8 : item_size(t) == 2 ? DType::UInt16 : DType::Int32;
}
/// Whether numbers of a program become tensors of this dtype without being told to: a tensor's repr does not say it.
inline constexpr bool is_implied(DType t, DType default_dtype) {
  return t == default_dtype || facts(t).of_literals ||
         t == (default_dtype == DType::Float64 ? DType::Complex128 : DType::Complex64);
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
#define PACKED_DTYPE(...)
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
#define PACKED_DTYPE(...)
#define DTYPE(NAME, TYPE, ...)                                     \
  case DType::NAME:                                                \
    if constexpr (Set.has(DType::NAME)) return f(TypeTag<TYPE>{}); \
    else break;
#include "runtime/dtypes.def"
    default: break;
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

/// Whether T is a floating type of the table without arithmetic in C++: halves and float8, which are computed as float.
template <class T>
inline constexpr bool is_narrow_float = is_floating(dtype_of<T>) && !std::is_floating_point_v<T>;
/// The type in which arithmetic on elements of type T is done: float for halves and float8, std::complex<float> for complex32, else T itself.
template <class T>
struct WideOf {
  using type = std::conditional_t<is_narrow_float<T>, float, T>;
};
template <class T>
struct WideOf<std::complex<T>> {
  using type = std::complex<std::conditional_t<is_narrow_float<T>, float, T>>;
};

/// Value conversion between element types, as a C cast but defined for halves and float8, for bool, and for complex numbers (a
/// real type takes their real part).
template <class To, class From>
inline To convert_element(From value) {
  if constexpr (std::is_same_v<To, From>) return value;
  else if constexpr (is_complex_type<From>) {
    if constexpr (is_complex_type<To>) {
      using Part = typename To::value_type;
      return To(convert_element<Part>(value.real()), convert_element<Part>(value.imag()));
    } else if constexpr (std::is_same_v<To, bool>)
      return convert_element<bool>(value.real()) || convert_element<bool>(value.imag());
    else return convert_element<To>(value.real());
  } else if constexpr (is_complex_type<To>) return To(convert_element<typename To::value_type>(value));
  else if constexpr (is_narrow_float<From>) return convert_element<To>(float(value));
  else if constexpr (is_narrow_float<To>) return To(float(value));
  else if constexpr (std::is_same_v<To, bool>) return value != From(0);
  else return static_cast<To>(value);
}

}  // namespace tessera::tensor
