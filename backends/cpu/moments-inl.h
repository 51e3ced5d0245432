// Means and variances of rows of floats in one pass, with the bits of PyTorch's layer norm and group norm: Welford's update
// (Technometrics 4, 1962) on eight lanes, sixteen elements a lane at a time; such pieces are merged in pairs by Chan,
// Golub and LeVeque's formula ("Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979), and the
// lanes at last, one after the other, behind what does not fill eight lanes.
//
// An update waits for the one before, so four rows go side by side.
#if defined(TESSERA_MOMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_MOMENTS_INL_H
#undef TESSERA_MOMENTS_INL_H
#else
#define TESSERA_MOMENTS_INL_H
#endif

#include <array>

#include "hwy/highway.h"
#include "backends/cpu/threads.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

inline constexpr int64_t kMomentLanes = 8, kMomentPiece = 16;
using MomentTag = hn::CappedTag<float, size_t(kMomentLanes)>;
using MomentVector = hn::Vec<MomentTag>;
inline constexpr int kMomentParts = int(kMomentLanes / int64_t(hn::MaxLanes(MomentTag())));

/// Lane by lane the mean of `count` elements and the sum of the squares of what is left of them.
template <int kRows>
struct LaneMoments {
  MomentVector mean[kRows][kMomentParts], squares[kRows][kMomentParts];
  int64_t count;

  HWY_INLINE void merge(const LaneMoments& more) {
    if (more.count == 0) return;
    if (count == 0) {
      *this = more;
      return;
    }
    const MomentTag d;
    const auto part = hn::Set(d, float(more.count) / float(count + more.count)), before = hn::Set(d, float(count));
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; r++)
      for (int k = 0; k < kMomentParts; k++) {
        const auto apart = hn::Sub(more.mean[r][k], mean[r][k]), way = hn::Mul(part, apart);
        mean[r][k] = hn::Add(mean[r][k], way);
        squares[r][k] = hn::MulAdd(way, hn::Mul(apart, before), hn::Add(squares[r][k], more.squares[r][k]));
      }
    count += more.count;
  }
  /// Of elements that stand in `count` times eight lanes one behind the other, in rows `apart`.
  HWY_INLINE static LaneMoments of(const float* x, int64_t apart, int64_t count) {
    static constexpr auto kParts = [] {
      std::array<float, kMomentPiece> parts{};
      for (size_t i = 0; i < parts.size(); i++) parts[i] = 1.0f / float(i + 1);
      return parts;
    }();
    const MomentTag d;
    LaneMoments all;
    all.count = count;
    for (int r = 0; r < kRows; r++)
      for (int k = 0; k < kMomentParts; k++) all.mean[r][k] = all.squares[r][k] = hn::Zero(d);
    for (int64_t i = 0; i < count; i++) {
      const auto part = hn::Set(d, kParts[size_t(i)]);
      HWY_UNROLL(4)
      for (int r = 0; r < kRows; r++)
        for (int k = 0; k < kMomentParts; k++) {
          const auto value = hn::LoadU(d, x + r * apart + i * kMomentLanes + k * int(hn::MaxLanes(d)));
          const auto way = hn::Sub(value, all.mean[r][k]);
          all.mean[r][k] = hn::MulAdd(way, part, all.mean[r][k]);
          all.squares[r][k] = hn::MulAdd(way, hn::Sub(value, all.mean[r][k]), all.squares[r][k]);
        }
    }
    return all;
  }
};

/// Pieces merged in pairs, pairs of pairs in pairs, and what is left at last.
template <int kRows>
HWY_INLINE LaneMoments<kRows> lane_moments(const float* x, int64_t apart, int64_t count) {
  const int64_t pieces = (count + kMomentPiece - 1) / kMomentPiece;
  const auto piece = [&](int64_t i) HWY_ATTR {
    return LaneMoments<kRows>::of(x + i * kMomentPiece * kMomentLanes, apart,
                                  std::min(kMomentPiece, count - i * kMomentPiece));
  };
  if (pieces <= 1) return piece(0);
  int depth = 1;
  while ((int64_t(1) << depth) < pieces) depth++;
  LaneMoments<kRows> levels[48];
  for (int j = 0; j < depth; j++) levels[j].count = 0;
  for (int64_t i = 0; i < pieces; i++) {
    if (i % 1024 == 1023 && stop_wanted()) break;
    levels[0].merge(piece(i));
    for (int j = 1; j < depth && ((i + 1) >> (j - 1)) % 2 == 0; j++) {
      levels[j].merge(levels[j - 1]);
      levels[j - 1].count = 0;
    }
  }
  for (int j = 1; j < depth; j++) levels[0].merge(levels[j]);
  return levels[0];
}

