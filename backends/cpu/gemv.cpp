// Matrices times vectors on lanes. What is added up in which order is the same for every instruction set.
//
// The order is oneMKL's on processors with AVX-512, found by experiment against PyTorch 2.15 over 1 to 2000 rows and columns:
//   rows     (the summed elements are neighbours) four at a time: the first product is the first of sixteen sums, to which
//            the next elements go sixteen by sixteen; the upper half of the sums is added to the lower one until one is left.
//            With that one what does not fill sixteen begins in the same way. A row that is left over has two sets of
//            sums, which take turns while there are 32 elements and are added then; its first product comes last. The second
//            row that is left over has a single set.
//   columns  (the results are neighbours) sixteen results at a time take eight products in one go: ((out + 6) + 4) + (7 + 5)
//            and (2 + 0) + (3 + 1), then the two together. Other results and what is left of the products: one by one.
#include "backends/cpu/gemv.h"
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemv.cpp"
#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kSums = 16;
using Tag = hn::CappedTag<float, kSums>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Tag()));
constexpr int kVectors = int(kSums / kLanes);

/// Sixteen floats in as many registers as they need.
struct Sixteen {
  hn::Vec<Tag> v[kVectors];
};
HWY_INLINE Sixteen load(const float* p) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::LoadU(Tag(), p + i * kLanes);
  return r;
}
/// The first n; zeros behind them.
HWY_INLINE Sixteen load(const float* p, int64_t n) {
  if (n >= kSums) return load(p);
#if HWY_TARGET <= HWY_AVX2
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) {
    const int64_t count = std::clamp<int64_t>(n - i * kLanes, 0, kLanes);
    r.v[i] = hn::MaskedLoad(hn::FirstN(Tag(), size_t(count)), Tag(), p + i * kLanes);
  }
  return r;
#else
  float some[kSums] = {};
  std::copy_n(p, n, some);
  return load(some);
#endif
}
HWY_INLINE void store(const Sixteen& x, float* p) {
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) hn::StoreU(x.v[i], Tag(), p + i * kLanes);
}
HWY_INLINE Sixteen all(float x) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::Set(Tag(), x);
  return r;
}
/// x, and fifteen zeros.
HWY_INLINE Sixteen only(float x) {
  Sixteen r = all(0);
  r.v[0] = hn::InsertLane(r.v[0], 0, x);
  return r;
}
HWY_INLINE Sixteen operator*(const Sixteen& a, const Sixteen& b) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::Mul(a.v[i], b.v[i]);
  return r;
}
HWY_INLINE Sixteen operator+(const Sixteen& a, const Sixteen& b) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::Add(a.v[i], b.v[i]);
  return r;
}
HWY_INLINE Sixteen mul_add(const Sixteen& a, const Sixteen& b, const Sixteen& c) {
  Sixteen r;
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) r.v[i] = hn::MulAdd(a.v[i], b.v[i], c.v[i]);
  return r;
}
/// Halves onto each other until one is left.
HWY_INLINE float total(const Sixteen& x) {
#if HWY_TARGET <= HWY_AVX3
  const Tag d;
  auto v = hn::Add(x.v[0], hn::ConcatUpperUpper(d, x.v[0], x.v[0]));
  v = hn::Add(v, hn::SwapAdjacentBlocks(v));
  v = hn::Add(v, hn::Shuffle1032(v));
  return hn::GetLane(hn::Add(v, hn::Shuffle2301(v)));
#else
  float sums[kSums];
  store(x, sums);
  for (int64_t half = kSums / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; i++) sums[i] += sums[i + half];
  return sums[0];
#endif
}

