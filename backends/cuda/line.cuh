// The skeleton of kernels over rows, one block of threads a row: load, sum, map. What backends/cpu/line-inl.h is to the CPU.
// A sum has a fixed order: each thread's elements from first to last, then the threads as a tree.
#pragma once

#include "backends/cuda/loop.cuh"

namespace tessera::tensor::cuda {

/// n elements in a row of contiguous tensors, from `start` on, computed in T.
template <class T>
struct Line {
  int64_t start, n;

  __device__ T load(const void* tensor, int64_t i, DType dtype) const {
    return load_as<T>(static_cast<const char*>(tensor), start + i, dtype);
  }
  __device__ void store(void* tensor, int64_t i, DType dtype, T x) const {
    store_as(static_cast<char*>(tensor), start + i, dtype, x);
  }
  /// f(i) for every element of the row.
  template <class F>
  __device__ void map(const F& f) const {
    for (int64_t i = threadIdx.x; i < n; i += kThreads) f(i);
  }
  /// The sum of f(i) over the row, the same in all threads of the block.
  template <class F>
  __device__ T sum(const F& f) const {
    TS_SHARED(T, totals, kThreads);
    T total = T(0);
    for (int64_t i = threadIdx.x; i < n; i += kThreads) total += f(i);
    totals[threadIdx.x] = total;
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) totals[threadIdx.x] += totals[threadIdx.x + half];
      __syncthreads();
    }
    total = totals[0];
    __syncthreads();  // before the next sum uses the memory again
    return total;
  }
};

/// A block for each row, or some rows for each block.
inline unsigned blocks_for_rows(int64_t rows) { return unsigned(rows < 65535 ? rows : 65535); }

}  // namespace tessera::tensor::cuda
