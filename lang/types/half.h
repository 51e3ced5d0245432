// Numbers of 16 bits (IEEE binary16), rounded to even.
#pragma once

#include <cmath>
#include <cstdint>

namespace tessera::lang {

inline double half_to_double(uint16_t bits) noexcept {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  double value;
  if (exponent == 0x1f) value = fraction == 0 ? HUGE_VAL : std::nan("");
  else if (exponent == 0) value = std::ldexp(fraction, -24);
  else value = std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

// False: too large.
inline bool double_to_half(double value, uint16_t& bits) noexcept {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  bits = sign;
  if (std::isnan(value)) bits = sign | 0x7e00;
  else if (std::isinf(value)) bits = sign | 0x7c00;
  else if (value != 0) {
    int exponent;
    std::frexp(value, &exponent);
    exponent = exponent < -13 ? -13 : exponent;  // below, all are multiples of the smallest
    const double steps = std::nearbyint(std::ldexp(std::fabs(value), 11 - exponent));
    // 2048 steps carry over into the exponent by themselves.
    const uint32_t encoded = static_cast<uint32_t>(steps) + (static_cast<uint32_t>(exponent + 13) << 10);
    if (encoded >= 0x7c00) return false;
    bits = static_cast<uint16_t>(sign | encoded);
  }
  return true;
}

}  // namespace tessera::lang
