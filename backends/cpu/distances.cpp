// The p-norms of the differences of rows. As many rows as a register has lanes are turned to lie side by side, in pieces that
// stay in the cache; a row then meets all of them at once. What belongs to one pair is added up in eight sums, element k to sum
// k % 8, whatever the instruction set, and by one thread.
#include "backends/number.h"

#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/distances.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/lane-inl.h"
#include "backends/cpu/row_types.h"
#include "backends/cpu/wide-inl.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "backends/cpu/transpose.h"
#include "runtime/ops/distances.h"
#include "runtime/context.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

enum class Norm { Count, Sum, Euclid, Most, Power };

// Not part of the loops: it is large.
template <class T>
HWY_NOINLINE Lane<T> power(Lane<T> x, Lane<T> p) {
  return m::pow(x, p);
}

template <Norm kNorm, class T>
HWY_INLINE Lane<T> met(Lane<T> total, Lane<T> difference, Lane<T> p) {
  if constexpr (kNorm == Norm::Euclid) return total + difference * difference;
  const Lane<T> d = m::abs(difference);
  if constexpr (kNorm == Norm::Count) return total + m::truth(d);
  else if constexpr (kNorm == Norm::Sum) return total + d;
  else if constexpr (kNorm == Norm::Most) return Most::of(total, d);
  else return total + power(d, p);
}
template <Norm kNorm, class T>
HWY_INLINE Lane<T> finish(Lane<T> total, Lane<T> p) {
  if constexpr (kNorm == Norm::Euclid) return m::sqrt(total);
  else return kNorm == Norm::Power ? power(total, Lane<T>(1.0) / p) : total;
}

template <class T>
struct Distances {
  static constexpr int kSums = 8;
  static constexpr int64_t kRows = 64;                           // that meet a piece before the next one is turned
  static constexpr int64_t kPiece = 16384 / int64_t(sizeof(T));  // elements of a piece
  static constexpr int64_t kLongest = 16384;                     // elements between two looks at the cancel flag
  static constexpr int64_t kLanes = int64_t(hn::MaxLanes(Tag<T>()));

  const DistanceCall& c;
  const Lane<T> p{c.p};

  /// From x to kLanes rows; `others` has their first elements, then their second ones, and so on.
  template <Norm kNorm>
  HWY_INLINE Lane<T> measure(const T* x, const T* others) const {
    hn::Vec<Tag<T>> sums[kSums];
#pragma GCC unroll kUnroll
    for (int s = 0; s < kSums; s++) sums[s] = hn::Zero(Tag<T>());
    const auto meet = [&](int s, int64_t k) TS_LANES {
      const Lane<T> difference = Lane<T>(hn::Set(Tag<T>(), x[k])) - Lane<T>(hn::Load(Tag<T>(), others + k * kLanes));
      sums[s] = met<kNorm>(Lane<T>(sums[s]), difference, p).v;
    };
    int64_t k = 0;
    while (k + kSums <= c.width) {
      const int64_t stop = std::min(k + kLongest, c.width) - kSums;
      for (; k <= stop; k += kSums)
#pragma GCC unroll kUnroll
        for (int s = 0; s < kSums; s++) meet(s, k + s);
      if (k + kSums <= c.width) Context::current().poll();
    }
#pragma GCC unroll kUnroll
    for (int s = 0; s + 1 < kSums; s++)
      if (k + s < c.width) meet(s, k + s);
#pragma GCC unroll kUnroll
    for (int half = kSums / 2; half; half /= 2)
#pragma GCC unroll kUnroll
      for (int s = 0; s < half; s++)
        sums[s] = kNorm == Norm::Most ? Most::of(Lane<T>(sums[s]), Lane<T>(sums[s + half])).v
                                      : hn::Add(sums[s], sums[s + half]);
    return finish<kNorm>(Lane<T>(sums[0]), p);
  }

