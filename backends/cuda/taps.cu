// Weighted sums of a few items along a dimension, and the transpose of that: what each item is part of is found by looking at
// the places of the results between the first and the last that take it, so that nothing is added in a random order.
#include "backends/cuda/divide.cuh"
#include "backends/cuda/launch.cuh"
#include "backends/cuda/scratch.h"
#include "runtime/ops/resample.h"

namespace tessera::tensor::cuda {
namespace {

template <class T>
__global__ void weighted(TapsCall c, FastDivide<uint64_t> by_inner, FastDivide<uint64_t> by_wanted) {
  const T *in = static_cast<const T*>(c.in), *weights = static_cast<const T*>(c.weights);
  const int64_t total = c.outer * c.wanted * c.inner;
  each_in_grid(total, [&](int64_t at) {
    const auto [line, inner] = by_inner.divide(uint64_t(at));
    const auto [outer, item] = by_wanted.divide(line);
    T sum = 0;
    for (int64_t k = 0; k < c.taps; k++) {
      const int64_t place = c.places[int64_t(item) * c.taps + k];
      sum += weights[int64_t(item) * c.taps + k] * in[(int64_t(outer) * c.size + place) * c.inner + int64_t(inner)];
    }
    static_cast<T*>(c.out)[at] = sum;
  });
}

// For each item the first and the last result that take it; last < first when none does. A warp for each.
__global__ void find_users(TapsCall c, int64_t* first, int64_t* last) {
  const int64_t warps = int64_t(gridDim.x) * (kThreads / 32);
  for (int64_t s = (int64_t(blockIdx.x) * kThreads + threadIdx.x) / 32; s < c.size; s += warps) {
    long long low = c.wanted, high = -1;
    for (int64_t i = threadIdx.x % 32; i < c.wanted; i += 32)
      for (int64_t k = 0; k < c.taps; k++)
        if (c.places[i * c.taps + k] == s) {
          if (i < low) low = i;
          high = i;
        }
    for (int step = 16; step > 0; step /= 2) {
      const long long other_low = __shfl_xor_sync(0xffffffffu, low, step);
      const long long other_high = __shfl_xor_sync(0xffffffffu, high, step);
      if (other_low < low) low = other_low;
      if (other_high > high) high = other_high;
    }
    if (threadIdx.x % 32 == 0) first[s] = low, last[s] = high;
  }
}

template <class T>
__global__ void spread(TapsCall c, const int64_t* first, const int64_t* last, FastDivide<uint64_t> by_inner,
                       FastDivide<uint64_t> by_size) {
  const T *in = static_cast<const T*>(c.in), *weights = static_cast<const T*>(c.weights);
  const int64_t total = c.outer * c.size * c.inner;
  each_in_grid(total, [&](int64_t at) {
    const auto [line, inner] = by_inner.divide(uint64_t(at));
    const auto [outer, item] = by_size.divide(line);
    T sum = 0;
    for (int64_t i = first[item]; i <= last[item]; i++)
      for (int64_t k = 0; k < c.taps; k++)
        if (c.places[i * c.taps + k] == int64_t(item))
          sum += weights[i * c.taps + k] * in[(int64_t(outer) * c.wanted + i) * c.inner + int64_t(inner)];
    static_cast<T*>(c.out)[at] = sum;
  });
}

template <class T>
void run(const TapsCall& c) {
  const Place place(c.launch);
  const FastDivide<uint64_t> by_inner{uint64_t(c.inner)};
  if (!c.spread)
    return launch<weighted<T>>(place, {blocks_for(c.outer * c.wanted * c.inner, 1), kThreads}, c, by_inner,
                               FastDivide<uint64_t>(uint64_t(c.wanted)));
  const Scratch users(c.launch, size_t(2 * c.size) * sizeof(int64_t));
  int64_t *first = static_cast<int64_t*>(users.get()), *last = first + c.size;
  launch<find_users>(place, {blocks_for(c.size * 32, 1), kThreads}, c, first, last);
  launch<spread<T>>(place, {blocks_for(c.outer * c.size * c.inner, 1), kThreads}, c, first, last, by_inner,
                    FastDivide<uint64_t>(uint64_t(c.size)));
}

void taps(const TapsCall& c) {
  if (c.dtype == DType::Float64) run<double>(c);
  else run<float>(c);
}

const CudaKernel<TapsCall> entry("taps", taps);

}  // namespace
}  // namespace tessera::tensor::cuda
