// Products on lanes, without packing: a tile of the result, up to six rows by two vectors, stays in registers while k goes by; a row
// of b is loaded once for all rows of the tile. Every element is summed in the order of k, whatever tile it is in.
//
// b is read in whole vectors along its rows. Where it is transposed, or its rows are no whole vectors, it is first
// copied to the stack, rows filled up with zeros.
#include "backends/cpu/gemm_direct.h"
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_direct.cpp"
#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "hwy/highway.h"

#ifndef TESSERA_GEMM_DIRECT_ONCE
#define TESSERA_GEMM_DIRECT_ONCE
namespace tessera::tensor::cpu {
namespace {
constexpr int64_t kMostWork = 64 * 64 * 64;        // multiplications
constexpr int64_t kMostBytes = int64_t(32) << 10;  // of b, copied
constexpr int kTileRows = 6;
}  // namespace
}  // namespace tessera::tensor::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct Small {
  const T* a;
  int64_t a_row, a_step;  // from row to row, and along k
  const T* b;
  int64_t ldb;
  int64_t k;
  T alpha, beta;
  const int64_t* starts;  // of the rows of b, where they do not follow each other; else null
};

template <class T>
Small<T> small(const GemmCall& c, const T* a, const T* b) {
  return {a, c.transpose_a ? 1 : c.lda, c.transpose_a ? c.lda : 1, b, c.ldb, c.k, T(c.alpha), T(c.beta), nullptr};
}

/// out = alpha * value + beta * out for the first `n` elements.
template <class D, class V, class T>
HWY_INLINE void put(D d, V value, const Small<T>& s, T* out, int64_t n) {
  value = hn::Mul(value, hn::Set(d, s.alpha));
  const int64_t width = int64_t(hn::Lanes(d));
  HWY_ALIGN T part[kPaddedTo / sizeof(T)];
  if (s.beta != T(0)) {
    const T* old = out;
    if (n < width) old = static_cast<T*>(std::copy_n(out, n, part) - n);
    value = hn::MulAdd(hn::LoadU(d, old), hn::Set(d, s.beta), value);
  }
  if (n >= width) return hn::StoreU(value, d, out);
  hn::Store(value, d, part);
  std::copy_n(part, n, out);
}

/// `kRows` rows by one or two vectors of the result, of which `n` columns are there.
template <int kRows, bool kTwo, bool kStarts, class T>
void tile(const Small<T>& s, T* out, int64_t ldc, int64_t n) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t width = int64_t(hn::Lanes(d));
  V left[kRows], right[kRows];
  // Only with every loop unrolled do the sums stay in registers.
  HWY_UNROLL(kTileRows)
  for (int r = 0; r < kRows; r++) left[r] = hn::Zero(d), right[r] = hn::Zero(d);
  const T* a = s.a;
  const T* b = s.b;
  for (int64_t p = 0; p < s.k; p++, a += s.a_step) {
    if (kStarts) b = s.b + s.starts[p];
    const V b_left = hn::LoadU(d, b);
    const V b_right = kTwo ? hn::LoadU(d, b + width) : b_left;
    HWY_UNROLL(kTileRows)
    for (int r = 0; r < kRows; r++) {
      const V factor = hn::Set(d, a[r * s.a_row]);
      left[r] = hn::MulAdd(factor, b_left, left[r]);
      if (kTwo) right[r] = hn::MulAdd(factor, b_right, right[r]);
    }
    if (!kStarts) b += s.ldb;
  }
  HWY_UNROLL(kTileRows)
  for (int r = 0; r < kRows; r++) {
    put(d, left[r], s, out + r * ldc, n);
    if (kTwo) put(d, right[r], s, out + r * ldc + width, n - width);
  }
}

/// All columns of up to kTileRows rows.
template <int kRows, bool kStarts, class T>
void strip(Small<T> s, T* out, int64_t ldc, int64_t n) {
  const int64_t width = int64_t(hn::Lanes(hn::ScalableTag<T>()));
  for (; n > width; n -= 2 * width, s.b += 2 * width, out += 2 * width) tile<kRows, true, kStarts>(s, out, ldc, n);
  if (n > 0) tile<kRows, false, kStarts>(s, out, ldc, n);
}

