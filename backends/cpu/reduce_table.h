// Inner kernels of reductions over one lane type.
#pragma once

#include <cstdint>

namespace tessera::tensor::cpu {

/// Elements that are combined as one block: the unit of the fixed order. In float32 64 partial sums of 16 elements.
inline constexpr int64_t kReduceBlock = 1024;

template <class T>
struct ReduceKernels {
  T identity;
  /// Maps and combines n <= kReduceBlock contiguous elements.
  T (*block)(const T* x, int64_t n, double p);
  /// acc[i] = combine(acc[i], map(x[i])) for a row of n columns.
  void (*row)(T* acc, const T* x, int64_t n, double p);
  /// acc[i] = combine(acc[i], other[i]), no map.
  void (*merge)(T* acc, const T* other, int64_t n);
  T (*combine)(T a, T b);
  T (*finish)(T a, double n, double p);
};

const ReduceKernels<float>* float_reductions();
const ReduceKernels<double>* double_reductions();
const ReduceKernels<int64_t>* int64_reductions();

}  // namespace tessera::tensor::cpu
