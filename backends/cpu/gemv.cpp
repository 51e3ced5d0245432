// Matrices times vectors on lanes. What is added up in which order is the same for every instruction set; those
// without a fused multiplication and addition round its product as well.
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
#include <array>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/sixteen-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
/// Halves (blocks, pairs, neighbours: what is kHalf long) of a and of b onto each other: a's lie where bit kHalf of the
/// lane is clear, b's where it is set.
template <int kHalf>
HWY_INLINE Sixteen fold_two(const Sixteen& a, const Sixteen& b) {
  constexpr __mmask16 kUpper = kHalf == 8 ? 0xff00 : kHalf == 4 ? 0xf0f0 : kHalf == 2 ? 0xcccc : 0xaaaa;
  alignas(64) static constexpr auto kOthers = [] {
    std::array<int32_t, kSums> lanes{};
    for (int i = 0; i < kSums; i++) lanes[size_t(i)] = (i & kHalf ? int(kSums) : 0) + (i ^ kHalf);
    return lanes;
  }();
  const __m512i others = _mm512_load_si512(kOthers.data());
  const __m512 own = _mm512_mask_blend_ps(kUpper, a.v[0].raw, b.v[0].raw);
  Sixteen r;
  r.v[0] = hn::Vec<Tag>{_mm512_add_ps(own, _mm512_permutex2var_ps(a.v[0].raw, others, b.v[0].raw))};
  return r;
}
#endif
/// Four rows' sums: lanes 4 r to 4 r + 3 are what is left of row r once halves are on each other twice.
HWY_INLINE Sixteen fold_to_fours(const Sixteen& a, const Sixteen& b, const Sixteen& c, const Sixteen& d) {
#if HWY_TARGET <= HWY_AVX3
  return fold_two<4>(fold_two<8>(a, c), fold_two<8>(b, d));
#elif HWY_TARGET <= HWY_AVX2
  const Tag tag;
  const auto two = [&](const Sixteen& x, const Sixteen& y) HWY_ATTR {
    const auto lower = hn::Add(x.v[0], x.v[1]), upper = hn::Add(y.v[0], y.v[1]);
    return hn::Add(hn::ConcatLowerLower(tag, upper, lower), hn::ConcatUpperUpper(tag, upper, lower));
  };
  Sixteen r;
  r.v[0] = two(a, b), r.v[1] = two(c, d);
  return r;
#else
  const Sixteen* const rows[] = {&a, &b, &c, &d};
  float sums[kSums], fours[kSums];
  for (int64_t k = 0; k < 4; k++) {
    store(*rows[k], sums);
    for (int64_t i = 0; i < 4; i++) fours[4 * k + i] = (sums[i] + sums[i + 8]) + (sums[i + 4] + sums[i + 12]);
  }
  return load(fours);
#endif
}
/// Row 4 i + k of sixteen lies in lanes 4 i to 4 i + 3 of fours[k]: the totals, row by row.
HWY_INLINE Sixteen fold_fours(const Sixteen (&fours)[4]) {
#if HWY_TARGET <= HWY_AVX3
  return fold_two<1>(fold_two<2>(fours[0], fours[2]), fold_two<2>(fours[1], fours[3]));
#elif HWY_TARGET <= HWY_AVX2
  Sixteen r;
  const Tag d;
  const hn::Repartition<double, Tag> pair;
  const auto halves = [&](const auto& x, const auto& y) HWY_ATTR {
    const auto a = hn::BitCast(pair, x), b = hn::BitCast(pair, y);
    return hn::Add(hn::BitCast(d, hn::InterleaveLower(pair, a, b)), hn::BitCast(d, hn::InterleaveUpper(pair, a, b)));
  };
  HWY_UNROLL(2)
  for (int i = 0; i < kVectors; i++) {
    const auto even = halves(fours[0].v[i], fours[2].v[i]), odd = halves(fours[1].v[i], fours[3].v[i]);
    r.v[i] = hn::Add(hn::OddEven(hn::DupEven(odd), even), hn::OddEven(odd, hn::DupOdd(even)));
  }
  return r;
#else
  float x[kSums], totals[kSums];
  for (int64_t k = 0; k < 4; k++) {
    store(fours[k], x);
    for (int64_t i = 0; i < kSums; i += 4) totals[i + k] = (x[i] + x[i + 2]) + (x[i + 1] + x[i + 3]);
  }
  return load(totals);
#endif
}