/// x y + z, rounded once where there are such instructions.
template <class T>
HWY_INLINE T fused(T x, T y, T z) {
  const hn::CappedTag<T, 1> d;
  return hn::GetLane(hn::MulAdd(hn::Set(d, x), hn::Set(d, y), hn::Set(d, z)));
}
/// The total of n elements from the sums of eight lanes: halves onto each other; fewer than eight one by one.
HWY_INLINE float total_of_lanes(const float (&sums)[kMomentLanes], int64_t n) {
  if (n >= kMomentLanes)
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  float total = sums[0];
  for (int64_t i = 1; i < n; i++) total += sums[i];
  return total;
}

/// Four numbers of as many rows.
using RowTag = hn::CappedTag<float, 4>;
inline constexpr int kRowsTogether = int(hn::MaxLanes(RowTag()));
struct RowMoments {
  float mean[4], variance[4];
};
/// Lane `lane` of four of lanes 4 half to 4 half + 3, of so many rows as RowTag has.
HWY_INLINE void load_lanes(const float (&lanes)[2][4][4], int row, hn::Vec<RowTag> (&out)[kMomentLanes]) {
  const RowTag d;
#if HWY_TARGET != HWY_SCALAR
  hn::LoadInterleaved4(d, lanes[0][row], out[0], out[1], out[2], out[3]);
  hn::LoadInterleaved4(d, lanes[1][row], out[4], out[5], out[6], out[7]);
#else
  for (int i = 0; i < int(kMomentLanes); i++) out[i] = hn::Load(d, &lanes[i / 4][row][i % 4]);
#endif
}
HWY_INLINE void store_lanes(const MomentVector (&x)[kMomentParts], int row, float (&lanes)[2][4][4]) {
  float together[kMomentLanes];
  for (int k = 0; k < kMomentParts; k++) hn::StoreU(x[k], MomentTag(), together + k * int(hn::MaxLanes(MomentTag())));
  std::copy_n(together, 4, lanes[0][row]);
  std::copy_n(together + 4, 4, lanes[1][row]);
}

/// kRows rows (one or four) of n elements, `apart` from each other.
template <int kRows>
HWY_INLINE RowMoments row_moments(const float* x, int64_t apart, int64_t n) {
  const int64_t count = n / kMomentLanes, whole = count * kMomentLanes;
  RowMoments result{};
  for (int r = 0; r < kRows; r++)
    for (int64_t i = whole; i < n; i++) {  // not fused, unlike the others
      const float value = x[r * apart + i], way = value - result.mean[r];
      result.mean[r] += way / float(i - whole + 1);
      result.variance[r] += way * (value - result.mean[r]);
    }
  const RowTag d;
  const auto elements = hn::Set(d, float(n));
  alignas(64) float means[2][4][4] = {}, squares[2][4][4] = {};
  if (count > 0) {
    const LaneMoments<kRows> all = lane_moments<kRows>(x, apart, count);
    for (int r = 0; r < kRows; r++) {
      store_lanes(all.mean[r], r, means);
      store_lanes(all.squares[r], r, squares);
    }
  }
  for (int r = 0; r < kRows; r += kRowsTogether) {
    auto mean = hn::LoadU(d, result.mean + r), total = hn::LoadU(d, result.variance + r);
    if (count > 0) {
      hn::Vec<RowTag> more[kMomentLanes], more_squares[kMomentLanes];
      load_lanes(means, r, more);
      load_lanes(squares, r, more_squares);
      int64_t before = n - whole;
      HWY_UNROLL(8)
      for (int i = 0; i < int(kMomentLanes); i++, before += count) {
        const auto part = hn::Set(d, float(count) / float(before + count));
        const auto way = hn::Sub(more[i], mean);
        mean = hn::MulAdd(part, way, mean);
        const auto between = hn::Mul(hn::Mul(way, way), part);
        total = hn::Add(total, hn::MulAdd(between, hn::Set(d, float(before)), more_squares[i]));
      }
    }
    hn::StoreU(mean, d, result.mean + r);
    hn::StoreU(hn::Div(total, elements), d, result.variance + r);
  }
  return result;
}

}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
