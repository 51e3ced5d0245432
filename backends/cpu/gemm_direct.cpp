// Products whose right operand is small, and dot products. A right operand whose rows are whole vectors is read where it lies.
#include "backends/cpu/gemm_direct.h"
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_direct.cpp"
#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/gemm_order.h"
#include "backends/cpu/gemm_tile.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The sum of products of two runs, in eight chains: as many as the multipliers have in flight.
template <class T>
T dot_of(const T* a, const T* b, int64_t n) {
  const hn::ScalableTag<T> d;
  constexpr int kChains = 8;
  const int64_t width = int64_t(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[kChains];
  HWY_UNROLL(kChains)
  for (int c = 0; c < kChains; c++) sums[c] = hn::Zero(d);
  int64_t i = 0;
  for (; i + kChains * width <= n; i += kChains * width) {
    HWY_UNROLL(kChains)
    for (int c = 0; c < kChains; c++)
      sums[c] = hn::MulAdd(hn::LoadU(d, a + i + c * width), hn::LoadU(d, b + i + c * width), sums[c]);
  }
  for (; i + width <= n; i += width) sums[0] = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sums[0]);
  for (int half = kChains / 2; half > 0; half /= 2)
    for (int c = 0; c < half; c++) sums[c] = hn::Add(sums[c], sums[c + half]);
  T total = hn::GetLane(hn::SumOfLanes(d, sums[0]));
  for (; i < n; i++) total += a[i] * b[i];
  return total;
}
float dot_float(const float* a, const float* b, int64_t n) { return dot_of(a, b, n); }
double dot_double(const double* a, const double* b, int64_t n) { return dot_of(a, b, n); }

// Sixteen sums of each element, one for each place of a run modulo 16, whatever the vectors' length.
constexpr int64_t kSums = 16;
using SumTag = hn::CappedTag<float, kSums>;
constexpr int kVectors = int(kSums / hn::MaxLanes(SumTag()));
constexpr int kRows = kVectors < 4 ? 4 : 2, kColumns = kVectors == 1 ? 4 : 1;  // at a time: the sums stay in registers

/// The quarters one after the other, then neighbours.
float total_of(const float* sums) {
  float t[4];
  for (int i = 0; i < 4; i++) t[i] = ((sums[i] + sums[4 + i]) + sums[8 + i]) + sums[12 + i];
  return (t[0] + t[1]) + (t[2] + t[3]);
}

