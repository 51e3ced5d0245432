// Layer norm and its gradient, row by row: the mean, then the squares of what is left of it (nothing cancels), then the
// result. The gradients of weight and bias are sums over the rows: a fixed number of groups of rows, each with sums of
// its own, so that the result does not depend on the number of threads.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include <vector>

#include "backends/cpu/line-inl.h"
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
    const Wide<T> shift(bias ? bias[first + k] : T(0));
    Row<T>{line.start + k * size, size, 0}.map([&](Place<T> at)
                                                   TS_LANES { at.store((at.load(x) - mean) * scale + shift, out); });
  }
}

void layer_norm_rows(const LayerNormCall& c) {
  with_row_type(c.dtype, [&](auto in_tag, auto tag) {
    using In = decltype(in_tag);
    using T = decltype(tag);
    const In* x = static_cast<const In*>(c.x);
    In* out = static_cast<In*>(c.out);
    const T *weight = static_cast<const T*>(c.weight), *bias = static_cast<const T*>(c.bias);
    T *means = static_cast<T*>(c.mean), *inverses = static_cast<T*>(c.inverse);
    const Wide<T> one_nth(T(1) / T(c.n)), eps{T(c.eps)};
    each_row<T>(c.rows, c.n, kPasses * c.n, [&](const Row<T>& line) TS_LANES {
      const Wide<T> mean = line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return at.load(x); }) * one_nth;
      const Wide<T> squares = line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES {
        const Wide<T> d = at.load(x) - mean;
        return d * d;
      });
      const Wide<T> inverse = Wide<T>(T(1)) / sqrt(squares * one_nth + eps);
      if (means) line.store_statistic(mean, means);
      if (inverses) line.store_statistic(inverse, inverses);
      if (c.channels) return by_channel(c, line, mean, inverse, x, out);
      line.map([&](Place<T> at) TS_LANES {
        Wide<T> y = (at.load(x) - mean) * inverse;
        if (weight) y = y * line.load_along(weight, at);
        if (bias) y = y + line.load_along(bias, at);
        at.store(y, out);
      });
    });
  });
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
    const int64_t groups = std::min<int64_t>(32, (c_.rows + 15) / 16), size = (c_.rows + groups - 1) / groups;
    const bool sums = c_.dweight || c_.dbias;
    std::vector<T> partial(sums ? size_t(2 * groups * c_.n) : 0);
    const int64_t grain = std::max<int64_t>(1, kTileGrain / (kPasses * size * c_.n));
    parallel_for(groups, grain, [&](int64_t begin, int64_t end) TS_TILE {
      for (int64_t group = begin; group < end; group++) {
        T* const dweight = sums ? partial.data() + 2 * group * c_.n : nullptr;
        for (int64_t r = group * size; r < std::min(c_.rows, (group + 1) * size); r++) row(r, dweight);
      }
    });
    if (c_.dweight) add_groups(static_cast<T*>(c_.dweight), partial.data(), groups);
    if (c_.dbias) add_groups(static_cast<T*>(c_.dbias), partial.data() + c_.n, groups);
  }

 private:
  // One row's part in the gradients; dbias lies behind dweight.
  HWY_INLINE void row(int64_t r, T* dweight) const {
    const Row<T> line{r * c_.n, c_.n, r};
    const Wide<T> mean = line.load_statistic(mean_), inverse = line.load_statistic(inverse_);
    const auto normal = [&](Place<T> at) TS_LANES { return (at.load(x_) - mean) * inverse; };
    const auto scaled = [&](Place<T> at)
                            TS_LANES { return weight_ ? at.load(g_) * line.load_along(weight_, at) : at.load(g_); };
    if (In* dx = static_cast<In*>(c_.dx)) {
      const Wide<T> one_nth(T(1) / T(c_.n));
      const Wide<T> g_mean = line.template fold<Add>(T(0), scaled) * one_nth;
      const Wide<T> gx_mean =
          line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return scaled(at) * normal(at); }) * one_nth;
      line.map([&](Place<T> at) TS_LANES { at.store((scaled(at) - g_mean - normal(at) * gx_mean) * inverse, dx); });
    }
    if (!dweight) return;
    T* const dbias = dweight + c_.n;
    line.map([&](Place<T> at) TS_LANES {
      const Wide<T> g = at.load(g_);
      store_wide(line.load_along(dweight, at) + g * normal(at), dweight + at.along, at.count);
      store_wide(line.load_along(dbias, at) + g, dbias + at.along, at.count);
    });
  }
  void add_groups(T* out, const T* partial, int64_t groups) const {
    Row<T>{0, c_.n, 0}.map([&](Place<T> at) TS_LANES {
      Wide<T> total = at.load(partial);
      for (int64_t group = 1; group < groups; group++) total = total + at.load(partial + 2 * group * c_.n);
      at.store(total, out);
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
