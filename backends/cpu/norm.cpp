// Layer norm and its gradient, row by row: mean and variance, then the result. Float32 has PyTorch's bits, there and back: the
// moments of moments-inl.h, sums of gradients on eight lanes, and those over the rows, for weight and bias, row after row. Where
// several threads take part they share these by columns, so that the result does not depend on their number.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include <cmath>

#include "backends/cpu/line-inl.h"
#include "backends/cpu/moments-inl.h"
#include "backends/cpu/row_types.h"
#include "hwy/highway.h"
#include "runtime/ops/norm_layers.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kPasses = 3;  // over each row

/// A row of a group norm from its statistics: each of its channels has one weight and one bias.
template <class T, class In>
HWY_NOINLINE void by_channel(const LayerNormCall& c, const Row<T>& line, const Wide<T>& mean, const Wide<T>& inverse,
                             const In* x, In* out) {
  const T *weight = static_cast<const T*>(c.weight), *bias = static_cast<const T*>(c.bias);
  const int64_t size = c.n / c.row_channels, first = line.line * c.row_channels % c.channels;
  for (int64_t k = 0; k < c.row_channels; k++) {
    const Wide<T> scale = weight ? inverse * Wide<T>(weight[first + k]) : inverse;
    const Wide<T> shift = less_product(Wide<T>(bias ? bias[first + k] : T(0)), scale, mean);
    Row<T>{line.start + k * size, size, 0}.map([&](Place<T> at)
                                                   TS_LANES { at.store(plus_product(shift, at.load(x), scale), out); });
  }
}

template <class T>
struct Moments {
  T mean, variance;
};
/// Of one or four rows, the first of which is `first`.
template <int kRows, class T, class In>
HWY_INLINE void moments_of(const Row<T>& first, const In* x, Moments<T>* out) {
  if constexpr (std::is_same_v<In, float>) {
    const RowMoments all = row_moments<kRows>(x + first.start, first.n, first.n);
    for (int r = 0; r < kRows; r++) out[r] = {all.mean[r], all.variance[r]};
  } else {
    const Wide<T> one_nth(T(1) / T(first.n));
    for (int r = 0; r < kRows; r++) {
      const Row<T> line{first.start + r * first.n, first.n, first.line + r};
      const Wide<T> mean = line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return at.load(x); }) * one_nth;
      const Wide<T> squares = line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES {
        const Wide<T> d = at.load(x) - mean;
        return d * d;
      });
      out[r] = {hn::GetLane(mean.part[0]), hn::GetLane((squares * one_nth).part[0])};
    }
  }
}

template <class In, class T>
class LayerNorm {
 public:
  explicit LayerNorm(const LayerNormCall& c) : c_(c) {}

  void run() {
    parallel_2d(c_.rows, 1, 1, kPasses * c_.n, [&](const Tile& t) TS_TILE {
      int64_t r = t.outer_begin;
      for (; r + 4 <= t.outer_end; r += 4) rows<4>(r);
      for (; r < t.outer_end; r++) rows<1>(r);
    });
  }

 private:
  template <int kRows>
  HWY_INLINE void rows(int64_t first) const {
    const In* x = static_cast<const In*>(c_.x);
    In* out = static_cast<In*>(c_.out);
    T *means = static_cast<T*>(c_.mean), *inverses = static_cast<T*>(c_.inverse);
    Moments<T> moments[kRows];
    moments_of<kRows, T>({first * c_.n, c_.n, first}, x, moments);
    for (int k = 0; k < kRows; k++) {
      const int64_t r = first + k;
      const T inverse = inverse_of(moments[k].variance);
      if (means) means[r] = moments[k].mean;
      if (inverses) inverses[r] = inverse;
      write({r * c_.n, c_.n, r}, Wide<T>(moments[k].mean), Wide<T>(inverse), x, out);
    }
  }
  // Of a group norm it is rounded once, as PyTorch adds eps as a double there.
  HWY_INLINE T inverse_of(T variance) const {
    if (c_.channels) return T(1 / std::sqrt(double(variance) + c_.eps));
    return T(1) / std::sqrt(variance + T(c_.eps));
  }
  HWY_INLINE void write(const Row<T>& line, const Wide<T>& mean, const Wide<T>& inverse, const In* x, In* out) const {
    const T *weight = static_cast<const T*>(c_.weight), *bias = static_cast<const T*>(c_.bias);
    if (c_.channels && (weight || bias)) return by_channel(c_, line, mean, inverse, x, out);
    line.map([&](Place<T> at) TS_LANES {
      const Wide<T> y = (at.load(x) - mean) * inverse;
      if (weight && bias) at.store(plus_product(line.load_along(bias, at), y, line.load_along(weight, at)), out);
      else if (weight) at.store(y * line.load_along(weight, at), out);
      else at.store(bias ? y + line.load_along(bias, at) : y, out);
    });
  }