/// Elements `begin` to `end` of sixteen; zeros elsewhere.
class Between {
 public:
#if HWY_TARGET <= HWY_AVX3
  HWY_INLINE Between(int64_t begin, int64_t end) : lanes_(__mmask16((1u << end) - (1u << begin))) {}
  HWY_INLINE Sixteen load(const float* p) const { return {hn::Vec<Tag>{_mm512_maskz_loadu_ps(lanes_, p)}}; }
  HWY_INLINE Sixteen all(float x) const { return {hn::Vec<Tag>{_mm512_maskz_mov_ps(lanes_, _mm512_set1_ps(x))}}; }
  /// The products of these elements of a line, all of which can be read, onto sums.
  HWY_INLINE void add(const float* line, const Sixteen& factor, Sixteen& sums) const {
    const __m512 sum = sums.v[0].raw;
    sums.v[0] = hn::Vec<Tag>{_mm512_mask3_fmadd_ps(_mm512_loadu_ps(line), factor.v[0].raw, sum, lanes_)};
  }

 private:
  __mmask16 lanes_;
#elif HWY_TARGET <= HWY_AVX2
  HWY_INLINE Between(int64_t begin, int64_t end) {
    HWY_UNROLL(2)
    for (int i = 0; i < kVectors; i++) {
      const auto first = [&](int64_t n) HWY_ATTR {
        return hn::FirstN(Tag(), size_t(std::clamp<int64_t>(n - i * kLanes, 0, kLanes)));
      };
      lanes_[i] = hn::AndNot(first(begin), first(end));
    }
  }
  HWY_INLINE Sixteen load(const float* p) const {
    Sixteen r;
    HWY_UNROLL(2)
    for (int i = 0; i < kVectors; i++) r.v[i] = hn::MaskedLoad(lanes_[i], Tag(), p + i * kLanes);
    return r;
  }
  HWY_INLINE Sixteen all(float x) const {
    Sixteen r;
    HWY_UNROLL(2)
    for (int i = 0; i < kVectors; i++) r.v[i] = hn::IfThenElseZero(lanes_[i], hn::Set(Tag(), x));
    return r;
  }
  HWY_INLINE void add(const float* line, const Sixteen& factor, Sixteen& sums) const {
    sums = mul_add(load(line), factor, sums);
  }

 private:
  hn::Mask<Tag> lanes_[kVectors];
#else
  Between(int64_t begin, int64_t end) : begin_(begin), end_(end) {}
  Sixteen load(const float* p) const {
    float some[kSums] = {};
    std::copy(p + begin_, p + end_, some + begin_);
    return HWY_NAMESPACE::load(some);
  }
  Sixteen all(float x) const {
    float some[kSums] = {};
    std::fill(some + begin_, some + end_, x);
    return HWY_NAMESPACE::load(some);
  }
  HWY_INLINE void add(const float* line, const Sixteen& factor, Sixteen& sums) const {
    sums = mul_add(load(line), factor, sums);
  }

 private:
  int64_t begin_, end_;
#endif
};
/// Rows on their way to sums. As their first product opens a sum, element i is in lane i % 16 here, not in the one before,
/// which the folding does not notice: rows that begin where a line of the cache does are read line by line.
struct RowStep {
  const float* a;
  int64_t leading;
  const float* x;
  int64_t lines;       // of sixteen, before the one that sums end in; the first without its first element
  Between end;         // in the last line
  bool is_whole;       // that line: sixteen elements can be read
  const float* start;  // of the rows: goes to lane 1; null: their first products, which are before the lines

