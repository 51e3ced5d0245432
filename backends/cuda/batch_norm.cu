// Batch norm and its gradient: statistics of each channel, a fold over items and their size; then the result element by
// element. Of [items, channels] a line is an item; of images it is one channel of an item.
#include "runtime/ops/norm_layers.h"

#include "backends/cuda/fold.cuh"
#include "backends/cuda/line.cuh"
#include "backends/cuda/moments.cuh"

namespace tessera::tensor::cuda {
namespace {

template <class T, class Call>
FoldShape over_channels(const Call& c, VectorRule rule) {
  const int64_t item = c.channels * c.size;
  if (c.size == 1) return FoldShape::down_columns(c.items, c.channels, kThreadElements<T>);
  const int64_t sizes[] = {c.size, c.items}, strides[] = {1, item};
  const Nest kept(1, &c.channels, &c.size), reduced(c.items == 1 ? 1 : 2, sizes, strides);
  return FoldShape(kept, reduced, c.channels, c.items * c.size, false, rule.step(c.size).vector(), kThreadElements<T>);
}

template <class Call>
struct ChannelLines {
  Lines lines;
  FastDivide<uint64_t> by_channels;

  template <class T>
  static ChannelLines of(const Call& c, VectorRule rule) {
    const FastDivide<uint64_t> by_channels{uint64_t(c.channels)};
    if (c.size == 1) return {Lines::of<T>(c.items, c.channels, 1, rule), by_channels};
    return {Lines::of<T>(c.items * c.channels, c.size, 1, rule), by_channels};
  }
};

/// numbers(channel) for each element of a line: once, or where a line goes through the channels each time.
template <class T, class Numbers, class F>
__device__ void each_in_channel(const Share& at, int64_t size, int64_t channel, const Numbers& numbers, const F& f) {
  auto n = numbers(size == 1 ? 0 : channel);
  each_value<T>(at, [&](int r, int j) {
    if (size == 1 && at.has(r, j)) n = numbers(at.index(r, j));
    f(r, j, n);
  });
}

// ---- forward ----

template <class T>
struct ChannelMoments {
  using Total = Moments<T>;
  using Number = T;

  const void* x;
  T *mean, *variance, *inverse;
  DType dtype;
  double eps;

  __device__ Total start() const { return {}; }
  __device__ Total merge(const Total& a, const Total& b) const { return MergeMoments()(a, b); }
  __device__ Total take(const Share& at, int64_t) const {
    Values<T> v;
    load_values(v, x, dtype, at, T(0));
    return moments_of(v, at);
  }
  __device__ Total take_one(int64_t, int64_t offset, int64_t, int64_t) const {
    return {T(1), load_number<T>(x, dtype, offset), 0};
  }
  __device__ void finish(int64_t channel, const Total& total) const {
    mean[channel] = total.mean;
    inverse[channel] = T(1 / std::sqrt(double(total.squares / total.count) + eps));
    if (variance) variance[channel] = total.squares / (total.count - T(1));
  }
};

template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    batch_norm_lines(const __grid_constant__ ChannelLines<BatchNormCall> by, const __grid_constant__ BatchNormCall c) {
  struct Affine {
    T scale, shift;
  };
  const auto affine = [&](int64_t channel) {
    T scale = static_cast<const T*>(c.inverse)[channel], shift = 0;
    if (c.weight) scale *= static_cast<const T*>(c.weight)[channel];
    if (c.bias) shift = static_cast<const T*>(c.bias)[channel];
    return Affine{scale, shift - static_cast<const T*>(c.mean)[channel] * scale};
  };
  each_line(by.lines, [&](const Line& line) {
    const int64_t channel = int64_t(by.by_channels.divide(uint64_t(line.number)).rest);
    Elements<T, 1> x(line, c.dtype, T(0), c.x);
    x.each([&](const Values<T>(&v)[1], const Share& at) {
      Values<T> y;
      each_in_channel<T>(at, c.size, channel, affine,
                         [&](int r, int j, const Affine& a) { y.v[r][j] = v[0].v[r][j] * a.scale + a.shift; });
      store_values(y, c.out, c.dtype, at);
    });
  });
}

template <class T>
void run(const BatchNormCall& c) {
  if (c.training)
    fold(c.launch, over_channels<T>(c, VectorRule(c.dtype).start(c.x)),
         ChannelMoments<T>{c.x, static_cast<T*>(c.mean), static_cast<T*>(c.variance), static_cast<T*>(c.inverse),
                           c.dtype, c.eps});
  const auto by = ChannelLines<BatchNormCall>::of<T>(c, VectorRule(c.dtype).start(c.x).start(c.out));
  launch<batch_norm_lines<T>>(Place(c.launch), by.lines.grid(), by, c);
}

// ---- gradient ----

/// The sums of g and of g y, with y the normalised x.
template <class T>
struct ChannelGradients {
  using Total = TwoSums<T>;
  using Number = T;

