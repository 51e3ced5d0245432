// The largest or smallest element along a dimension and where it is: the first of equal ones, and NaN above all.
//
// Rows: first what it is, then where, both on lanes; no index is carried along. Columns: a strip of lines side by side,
// each with the best so far and its number.
//
// The inner loops have a fixed number of elements: the compiler makes vectors of no others in functions that have an instruction set of their own
// (cmake/FileOptions.cmake).
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/extreme.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/parallel_2d.h"
#include "backends/cpu/scan.h"
#include "backends/cpu/wide-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

/// Whether x replaces the best so far. Written without || so that a loop over it becomes vectors.
template <bool kMax, class V>
HWY_INLINE bool better(V x, V best) {
  if constexpr (std::is_floating_point_v<V>) return bool((kMax ? !(x <= best) : !(x >= best)) & (best == best));
  else return kMax ? x > best : x < best;
}

template <class T>
using Compared = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float, T>;

constexpr int64_t kBlock = 32;  // elements of an inner loop

// ---- rows ----

/// The best of a row of floats on lanes; NaN if there is one.
template <bool kMax, class V, class T>
HWY_INLINE V best_of_floats(const T* x, int64_t n) {
  constexpr int64_t kSize = Wide<V>::kSize;
  const V sign = kMax ? V(1) : V(-1);  // the least is minus the most of the negated
  const Wide<V> signs(sign);
  const V lowest = -std::numeric_limits<V>::infinity();
  Wide<V> total(lowest);
  int64_t i = 0;
  for (; i + kSize <= n; i += kSize) {
    const Wide<V> x_wide = load_wide<V>(x + i);
    total = combine<Most>(total, kMax ? x_wide : x_wide * signs);
  }
  V best = fold_elements<Most>(total);
  for (; i < n; i++) best = Most::of(best, sign * convert_element<V>(x[i]));
  return sign * best;
}
template <bool kMax, class T>
HWY_INLINE T best_of_integers(const T* x, int64_t n) {
  T best = x[0];
  int64_t i = 0;
  if (n >= kBlock) {
    T lanes[kBlock];
    std::copy(x, x + kBlock, lanes);
    for (i = kBlock; i + kBlock <= n; i += kBlock)
      for (int64_t j = 0; j < kBlock; j++) lanes[j] = better<kMax>(x[i + j], lanes[j]) ? x[i + j] : lanes[j];
    for (const T lane : lanes) best = better<kMax>(lane, best) ? lane : best;
  }
  for (; i < n; i++) best = better<kMax>(x[i], best) ? x[i] : best;
  return best;
}
/// The place of the first element that equals `best`, which one does. Blocks without it are passed by a loop that has no way out.
template <class V, class T>
HWY_INLINE int64_t find(const T* x, int64_t n, V best) {
  using Mask = std::conditional_t<sizeof(V) == 8, uint64_t, std::conditional_t<sizeof(V) == 4, uint32_t, uint8_t>>;  // lanes as wide as V's
  const bool is_nan = best != best;
  const auto hits = [&](T element) {
    const V v = convert_element<V>(element);
    return bool((v == best) | (is_nan & (v != v)));
  };
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    Mask any = 0;
    for (int64_t j = 0; j < kBlock; j++) any |= Mask(hits(x[i + j]));
    if (any) break;
  }
  for (; i < n; i++)
    if (hits(x[i])) return i;
  return 0;
}
template <bool kMax, class T>
HWY_NOINLINE void extreme_rows(const AlongCall& c, int64_t begin, int64_t end) {
  using V = Compared<T>;
  for (int64_t r = begin; r < end; r++) {
    const T* x = static_cast<const T*>(c.in) + r * c.n;
    V best;
    if constexpr (std::is_floating_point_v<V>) best = best_of_floats<kMax, V>(x, c.n);
    else best = best_of_integers<kMax>(x, c.n);
    const int64_t at = find(x, c.n, best);
    if (c.out) static_cast<T*>(c.out)[r] = x[at];
    c.index[r] = at;
  }
}

// ---- columns ----

constexpr int64_t kStrip = 256;

template <bool kMax, class V, class I>
HWY_INLINE void compare(V* best, I* index, const V* values, I number, int64_t n) {
#pragma GCC ivdep  // best and index are buffers of extreme_columns
  for (int64_t j = 0; j < n; j++) {
    const bool take = better<kMax>(values[j], best[j]);
    best[j] = take ? values[j] : best[j];
    index[j] = take ? number : index[j];
  }
}

template <bool kMax, class T>
HWY_NOINLINE void extreme_columns(const AlongCall& c, int64_t outer, int64_t first, int64_t count) {
  using V = Compared<T>;
  using I = std::conditional_t<sizeof(V) == 8, int64_t, int32_t>;  // lanes as wide as the values'
  V best[kStrip], value[kStrip];
  I index[kStrip];
  int64_t base = 0;  // added to all numbers of the strip: int32 counts pieces of a line
  const T* x = static_cast<const T*>(c.in) + outer * c.n * c.inner + first;
  int64_t* const out_index = c.index + outer * c.inner + first;
  for (int64_t j = 0; j < count; j++) best[j] = convert_element<V>(x[j]), index[j] = 0, out_index[j] = 0;
  const auto flush = [&] {
    for (int64_t j = 0; j < count; j++)
      if (index[j]) out_index[j] = base + index[j], index[j] = 0;
  };
  for (int64_t i = 1; i < c.n; i++) {
    if (i - base == int64_t(1) << 30) flush(), base = i - 1;
    const I number = I(i - base);
    const T* row = x + i * c.inner;
    const V* values;
    if constexpr (std::is_same_v<T, V>) {
      values = row;
    } else {
      for (int64_t j = 0; j < count; j++) value[j] = convert_element<V>(row[j]);
      values = value;
    }
    int64_t at = 0;
    for (; at + kBlock <= count; at += kBlock) compare<kMax>(best + at, index + at, values + at, number, kBlock);
    compare<kMax>(best + at, index + at, values + at, number, count - at);
  }
  flush();
  if (!c.out) return;
  for (int64_t j = 0; j < count; j++)
    static_cast<T*>(c.out)[outer * c.inner + first + j] = x[out_index[j] * c.inner + j];
}

template <bool kMax>
void extremes(const AlongCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_2d(c.outer, c.inner, kStrip, c.n, [&](const Tile& t) {
      if (c.inner == 1) return extreme_rows<kMax, T>(c, t.outer_begin, t.outer_end);
      for (int64_t o = t.outer_begin; o < t.outer_end; o++)
        extreme_columns<kMax, T>(c, o, t.inner_begin, t.inner_end - t.inner_begin);
    });
  });
}
void extreme_lines(const AlongCall& c) { c.op == AlongCall::Max ? extremes<true>(c) : extremes<false>(c); }

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(extreme_lines);
void extreme_along(const AlongCall& c) { HWY_DYNAMIC_DISPATCH(extreme_lines)(c); }
}  // namespace tessera::tensor::cpu
#endif
