// A Python number on its way into an op: bool, int, float or complex. It is "weaker" than any
// tensor in type promotion: `int_tensor + 1` stays int, `float32_tensor * 2.0` stays float32.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "runtime/dtype.h"

namespace tessera::tensor {

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
  constexpr Scalar(std::complex<T> value) : kind_(Kind::Complex), float_(value.real()), imag_(value.imag()) {}

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_bool() const { return kind_ == Kind::Bool; }
  constexpr bool is_int() const { return kind_ == Kind::Int; }
  constexpr bool is_float() const { return kind_ == Kind::Float; }
  constexpr bool is_complex() const { return kind_ == Kind::Complex; }

  /// Of a complex number: its real part. Ops that cannot take one have refused it before (require_real).
  constexpr double to_double() const { return kind_ >= Kind::Float ? float_ : double(int_); }
  constexpr int64_t to_int() const { return kind_ >= Kind::Float ? int64_t(float_) : int_; }
  constexpr bool to_bool() const {
    return kind_ >= Kind::Float ? float_ != 0.0 || (is_complex() && imag_ != 0.0) : int_ != 0;
  }
  std::complex<double> to_complex() const { return {to_double(), is_complex() ? imag_ : 0.0}; }
  template <class T>
  T to() const {
    if (kind_ == Kind::Complex) return convert_element<T>(std::complex<double>(float_, imag_));
    return kind_ == Kind::Float ? convert_element<T>(float_) : convert_element<T>(int_);
  }

  /// The dtype that stands for its category in promotion: bool, int64, the default dtype, or its complex companion.
  DType category(DType default_dtype) const {
    return is_complex() ? complex_type(default_dtype)
           : is_float() ? default_dtype
           : is_int()   ? DType::Int64
                        : DType::Bool;
  }
  constexpr bool equals(double x) const { return !is_complex() && to_double() == x; }

 private:
  Kind kind_;
  union {
    int64_t int_;
    double float_;
  };
  double imag_ = 0;
};

}  // namespace tessera::tensor
