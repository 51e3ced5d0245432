// The largest element of a line and the sum of exp(x - largest), made in one go: when a larger element comes, what has been
// summed is scaled down.
#pragma once

#include "backends/cuda/line.cuh"

namespace tessera::tensor::cuda {

template <class T>
__device__ constexpr T infinity() {
  return T(HUGE_VAL);
}
/// NaN is larger than all.
template <class T>
__device__ T larger(T a, T b) {
  return b > a || b != b ? b : a;
}

template <class T>
struct ExpTotal {
  T most = -infinity<T>(), total = 0;

  /// exp(-inf - -inf) would be NaN where 0 is meant.
  static __device__ T shift_of(T most) { return most == -infinity<T>() ? T(0) : most; }
};

struct MergeExpTotals {
  template <class T>
  __device__ ExpTotal<T> operator()(const ExpTotal<T>& a, const ExpTotal<T>& b) const {
    ExpTotal<T> both;
    both.most = larger(a.most, b.most);
    const T shift = ExpTotal<T>::shift_of(both.most);
    both.total = a.total * std::exp(a.most - shift) + b.total * std::exp(b.most - shift);
    return both;
  }
};

/// Of elements that are -inf where there are none.
template <class T>
__device__ ExpTotal<T> exp_total_of(const Line& line, Elements<T, 1>& x) {
  ExpTotal<T> mine;
  x.each([&](const Values<T>(&v)[1], const Share& at) {
#pragma unroll
    for (int r = 0; r < kRounds<T>; r++) {
      if (!at.any(r)) continue;
      T most = mine.most, sum = 0;
#pragma unroll
      for (int j = 0; j < kPack; j++) most = larger(most, v[0].v[r][j]);
      const T shift = ExpTotal<T>::shift_of(most);
#pragma unroll
      for (int j = 0; j < kPack; j++) sum += std::exp(v[0].v[r][j] - shift);
      mine.total = mine.total * std::exp(mine.most - shift) + sum;
      mine.most = most;
    }
  });
  return line.team.combine(mine, MergeExpTotals());
}

}  // namespace tessera::tensor::cuda
