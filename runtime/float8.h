// Floating types of one byte as storage types: conversions only, like those of half.h, which round to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera::tensor {

/// How an 8-bit format uses the codes that IEEE 754 gives to infinities, NaN and -0.
enum class Float8Codes : uint8_t {
  Ieee,    // infinities and NaN
  Finite,  // "fn": no infinity, NaN is all ones; too large numbers become the largest one
  OneNaN,  // "fnuz": no infinity and no -0, whose code is NaN
};

/// A sign, an exponent and `kFraction` bits of a significand; the exponent's bias says how far it reaches.
template <int kFraction, int kBias, Float8Codes kCodes>
struct Float8 {
  uint8_t bits = 0;

  Float8() = default;
  constexpr explicit Float8(float value) : bits(encode(value)) {}
  constexpr explicit operator float() const { return decode(bits); }

  static constexpr uint8_t kLargest = kCodes == Float8Codes::Ieee     ? uint8_t(0x7f & (0x7f << kFraction)) - 1
                                      : kCodes == Float8Codes::Finite ? 0x7e
                                                                      : 0x7f;

  static constexpr uint8_t encode(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value), magnitude = f & 0x7fffffffu;
    const uint8_t sign = uint8_t(f >> 24 & 0x80u);
    if (magnitude > 0x7f800000u) return kCodes == Float8Codes::OneNaN ? 0x80 : sign | 0x7f;
    constexpr int kDropped = 23 - kFraction;
    constexpr uint32_t kLeastNormal = uint32_t(128 - kBias) << 23;
    uint32_t code;
    if (magnitude < kLeastNormal) {  // subnormal: let the float adder do the rounding
      constexpr uint32_t kUnit = uint32_t(128 - kBias + kDropped) << 23;
      code = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kUnit)) - kUnit;
    } else {
      const uint32_t odd = magnitude >> kDropped & 1u;
      code = (magnitude - (uint32_t(127 - kBias) << 23) + ((1u << (kDropped - 1)) - 1u) + odd) >> kDropped;
    }
    if (kCodes == Float8Codes::OneNaN) return code > kLargest ? 0x80 : code == 0 ? 0 : uint8_t(sign | code);
    if (code > kLargest) code = kCodes == Float8Codes::Ieee ? kLargest + 1u : kLargest;
    return uint8_t(sign | code);
  }

  static constexpr float decode(uint8_t code) {
    const uint32_t sign = uint32_t(code & 0x80u) << 24, magnitude = code & 0x7fu;
    if (kCodes == Float8Codes::OneNaN && code == 0x80) return std::bit_cast<float>(0x7f800001u);
    if (kCodes == Float8Codes::Finite && magnitude == 0x7f) return std::bit_cast<float>(sign | 0x7ff00000u);
    if (kCodes == Float8Codes::Ieee && magnitude > kLargest) {
      const uint32_t fraction = (magnitude - kLargest - 1u) << (23 - kFraction);
      return std::bit_cast<float>(sign | 0x7f800000u | fraction | (fraction ? 0x400000u : 0u));  // a quiet NaN
    }
    if (magnitude >> kFraction == 0) {  // a whole number of the smallest ones
      const float size = float(magnitude) * std::bit_cast<float>(uint32_t(128 - kBias - kFraction) << 23);
      return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(size));
    }
    return std::bit_cast<float>(sign | ((magnitude << (23 - kFraction)) + (uint32_t(127 - kBias) << 23)));
  }
};

using Float8E4M3FN = Float8<3, 7, Float8Codes::Finite>;
using Float8E5M2 = Float8<2, 15, Float8Codes::Ieee>;
using Float8E4M3FNUZ = Float8<3, 8, Float8Codes::OneNaN>;
using Float8E5M2FNUZ = Float8<2, 16, Float8Codes::OneNaN>;

/// A power of two from 2^-127 to 2^127, the scale of a block of numbers; all ones are NaN.
struct Float8E8M0FNU {
  uint8_t bits = 0;

  Float8E8M0FNU() = default;
  constexpr explicit Float8E8M0FNU(float value) : bits(encode(value)) {}
  constexpr explicit operator float() const { return decode(bits); }

  static constexpr uint8_t encode(float value) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(value) & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) return 0xff;
    if (magnitude <= 0x400000u) return 0;  // 2^-127, which is subnormal as a float, and zero
    return uint8_t((magnitude + 0x400000u) >> 23);
  }
  static constexpr float decode(uint8_t code) {
    if (code == 0xff) return std::bit_cast<float>(0x7f800001u);
    return std::bit_cast<float>(code == 0 ? 0x400000u : uint32_t(code) << 23);
  }
};

}  // namespace tessera::tensor
