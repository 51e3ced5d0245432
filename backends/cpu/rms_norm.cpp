// Root mean square norm and its gradient, row by row. The gradient of the weight is a sum over the rows: a fixed number of
// groups of rows, each with sums of its own, so that the result does not depend on the number of threads.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/rms_norm.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include <vector>

#include "backends/cpu/line-inl.h"
#include "backends/cpu/row_types.h"
#include "hwy/highway.h"
#include "runtime/ops/rms_norm.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

template <class In, class T>
void rms_norm_of(const RmsNormCall& c) {
  const In* x = static_cast<const In*>(c.x);
  In* out = static_cast<In*>(c.out);
  const T* weight = static_cast<const T*>(c.weight);
  T* inverses = static_cast<T*>(c.inverse);
  const Wide<T> one_nth(T(1) / T(c.n)), eps{T(c.eps)};
  parallel_2d(c.rows, 1, 1, 2 * c.n, [&](const Tile& t) TS_TILE {
    for (int64_t r = t.outer_begin; r < t.outer_end; r++) {
      const Row<T> line{r * c.n, c.n, r};
      const Wide<T> squares = line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES {
        const Wide<T> v = at.load(x);
        return v * v;
      });
      const Wide<T> inverse = Wide<T>(T(1)) / sqrt(squares * one_nth + eps);
      line.map([&](Place<T> at) TS_LANES {
        const Wide<T> y = at.load(x) * inverse;
        at.store(weight ? y * line.load_along(weight, at) : y, out);
      });
      line.store_statistic(inverse, inverses);
    }
  });
}
void rms_norm_rows(const RmsNormCall& c) {
  with_row_type(c.dtype, [&](auto in, auto t) { rms_norm_of<decltype(in), decltype(t)>(c); });
}

template <class In, class T>
class RmsNormGrad {
 public:
  explicit RmsNormGrad(const RmsNormGradCall& c)
      : c_(c),
        g_(static_cast<const In*>(c.g)),
        x_(static_cast<const In*>(c.x)),
        weight_(static_cast<const T*>(c.weight)),
        inverse_(static_cast<const T*>(c.inverse)) {}

  void run() {
    const int64_t groups = std::min<int64_t>(32, (c_.rows + 15) / 16), size = (c_.rows + groups - 1) / groups;
    std::vector<T> partial(c_.dweight ? size_t(groups * c_.n) : 0);
    parallel_for(groups, std::max<int64_t>(1, kTileGrain / (size * c_.n)), [&](int64_t begin, int64_t end) TS_TILE {
      for (int64_t group = begin; group < end; group++) {
        T* const dweight = c_.dweight ? partial.data() + group * c_.n : nullptr;
        for (int64_t r = group * size; r < std::min(c_.rows, (group + 1) * size); r++) row(r, dweight);
      }
    });
    if (c_.dweight) add_groups(static_cast<T*>(c_.dweight), partial.data(), groups);
  }

 private:
  HWY_INLINE void row(int64_t r, T* dweight) const {
    const Row<T> line{r * c_.n, c_.n, r};
    const Wide<T> inverse = line.load_statistic(inverse_);
    const auto normal = [&](Place<T> at) TS_LANES { return at.load(x_) * inverse; };
    const auto scaled = [&](Place<T> at)
                            TS_LANES { return weight_ ? at.load(g_) * line.load_along(weight_, at) : at.load(g_); };
    if (In* dx = static_cast<In*>(c_.dx)) {
      const Wide<T> along = line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES {
        return scaled(at) * normal(at);
      }) * Wide<T>(T(1) / T(c_.n));
      line.map([&](Place<T> at) TS_LANES { at.store((scaled(at) - normal(at) * along) * inverse, dx); });
    }
    if (!dweight) return;
    line.map([&](Place<T> at) TS_LANES {
      store_wide(line.load_along(dweight, at) + at.load(g_) * normal(at), dweight + at.along, at.count);
    });
  }
  void add_groups(T* out, const T* partial, int64_t groups) const {
    Row<T>{0, c_.n, 0}.map([&](Place<T> at) TS_LANES {
      Wide<T> total = at.load(partial);
      for (int64_t group = 1; group < groups; group++) total = total + at.load(partial + group * c_.n);
      at.store(total, out);
    });
  }

  const RmsNormGradCall& c_;
  const In *g_, *x_;
  const T *weight_, *inverse_;
};
void rms_norm_grad_rows(const RmsNormGradCall& c) {
  with_row_type(c.dtype, [&](auto in, auto t) { RmsNormGrad<decltype(in), decltype(t)>(c).run(); });
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
HWY_EXPORT(rms_norm_rows);
HWY_EXPORT(rms_norm_grad_rows);
const KernelRegistration<RmsNormCall> registration{rms_norm_kernel, DeviceType::Cpu, [](const RmsNormCall& c) {
                                                     HWY_DYNAMIC_DISPATCH(rms_norm_rows)(c);
                                                   }};
const KernelRegistration<RmsNormGradCall> grad_registration{rms_norm_grad_kernel, DeviceType::Cpu,
                                                            [](const RmsNormGradCall& c) {
                                                              HWY_DYNAMIC_DISPATCH(rms_norm_grad_rows)(c);
                                                            }};
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
