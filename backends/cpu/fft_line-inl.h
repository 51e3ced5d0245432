// One line's transform by whatever way its plan says, from and to memory with any step.
#if defined(TESSERA_FFT_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_FFT_LINE_INL_H
#undef TESSERA_FFT_LINE_INL_H
#else
#define TESSERA_FFT_LINE_INL_H
#endif

#include <algorithm>
#include <cstring>

#include "backends/cpu/fft_passes-inl.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "runtime/pieces.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

/// Where the parts of a line's numbers are: `step` elements of T apart. Null parts read as 0 and are not written. With the two
/// parts exchanged a transform forward is one backward.
template <class T>
struct Place {
  T *re, *im;
  int64_t step;
  Place at(int64_t i) const { return {re ? re + i * step : re, im ? im + i * step : im, step}; }
  Place moved(int64_t by) const { return {re ? re + by : re, im ? im + by : im, step}; }
  Place exchanged() const { return {im, re, step}; }
  bool is_dense() const { return (step == 1 && re && im) || is_interleaved(); }
  bool is_interleaved() const { return step == 2 && re && im && (im == re + 1 || re == im + 1); }
};

template <class T>
HWY_INLINE void load_run(const Place<T>& from, int64_t count, T* re, T* im) {
  const FftTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  if (from.is_interleaved()) {
    T *first = re, *second = im;
    if (from.im < from.re) std::swap(first, second);
    const T* p = std::min(from.re, from.im);
    for (; i + lanes <= count; i += lanes) {
      hn::Vec<FftTag<T>> a, b;
      hn::LoadInterleaved2(d, p + 2 * i, a, b);
      hn::StoreU(a, d, first + i), hn::StoreU(b, d, second + i);
    }
  } else if (from.step == 1 && from.re && from.im) {
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(hn::LoadU(d, from.re + i), d, re + i), hn::StoreU(hn::LoadU(d, from.im + i), d, im + i);
  }
  for (; i < count; i++) {
    re[i] = from.re ? from.re[i * from.step] : T(0);
    im[i] = from.im ? from.im[i * from.step] : T(0);
  }
}

template <class T>
HWY_INLINE void store_run(const T* re, const T* im, int64_t count, T scale, const Place<T>& to) {
  const FftTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto factor = hn::Set(d, scale);
  int64_t i = 0;
  if (to.is_interleaved()) {
    const T *first = re, *second = im;
    if (to.im < to.re) std::swap(first, second);
    T* p = std::min(to.re, to.im);
    for (; i + lanes <= count; i += lanes)
      hn::StoreInterleaved2(hn::Mul(hn::LoadU(d, first + i), factor), hn::Mul(hn::LoadU(d, second + i), factor), d,
                            p + 2 * i);
  } else if (to.step == 1 && to.re && to.im) {
    for (; i + lanes <= count; i += lanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, re + i), factor), d, to.re + i);
      hn::StoreU(hn::Mul(hn::LoadU(d, im + i), factor), d, to.im + i);
    }
  }
  for (; i < count; i++) {
    if (to.re) to.re[i * to.step] = re[i] * scale;
    if (to.im) to.im[i * to.step] = im[i] * scale;
  }
}

/// to[c * to_row + r] = from[r * from_row + c], in blocks of 16 bytes by 16 bytes.
template <class T>
void turn(const T* from, int64_t from_row, int64_t rows, int64_t columns, T* to, int64_t to_row) {
  typedef T V __attribute__((vector_size(16)));
  constexpr int64_t n = 16 / int64_t(sizeof(T));
  int64_t r = 0;
  for (; r + n <= rows; r += n) {
    int64_t c = 0;
    for (; c + n <= columns; c += n) {
      V a[n], b[n];
      for (int i = 0; i < n; i++) std::memcpy(&a[i], from + (r + i) * from_row + c, 16);
      if constexpr (n == 2) {
        b[0] = __builtin_shufflevector(a[0], a[1], 0, 2), b[1] = __builtin_shufflevector(a[0], a[1], 1, 3);
      } else {
        const V s = __builtin_shufflevector(a[0], a[2], 0, 4, 1, 5),
                t = __builtin_shufflevector(a[0], a[2], 2, 6, 3, 7);
        const V u = __builtin_shufflevector(a[1], a[3], 0, 4, 1, 5),
                v = __builtin_shufflevector(a[1], a[3], 2, 6, 3, 7);
        b[0] = __builtin_shufflevector(s, u, 0, 4, 1, 5), b[1] = __builtin_shufflevector(s, u, 2, 6, 3, 7);
        b[2] = __builtin_shufflevector(t, v, 0, 4, 1, 5), b[3] = __builtin_shufflevector(t, v, 2, 6, 3, 7);
      }
      for (int i = 0; i < n; i++) std::memcpy(to + (c + i) * to_row + r, &b[i], 16);
    }
    for (; c < columns; c++)
      for (int64_t i = 0; i < n; i++) to[c * to_row + r + i] = from[(r + i) * from_row + c];
  }
  for (; r < rows; r++)
    for (int64_t c = 0; c < columns; c++) to[c * to_row + r] = from[r * from_row + c];
}

/// The four arrays of a block of lines side by side, zero where no line is.
template <class T>
class Block {
 public:
  Block(int64_t n, int64_t width) : size_(n * width), memory_(4 * size_) {}
  Buffers<T> buffers() const {
    T* const p = memory_.data();
    return {p, p + size_, p + 2 * size_, p + 3 * size_};
  }
  void clear() const { std::memset(memory_.data(), 0, size_t(2 * size_) * sizeof(T)); }