  /// From x to rows [first, end), of which [start, end) are turned; `first` may lie before or behind them. to[j] is row j's place.
  template <Norm kNorm>
  HWY_INLINE void measure_row(const T* x, const T* turned, int64_t start, int64_t first, int64_t end, T* to) const {
    int64_t j = std::max(start, start + (first - start) / kLanes * kLanes);
    for (; j < end; j += kLanes) {
      const Lane<T> d = measure<kNorm>(x, turned + (j - start) * c.width);
      if (j >= first && j + kLanes <= end) {
        hn::StoreU(d.v, Tag<T>(), to + j);
        continue;
      }
      alignas(64) T some[kLanes];
      hn::Store(d.v, Tag<T>(), some);
      const int64_t from = std::max(j, first);
      std::copy(some + (from - j), some + (std::min(end, j + kLanes) - j), to + from);
    }
  }

  /// Rows of `others` [start, end) as measure() wants them; the last lanes repeat a row.
  void turn(const T* others, int64_t start, int64_t end, T* turned) const {
    const Transposer transpose(c.dtype, c.dtype);
    for (int64_t j = start; j < end; j += kLanes, turned += kLanes * c.width) {
      const int64_t columns = std::min(kLanes, end - j);
      for (int64_t k = 0; k < c.width; k += transpose.side())
        transpose({reinterpret_cast<char*>(turned + k * kLanes), kLanes,
                   reinterpret_cast<const char*>(others + j * c.width + k), c.width, columns,
                   std::min(transpose.side(), c.width - k)});
      for (int64_t k = 0; k < c.width && columns < kLanes; k++)
        std::fill_n(turned + k * kLanes + columns, kLanes - columns, turned[k * kLanes]);
    }
  }

  template <Norm kNorm>
  void run() const {
    const T *const a = static_cast<const T*>(c.a), *const b = static_cast<const T*>(c.b);
    const int64_t n = c.rows_a, count = b ? c.rows_b : n;
    const int64_t in_piece = std::clamp(kPiece / std::max<int64_t>(1, c.width), int64_t(1), count) + kLanes - 1;
    const int64_t piece = in_piece / kLanes * kLanes, pieces = (count + piece - 1) / piece,
                  strips = (n + kRows - 1) / kRows;
    const int64_t weight = kNorm == Norm::Power ? 16 : 1;
    const int64_t work = piece * std::min(n, kRows) * (c.width + 8) / kLanes * weight;
    const auto tiles = [&](int64_t begin, int64_t end) TS_TILE {
      const Scratch<T> turned(piece * c.width);
      for (int64_t tile = begin; tile < end; tile++) {
        const int64_t batch = tile / (strips * pieces), start = tile % pieces * piece,
                      stop = std::min(count, start + piece), first_row = tile / pieces % strips * kRows,
                      last_row = std::min({n, first_row + kRows, b ? n : stop - 1});
        if (first_row >= last_row) continue;
        turn(b ? b + batch * count * c.width : a, start, stop, turned.data());
        for (int64_t i = first_row; i < last_row; i++) {
          const T* x = a + (batch * n + i) * c.width;
          T* const out = static_cast<T*>(c.out) + (b ? (batch * n + i) * count : i * n - (i + 1) * (i + 2) / 2);
          measure_row<kNorm>(x, turned.data(), start, b ? 0 : i + 1, stop, out);
        }
      }
    };
    run_split(c.batches * strips * pieces, {.grain = std::max<int64_t>(1, 16384 / work), .tasks = work >= 1 << 18},
              RangeBody(tiles));
  }

  void run_norm() const {
    if (c.p == 0) run<Norm::Count>();
    else if (c.p == 1) run<Norm::Sum>();
    else if (c.p == 2) run<Norm::Euclid>();
    else if (std::isinf(c.p)) run<Norm::Most>();
    else run<Norm::Power>();
  }
};

void measure_distances(const DistanceCall& c) {
  if (c.dtype == kFloat32) Distances<float>{c}.run_norm();
  else Distances<double>{c}.run_norm();
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
TS_ROW_KERNEL(distance_kernel, DistanceCall, measure_distances)
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