  /// Rows 4 i + k for i = 0 to 3, of k = first to first + kFours - 1; with kTogether four neighbours, and k is 0.
  template <int kFours, bool kTogether>
  HWY_INLINE void add(int64_t first, Sixteen* fours) const {
    const auto number = [&](int r) HWY_ATTR { return kTogether ? int64_t(r) : first + 4 * (r % 4) + r / 4; };
    Sixteen sums[4 * kFours];
    const Between second(1, 2);
    if (start) {
      HWY_UNROLL(8)
      for (int r = 0; r < 4 * kFours; r++) sums[r] = second.all(start[number(r)]);
    } else {
      const Sixteen factor = second.all(x[0]);  // zero elsewhere, since zero times infinity is no sum
      HWY_UNROLL(8)
      for (int r = 0; r < 4 * kFours; r++) sums[r] = second.all(a[number(r) * leading]) * factor;
    }
    const auto row = [&](int r) HWY_ATTR { return a + number(r) * leading; };
    const auto add_line = [&](int64_t at, const Between& part) HWY_ATTR {
      const Sixteen factor = part.load(x + at);
      HWY_UNROLL(8)
      for (int r = 0; r < 4 * kFours; r++) part.add(row(r) + at, factor, sums[r]);
    };
    if (lines > 0) add_line(0, {1, kSums});
    for (int64_t at = kSums; at < lines * kSums; at += kSums) {
      const Sixteen factor = load(x + at);
      HWY_UNROLL(8)
      for (int r = 0; r < 4 * kFours; r++) sums[r] = mul_add(load(row(r) + at), factor, sums[r]);
    }
    const int64_t last = lines * kSums;
    if (is_whole) {
      add_line(last, end);
    } else {
      const Sixteen factor = end.load(x + last);
      HWY_UNROLL(8)
      for (int r = 0; r < 4 * kFours; r++) sums[r] = mul_add(end.load(row(r) + last), factor, sums[r]);
    }
    HWY_UNROLL(2)
    for (int k = 0; k < kFours; k++)
      fours[k] = fold_to_fours(sums[4 * k], sums[4 * k + 1], sums[4 * k + 2], sums[4 * k + 3]);
  }
  /// The totals of four or sixteen rows; those of four in every fourth lane.
  template <int kRows>
  HWY_INLINE Sixteen totals() const {
    Sixteen fours[4];
    if constexpr (kRows == 4) {
      add<1, true>(0, fours);
      fours[1] = fours[2] = fours[3] = fours[0];
    } else {
      add<2, false>(0, fours);
      add<2, false>(2, fours + 2);
    }
    return fold_fours(fours);
  }
};
template <int kRows>
HWY_INLINE Sixteen totals_of(const MatrixRows& c, const float* a) {
  const bool is_whole = c.k % kSums == 0;
  if (c.k <= kSums) return RowStep{a, c.leading, c.x, 0, {1, c.k}, is_whole, nullptr}.totals<kRows>();
  const int64_t lines = (c.k - 1) / kSums, rest = c.k - 1 - lines * kSums;
  Sixteen totals = RowStep{a, c.leading, c.x, lines, {0, 1}, is_whole, nullptr}.totals<kRows>();
  if (rest == 0) return totals;
  float start[kSums];
  store(totals, start);
  if constexpr (kRows == 4)
    for (int r = 1; r < 4; r++) start[r] = start[4 * r];
  return RowStep{a + lines * kSums, c.leading, c.x + lines * kSums, 0, {1, 1 + rest}, is_whole, start}.totals<kRows>();
}
#if HWY_TARGET <= HWY_AVX3
/// Sixteen rows of at most eight elements: two in a register.
HWY_INLINE Sixteen totals_of_halves(const MatrixRows& c, const float* a) {
  const Tag d;
  const hn::Half<Tag> half;
  const auto mask = hn::FirstN(half, size_t(c.k));
  const auto one = hn::MaskedLoad(mask, half, c.x);
  const __m512 factor = hn::Combine(d, one, one).raw, first = hn::Set(d, c.x[0]).raw;
  const auto two = [&](int64_t r) HWY_ATTR {
    const float* const p = a + r * c.leading;
    const __m512 rows =
        hn::Combine(d, hn::MaskedLoad(mask, half, p + 8 * c.leading), hn::MaskedLoad(mask, half, p)).raw;
    const __m512 start = _mm512_maskz_mul_ps(0x0202, _mm512_permute_ps(rows, 0), first);
    Sixteen sums;
    sums.v[0] = hn::Vec<Tag>{_mm512_maskz_mov_ps(0xfefe, _mm512_fmadd_ps(rows, factor, start))};
    return sums;
  };
  Sixteen fours[4];
  HWY_UNROLL(4)
  for (int64_t k = 0; k < 4; k++) fours[k] = fold_two<4>(two(k), two(k + 4));
  return fold_fours(fours);
}
#endif
HWY_INLINE void four_rows(const MatrixRows& c, const float* a, float* out) {
  float totals[kSums];
  store(totals_of<4>(c, a), totals);
  HWY_UNROLL(4)
  for (int r = 0; r < 4; r++) out[r] = (c.adds ? out[r] : 0) + c.alpha * totals[4 * r];
}
#if HWY_TARGET <= HWY_AVX2
/// Every third element, from the first, the second and the third on.
HWY_INLINE void load_threes(const float* p, hn::Vec<Tag>* out) {
#if HWY_TARGET <= HWY_AVX3
  // Of the first two registers, and then of these and the third: element 3 i + k, where there is one, is in lane i.
  struct Lanes {
    alignas(64) int32_t first[3][kSums], second[3][kSums];
  };
  static constexpr Lanes kThrees = [] {
    Lanes lanes{};
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < kSums; i++) {
        const int at = 3 * i + k;
        lanes.first[k][i] = at < 2 * kSums ? at : 0;
        lanes.second[k][i] = at < 2 * kSums ? i : at - int(kSums);
      }
    return lanes;
  }();
  const __m512 a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + kSums), c = _mm512_loadu_ps(p + 2 * kSums);
  HWY_UNROLL(3)
  for (int k = 0; k < 3; k++) {
    const __m512 some = _mm512_permutex2var_ps(a, _mm512_load_si512(kThrees.first[k]), b);
    out[k] = hn::Vec<Tag>{_mm512_permutex2var_ps(some, _mm512_load_si512(kThrees.second[k]), c)};
  }