  const void *g, *x;
  const T *mean, *inverse;
  T *dweight, *dbias;
  Total* sums;  // of all channels, for dx
  DType dtype;

  __device__ Total start() const { return {0, 0}; }
  __device__ Total merge(const Total& a, const Total& b) const { return a + b; }
  __device__ Total take(const Share& at, int64_t channel) const {
    Values<T> gs, xs;
    load_values(gs, g, dtype, at, T(0));
    load_values(xs, x, dtype, at, T(0));
    const T centre = at.has(0, 0) ? mean[channel] : T(0), scale = at.has(0, 0) ? inverse[channel] : T(0);
    Total total{0, 0};
    each_value<T>(at, [&](int r, int j) {
      total.first += gs.v[r][j];
      total.second += gs.v[r][j] * ((xs.v[r][j] - centre) * scale);
    });
    return total;
  }
  __device__ Total take_one(int64_t, int64_t offset, int64_t, int64_t channel) const {
    const T gradient = load_number<T>(g, dtype, offset), value = load_number<T>(x, dtype, offset);
    return {gradient, gradient * ((value - mean[channel]) * inverse[channel])};
  }
  __device__ void finish(int64_t channel, const Total& total) const {
    if (dweight) dweight[channel] = total.second;
    if (dbias) dbias[channel] = total.first;
    if (sums) sums[channel] = total;
  }
};

/// dx = inverse * weight * (g - mean(g) - y * mean(g y)), without the means where the statistics were given.
template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    batch_norm_dx(const __grid_constant__ ChannelLines<BatchNormGradCall> by,
                  const __grid_constant__ BatchNormGradCall c, const TwoSums<T>* sums) {
  struct Channel {
    T mean, inverse, factor, g_mean, along;
  };
  const T one_nth = T(1) / T(c.items * c.size);
  const auto numbers = [&](int64_t k) {
    Channel n{static_cast<const T*>(c.mean)[k], static_cast<const T*>(c.inverse)[k], 0, 0, 0};
    n.factor = c.weight ? static_cast<const T*>(c.weight)[k] * n.inverse : n.inverse;
    if (c.training) {
      const TwoSums<T> of_all = sums[k];
      n.g_mean = of_all.first * one_nth, n.along = of_all.second * one_nth;
    }
    return n;
  };
  each_line(by.lines, [&](const Line& line) {
    const int64_t channel = int64_t(by.by_channels.divide(uint64_t(line.number)).rest);
    Elements<T, 2> in(line, c.dtype, T(0), c.g, c.x);
    in.each([&](const Values<T>(&v)[2], const Share& at) {
      Values<T> dx;
      each_in_channel<T>(at, c.size, channel, numbers, [&](int r, int j, const Channel& n) {
        dx.v[r][j] = (v[0].v[r][j] - n.g_mean - (v[1].v[r][j] - n.mean) * n.inverse * n.along) * n.factor;
      });
      store_values(dx, c.dx, c.dtype, at);
    });
  });
}

template <class T>
void run(const BatchNormGradCall& c) {
  const bool for_dx = c.dx && c.training;
  const Scratch scratch(c.launch, for_dx ? size_t(c.channels) * sizeof(TwoSums<T>) : 1);
  TwoSums<T>* const sums = for_dx ? static_cast<TwoSums<T>*>(scratch.get()) : nullptr;
  if (for_dx || c.dweight || c.dbias)
    fold(c.launch, over_channels<T>(c, VectorRule(c.dtype).start(c.g).start(c.x)),
         ChannelGradients<T>{c.g, c.x, static_cast<const T*>(c.mean), static_cast<const T*>(c.inverse),
                             static_cast<T*>(c.dweight), static_cast<T*>(c.dbias), sums, c.dtype});
  if (!c.dx) return;
  const auto rule = VectorRule(c.dtype).start(c.g).start(c.x).start(c.dx);
  const auto by = ChannelLines<BatchNormGradCall>::of<T>(c, rule);
  launch<batch_norm_dx<T>>(Place(c.launch), by.lines.grid(), by, c, static_cast<const TwoSums<T>*>(sums));
}

template <class Call>
void in_its_type(const Call& c) {
  if (c.items == 0 || c.channels == 0 || c.size == 0) return;
  if (c.dtype == DType::Float64) run<double>(c);
  else run<float>(c);
}

const CudaKernel<BatchNormCall> entry("native_batch_norm", in_its_type<BatchNormCall>);
const CudaKernel<BatchNormGradCall> grad_entry("native_batch_norm_backward", in_its_type<BatchNormGradCall>);

}  // namespace
}  // namespace tessera::tensor::cuda
