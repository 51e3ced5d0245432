// Matrices of halves times vectors. Sums are float32 in the same order for every instruction set: along rows sixteen side by side, along
// columns row by row.
#include "backends/cpu/gemv_half.h"
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemv_half.cpp"
#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/sixteen-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

constexpr int kRows = HWY_TARGET == HWY_SCALAR ? 1 : 4;  // of the matrix, that are read side by side
constexpr int64_t kColumns = 1 << 11;                    // of a block of results that stays in the first-level cache

template <class Half>
HWY_INLINE Sixteen widen(const Half* p) {
  const hn::Rebind<Half, Tag> half;
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::PromoteTo(Tag(), hn::LoadU(half, p + i * kLanes));
  return r;
}
/// The first n, below sixteen; zeros behind them.
template <class Half>
HWY_INLINE Sixteen widen(const Half* p, int64_t n) {
  alignas(64) uint16_t some[kSums] = {};
  std::copy_n(reinterpret_cast<const uint16_t*>(p), n, some);
  return widen(reinterpret_cast<const Half*>(some));
}

/// Some rows times up to kCount vectors; of fewer the last is computed again.
template <int kCount, class Half>
HWY_INLINE void some_rows(const HalfMatrix& m, int64_t row) {
  const auto vector = [&](int64_t v) HWY_ATTR { return m.x + std::min(v, m.count - 1) * m.x_step; };
  const Half* from[kRows];
  Sixteen sums[kRows][kCount];
  const int64_t rows = std::min<int64_t>(kRows, m.rows - row);
  for (int r = 0; r < kRows; r++) {
    from[r] = static_cast<const Half*>(m.matrix) + (row + std::min<int64_t>(r, rows - 1)) * m.leading;
    for (int v = 0; v < kCount; v++) sums[r][v] = all(0);
  }
  int64_t c = 0;
  for (; c + kSums <= m.columns; c += kSums) {
    Sixteen x[kCount];
    HWY_UNROLL(kHalfVectors)
    for (int v = 0; v < kCount; v++) x[v] = load(vector(v) + c);
    HWY_UNROLL(kRows)
    for (int r = 0; r < kRows; r++) {
      // Rows are too short for the processor to read ahead; the next ones lie behind these.
      __builtin_prefetch(from[r] + kRows * m.leading + c, 0, 3);
      const Sixteen wide = widen(from[r] + c);
      HWY_UNROLL(kHalfVectors)
      for (int v = 0; v < kCount; v++) sums[r][v] = mul_add(wide, x[v], sums[r][v]);
    }
  }
  for (int r = 0; r < rows; r++)
    for (int v = 0; v < std::min<int64_t>(kCount, m.count); v++) {
      Sixteen sum = sums[r][v];
      if (const int64_t left = m.columns - c; left > 0)
        sum = mul_add(widen(from[r] + c, left), load(vector(v) + c, left), sum);
      m.out[v * m.out_step + row + r] = total(sum);
    }
}
template <class Half>
void all_rows(const HalfMatrix& m) {
  for (int64_t row = 0; row < m.rows; row += kRows)
    m.count == 1 ? some_rows<1, Half>(m, row) : some_rows<int(kHalfVectors), Half>(m, row);
}

/// kCount rows of the matrix times an element of a vector each, to `n` results.
template <int kCount, class Half>
HWY_INLINE void add_rows(const Half* from, int64_t leading, const float* x, int64_t n, float* out) {
  Sixteen factor[kCount];
  HWY_UNROLL(kRows)
  for (int r = 0; r < kCount; r++) factor[r] = all(x[r]);
  int64_t c = 0;
  for (; c + kSums <= n; c += kSums) {
    Sixteen sum = load(out + c);
    HWY_UNROLL(kRows)
    for (int r = 0; r < kCount; r++) sum = mul_add(widen(from + r * leading + c), factor[r], sum);
    store(sum, out + c);
  }
  if (c == n) return;
  Sixteen sum = load(out + c, n - c);
  for (int r = 0; r < kCount; r++) sum = mul_add(widen(from + r * leading + c, n - c), factor[r], sum);
  store(sum, out + c, n - c);
}
template <class Half>
void all_columns(const HalfMatrix& m) {
  for (int64_t first = 0; first < m.columns; first += kColumns) {
    const int64_t n = std::min(kColumns, m.columns - first);
    for (int64_t row = 0; row < m.rows;) {
      const int64_t rows = m.rows - row >= kRows ? kRows : 1;
      const Half* const from = static_cast<const Half*>(m.matrix) + row * m.leading + first;
      for (int64_t v = 0; v < m.count; v++) {
        const float* const x = m.x + v * m.x_step + row;
        float* const out = m.out + v * m.out_step + first;
        rows == kRows ? add_rows<kRows>(from, m.leading, x, n, out) : add_rows<1>(from, m.leading, x, n, out);
      }
      row += rows;
    }
  }
}

void rows_of(const HalfMatrix& m) {
  m.dtype == DType::BFloat16 ? all_rows<hwy::bfloat16_t>(m) : all_rows<hwy::float16_t>(m);
}
void columns_of(const HalfMatrix& m) {
  m.dtype == DType::BFloat16 ? all_columns<hwy::bfloat16_t>(m) : all_columns<hwy::float16_t>(m);
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(rows_of);
HWY_EXPORT(columns_of);

void half_rows(const HalfMatrix& product) { HWY_DYNAMIC_DISPATCH(rows_of)(product); }
void half_columns(const HalfMatrix& product) { HWY_DYNAMIC_DISPATCH(columns_of)(product); }
}  // namespace tessera::tensor::cpu
#endif