template <bool kStarts, class T>
void product(const GemmCall& c, Small<T> s, T* out) {
  int64_t left = c.m;
  for (; left >= kTileRows; left -= kTileRows, s.a += kTileRows * s.a_row, out += kTileRows * c.ldc)
    strip<kTileRows, kStarts>(s, out, c.ldc, c.n);
  switch (left) {
    case 5: return strip<5, kStarts>(s, out, c.ldc, c.n);
    case 4: return strip<4, kStarts>(s, out, c.ldc, c.n);
    case 3: return strip<3, kStarts>(s, out, c.ldc, c.n);
    case 2: return strip<2, kStarts>(s, out, c.ldc, c.n);
    case 1: return strip<1, kStarts>(s, out, c.ldc, c.n);
    default: return;
  }
}

template <class T>
void whole_product(const GemmCall& c, const T* a, const T* b, T* out) {
  const int64_t width = int64_t(hn::Lanes(hn::ScalableTag<T>()));
  HWY_ALIGN T copied[kMostBytes / sizeof(T)];
  Small<T> s = small(c, a, b);
  if (c.transpose_b || c.n % width != 0) {
    const int64_t row = (c.n + width - 1) / width * width;
    for (int64_t p = 0; p < c.k; p++) {
      T* to = copied + p * row;
      if (c.transpose_b)
        for (int64_t j = 0; j < c.n; j++) to[j] = b[j * c.ldb + p];
      else std::copy_n(b + p * c.ldb, c.n, to);
      std::fill(to + c.n, to + row, T(0));
    }
    s.b = copied, s.ldb = row;
  }
  product<false>(c, s, out);
}

template <class T>
void range(const GemmCall& c, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    whole_product(c, static_cast<const T*>(c.a) + i * c.batch_a, static_cast<const T*>(c.b) + i * c.batch_b,
                  static_cast<T*>(c.c) + i * c.batch_c);
}
void range_float(const GemmCall& c, int64_t begin, int64_t end) { range<float>(c, begin, end); }
void range_double(const GemmCall& c, int64_t begin, int64_t end) { range<double>(c, begin, end); }

template <class T>
void direct(const GemmCall& c, const int64_t* starts) {
  Small<T> s = small(c, static_cast<const T*>(c.a), static_cast<const T*>(c.b));
  s.starts = starts;
  starts ? product<true>(c, s, static_cast<T*>(c.c)) : product<false>(c, s, static_cast<T*>(c.c));
}
void direct_float(const GemmCall& c, const int64_t* starts) { direct<float>(c, starts); }
void direct_double(const GemmCall& c, const int64_t* starts) { direct<double>(c, starts); }

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

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(range_float);
HWY_EXPORT(range_double);
HWY_EXPORT(direct_float);
HWY_EXPORT(direct_double);
HWY_EXPORT(dot_float);
HWY_EXPORT(dot_double);

bool is_small_product(const GemmCall& c) {
  const int64_t work = c.m * c.n * c.k, row = c.n * int64_t(item_size(c.dtype));
  if (work > kMostWork || (c.dtype != kFloat32 && c.dtype != kFloat64)) return false;
  if (work <= 512) return true;
  const bool copied = c.transpose_b || row % kPaddedTo != 0;
  return c.n >= 4 && (!copied || (c.m >= 4 && c.k * (row + kPaddedTo) <= kMostBytes));
}
void small_products(const GemmCall& c, int64_t begin, int64_t end) {
  if (c.dtype == kFloat32) HWY_DYNAMIC_DISPATCH(range_float)(c, begin, end);
  else HWY_DYNAMIC_DISPATCH(range_double)(c, begin, end);
}
void direct_rows(const GemmCall& c, const int64_t* starts) {
  if (c.dtype == kFloat32) HWY_DYNAMIC_DISPATCH(direct_float)(c, starts);
  else HWY_DYNAMIC_DISPATCH(direct_double)(c, starts);
}
void direct_product(const GemmCall& c) { direct_rows(c, nullptr); }
float dot_product(const float* a, const float* b, int64_t n) { return HWY_DYNAMIC_DISPATCH(dot_float)(a, b, n); }
double dot_product(const double* a, const double* b, int64_t n) { return HWY_DYNAMIC_DISPATCH(dot_double)(a, b, n); }
}  // namespace tessera::tensor::cpu
#endif