HWY_INLINE void four_rows(const MatrixRows& c, const float* a, float* out) {
  const int64_t whole = (c.k - 1) / kSums * kSums, rest = c.k - 1 - whole;
  float sums[4];
  HWY_UNROLL(4)
  for (int r = 0; r < 4; r++) sums[r] = a[r * c.leading] * c.x[0];
  const float* x = c.x + 1;
  a++;
  if (whole > 0) {
    Sixteen all_sums[4];
    HWY_UNROLL(4)
    for (int r = 0; r < 4; r++) all_sums[r] = only(sums[r]);
    for (int64_t p = 0; p < whole; p += kSums) {
      const Sixteen factor = load(x + p);
      HWY_UNROLL(4)
      for (int r = 0; r < 4; r++) all_sums[r] = mul_add(load(a + r * c.leading + p), factor, all_sums[r]);
    }
    HWY_UNROLL(4)
    for (int r = 0; r < 4; r++) sums[r] = total(all_sums[r]);
  }
  if (rest > 0) {
    const Sixteen factor = load(x + whole, rest);
    HWY_UNROLL(4)
    for (int r = 0; r < 4; r++) sums[r] = total(mul_add(load(a + r * c.leading + whole, rest), factor, only(sums[r])));
  }
  HWY_UNROLL(4)
  for (int r = 0; r < 4; r++) out[r] += c.alpha * sums[r];
}
/// `in_turns`: with two sets of sums.
HWY_INLINE void one_row(const MatrixRows& c, const float* a, bool in_turns, float* out) {
  const int64_t n = c.k - 1;
  const float* x = c.x + 1;
  const float first = a[0] * c.x[0];
  a++;
  Sixteen even = all(0), odd = all(0);
  int64_t p = 0;
  for (; in_turns && p + 2 * kSums <= n; p += 2 * kSums) {
    even = mul_add(load(a + p), load(x + p), even);
    odd = mul_add(load(a + p + kSums), load(x + p + kSums), odd);
  }
  even = even + odd;
  for (; p < n; p += kSums) even = mul_add(load(a + p, n - p), load(x + p, n - p), even);
  *out += c.alpha * (first + total(even));
}
void rows_float(const MatrixRows& c) {
  int64_t r = 0;
  for (; r + 4 <= c.rows; r += 4) four_rows(c, c.matrix + r * c.leading, c.out + r);
  for (; r < c.rows; r++) one_row(c, c.matrix + r * c.leading, r % 4 != 1, c.out + r);
}

/// So many times sixteen columns.
template <int kTimes>
HWY_INLINE void whole_columns(const MatrixColumns& c, int64_t j) {
  Sixteen sums[kTimes];
  HWY_UNROLL(4)
  for (int t = 0; t < kTimes; t++) sums[t] = load(c.out + j + t * kSums);
  const float* a = c.matrix + j;
  int64_t p = 0;
  for (; p + 8 <= c.k; p += 8, a += 8 * c.leading) {
    const float* const x = c.x + p;
    HWY_UNROLL(4)
    for (int t = 0; t < kTimes; t++) {
      const auto line = [&](int64_t i) HWY_ATTR { return load(a + i * c.leading + t * kSums); };
      const auto pair = [&](int64_t one, int64_t two)
                            HWY_ATTR { return mul_add(line(one), all(x[one]), line(two) * all(x[two])); };
      const Sixteen first = mul_add(line(4), all(x[4]), mul_add(line(6), all(x[6]), sums[t]));
      sums[t] = (first + pair(5, 7)) + (pair(0, 2) + pair(1, 3));
    }
  }
  for (; p < c.k; p++, a += c.leading) HWY_UNROLL(4)
  for (int t = 0; t < kTimes; t++) sums[t] = mul_add(load(a + t * kSums), all(c.x[p]), sums[t]);
  HWY_UNROLL(4)
  for (int t = 0; t < kTimes; t++) store(sums[t], c.out + j + t * kSums);
}
HWY_INLINE void some_columns(const MatrixColumns& c, int64_t j) {
  const int64_t n = c.columns - j;
  Sixteen sums = load(c.out + j, n);
  for (int64_t p = 0; p < c.k; p++) sums = mul_add(load(c.matrix + p * c.leading + j, n), all(c.x[p]), sums);
  float values[kSums];
  store(sums, values);
  std::copy_n(values, n, c.out + j);
}
void columns_float(const MatrixColumns& c) {
  int64_t j = 0;
  for (; j + 4 * kSums <= c.columns; j += 4 * kSums) whole_columns<4>(c, j);
  for (; j + kSums <= c.columns; j += kSums) whole_columns<1>(c, j);
  if (j < c.columns) some_columns(c, j);
}

void outer_float(const OuterProduct& c) {
  float line[kSums];
  for (int64_t j = 0; j < c.n; j += kSums) {
    const int64_t n = std::min(kSums, c.n - j);
    for (int64_t i = 0; i < n; i++) line[i] = c.b[(j + i) * c.b_step];
    std::fill(line + n, line + kSums, 0.0f);
    const Sixteen b = load(line), bias = load(c.bias + j, n);
    for (int64_t i = 0; i < c.m; i++) {
      store(mul_add(all(c.a[i * c.a_step]), b, bias), line);
      std::copy_n(line, n, c.out + i * c.ldc + j);
    }
  }
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(rows_float);
HWY_EXPORT(columns_float);
HWY_EXPORT(outer_float);

void add_matrix_rows(const MatrixRows& c) { HWY_DYNAMIC_DISPATCH(rows_float)(c); }
void add_matrix_columns(const MatrixColumns& c) { HWY_DYNAMIC_DISPATCH(columns_float)(c); }
void add_outer_product(const OuterProduct& c) { HWY_DYNAMIC_DISPATCH(outer_float)(c); }
}  // namespace tessera::tensor::cpu
#endif