template <int rows, int columns>
void dots_tile(const GemmCall& c, const float* a, const float* b, float* out) {
  const SumTag d;
  const int64_t width = int64_t(hn::Lanes(d)), whole = c.k / kSums * kSums;
  hn::Vec<SumTag> sums[rows][columns][kVectors];
  for (int r = 0; r < rows; r++)
    for (int j = 0; j < columns; j++)
      for (int v = 0; v < kVectors; v++) sums[r][j][v] = hn::Zero(d);
  const auto step = [&](const float* left, int64_t lda, const float* right, int64_t ldb) HWY_ATTR {
    HWY_UNROLL(16)
    for (int v = 0; v < kVectors; v++) {
      hn::Vec<SumTag> y[columns];
      HWY_UNROLL(4)
      for (int j = 0; j < columns; j++) y[j] = hn::LoadU(d, right + j * ldb + v * width);
      HWY_UNROLL(4)
      for (int r = 0; r < rows; r++) {
        const auto x = hn::LoadU(d, left + r * lda + v * width);
        HWY_UNROLL(4)
        for (int j = 0; j < columns; j++) sums[r][j][v] = hn::MulAdd(x, y[j], sums[r][j][v]);
      }
    }
  };
  for (int64_t p = 0; p < whole; p += kSums) step(a + p, c.lda, b + p, c.ldb);
  if (whole < c.k) {
    float left[rows * kSums] = {}, right[columns * kSums] = {};
    for (int r = 0; r < rows; r++) std::copy(a + r * c.lda + whole, a + r * c.lda + c.k, left + r * kSums);
    for (int j = 0; j < columns; j++) std::copy(b + j * c.ldb + whole, b + j * c.ldb + c.k, right + j * kSums);
    step(left, kSums, right, kSums);
  }
  HWY_ALIGN float lanes[kSums];
  for (int r = 0; r < rows; r++)
    for (int j = 0; j < columns; j++) {
      for (int v = 0; v < kVectors; v++) hn::Store(sums[r][j][v], d, lanes + v * width);
      const float value = float(c.alpha) * total_of(lanes);
      float& to = out[r * c.ldc + j];
      to = c.beta == 0 ? value : value + float(c.beta) * to;
    }
}
template <int columns>
void dots_columns(const GemmCall& c, const float* a, const float* b, float* out) {
  int64_t r = 0;
  for (; r + kRows <= c.m; r += kRows) dots_tile<kRows, columns>(c, a + r * c.lda, b, out + r * c.ldc);
  for (; r < c.m; r++) dots_tile<1, columns>(c, a + r * c.lda, b, out + r * c.ldc);
}
void dots_float(const GemmCall& c, const float* a, const float* b, float* out, int64_t begin, int64_t end) {
  int64_t j = begin;
  for (; j + kColumns <= end; j += kColumns) dots_columns<kColumns>(c, a, b + j * c.ldb, out + j);
  if constexpr (kColumns > 1)
    for (; j < end; j++) dots_columns<1>(c, a, b + j * c.ldb, out + j);
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(dot_float);
HWY_EXPORT(dot_double);
HWY_EXPORT(dots_float);

namespace {

constexpr int64_t kMostWork = 64 * 64 * 64;        // multiplications
constexpr int64_t kMostBytes = int64_t(32) << 10;  // of b, copied

template <class T>
TileWork<T> work_of(const GemmCall& c, const T* a, T* out) {
  return {.a = a,
          .row = c.transpose_a ? 1 : c.lda,
          .inner = c.k,
          .step = c.transpose_a ? c.lda : 1,
          .out = out,
          .out_row = c.ldc,
          .alpha = T(c.alpha),
          .beta = T(c.beta)};
}

template <class T>
void small_range(const GemmCall& c, int64_t begin, int64_t end) {
  const Panels panels(c.n, tile_lanes(T()));
  const bool packs = c.transpose_b || c.n % panels.width != 0;
  alignas(64) T packed[kMostBytes / sizeof(T)];
  for (int64_t i = begin; i < end; i++) {
    const T* b = static_cast<const T*>(c.b) + i * c.batch_b;
    TileWork<T> work = work_of(c, static_cast<const T*>(c.a) + i * c.batch_a, static_cast<T*>(c.c) + i * c.batch_c);
    for (int64_t panel = 0; panel < panels.count; panel++) {
      const int64_t first = panels.first(panel), size = panels.size(panel), columns = panels.columns(panel);
      TileWork<T> part = work;
      part.b = b + first * (c.transpose_b ? c.ldb : 1), part.b_step = c.ldb, part.out += first;
      if (packs) {
        pack_panel(PanelSource<T>{part.b, c.ldb, c.transpose_b, c.k, columns}, size, packed);
        part.b = packed, part.b_step = size;
      }
      tile_rows(part, c.m, size, columns);
    }
  }
}

template <class T>
void direct(const GemmCall& c, const DirectLines& lines) {
  const Panels panels(c.n, tile_lanes(T()));
  TileWork<T> work = work_of(c, static_cast<const T*>(c.a), static_cast<T*>(c.c));
  if (lines.starts) work.lines = lines.count, work.inner = c.k / lines.count, work.line = work.inner * work.step;
  work.b_starts = lines.starts;
  for (int64_t panel = 0; panel < panels.count; panel++) {
    TileWork<T> part = work;
    part.b = static_cast<const T*>(c.b) + panels.first(panel), part.b_step = c.ldb, part.out += panels.first(panel);
    tile_rows(part, c.m, panels.size(panel), panels.columns(panel));
  }
}

}  // namespace

bool is_small_product(const GemmCall& c) {
  const int64_t work = c.m * c.n * c.k, row = c.n * int64_t(item_size(c.dtype));
  if (work > kMostWork || (c.dtype != kFloat32 && c.dtype != kFloat64)) return false;
  if (is_by_dots(c)) return false;
  if (c.dtype == kFloat32 && c.batch == 1 && (c.m == 1 || c.n == 1)) return false;  // has an order of its own: gemv.cpp
  if (c.k > kLongestSum / 2 && (c.dtype == kFloat32 ? sum_parts<float>(c) : sum_parts<double>(c)).count() > 1)
    return false;
  if (work <= 512) return true;
  const bool copied = c.transpose_b || row % kPaddedTo != 0;
  return c.n >= 4 && (!copied || (c.m >= 4 && c.k * (row + kPaddedTo) <= kMostBytes));
}
void small_products(const GemmCall& c, int64_t begin, int64_t end) {
  c.dtype == kFloat32 ? small_range<float>(c, begin, end) : small_range<double>(c, begin, end);
}
void direct_rows(const GemmCall& c, const DirectLines& lines) {
  c.dtype == kFloat32 ? direct<float>(c, lines) : direct<double>(c, lines);
}
void direct_product(const GemmCall& c) { direct_rows(c, {}); }
void dot_products(const GemmCall& c, const float* a, const float* b, float* out, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(dots_float)(c, a, b, out, begin, end);
}
float dot_product(const float* a, const float* b, int64_t n) { return HWY_DYNAMIC_DISPATCH(dot_float)(a, b, n); }
double dot_product(const double* a, const double* b, int64_t n) { return HWY_DYNAMIC_DISPATCH(dot_double)(a, b, n); }
}  // namespace tessera::tensor::cpu
#endif
