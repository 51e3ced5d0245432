// Batch norm and its gradient, channel by channel: the mean and the squares of what is left of it, then the result, while the
// channel is in the cache. Float32 has PyTorch's bits, there and back.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/batch_norm.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/line-inl.h"
#include "backends/cpu/moments-inl.h"
#include "backends/cpu/row_types.h"
#include "hwy/highway.h"
#include "runtime/ops/norm_layers.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

/// A line in several pieces of memory, each `apart` from the one before: a channel of a batch of images.
template <class T>
struct Runs {
  int64_t start, size, line, runs, apart;

  Row<T> run(int64_t k) const { return {start + k * apart, size, line}; }
  template <class Combine, class F>
  HWY_INLINE Wide<T> fold(T identity, const F& f) const {
    Wide<T> total(identity);
    for (int64_t k = 0; k < runs; k++)
      total = combine<Combine>(total, run(k).template fold_in_places<Combine>(identity, f));
    return Wide<T>(fold_elements<Combine>(total));
  }
  template <class F>
  HWY_INLINE void map(const F& f) const {
    for (int64_t k = 0; k < runs; k++) run(k).map(f);
  }
  template <class F>
  static HWY_INLINE Wide<T> apply_to_statistic(const F& f, Wide<T> x) {
    return Row<T>::apply_to_statistic(f, x);
  }
  template <class In>
  HWY_INLINE Wide<T> load_statistic(const In* tensor) const {
    return run(0).load_statistic(tensor);
  }
  template <class Out>
  HWY_INLINE void store_statistic(Wide<T> x, Out* tensor) const {
    run(0).store_statistic(x, tensor);
  }
};

/// kernel(channel, in, out) for every channel of [items, channels, size]: Runs, or Columns where each run is one element and
/// there are vectors.
template <class T, class Call, size_t kInputs, class Kernel>
void each_channel(const Call& c, const Elements<T> (&in)[kInputs], const Elements<T>& out, const Kernel& kernel) {
  if constexpr (HWY_TARGET != HWY_SCALAR)
    if (c.size == 1) return each_columns(1, c.items, c.channels, in, out, kernel);
  parallel_2d(c.channels, 1, 1, c.items * c.size, [&](const Tile& t) TS_TILE {
    const T* from[kInputs];
    for (size_t k = 0; k < kInputs; k++) from[k] = in[k].read(0, 0, nullptr);
    for (int64_t k = t.outer_begin; k < t.outer_end; k++)
      kernel(Runs<T>{k * c.size, c.size, k, c.items, c.channels * c.size}, from, out.place(0, nullptr));
  });
}

// Items one after the other, as PyTorch adds them up where each has one element of a channel.
template <class T, class F>
HWY_INLINE Wide<T> sum_of(const Runs<T>& line, const F& f) {
  return line.template fold<Add>(T(0), f);
}
template <class T, class F>
HWY_INLINE Wide<T> sum_of(const Columns<T>& line, const F& f) {
  Wide<T> total(T(0));
  line.map([&](Place<T> at) TS_LANES { total = total + f(at); });
  return total;
}
template <class T, class F, class G>
HWY_INLINE Wide<T> sum_of_products(const Runs<T>& line, const F& f, const G& g) {
  return line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return f(at) * g(at); });
}
template <class T, class F, class G>
HWY_INLINE Wide<T> sum_of_products(const Columns<T>& line, const F& f, const G& g) {
  Wide<T> total(T(0));
  line.map([&](Place<T> at) TS_LANES { total = plus_product(total, f(at), g(at)); });
  return total;
}

