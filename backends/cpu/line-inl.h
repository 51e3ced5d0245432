// The skeleton of kernels over lines of numbers (softmax, norms, losses and their gradients): load, lanes, fold, lanes.
//
// A kernel is written once, as a function of a line: fold() makes a statistic of it, map() runs along it. A Row is a
// line in one piece of memory; Columns are 32 neighbouring lines, each `inner` apart from element to element. A
// statistic is a Wide either way: of a Row with the same number in all places, of Columns with one number a line.
#if defined(TESSERA_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LINE_INL_H
#undef TESSERA_LINE_INL_H
#else
#define TESSERA_LINE_INL_H
#endif

#include "backends/cpu/parallel_2d.h"
#include "backends/cpu/wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

/// Where a kernel stands: `count` elements at `offset` of the tensors, which are number `along` and following of a Row
/// (all number `along` of Columns).
template <class T>
struct Place {
  int64_t offset, along;
  int count;
  template <class In>
  HWY_INLINE Wide<T> load(const In* tensor) const {
    return load_wide<T>(tensor + offset, count);
  }
  template <class Out>
  HWY_INLINE void store(Wide<T> x, Out* tensor) const {
    store_wide(x, tensor + offset, count);
  }
};

// Partial sums are put away every so many Wides, which keeps the rounding error of long lines that of two levels.
inline constexpr int64_t kFoldBlock = 64;

template <class T>
struct Row {
  static constexpr bool kColumns = false;
  int64_t start, n, line;  // line: its number

  template <class Combine, class F>
  HWY_INLINE Wide<T> fold(T identity, const F& f) const {
    constexpr int64_t kSize = Wide<T>::kSize;
    const int64_t whole = n / kSize * kSize;
    Wide<T> total(identity);
    for (int64_t i = 0; i < whole;) {
      Wide<T> block(identity);
      for (const int64_t end = std::min(whole, i + kFoldBlock * kSize); i < end; i += kSize)
        block = combine<Combine>(block, f(Place<T>{start + i, i, int(kSize)}));
      total = combine<Combine>(total, block);
    }
    if (whole < n) {
      const int count = int(n - whole);
      total = combine<Combine>(total, first_of(f(Place<T>{start + whole, whole, count}), count, identity));
    }
    return Wide<T>(fold_elements<Combine>(total));
  }
  // What is left of a Wide comes by itself, here and above: the loop has no ends to look for then.
  template <class F>
  HWY_INLINE void map(const F& f) const {
    constexpr int64_t kSize = Wide<T>::kSize;
    int64_t i = 0;
    for (; i + kSize <= n; i += kSize) f(Place<T>{start + i, i, int(kSize)});
    if (i < n) f(Place<T>{start + i, i, int(n - i)});
  }
  /// One number of a tensor with one a line.
  template <class In>
  HWY_INLINE Wide<T> load_statistic(const In* tensor) const {
    return Wide<T>(T(tensor[line]));
  }
  template <class Out>
  HWY_INLINE void store_statistic(Wide<T> x, Out* tensor) const {
    alignas(64) T one[Wide<T>::kLanes];
    hn::Store(x.part[0], Tag<T>(), one);
    tensor[line] = Out(one[0]);
  }
  /// What is the same for all lines, by the place along them.
  HWY_INLINE Wide<T> load_along(const T* tensor, const Place<T>& at) const {
    return load_wide<T>(tensor + at.along, at.count);
  }
};

template <class T>
struct Columns {
  static constexpr bool kColumns = true;
  int64_t start, n, line, step;  // line: the first one's number; step: from one element to the next
  int count;

  template <class Combine, class F>
  HWY_INLINE Wide<T> fold(T identity, const F& f) const {
    Wide<T> total(identity);
    for (int64_t i = 0; i < n;) {
      Wide<T> block(identity);
      for (const int64_t end = std::min(n, i + kFoldBlock); i < end; i++)
        block = combine<Combine>(block, f(Place<T>{start + i * step, i, count}));
      total = combine<Combine>(total, block);
    }
    return total;
  }
  template <class F>
  HWY_INLINE void map(const F& f) const {
    for (int64_t i = 0; i < n; i++) f(Place<T>{start + i * step, i, count});
  }
  template <class In>
  HWY_INLINE Wide<T> load_statistic(const In* tensor) const {
    return load_wide<T>(tensor + line, count);
  }
  template <class Out>
  HWY_INLINE void store_statistic(Wide<T> x, Out* tensor) const {
    store_wide(x, tensor + line, count);
  }
  HWY_INLINE Wide<T> load_along(const T* tensor, const Place<T>& at) const { return Wide<T>(tensor[at.along]); }
};

/// kernel(line) for every line of contiguous [outer, n, inner], shared out to threads.
template <class T, class Kernel>
void each_line(int64_t outer, int64_t n, int64_t inner, const Kernel& kernel) {
  constexpr int64_t kSize = Wide<T>::kSize;
  if (inner == 1) {
    parallel_2d(outer, 1, 1, n, [&](const Tile& t) TS_TILE {
      for (int64_t o = t.outer_begin; o < t.outer_end; o++) kernel(Row<T>{o * n, n, o});
    });
    return;
  }
  parallel_2d(outer, inner, kSize, n, [&](const Tile& t) TS_TILE {
    for (int64_t o = t.outer_begin; o < t.outer_end; o++) {
      const int64_t j = t.inner_begin;
      kernel(Columns<T>{o * n * inner + j, n, o * inner + j, inner, int(t.inner_end - j)});
    }
  });
}

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
