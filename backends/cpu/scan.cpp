// Running sums and products along a dimension, in double for floats and in int64 for integers, one element after the other
// as PyTorch does it. What can go side by side is the lines: eight rows at once, or a strip of columns.
// compile: dynamic-vectors (plain loops over elements)
#include "backends/cpu/scan.h"

#include "backends/cpu/parallel_2d.h"
#include "runtime/pieces.h"

namespace tessera::tensor::cpu {
namespace {

// Parts of rows come a good deal slower from memory than rows do, also to two threads at once.
constexpr int64_t kStrip = 1024;
constexpr int64_t kRows = 8;

template <class T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

template <bool kProduct, class A>
inline A next(A total, A x) {
  if constexpr (std::is_integral_v<A>) {
    const auto a = uint64_t(total), b = uint64_t(x);  // wraps round
    return A(kProduct ? a * b : a + b);
  } else {
    return kProduct ? total * x : total + x;
  }
}

/// kCount rows of n elements, one below the other.
template <class T, bool kProduct, int kCount>
void rows(const T* x, T* y, int64_t n, bool backwards) {
  using A = Accumulator<T>;
  A total[kCount];
  for (A& t : total) t = kProduct ? 1 : 0;
  const int64_t step = backwards ? -1 : 1;
  if (backwards) x += n - 1, y += n - 1;
  in_pieces(n, kPieceElements / kCount, [&](int64_t i, int64_t end) {
    for (; i < end; i++, x += step, y += step) {
// All loads come before the stores: rows of 4096 bytes and the like would seem to the processor to be the same memory.
#pragma GCC unroll 8
      for (int r = 0; r < kCount; r++) total[r] = next<kProduct>(total[r], convert_element<A>(x[r * n]));
#pragma GCC unroll 8
      for (int r = 0; r < kCount; r++) y[r * n] = convert_element<T>(total[r]);
    }
  });
}

/// kCount rows of `count` columns, `step` apart, in this order. Of parts of rows, which the processor does not foresee to be
/// followed by each other, several come from memory at a time.
template <class T, bool kProduct, int kCount>
void next_rows(const T* x, T* y, int64_t step, int64_t count, Accumulator<T>* total) {
  using A = Accumulator<T>;
// A column meets itself alone, even where the result takes the place of what was there.
#pragma GCC ivdep
  for (int64_t j = 0; j < count; j++) {
    A t[kCount];
#pragma GCC unroll 4
    for (int r = 0; r < kCount; r++) t[r] = convert_element<A>(x[r * step + j]);
    t[0] = next<kProduct>(total[j], t[0]);
#pragma GCC unroll 4
    for (int r = 1; r < kCount; r++) t[r] = next<kProduct>(t[r - 1], t[r]);
#pragma GCC unroll 4
    for (int r = 0; r < kCount; r++) y[r * step + j] = convert_element<T>(t[r]);
    total[j] = t[kCount - 1];
  }
}

/// Types that programs scan often.
template <class T>
constexpr bool kSeveral = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int64_t>;

template <class T, bool kProduct>
void columns(const AlongCall& c, int64_t outer, int64_t first, int64_t count) {
  constexpr int kAtOnce = kSeveral<T> ? 4 : 1;
  using A = Accumulator<T>;
  A total[kStrip];
  std::fill(total, total + count, A(kProduct ? 1 : 0));
  const int64_t step = c.backwards ? -c.inner : c.inner;
  const int64_t at = (outer * c.n + (c.backwards ? c.n - 1 : 0)) * c.inner + first;
  const T* x = static_cast<const T*>(c.in) + at;
  T* y = static_cast<T*>(c.out) + at;
  in_pieces(c.n, kPieceElements / kStrip, [&](int64_t i, int64_t end) {
    for (; count < c.inner && i + kAtOnce <= end; i += kAtOnce, x += kAtOnce * step, y += kAtOnce * step)
      next_rows<T, kProduct, kAtOnce>(x, y, step, count, total);
    for (; i < end; i++, x += step, y += step) next_rows<T, kProduct, 1>(x, y, step, count, total);
  });
}

template <bool kProduct>
void scan(const AlongCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t strip = kSeveral<T> ? strip_for_threads(c.outer * c.inner, kStrip, 1) : kStrip;
    parallel_2d(c.outer, c.inner, strip, c.n, [&](const Tile& t) {
      const T* x = static_cast<const T*>(c.in);
      T* y = static_cast<T*>(c.out);
      int64_t o = t.outer_begin;
      if (c.inner == 1) {
        for (; o + kRows <= t.outer_end; o += kRows) {
          if constexpr (std::is_same_v<T, float>) scan_eight_rows(x + o * c.n, y + o * c.n, c.n, kProduct, c.backwards);
          else rows<T, kProduct, kRows>(x + o * c.n, y + o * c.n, c.n, c.backwards);
        }
        for (; o < t.outer_end; o++) rows<T, kProduct, 1>(x + o * c.n, y + o * c.n, c.n, c.backwards);
        return;
      }
      for (; o < t.outer_end; o++) columns<T, kProduct>(c, o, t.inner_begin, t.inner_end - t.inner_begin);
    });
  });
}

void along(const AlongCall& c) {
  switch (c.op) {
    case AlongCall::Max:
    case AlongCall::Min: return extreme_along(c);
    case AlongCall::Sum: return scan<false>(c);
    case AlongCall::Product: return scan<true>(c);
  }
}

const KernelRegistration along_registration{along_kernel, DeviceType::Cpu, &along};

}  // namespace
}  // namespace tessera::tensor::cpu
