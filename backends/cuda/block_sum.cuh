// Whole numbers summed up over a block of kThreads threads.
#pragma once

#include "backends/cuda/launch.cuh"

namespace tessera::tensor::cuda {

inline constexpr int kWarp = 32;

template <class T>
__device__ inline T warp_sum(T x) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) x += __shfl_xor_sync(0xffffffffu, x, lanes);
  return x;
}

/// The sum of x over the threads before this one; `total` gets that over all. All threads of the block call it.
template <class T>
__device__ inline T sum_of_threads_before(T x, T& total) {
  TS_SHARED(T, warps, kThreads / kWarp);
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  T upto = x;
  for (int lanes = 1; lanes < kWarp; lanes *= 2) {
    const T before = __shfl_up_sync(0xffffffffu, upto, lanes);
    if (lane >= lanes) upto += before;
  }
  if (lane == kWarp - 1) warps[warp] = upto;
  __syncthreads();
  T sum = 0, before = 0;
  for (int w = 0; w < int(kThreads) / kWarp; w++) {
    if (w == warp) before = sum;
    sum += warps[w];
  }
  __syncthreads();  // the memory may be used again
  total = sum;
  return before + upto - x;
}

template <class T>
__device__ inline T block_sum(T x) {
  T total;
  sum_of_threads_before(x, total);
  return total;
}

}  // namespace tessera::tensor::cuda