/// What a mean and a variance are made of: the mean, and the sum of the squares of what is left of it.
template <class T>
struct Spread {
  Wide<T> mean, squares;
};
template <class T, class Line>
HWY_INLINE Spread<T> spread_of(const Line& line, const T* x, Wide<T> count) {
  const Wide<T> mean = sum_of(line, [&](Place<T> at) TS_LANES { return at.load(x); }) / count;
  const auto centred = [&](Place<T> at) TS_LANES { return at.load(x) - mean; };
  return {mean, sum_of_products(line, centred, centred)};
}
/// f(tag, numbers) of all numbers: added up in double.
template <class F>
HWY_INLINE double sum_in_double(const Runs<float>& line, const float* x, const F& f) {
  constexpr int64_t kTogether = 16;
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> single;
  constexpr int64_t kLanes = int64_t(hn::MaxLanes(decltype(d)())), kVectors = kTogether / kLanes;
  hn::Vec<decltype(d)> sums[kVectors];
  for (int k = 0; k < kVectors; k++) sums[k] = hn::Zero(d);
  double total = 0;
  for (int64_t run = 0; run < line.runs; run++) {
    const float* const p = x + line.start + run * line.apart;
    int64_t i = 0;
    for (; i + kTogether <= line.size; i += kTogether) {
#pragma GCC unroll 4
      for (int k = 0; k < kVectors; k++) {
        const auto value = f(single, hn::LoadU(single, p + i + k * kLanes));
        sums[k] = hn::Add(sums[k], hn::PromoteTo(d, value));
      }
    }
    const hn::CappedTag<float, 1> one;
    for (; i < line.size; i++) total += double(hn::GetLane(f(one, hn::LoadU(one, p + i))));
  }
  double all[kTogether];
  for (int k = 0; k < kVectors; k++) hn::StoreU(sums[k], d, all + k * kLanes);
  for (const double sum : all) total += sum;
  return total;
}
/// Images in float32: the mean is rounded, and so are the squares, before they are added up.
HWY_INLINE Spread<float> spread_of(const Runs<float>& line, const float* x, Wide<float> /*count*/) {
  const double sum = sum_in_double(line, x, [](auto, auto value) TS_LANES { return value; });
  const float mean = float(sum / double(line.runs * line.size));
  const double squares = sum_in_double(line, x, [&](auto d, auto value) TS_LANES {
    const auto way = hn::Sub(value, hn::Set(d, mean));
    return hn::Mul(way, way);
  });
  return {Wide<float>(mean), Wide<float>(float(squares))};
}

template <class T>
void batch_norm_of(const BatchNormCall& c) {
  const Elements<T> inputs[] = {{c.dtype, c.x}}, result{c.dtype, c.out};
  const T *weight = static_cast<const T*>(c.weight), *bias = static_cast<const T*>(c.bias);
  T *means = static_cast<T*>(c.mean), *variances = static_cast<T*>(c.variance), *inverses = static_cast<T*>(c.inverse);
  const Wide<T> count(T(c.items * c.size));
  const double eps = c.eps;
  each_channel(c, inputs, result, [&](const auto& line, const auto& in, T* out) TS_LANES {
    const T* x = in[0];
    Wide<T> mean, inverse;
    if (c.training) {
      const auto [line_mean, squares] = spread_of(line, x, count);
      mean = line_mean;
      inverse = line.apply_to_statistic(
          [&](Lane<T> v) TS_LANES { return m::each(v, [&](T s) { return T(1 / std::sqrt(double(s) + eps)); }); },
          squares / count);
      line.store_statistic(mean, means);
      line.store_statistic(inverse, inverses);
      if (variances) line.store_statistic(squares / (count - Wide<T>(T(1))), variances);
    } else {
      mean = line.load_statistic(means), inverse = line.load_statistic(inverses);
    }
    const Wide<T> scale = weight ? inverse * line.load_statistic(weight) : inverse;
    const Wide<T> shift = less_product(bias ? line.load_statistic(bias) : Wide<T>(T(0)), mean, scale);
    line.map([&](Place<T> at) TS_LANES { at.store(plus_product(shift, at.load(x), scale), out); });
  });
}
void batch_norm_lines(const BatchNormCall& c) {
  c.dtype == kFloat64 ? batch_norm_of<double>(c) : batch_norm_of<float>(c);
}

