// The skeleton of kernels over lines of numbers (softmax, norms, losses and their gradients): load, lanes, fold, lanes.
//
// A kernel is written once, as a function of a line: fold() makes a statistic of it, map() runs along it. A Row is a
// line in one piece of memory; Columns are 32 lines side by side, element i of all of them together, `step` behind i - 1.
// A statistic is a Wide either way: of a Row with the same number in all places, of Columns with one number a line.
#if defined(TESSERA_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LINE_INL_H
#undef TESSERA_LINE_INL_H
#else
#define TESSERA_LINE_INL_H
#endif

#include "backends/cpu/parallel_2d.h"
#include "backends/cpu/row_types.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/wide-inl.h"
#include "runtime/pieces.h"

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
  static constexpr int64_t step = 1;
  int64_t start, n, line;  // line: its number

  template <class Combine, class F>
  HWY_INLINE Wide<T> fold(T identity, const F& f) const {
    return Wide<T>(fold_elements<Combine>(fold_in_places<Combine>(identity, f)));
  }
  /// What is left is 32 totals, each of every 32nd element.
  template <class Combine, class F>
  HWY_INLINE Wide<T> fold_in_places(T identity, const F& f) const {
    constexpr int64_t kSize = Wide<T>::kSize;
    const int64_t whole = n / kSize * kSize;
    Wide<T> total(identity);
    for (int64_t i = 0; i < whole;) {
      if (i % kPieceElements == 0 && i > 0 && stop_wanted()) break;
      Wide<T> block(identity);
      for (const int64_t end = std::min(whole, i + kFoldBlock * kSize); i < end; i += kSize)
        block = combine<Combine>(block, f(Place<T>{start + i, i, int(kSize)}));
      total = combine<Combine>(total, block);
    }
    if (whole < n) {
      const int count = int(n - whole);
      total = combine<Combine>(total, first_of(f(Place<T>{start + whole, whole, count}), count, identity));
    }
    return total;
  }
  /// Sums as PyTorch's kernels of one row add up: 64 bytes of sums, to which the row is added piece by piece, folded in
  /// halves; a row that is shorter than that is added one by one.
  template <class F>
  HWY_INLINE Wide<T> sum_of_pieces(const F& f) const {
    constexpr int64_t kSize = Wide<T>::kSize;
    constexpr int kHalf = Wide<T>::kParts / 2;
    Wide<T> total(T(0));
    const auto add = [&](const Wide<T>& x) TS_LANES {
#pragma GCC unroll kUnroll
      for (int k = 0; k < Wide<T>::kParts; k++) total.part[k % kHalf] = hn::Add(total.part[k % kHalf], x.part[k]);
    };
    int64_t i = 0;
    in_whole_wides(i, [&]() TS_LANES { add(f(Place<T>{start + i, i, int(kSize)})); });
    if (i < n) add(first_of(f(Place<T>{start + i, i, int(n - i)}), int(n - i), T(0)));
    return Wide<T>(n < kSize / 2 ? add_one_by_one(total, int(n)) : fold_elements<Add>(total));
  }
  /// The same of products; those that do not fill a piece are added without being rounded before.
  template <class F, class G>
  HWY_INLINE Wide<T> sum_of_products(const F& f, const G& g) const {
    constexpr int64_t kSize = Wide<T>::kSize, kPiece = kSize / 2;
    constexpr int kHalf = Wide<T>::kParts / 2;
    const int64_t whole = n / kSize * kSize;
    if (whole == n || n < kPiece) return sum_of_pieces([&](Place<T> at) TS_LANES { return f(at) * g(at); });
    Wide<T> total(T(0));
    const auto add = [&](const Wide<T>& x, const Wide<T>& y, int fused) TS_LANES {
#pragma GCC unroll kUnroll
      for (int k = 0; k < Wide<T>::kParts; k++) {
        auto& sum = total.part[k % kHalf];
        sum = k / kHalf == fused ? hn::MulAdd(x.part[k], y.part[k], sum) : hn::Add(sum, hn::Mul(x.part[k], y.part[k]));
      }
    };
    int64_t i = 0;
    in_whole_wides(i, [&]() TS_LANES {
      const Place<T> at{start + i, i, int(kSize)};
      add(f(at), g(at), 2);
    });
    const int count = int(n - whole);
    const Place<T> at{start + whole, whole, count};
    add(first_of(f(at), count, T(0)), first_of(g(at), count, T(0)), int(count / kPiece));
    return Wide<T>(fold_elements<Add>(total));
  }
  // What is left of a Wide comes by itself, here and above: the loop has no ends to look for then.
  template <class F>
  HWY_INLINE void map(const F& f) const {
    constexpr int64_t kSize = Wide<T>::kSize;
    int64_t i = 0;
    in_whole_wides(i, [&]() TS_LANES { f(Place<T>{start + i, i, int(kSize)}); });
    if (i < n) f(Place<T>{start + i, i, int(n - i)});
  }
  /// f() at each Wide that the line fills, until the program is to stop.
  template <class F>
  HWY_INLINE void in_whole_wides(int64_t& i, const F& f) const {
    constexpr int64_t kSize = Wide<T>::kSize;
    while (i + kSize <= n) {
      const int64_t last = std::min(n, i + kPieceElements) - kSize;
      for (; i <= last; i += kSize) f();
      if (i + kSize <= n && stop_wanted()) i = n;
    }
  }
  /// f of a statistic: of one register, as all hold the same.
  template <class F>
  static HWY_INLINE Wide<T> apply_to_statistic(const F& f, Wide<T> x) {
    const Lane<T> y = f(Lane<T>(x.part[0]));
#pragma GCC unroll kUnroll
    for (auto& part : x.part) part = y.v;
    return x;
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

/// Lines side by side in a buffer (each_columns makes it): Wides one behind the other. `count`: how many of them are lines.
template <class T>
struct Columns {
  static constexpr int64_t step = Wide<T>::kSize;
  int64_t start, n, line;  // line: the first one's number
  int count;

  template <class Combine, class F>
  HWY_INLINE Wide<T> fold(T identity, const F& f) const {
    Wide<T> total(identity);
    for (int64_t i = 0; i < n;) {
      Wide<T> block(identity);
      for (const int64_t end = std::min(n, i + kFoldBlock); i < end; i++)
        block = combine<Combine>(block, f(Place<T>{start + i * step, i, int(step)}));
      total = combine<Combine>(total, block);
    }
    return total;
  }
  template <class F>
  HWY_INLINE Wide<T> sum_of_pieces(const F& f) const {
    return fold<Add>(T(0), f);
  }
  template <class F, class G>
  HWY_INLINE Wide<T> sum_of_products(const F& f, const G& g) const {
    return fold<Add>(T(0), [&](Place<T> at) TS_LANES { return f(at) * g(at); });
  }
  template <class F>
  HWY_INLINE void map(const F& f) const {
    for (int64_t i = 0; i < n; i++) f(Place<T>{start + i * step, i, int(step)});
  }
  template <class F>
  static HWY_INLINE Wide<T> apply_to_statistic(const F& f, Wide<T> x) {
    return apply<T>(f, x);
  }
  template <class In>
  HWY_INLINE Wide<T> load_statistic(const In* tensor) const {
    return load_wide<T>(tensor + line, count);
  }
  template <class Out>
  HWY_INLINE void store_statistic(Wide<T> x, Out* tensor) const {
    store_wide(x, tensor + line, count);
  }
};

/// Neighbouring lines that are copied together: enough for runs that the processor foresees, few enough for its cache.
inline int64_t columns_together(int64_t n) { return std::clamp<int64_t>(kTileGrain / n, 64, 1024) / 32 * 32; }
/// From one Columns of a buffer to the next: an odd number of Wides, or they would meet in the same places of a cache.
template <class T>
int64_t columns_apart(int64_t n) {
  return (n | 1) * Wide<T>::kSize;
}
/// `count` neighbouring lines of n elements, each `inner` apart, into a buffer of Columns, and back.
template <class T, class In>
HWY_NOINLINE void read_columns(const In* in, int64_t n, int64_t inner, int64_t count, T* buffer) {
  constexpr int64_t kSize = Wide<T>::kSize;
  for (int64_t i = 0; i < n; i++, in += inner) {
    T* to = buffer + i * kSize;
    int64_t j = 0;
    for (; j + kSize <= count; j += kSize, to += columns_apart<T>(n)) store_wide(load_wide<T>(in + j), to);
    if (j < count) store_wide(load_end<T>(in + j, int(count - j)), to);
  }
}
template <class T, class Out>
HWY_NOINLINE void write_columns(const T* buffer, int64_t n, int64_t inner, int64_t count, Out* out) {
  constexpr int64_t kSize = Wide<T>::kSize;
  for (int64_t i = 0; i < n; i++, out += inner) {
    const T* from = buffer + i * kSize;
    const int64_t ahead = i + 2 < n ? 2 * inner : 0;  // stores wait for their cache lines one after the other
    int64_t j = 0;
    for (; j + kSize <= count; j += kSize, from += columns_apart<T>(n)) {
      __builtin_prefetch(out + ahead + j, 1);
      __builtin_prefetch(out + ahead + j + kSize / 2, 1);
      store_wide(load_wide<T>(from), out + j);
    }
    if (j < count) store_end(load_wide<T>(from), out + j, int(count - j));
  }
}
/// f(p) with the elements from `offset` on as what they are.
template <class T, class F>
HWY_INLINE void with_elements(const Elements<T>& elements, int64_t offset, const F& f) {
  if constexpr (std::is_same_v<T, float>) {
    if (elements.dtype() == kFloat16) return f(reinterpret_cast<Half*>(elements.at(offset)));
    if (elements.dtype() == kBFloat16) return f(reinterpret_cast<BFloat16*>(elements.at(offset)));
  }
  f(reinterpret_cast<T*>(elements.at(offset)));
}

inline constexpr int64_t kConverted = 2048;  // elements of short rows that are converted together
/// kernel(row, in, out) for every row of n elements, shared out to threads; `cost`: elements read for one of them. `out` may be the
/// memory of in[0], and null.
template <class T, size_t kInputs, class Kernel>
void each_row(int64_t rows, int64_t n, int64_t cost, const Elements<T> (&in)[kInputs], const Elements<T>& out,
              const Kernel& kernel) {
  parallel_2d(rows, 1, 1, cost, [&](const Tile& t) TS_TILE {
    const int64_t all = t.outer_end - t.outer_begin;
    const int64_t most = in[0].direct() ? all : std::max<int64_t>(1, kConverted / std::max<int64_t>(1, n));
    const auto buffer = in[0].buffer(int64_t(kInputs) * most * n);
    for (int64_t first = t.outer_begin; first < t.outer_end; first += most) {
      const int64_t count = std::min(most, t.outer_end - first);
      const T* from[kInputs];
      for (size_t k = 0; k < kInputs; k++)
        from[k] = in[k].read(first * n, count * n, buffer.data() + int64_t(k) * most * n);
      T* const to = out.place(first * n, buffer.data());
      for (int64_t r = 0; r < count; r++) kernel(Row<T>{r * n, n, first + r}, from, to);
      out.written(first * n, count * n, buffer.data());
    }
  });
}
/// kernel(columns, in, out) for neighbouring lines of contiguous tensors [outer, n, inner]: Columns of copies, as lines whose
/// elements lie apart come slowly from memory and meet in the same places of a cache. `out` may be the memory of in[0],
/// and null.
template <class T, size_t kInputs, class Kernel>
void each_columns(int64_t outer, int64_t n, int64_t inner, const Elements<T> (&in)[kInputs], const Elements<T>& out,
                  const Kernel& kernel) {
  constexpr int64_t kSize = Wide<T>::kSize;
  const int64_t strip = strip_for_threads(outer * inner, columns_together(n), 2);
  parallel_2d(outer, inner, strip, n, [&](const Tile& t) TS_TILE {
    const int64_t count = t.inner_end - t.inner_begin, apart = columns_apart<T>(n);
    const int64_t size = (count + kSize - 1) / kSize * apart;
    const Scratch<T> buffer{int64_t(kInputs) * size};
    const T* copies[kInputs];
    for (size_t k = 0; k < kInputs; k++) copies[k] = buffer.data() + int64_t(k) * size;
    for (int64_t o = t.outer_begin; o < t.outer_end; o++) {
      const int64_t place = o * n * inner + t.inner_begin, first = o * inner + t.inner_begin;
      for (size_t k = 0; k < kInputs; k++)
        with_elements(in[k], place,
                      [&](const auto* x) { read_columns(x, n, inner, count, buffer.data() + int64_t(k) * size); });
      for (int64_t j = 0; j < count; j += kSize)
        kernel(Columns<T>{j / kSize * apart, n, first + j, int(std::min(kSize, count - j))}, copies, buffer.data());
      if (out) with_elements(out, place, [&](auto* y) { write_columns(buffer.data(), n, inner, count, y); });
    }
  });
}

inline constexpr int64_t kShortest = 64;  // elements that a row of a few takes as long as
/// kernel(line, in, out) for every line: Rows of the tensors themselves where elements are neighbours, else Columns.
template <class T, size_t kInputs, class Kernel>
void each_line(int64_t outer, int64_t n, int64_t inner, const Elements<T> (&in)[kInputs], const Elements<T>& out,
               const Kernel& kernel) {
  if (inner == 1) each_row(outer, n, 2 * std::max(n, kShortest), in, out, kernel);
  else each_columns(outer, n, inner, in, out, kernel);
}

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
