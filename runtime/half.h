// float16 and bfloat16 as storage types: conversions only, arithmetic is done in float32.
// Conversions round to nearest, ties to even, as the hardware and PyTorch do.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera::tensor {

struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(encode(value)) {}
  explicit operator float() const { return decode(bits); }

  static uint16_t encode(float value) {
    uint32_t f = std::bit_cast<uint32_t>(value);
    uint32_t sign = (f >> 16) & 0x8000u;
    f &= 0x7fffffffu;
    if (f >= 0x47800000u)  // too large for float16, inf or NaN
      return uint16_t(sign | (f > 0x7f800000u ? 0x7e00u : 0x7c00u));
    if (f < 0x38800000u) {  // subnormal: let the float adder do the rounding
      float shifted = std::bit_cast<float>(f) + 0.5f;
      return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    }
    uint32_t odd = (f >> 13) & 1u;
    return uint16_t(sign | ((f + 0xc8000fffu + odd) >> 13));
  }

  static float decode(uint16_t h) {
    uint32_t sign = uint32_t(h & 0x8000u) << 16;
    uint32_t rest = uint32_t(h & 0x7fffu) << 13;
    uint32_t exponent = rest & 0x0f800000u;
    if (exponent == 0x0f800000u) return std::bit_cast<float>(sign | (rest + 0x70000000u));
    if (exponent == 0) {  // subnormal: 2^-14 is the smallest normal number
      float value = std::bit_cast<float>(rest + 0x38800000u) - std::bit_cast<float>(0x38800000u);
      return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
    }
    return std::bit_cast<float>(sign | (rest + 0x38000000u));
  }
};

struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(encode(value)) {}
  explicit operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }

  static uint16_t encode(float value) {
    uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
    return uint16_t((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
  }
};

}  // namespace tessera::tensor