/// What a channel's gradients are made of: the sum of g and that of g (x - mean) / deviation, as gradients and as parts of dx.
template <class T>
struct GradSums {
  Wide<T> dbias, dweight, g_mean, along;
};
template <class T, class Line>
HWY_INLINE GradSums<T> grad_sums_of(const Line& line, const T* g, const T* x, Wide<T> mean, Wide<T> inverse,
                                    Wide<T> count) {
  const auto gradient = [&](Place<T> at) TS_LANES { return at.load(g); };
  const auto centred = [&](Place<T> at) TS_LANES { return at.load(x) - mean; };
  const Wide<T> total = sum_of(line, gradient), along = sum_of_products(line, centred, gradient) * inverse;
  return {total, along, total / count, along};
}
/// So many images one by one: on eight lanes; what does not fill these is added without being rounded before. Images come
/// together in double.
template <int kImages>
HWY_INLINE void add_images(const Runs<float>& line, int64_t first, const float* g, const float* x, float mean,
                           double& total, double& along) {
  const MomentTag d;
  const int64_t whole = line.size / kMomentLanes * kMomentLanes;
  float totals[kImages][kMomentLanes], alongs[kImages][kMomentLanes];
  const auto means = hn::Set(d, mean);
  for (int part = 0; part < kMomentParts; part++) {
    const int64_t lane = part * int64_t(hn::MaxLanes(MomentTag()));
    MomentVector g_sums[kImages], along_sums[kImages];
    for (int k = 0; k < kImages; k++) g_sums[k] = along_sums[k] = hn::Zero(d);
    for (int64_t i = lane; i < whole; i += kMomentLanes) {
      HWY_UNROLL(4)
      for (int k = 0; k < kImages; k++) {
        const int64_t at = line.start + (first + k) * line.apart + i;
        const auto gradient = hn::LoadU(d, g + at);
        g_sums[k] = hn::Add(g_sums[k], gradient);
        along_sums[k] = hn::Add(along_sums[k], hn::Mul(hn::Sub(hn::LoadU(d, x + at), means), gradient));
      }
    }
    for (int k = 0; k < kImages; k++) {
      hn::StoreU(g_sums[k], d, totals[k] + lane);
      hn::StoreU(along_sums[k], d, alongs[k] + lane);
    }
  }
  for (int k = 0; k < kImages; k++) {
    const int64_t start = line.start + (first + k) * line.apart + whole;
    for (int64_t i = 0; i < line.size - whole; i++) {
      const float gradient = g[start + i], way = x[start + i] - mean;
      totals[k][i] = whole ? totals[k][i] + gradient : gradient;
      alongs[k][i] = whole ? fused(way, gradient, alongs[k][i]) : way * gradient;
    }
    total += double(total_of_lanes(totals[k], line.size));
    along += double(total_of_lanes(alongs[k], line.size));
  }
}
HWY_INLINE GradSums<float> grad_sums_of(const Runs<float>& line, const float* g, const float* x, Wide<float> mean,
                                        Wide<float> inverse, Wide<float> /*count*/) {
  double total = 0, along = 0;
  const float m = hn::GetLane(mean.part[0]), scale = hn::GetLane(inverse.part[0]);
  int64_t k = 0;
  for (; k + 4 <= line.runs; k += 4) add_images<4>(line, k, g, x, m, total, along);
  for (; k < line.runs; k++) add_images<1>(line, k, g, x, m, total, along);
  return {Wide<float>(float(total)), Wide<float>(float(along * double(scale))),
          Wide<float>(float(total / double(line.runs * line.size))), Wide<float>(float(along) * scale)};
}

template <class T>
void batch_norm_grad_of(const BatchNormGradCall& c) {
  const Elements<T> inputs[] = {{c.dtype, c.g}, {c.dtype, c.x}}, result{c.dtype, c.dx};
  const T *weight = static_cast<const T*>(c.weight), *means = static_cast<const T*>(c.mean);
  const T* inverses = static_cast<const T*>(c.inverse);
  T *dweight = static_cast<T*>(c.dweight), *dbias = static_cast<T*>(c.dbias);
  const Wide<T> count(T(c.items * c.size));
  each_channel(c, inputs, result, [&](const auto& line, const auto& in, T* out) TS_LANES {
    const T *g = in[0], *x = in[1];
    const Wide<T> mean = line.load_statistic(means), inverse = line.load_statistic(inverses);
    const auto gradient = [&](Place<T> at) TS_LANES { return at.load(g); };
    const auto centred = [&](Place<T> at) TS_LANES { return at.load(x) - mean; };
    const GradSums<T> sums = grad_sums_of(line, g, x, mean, inverse, count);
    if (dbias) line.store_statistic(sums.dbias, dbias);
    if (dweight) line.store_statistic(sums.dweight, dweight);
    if (!c.dx) return;
    const Wide<T> factor = weight ? line.load_statistic(weight) : Wide<T>(T(1)), zero(T(0));
    // Given statistics do not depend on x.
    const Wide<T> g_mean = c.training ? sums.g_mean : zero, slope = c.training ? sums.along * inverse / count : zero;
    line.map([&](Place<T> at) TS_LANES {
      at.store(less_product(gradient(at) - g_mean, centred(at), slope) * inverse * factor, out);
    });
  });
}
void batch_norm_grad_lines(const BatchNormGradCall& c) {
  c.dtype == kFloat64 ? batch_norm_grad_of<double>(c) : batch_norm_grad_of<float>(c);
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
TS_ROW_KERNEL(batch_norm_kernel, BatchNormCall, batch_norm_lines)
TS_ROW_KERNEL(batch_norm_grad_kernel, BatchNormGradCall, batch_norm_grad_lines)
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