#else
  hn::LoadInterleaved3(Tag(), p, out[0], out[1], out[2]);
#endif
}
/// Rows of one to four elements that follow each other: as many as there are vectors of, with rows along the lanes.
template <int kLength>
int64_t short_rows(const MatrixRows& c) {
  const Tag d;
  hn::Vec<Tag> x[4];
  for (int i = 0; i < kLength; i++) x[i] = hn::Set(d, c.x[i]);
  const auto alpha = hn::Set(d, c.alpha);
  int64_t r = 0;
  for (; r + kLanes <= c.rows; r += kLanes) {
    const float* const p = c.matrix + r * kLength;
    hn::Vec<Tag> a[4];
    if constexpr (kLength == 1) a[0] = hn::LoadU(d, p);
    if constexpr (kLength == 2) hn::LoadInterleaved2(d, p, a[0], a[1]);
    if constexpr (kLength == 3) load_threes(p, a);
    if constexpr (kLength == 4) hn::LoadInterleaved4(d, p, a[0], a[1], a[2], a[3]);
    auto sum = hn::Mul(a[0], x[0]);
    if constexpr (kLength > 1) sum = hn::MulAdd(a[1], x[1], sum);
    if constexpr (kLength > 3) sum = hn::Add(sum, hn::Mul(a[3], x[3]));
    if constexpr (kLength > 2) sum = hn::Add(sum, hn::Mul(a[2], x[2]));
    const auto before = c.adds ? hn::LoadU(d, c.out + r) : hn::Zero(d);
    hn::StoreU(hn::Add(before, hn::Mul(alpha, sum)), d, c.out + r);
  }
  return r;
}
int64_t short_rows_of(const MatrixRows& c) {
  if (c.leading != c.k && c.k > 1) return 0;
  switch (c.leading) {
    case 1: return short_rows<1>(c);
    case 2: return short_rows<2>(c);
    case 3: return short_rows<3>(c);
    case 4: return short_rows<4>(c);
    default: return 0;
  }
}
#else
int64_t short_rows_of(const MatrixRows&) { return 0; }
#endif
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
  *out = (c.adds ? *out : 0) + c.alpha * (first + total(even));
}
void rows_float(const MatrixRows& c) {
  int64_t r = short_rows_of(c);
  const Sixteen alpha = all(c.alpha);
  const auto put = [&](const Sixteen& totals)
                       HWY_ATTR { store((c.adds ? load(c.out + r) : all(0)) + alpha * totals, c.out + r); };
#if HWY_TARGET <= HWY_AVX3
  if (c.k <= kSums / 2)
    for (; r + kSums <= c.rows; r += kSums) put(totals_of_halves(c, c.matrix + r * c.leading));
#endif
  // Long rows come from far away, better four at a time than eight.
  if (c.k < 3072)
    for (; r + kSums <= c.rows; r += kSums) put(totals_of<16>(c, c.matrix + r * c.leading));
  for (; r + 4 <= c.rows; r += 4) four_rows(c, c.matrix + r * c.leading, c.out + r);
  for (; r < c.rows; r++) one_row(c, c.matrix + r * c.leading, r % 4 != 1, c.out + r);
}

