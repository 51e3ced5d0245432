// Mean and sum of the squares of what is left of it, put together from parts (Chan, Golub and LeVeque, 1983): as exact for
// numbers far from zero as two passes are.
#pragma once

#include "backends/cuda/pack.cuh"

namespace tessera::tensor::cuda {

template <class T>
struct Moments {
  T count = 0, mean = 0, squares = 0;
};

struct MergeMoments {
  template <class T>
  __device__ Moments<T> operator()(const Moments<T>& a, const Moments<T>& b) const {
    const T count = a.count + b.count;
    if (count == T(0)) return a;
    const T part = b.count / count, gap = b.mean - a.mean;
    return {count, a.mean + gap * part, a.squares + b.squares + gap * gap * a.count * part};
  }
};

/// Of a thread's elements that are in registers; where there are none, they are 0.
template <class T>
__device__ Moments<T> moments_of(const Values<T>& x, const Share& at) {
  int count = 0;
  T sum = 0, squares = 0;
#pragma unroll
  for (int r = 0; r < kRounds<T>; r++) {
    if (!at.any(r)) continue;
#pragma unroll
    for (int j = 0; j < kPack; j++) sum += x.v[r][j], count += at.has(r, j);
  }
  if (count == 0) return {};
  const T mean = sum / T(count);
#pragma unroll
  for (int r = 0; r < kRounds<T>; r++) {
    if (!at.any(r)) continue;
#pragma unroll
    for (int j = 0; j < kPack; j++) {
      const T gap = x.v[r][j] - mean;
      if (at.has(r, j)) squares += gap * gap;
    }
  }
  return {T(count), mean, squares};
}

}  // namespace tessera::tensor::cuda
