// The largest or smallest of some elements and where it stands; NaN beats all.
#pragma once

#include "backends/cuda/launch.cuh"

namespace tessera::tensor::cuda {

/// Without padding, of which nobody would know what is in it.
template <class T>
struct Best {
  T value = 0;
  uint32_t low = ~0u, high = ~0u;  // of the index; all ones: nothing was met

  Best() = default;
  __device__ Best(T value, int64_t index)
      : value(value), low(uint32_t(uint64_t(index))), high(uint32_t(uint64_t(index) >> 32)) {}
  __device__ bool is_none() const { return (low & high) == ~0u; }
  __device__ int64_t index() const { return int64_t(uint64_t(high) << 32 | low); }
};

/// Whether a is better than b.
template <class T>
__device__ bool beats(T a, T b, bool largest) {
  if (b != b) return false;
  return a != a || (largest ? a > b : a < b);
}

}  // namespace tessera::tensor::cuda