/// So many times sixteen columns, and with kSome the `rest` behind them: one by one, between the others' additions. Products
/// `begin` to `end`; `begin` is a multiple of eight.
template <int kTimes, bool kSome>
HWY_INLINE void strip(const MatrixColumns& c, int64_t j, int64_t rest, int64_t begin, int64_t end) {
  const bool goes_on = c.adds || begin > 0;
  Sixteen sums[kTimes + 1];
  HWY_UNROLL(4)
  for (int t = 0; t < kTimes; t++) sums[t] = goes_on ? load(c.out + j + t * kSums) : all(0);
  const float* a = c.matrix + begin * c.leading + j;
  if constexpr (kSome) sums[kTimes] = goes_on ? load(c.out + j + kTimes * kSums, rest) : all(0);
  const auto add_rest = [&](const float* line, float x) HWY_ATTR {
    sums[kTimes] = mul_add(load(line + kTimes * kSums, rest), all(x), sums[kTimes]);
  };
  int64_t p = begin;
  for (; p + 8 <= end; p += 8, a += 8 * c.leading) {
    const float* const x = c.x + p;
    HWY_UNROLL(4)
    for (int t = 0; t < kTimes; t++) {
      const auto line = [&](int64_t i) HWY_ATTR { return load(a + i * c.leading + t * kSums); };
      const auto pair = [&](int64_t one, int64_t two)
                            HWY_ATTR { return mul_add(line(one), all(x[one]), line(two) * all(x[two])); };
      const Sixteen first = mul_add(line(4), all(x[4]), mul_add(line(6), all(x[6]), sums[t]));
      sums[t] = (first + pair(5, 7)) + (pair(0, 2) + pair(1, 3));
    }
    if constexpr (kSome) HWY_UNROLL(8)
    for (int64_t i = 0; i < 8; i++) add_rest(a + i * c.leading, x[i]);
  }
  for (; p < end; p++, a += c.leading) {
    HWY_UNROLL(4)
    for (int t = 0; t < kTimes; t++) sums[t] = mul_add(load(a + t * kSums), all(c.x[p]), sums[t]);
    if constexpr (kSome) add_rest(a, c.x[p]);
  }
  HWY_UNROLL(4)
  for (int t = 0; t < kTimes; t++) store(sums[t], c.out + j + t * kSums);
  if constexpr (kSome) store(sums[kTimes], c.out + j + kTimes * kSums, rest);
}
template <int kTimes>
HWY_INLINE void last_strip(const MatrixColumns& c, int64_t j, int64_t begin, int64_t end) {
  const int64_t rest = c.columns - j - kTimes * kSums;
  if (rest > 0) strip<kTimes, true>(c, j, rest, begin, end);
  else if constexpr (kTimes > 0) strip<kTimes, false>(c, j, 0, begin, end);
}
// Of matrices that no cache near the processor holds eight rows at a time: further ones would be further pages for every
// strip.
constexpr int64_t kWideColumns = 512, kCached = int64_t(1) << 18;
void columns_float(const MatrixColumns& c) {
  const bool by_eights = c.columns >= kWideColumns && c.columns * c.k > kCached;
  const int64_t lines = by_eights ? 8 : std::max<int64_t>(c.k, 1);
  if (c.k == 0 && !c.adds) std::fill_n(c.out, c.columns, 0.0f);
  for (int64_t begin = 0; begin < c.k; begin += lines) {
    const int64_t end = std::min(c.k, begin + lines);
    int64_t j = 0;
    for (; j + 4 * kSums <= c.columns; j += 4 * kSums) strip<4, false>(c, j, 0, begin, end);
    switch ((c.columns - j) / kSums) {
      case 0: last_strip<0>(c, j, begin, end); break;
      case 1: last_strip<1>(c, j, begin, end); break;
      case 2: last_strip<2>(c, j, begin, end); break;
      default: last_strip<3>(c, j, begin, end); break;
    }
  }
}

void outer_float(const OuterProduct& c) {
  float line[kSums];
  for (int64_t j = 0; j < c.n; j += kSums) {
    const int64_t n = std::min(kSums, c.n - j);
    for (int64_t i = 0; i < n; i++) line[i] = c.b[(j + i) * c.b_step];
    std::fill(line + n, line + kSums, 0.0f);
    const Sixteen b = load(line), bias = load(c.bias + j, n);
    for (int64_t i = 0; i < c.m; i++) {
      store(mul_add(all(c.a[i * c.a_step]), b, bias), c.out + i * c.ldc + j, n);
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