  const LayerNormCall& c_;
};

void layer_norm_rows(const LayerNormCall& c) {
  with_row_type(c.dtype, [&](auto in, auto t) { LayerNorm<decltype(in), decltype(t)>(c).run(); });
}

template <class In, class T>
class LayerNormGrad {
 public:
  explicit LayerNormGrad(const LayerNormGradCall& c)
      : c_(c),
        g_(static_cast<const In*>(c.g)),
        x_(static_cast<const In*>(c.x)),
        weight_(static_cast<const T*>(c.weight)),
        mean_(static_cast<const T*>(c.mean)),
        inverse_(static_cast<const T*>(c.inverse)) {}

  void run() {
    const bool sums = c_.dweight || c_.dbias;
    for (void* out : {c_.dweight, c_.dbias})
      if (out) std::fill_n(static_cast<T*>(out), c_.n, T(0));
    // A row is still in the cache when its part of the sums is added, unless threads are to share these by columns.
    const int64_t cost = kPasses * c_.n;
    const bool at_once = Context::current().threads == 1 || c_.rows * cost <= kTileGrain;
    if (c_.dx || at_once)
      parallel_2d(c_.rows, 1, 1, cost, [&](const Tile& t) TS_TILE {
        for (int64_t r = t.outer_begin; r < t.outer_end; r += kTogether)
          rows(r, int(std::min<int64_t>(kTogether, t.outer_end - r)), sums && at_once);
      });
    if (!sums || at_once) return;
    parallel_2d(1, c_.n, strip_for_threads(c_.n, kStrip, 1), c_.rows, [&](const Tile& t) TS_TILE {
      for (int64_t r = 0; r < c_.rows; r += kTogether)
        add_rows(r, int(std::min<int64_t>(kTogether, c_.rows - r)), t.inner_begin, t.inner_end);
    });
  }

 private:
  static constexpr int64_t kStrip = 4096;  // columns
  static constexpr int kTogether = 4;      // rows whose sums are on their way at the same time
  struct Sums {
    T gx, g;  // of g weight x and of g weight
  };

  HWY_INLINE void rows(int64_t first, int count, bool adds) const {
    if (c_.dx) {
      Sums sums[kTogether];
      if constexpr (std::is_same_v<In, float>) {
        if (count == kTogether) add_up<kTogether>(first, sums);
        else
          for (int k = 0; k < count; k++) add_up<1>(first + k, sums + k);
      } else {
        for (int k = 0; k < count; k++) sums[k] = add_up(line(first + k));
      }
      for (int k = 0; k < count; k++) write(line(first + k), sums[k]);
    }
    if (adds) add_rows(first, count, 0, c_.n);
  }
  HWY_INLINE void add_rows(int64_t first, int count, int64_t begin, int64_t end) const {
    if (count == kTogether) return add_to_parameters<kTogether>(first, begin, end);
    for (int k = 0; k < count; k++) add_to_parameters<1>(first + k, begin, end);
  }
  HWY_INLINE Row<T> line(int64_t r) const { return {r * c_.n, c_.n, r}; }

