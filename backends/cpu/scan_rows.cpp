// Running sums and products of eight rows of floats at once: blocks of 8 x 8 are turned in registers, so that a step of all
// eight rows is one addition of doubles. One number after the other as scan.cpp does it, so the bits are the same.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/scan_rows.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/scan.h"
#include "backends/cpu/wide-inl.h"
#include "hwy/highway.h"
#include "runtime/pieces.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kRows = 8;

/// Columns [begin, end) of the eight rows, one after the other; from the last one on where it goes backwards.
template <bool kProduct>
void single_columns(const float* x, float* y, int64_t n, int64_t begin, int64_t end, bool backwards, double* total) {
  for (int64_t i = begin; i < end; i++) {
    const int64_t at = backwards ? end - 1 - (i - begin) : i;
    for (int64_t r = 0; r < kRows; r++) {
      total[r] = kProduct ? total[r] * double(x[r * n + at]) : total[r] + double(x[r * n + at]);
      y[r * n + at] = float(total[r]);
    }
  }
}

#if HWY_TARGET <= HWY_AVX2
using Eight = hn::FixedTag<float, 8>;
using Octet = hn::Vec<Eight>;

HWY_INLINE void turn(Octet (&v)[8]) {
  const Eight d;
  const hn::FixedTag<double, 4> pairs;
  const auto lower = [&](Octet a, Octet b)
                         TS_LANES { return BitCast(d, InterleaveLower(pairs, BitCast(pairs, a), BitCast(pairs, b))); };
  const auto upper = [&](Octet a, Octet b)
                         TS_LANES { return BitCast(d, InterleaveUpper(pairs, BitCast(pairs, a), BitCast(pairs, b))); };
  Octet t[8], u[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = InterleaveLower(d, v[i], v[i + 1]);
    t[i + 1] = InterleaveUpper(d, v[i], v[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    u[i] = lower(t[i], t[i + 2]), u[i + 1] = upper(t[i], t[i + 2]);
    u[i + 2] = lower(t[i + 1], t[i + 3]), u[i + 3] = upper(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    v[i] = ConcatLowerLower(d, u[i + 4], u[i]);
    v[i + 4] = ConcatUpperUpper(d, u[i + 4], u[i]);
  }
}

/// The totals of eight rows.
struct Totals {
  static constexpr int kLanes = int(hn::MaxLanes(Tag<double>()));
  hn::Vec<Tag<double>> part[8 / kLanes];

  HWY_INLINE explicit Totals(const double* p) {
    for (int k = 0; k < 8 / kLanes; k++) part[k] = hn::LoadU(Tag<double>(), p + k * kLanes);
  }
  HWY_INLINE void store(double* p) const {
    for (int k = 0; k < 8 / kLanes; k++) hn::StoreU(part[k], Tag<double>(), p + k * kLanes);
  }
  /// Takes one number of each row and gives the totals rounded.
  template <bool kProduct>
  HWY_INLINE Octet take(Octet x) {
    const Tag<double> wide;
    const auto next = [](auto total, auto number)
                          TS_LANES { return kProduct ? hn::Mul(total, number) : hn::Add(total, number); };
#if HWY_TARGET <= HWY_AVX3
    part[0] = next(part[0], hn::PromoteTo(wide, x));
    return hn::DemoteTo(Eight(), part[0]);
#else
    const hn::Half<Eight> half;
    part[0] = next(part[0], hn::PromoteTo(wide, hn::LowerHalf(half, x)));
    part[1] = next(part[1], hn::PromoteTo(wide, hn::UpperHalf(half, x)));
    return hn::Combine(Eight(), hn::DemoteTo(half, part[1]), hn::DemoteTo(half, part[0]));
#endif
  }
};

template <bool kProduct>
void blocks(const float* x, float* y, int64_t n, int64_t columns, bool backwards, double* total) {
  const Eight d;
  Totals totals(total);
  for (int64_t i = 0; i < columns; i += 8) {
    const int64_t at = backwards ? columns - 8 - i : i;
    Octet v[8];
#pragma GCC unroll 8
    for (int r = 0; r < 8; r++) v[r] = hn::LoadU(d, x + r * n + at);
    turn(v);
    if (backwards) {
#pragma GCC unroll 8
      for (int k = 7; k >= 0; k--) v[k] = totals.take<kProduct>(v[k]);
    } else {
#pragma GCC unroll 8
      for (int k = 0; k < 8; k++) v[k] = totals.take<kProduct>(v[k]);
    }
    turn(v);
#pragma GCC unroll 8
    for (int r = 0; r < 8; r++) hn::StoreU(v[r], d, y + r * n + at);
  }
  totals.store(total);
}
#else
template <bool kProduct>
void blocks(const float* x, float* y, int64_t n, int64_t columns, bool backwards, double* total) {
  single_columns<kProduct>(x, y, n, 0, columns, backwards, total);
}
#endif

template <bool kProduct>
void scan_rows_of(const float* x, float* y, int64_t n, bool backwards) {
  double total[kRows];
  std::fill(total, total + kRows, kProduct ? 1.0 : 0.0);
  const int64_t whole = n / 8 * 8;
  if (backwards) single_columns<kProduct>(x, y, n, whole, n, true, total);
  in_pieces(whole, kPieceElements / kRows, [&](int64_t begin, int64_t end) {
    const int64_t at = backwards ? whole - end : begin;
    blocks<kProduct>(x + at, y + at, n, end - begin, backwards, total);
  });
  if (!backwards) single_columns<kProduct>(x, y, n, whole, n, false, total);
}
void scan_rows(const float* x, float* y, int64_t n, bool product, bool backwards) {
  product ? scan_rows_of<true>(x, y, n, backwards) : scan_rows_of<false>(x, y, n, backwards);
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(scan_rows);
void scan_eight_rows(const float* x, float* y, int64_t n, bool product, bool backwards) {
  HWY_DYNAMIC_DISPATCH(scan_rows)(x, y, n, product, backwards);
}
}  // namespace tessera::tensor::cpu
#endif
