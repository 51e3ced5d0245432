// Elements as unsigned numbers that stand in the same order, as backends/cpu/order_key.h has them: NaN is the largest, -0
// and 0 are one. A key has as many bits as the element.
#pragma once

#include "backends/cuda/launch.cuh"
#include "runtime/dtype.h"

namespace tessera::tensor::cuda {

inline int key_bits(DType dtype) { return int(item_size(dtype)) * 8; }

namespace detail {
/// `bits` bits of a floating-point number; `infinity` are those of the largest.
template <class Key>
__device__ inline Key float_key(Key x, int bits, Key infinity) {
  const Key top = Key(1) << (bits - 1), all = top | (top - 1), magnitude = x & (top - 1);
  if (magnitude > infinity) return all;
  if (magnitude == 0) return top;
  return x & top ? ~x & all : x | top;
}
}  // namespace detail

/// The key of element i. Elements of 8 bytes need a Key of 64 bits.
template <class Key>
__device__ inline Key order_key(const void* data, int64_t i, DType dtype) {
  if constexpr (sizeof(Key) == 8) {
    switch (dtype) {
      case DType::Int64: return static_cast<const uint64_t*>(data)[i] ^ (uint64_t(1) << 63);
      case DType::UInt64: return static_cast<const uint64_t*>(data)[i];
      case DType::Float64:
        return detail::float_key<uint64_t>(static_cast<const uint64_t*>(data)[i], 64, 0x7ff0000000000000);
      default: return order_key<uint32_t>(data, i, dtype);
    }
  } else {
    switch (dtype) {
      case DType::Int8: return static_cast<const uint8_t*>(data)[i] ^ 0x80u;
      case DType::Int16: return static_cast<const uint16_t*>(data)[i] ^ 0x8000u;
      case DType::UInt16: return static_cast<const uint16_t*>(data)[i];
      case DType::Float16: return detail::float_key<uint32_t>(static_cast<const uint16_t*>(data)[i], 16, 0x7c00);
      case DType::BFloat16: return detail::float_key<uint32_t>(static_cast<const uint16_t*>(data)[i], 16, 0x7f80);
      case DType::Int32: return static_cast<const uint32_t*>(data)[i] ^ 0x80000000u;
      case DType::UInt32: return static_cast<const uint32_t*>(data)[i];
      case DType::Float32: return detail::float_key<uint32_t>(static_cast<const uint32_t*>(data)[i], 32, 0x7f800000);
      default: return static_cast<const uint8_t*>(data)[i];
    }
  }
}

/// to[i] = from[j], of elements of 1, 2, 4 or 8 bytes.
__device__ inline void copy_element(void* to, int64_t i, const void* from, int64_t j, int bytes) {
  switch (bytes) {
    case 1: static_cast<uint8_t*>(to)[i] = static_cast<const uint8_t*>(from)[j]; break;
    case 2: static_cast<uint16_t*>(to)[i] = static_cast<const uint16_t*>(from)[j]; break;
    case 4: static_cast<uint32_t*>(to)[i] = static_cast<const uint32_t*>(from)[j]; break;
    default: static_cast<uint64_t*>(to)[i] = static_cast<const uint64_t*>(from)[j];
  }
}

}  // namespace tessera::tensor::cuda
