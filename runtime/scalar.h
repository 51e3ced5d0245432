// A Python number on its way into an op: bool, int, float or complex. It is "weaker" than any
// tensor in type promotion: `int_tensor + 1` stays int, `float32_tensor * 2.0` stays float32.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/dtype.h"

namespace tessera::tensor {

/// Throws PyTorch's "value cannot be converted to type float without overflow".
[[noreturn]] void refuse_number(DType type);

class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Float, Complex };

  constexpr Scalar() : Scalar(int64_t(0)) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) kind_ = Kind::Bool, int_ = value;
    else if constexpr (std::is_floating_point_v<T>) kind_ = Kind::Float, float_ = double(value);
    else kind_ = Kind::Int, int_ = int64_t(value);
  }
  template <class T>
  constexpr Scalar(std::complex<T> value)
      : kind_(Kind::Complex),
        float_(convert_element<double>(value.real())),
        imag_(convert_element<double>(value.imag())) {}

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_bool() const { return kind_ == Kind::Bool; }
  constexpr bool is_int() const { return kind_ == Kind::Int; }
  constexpr bool is_float() const { return kind_ == Kind::Float; }
  constexpr bool is_complex() const { return kind_ == Kind::Complex; }

  // What a type cannot hold it refuses, as PyTorch does: an imaginary part, an integer out of range, a finite number that
  // would become infinite. An unsigned type takes a negative integer whose size it could hold.
  constexpr double to_double() const {
    if (is_complex() && imag_ != 0.0) [[unlikely]]
      refuse_number(kFloat64);
    return kind_ >= Kind::Float ? float_ : double(int_);
  }
  constexpr int64_t to_int() const { return kind_ >= Kind::Float ? to<int64_t>() : int_; }
  constexpr bool to_bool() const {
    return kind_ >= Kind::Float ? float_ != 0.0 || (is_complex() && imag_ != 0.0) : int_ != 0;
  }
  std::complex<double> to_complex() const { return {kind_ >= Kind::Float ? float_ : double(int_), imag_}; }
  template <class T>
  constexpr T to() const {
    if (!fits<T>()) [[unlikely]]
      refuse_number(dtype_of<T>);
    return wrapped<T>();
  }
  /// As elements are converted: an integer keeps its low bits, a float may become infinite. Operands of promotion are.
  template <class T>
  constexpr T wrapped() const {
    if (kind_ == Kind::Float) return convert_element<T>(float_);
    if (kind_ != Kind::Complex) return convert_element<T>(int_);
    if constexpr (!is_complex_type<T> && !std::is_same_v<T, bool>)
      if (imag_ != 0.0) [[unlikely]]
        refuse_number(dtype_of<T>);
    return convert_element<T>(std::complex<double>(float_, imag_));
  }
  /// Whether to<T>() gives a number.
  template <class T>
  constexpr bool fits() const {
    if constexpr (std::is_same_v<T, bool>) return true;
    else if constexpr (is_complex_type<T>) {  // parts of halves may become infinite
      using Part = typename WideOf<T>::type::value_type;
      return kind_ < Kind::Float || (part_fits<Part>(float_) && part_fits<Part>(imag_));
    } else if (kind_ >= Kind::Float) return (!is_complex() || imag_ == 0.0) && part_fits<T>(float_);
    else return int_fits<T>(int_);
  }
  /// The number as an element of the type would be, refused if it cannot be one.
  Scalar as(DType type) const;
  /// Writes it as an element of the type, refused like that.
  void put(DType type, void* to) const;

  /// The dtype that stands for its category in promotion: bool, int64, the default dtype, or its complex companion.
  DType category(DType default_dtype) const {
    return is_complex() ? complex_type(default_dtype)
           : is_float() ? default_dtype
           : is_int()   ? DType::Int64
                        : DType::Bool;
  }
  constexpr bool equals(double x) const { return !is_complex() && to_double() == x; }

 private:
  template <class T>
  static constexpr bool part_fits(double x) {
    // The next double above the largest int64 is what its largest number rounds to.
    if constexpr (std::is_integral_v<T>) {
      constexpr double kTop = double(std::numeric_limits<T>::max()), kLow = double(std::numeric_limits<T>::lowest());
      return x >= kLow && (sizeof(T) < 8 ? x <= kTop : x < kTop);
    } else if constexpr (std::is_same_v<T, double>) return true;
    else {
      constexpr double kTop = largest<T>(), kLow = lowest<T>();
      return !(x > kTop && x <= std::numeric_limits<double>::max()) &&
             !(x < kLow && x >= std::numeric_limits<double>::lowest());
    }
  }
  template <class T>
  static constexpr bool int_fits(int64_t x) {
    if constexpr (std::is_integral_v<T>) {
      constexpr uint64_t kTop = uint64_t(std::numeric_limits<T>::max());
      if (x >= 0) return uint64_t(x) <= kTop;
      return std::is_unsigned_v<T> ? -uint64_t(x) <= kTop : x >= int64_t(std::numeric_limits<T>::lowest());
    } else return x == 0 || part_fits<T>(double(x));  // zero is all bits clear, also of a type without a zero (float8_e8m0fnu)
  }
  template <class T>
  static constexpr double largest() {
    if constexpr (is_narrow_float<T>) return facts(dtype_of<T>).most;
    else return double(std::numeric_limits<T>::max());
  }
  template <class T>
  static constexpr double lowest() {
    return is_signed(dtype_of<T>) ? -largest<T>() : facts(dtype_of<T>).least_normal;
  }

  Kind kind_;
  union {
    int64_t int_;
    double float_;
  };
  double imag_ = 0;
};

}  // namespace tessera::tensor