  /// Lane by lane, of eight; what does not fill these is added without being rounded before.
  template <int kRows>
  HWY_INLINE void add_up(int64_t first, Sums* out) const {
    constexpr int64_t kLanes = kMomentLanes;
    const MomentTag d;
    const int64_t whole = c_.n / kLanes * kLanes, rest = c_.n - whole;
    float gx[kRows][kLanes], g[kRows][kLanes];
    for (int part = 0; part < kMomentParts; part++) {
      const int64_t lane = part * int64_t(hn::Lanes(d));
      MomentVector gx_sums[kRows], g_sums[kRows];
      for (int k = 0; k < kRows; k++) gx_sums[k] = g_sums[k] = hn::Zero(d);
      const auto weight = [&](int64_t i) HWY_ATTR { return weight_ ? hn::LoadU(d, weight_ + i) : hn::Set(d, 1.0f); };
      for (int64_t i = lane; i < whole; i += kLanes) {
        const auto w = weight(i);
        HWY_UNROLL(4)
        for (int k = 0; k < kRows; k++) {
          const int64_t at = (first + k) * c_.n + i;
          const auto gradient = hn::LoadU(d, g_ + at);
          gx_sums[k] = hn::Add(gx_sums[k], hn::Mul(hn::Mul(gradient, hn::LoadU(d, x_ + at)), w));
          g_sums[k] = hn::Add(g_sums[k], hn::Mul(gradient, w));
        }
      }
      for (int k = 0; k < kRows; k++) {
        hn::StoreU(gx_sums[k], d, gx[k] + lane);
        hn::StoreU(g_sums[k], d, g[k] + lane);
      }
    }
    for (int k = 0; k < kRows; k++) {
      for (int64_t i = 0; i < rest; i++) {
        const int64_t at = (first + k) * c_.n + whole + i;
        const float w = weight_ ? weight_[whole + i] : 1, gradient = g_[at];
        if (whole == 0) {
          gx[k][i] = gradient * x_[at] * w;
          g[k][i] = gradient * w;
        } else {
          gx[k][i] = weight_ ? fused(gradient * x_[at], w, gx[k][i]) : fused(gradient, x_[at], gx[k][i]);
          g[k][i] = fused(gradient, w, g[k][i]);
        }
      }
      out[k] = {total_of_lanes(gx[k], c_.n), total_of_lanes(g[k], c_.n)};
    }
  }
  HWY_INLINE Sums add_up(const Row<T>& line) const {
    const auto scaled = [&](Place<T> at)
                            TS_LANES { return weight_ ? at.load(g_) * line.load_along(weight_, at) : at.load(g_); };
    const Wide<T> gx = line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return scaled(at) * at.load(x_); });
    return {hn::GetLane(gx.part[0]), hn::GetLane(line.template fold<Add>(T(0), scaled).part[0])};
  }
  /// dx = inverse g weight + slope x + shift.
  HWY_INLINE void write(const Row<T>& line, const Sums& sums) const {
    const T mean = mean_[line.line], inverse = inverse_[line.line], one_nth = T(1) / T(c_.n);
    const T slope = fused(sums.g, mean, -sums.gx) * inverse * inverse * inverse * one_nth;
    const T shift = fused(-slope, mean, -(sums.g * inverse * one_nth));
    const Wide<T> slopes(slope), shifts(shift), inverses(inverse);
    In* const dx = static_cast<In*>(c_.dx);
    line.map([&](Place<T> at) TS_LANES {
      Wide<T> g = inverses * at.load(g_);
      if (weight_) g = g * line.load_along(weight_, at);
      at.store(plus_product(g, slopes, at.load(x_)) + shifts, dx);
    });
  }
  /// The parts of rows in the sums over all rows, row after row.
  template <int kRows>
  HWY_NOINLINE void add_to_parameters(int64_t first, int64_t begin, int64_t end) const {
    Wide<T> inverses[kRows], shifts[kRows];
    for (int k = 0; k < kRows; k++) {
      const T inverse = inverse_[first + k];
      inverses[k] = Wide<T>(inverse), shifts[k] = Wide<T>(-inverse * mean_[first + k]);
    }
    T *const dweight = static_cast<T*>(c_.dweight), *const dbias = static_cast<T*>(c_.dbias);
    Row<T>{begin, end - begin, 0}.map([&](Place<T> at) TS_LANES {
      Wide<T> weight_sum(T(0)), bias_sum(T(0));
      if (dweight) weight_sum = at.load(dweight);
      if (dbias) bias_sum = at.load(dbias);
      HWY_UNROLL(4)
      for (int k = 0; k < kRows; k++) {
        const Place<T> in_row{(first + k) * c_.n + at.offset, at.offset, at.count};
        const Wide<T> g = in_row.load(g_);
        if (dweight) weight_sum = plus_product(weight_sum, g, plus_product(shifts[k], inverses[k], in_row.load(x_)));
        bias_sum = bias_sum + g;
      }
      if (dweight) at.store(weight_sum, dweight);
      if (dbias) at.store(bias_sum, dbias);
    });
  }

  const LayerNormGradCall& c_;
  const In *g_, *x_;
  const T *weight_, *mean_, *inverse_;
};

void layer_norm_grad_rows(const LayerNormGradCall& c) {
  with_row_type(c.dtype, [&](auto in, auto t) { LayerNormGrad<decltype(in), decltype(t)>(c).run(); });
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
TS_ROW_KERNEL(layer_norm_kernel, LayerNormCall, layer_norm_rows)
TS_ROW_KERNEL(layer_norm_grad_kernel, LayerNormGradCall, layer_norm_grad_rows)
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