 private:
  int64_t size_;
  Scratch<T> memory_;
};

/// How many lines go side by side where there are `count`.
template <class T>
int64_t width_for(int64_t count) {
  const int64_t lanes = int64_t(hn::Lanes(FftTag<T>()));
  return std::min((count + lanes - 1) / lanes * lanes, kMostWidth);
}

/// a *= w
template <class T>
void multiply(T* re, T* im, const T* w_re, const T* w_im, int64_t count) {
  const int64_t lanes = int64_t(hn::Lanes(FftTag<T>()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    (Pair<T>::load(re + i, im + i) * Pair<T>::load(w_re + i, w_im + i)).store(re + i, im + i);
  for (; i < count; i++) {
    const T a = re[i], b = im[i];
    re[i] = a * w_re[i] - b * w_im[i], im[i] = a * w_im[i] + b * w_re[i];
  }
}

template <class T>
class LineTransform {
 public:
  /// Forward; `to` may be the memory of `from`.
  static void run(const FftPlan<T>& plan, const Place<T>& from, T scale, const Place<T>& to) {
    switch (plan.way) {
      case FftPlan<T>::Passes: return short_line(plan, from, scale, to);
      case FftPlan<T>::Split: return split(plan, from, scale, to);
      case FftPlan<T>::Chirp: return by_convolution(plan, from, scale, to);
    }
  }

 private:
  static constexpr int64_t kWork = int64_t(1) << 14;  // numbers that are worth a thread

  static void short_line(const FftPlan<T>& plan, const Place<T>& from, T scale, const Place<T>& to) {
    const int64_t width = width_for<T>(1);
    const Block<T> block(plan.n, width);
    block.clear();
    Buffers<T> b = block.buffers();
    for (int64_t i = 0; i < plan.n; i++) load_run(from.at(i), 1, b.re + i * width, b.im + i * width);
    run_passes(plan, width, b);
    for (int64_t i = 0; i < plan.n; i++) store_run(b.re + i * width, b.im + i * width, 1, scale, to.at(i));
  }

  static void split(const FftPlan<T>& plan, const Place<T>& from, T scale, const Place<T>& to) {
    const Scratch<T> middle(2 * plan.n);
    T *re = middle.data(), *im = re + plan.n;
    const int64_t rows = plan.rows->n, columns = plan.columns->n;
    // `rows` is the length of the second part and so the number of lines of the first.
    each_block(columns, rows, [&](const Block<T>& block, int64_t first, int64_t count, int64_t width) {
      Buffers<T> b = block.buffers();
      if (count < width) block.clear();
      for (int64_t i = 0; i < columns; i++)
        load_run(from.at(i * rows + first), count, b.re + i * width, b.im + i * width);
      run_passes(*plan.columns, width, b);
      for (int64_t k = 0; k < columns; k++) {
        const int64_t at = k * rows + first;
        T *const row_re = b.re + k * width, *const row_im = b.im + k * width;
        multiply(row_re, row_im, plan.turn.re.data() + at, plan.turn.im.data() + at, count);
        std::copy_n(row_re, count, re + at), std::copy_n(row_im, count, im + at);
      }
    });
    each_block(rows, columns, [&](const Block<T>& block, int64_t first, int64_t count, int64_t width) {
      Buffers<T> b = block.buffers();
      if (count < width) block.clear();
      turn(re + first * rows, rows, count, rows, b.re, width);
      turn(im + first * rows, rows, count, rows, b.im, width);
      run_passes(*plan.rows, width, b);
      for (int64_t k = 0; k < rows; k++)
        store_run(b.re + k * width, b.im + k * width, count, scale, to.at(first + columns * k));
    });
  }

  // f(block, first, count, width) for `lines` lines of n numbers.
  template <class F>
  static void each_block(int64_t n, int64_t lines, const F& f) {
    const int64_t width = width_for<T>(lines), blocks = (lines + width - 1) / width;
    parallel_for(blocks, std::max<int64_t>(1, kWork / (n * width)), [&](int64_t begin, int64_t end) {
      const Block<T> block(n, width);
      for (int64_t i = begin; i < end; i++) f(block, i * width, std::min(width, lines - i * width), width);
    });
  }

  static void by_convolution(const FftPlan<T>& plan, const Place<T>& from, T scale, const Place<T>& to) {
    const int64_t n = plan.n, m = plan.inner->n;
    const Scratch<T> memory(4 * m);
    const Place<T> a{memory.data(), memory.data() + m, 1}, b{a.re + 2 * m, a.im + 2 * m, 1};
    const auto times = [](const Place<T>& x, const Parts<T>& w, int64_t i, int64_t end) {
      multiply(x.re + i, x.im + i, w.re.data() + i, w.im.data() + i, end - i);
    };
    in_pieces(n, [&](int64_t i, int64_t end) {
      load_run(from.at(i), end - i, a.re + i, a.im + i);
      times(a, plan.chirp, i, end);
    });
    in_pieces(m - n, [&](int64_t i, int64_t end) {
      std::fill(a.re + n + i, a.re + n + end, T(0)), std::fill(a.im + n + i, a.im + n + end, T(0));
    });
    run(*plan.inner, a, T(1), b);
    in_pieces(m, [&](int64_t i, int64_t end) { times(b, plan.spectrum, i, end); });
    run(*plan.inner, b.exchanged(), T(1), a.exchanged());
    in_pieces(n, [&](int64_t i, int64_t end) {
      times(a, plan.chirp, i, end);
      store_run(a.re + i, a.im + i, end - i, scale, to.at(i));
    });
  }
};

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
