// Products of sparse matrices with dense ones, for every instruction set. A result is the sum of its entries' products in the order of the
// entries, whatever the number of threads and the instruction set.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/sparse_product.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/lane-inl.h"
#include "backends/cpu/row_types.h"
#include "backends/cpu/wide-inl.h"
#include "hwy/highway.h"

#include <algorithm>

#include "backends/cpu/threads.h"
#include "runtime/ops/sparse_product.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

template <class T>
struct SparseProduct {
  using D = Tag<T>;
  static constexpr int64_t kLanes = int64_t(hn::MaxLanes(D()));

  const SparseProductCall& c;
  const T* const values = static_cast<const T*>(c.values);
  const T* const dense = static_cast<const T*>(c.dense);
  T* const out = static_cast<T*>(c.out);

  /// Columns [j, j + kVectors * kLanes) of a row.
  template <int kVectors>
  HWY_INLINE void sum_entries(int64_t first, int64_t last, int64_t j, T* to) const {
    hn::Vec<D> sums[kVectors];
#pragma GCC unroll kUnroll
    for (int s = 0; s < kVectors; s++) sums[s] = hn::Zero(D());
    for (int64_t e = first; e < last; e++) {
      const hn::Vec<D> value = hn::Set(D(), values[e]);
      const T* const from = dense + c.columns[e] * c.width + j;
#pragma GCC unroll kUnroll
      for (int s = 0; s < kVectors; s++) sums[s] = hn::Add(sums[s], hn::Mul(value, hn::LoadU(D(), from + s * kLanes)));
    }
#pragma GCC unroll kUnroll
    for (int s = 0; s < kVectors; s++) hn::StoreU(sums[s], D(), to + j + s * kLanes);
  }

  HWY_INLINE void sum_row(int64_t row) const {
    const int64_t first = std::max<int64_t>(c.starts[row], 0), last = std::min(c.starts[row + 1], c.entries);
    T* const to = out + row * c.width;
    int64_t j = 0;
    for (; j + 4 * kLanes <= c.width; j += 4 * kLanes) sum_entries<4>(first, last, j, to);
    for (; j + kLanes <= c.width; j += kLanes) sum_entries<1>(first, last, j, to);
    if (j > 0 && j < c.width) return sum_entries<1>(first, last, c.width - kLanes, to);  // some columns once more
    for (; j < c.width; j++) {
      T sum = 0;
      for (int64_t e = first; e < last; e++) sum += values[e] * dense[c.columns[e] * c.width + j];
      to[j] = sum;
    }
  }

  void run() const {
    const int64_t work = (c.entries / c.rows + 1) * (c.width + 4);
    const auto rows = [&](int64_t begin, int64_t end) TS_TILE {
      for (int64_t row = begin; row < end && !stop_wanted(); row++) sum_row(row);
    };
    run_split(c.rows, {.grain = std::max<int64_t>(1, (1 << 16) / work)}, RangeBody(rows));
  }
};

void multiply_sparse(const SparseProductCall& c) {
  if (c.dtype == kFloat32) SparseProduct<float>{c}.run();
  else SparseProduct<double>{c}.run();
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
TS_ROW_KERNEL(sparse_product_kernel, SparseProductCall, multiply_sparse)
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
