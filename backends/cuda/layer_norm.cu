// Layer norm and its gradient; those of weight and bias are a fold down the rows.
#include "runtime/ops/norm_layers.h"

#include "backends/cuda/fold.cuh"
#include "backends/cuda/line.cuh"
#include "backends/cuda/moments.cuh"

namespace tessera::tensor::cuda {
namespace {

/// Weight and bias of a row's elements: one each, or of a group norm one for each of its channels.
template <class T>
struct Affine {
  const T *weight, *bias;
  int64_t channels, row_channels;
  FastDivide<uint64_t> by_channels, by_size;  // elements of a channel in a row

  explicit Affine(const LayerNormCall& c)
      : weight(static_cast<const T*>(c.weight)),
        bias(static_cast<const T*>(c.bias)),
        channels(c.channels),
        row_channels(c.row_channels) {
    if (channels == 0) return;
    by_channels = FastDivide<uint64_t>(uint64_t(channels));
    by_size = FastDivide<uint64_t>(uint64_t(c.n / row_channels));
  }

  __device__ void operator()(Values<T>& y, const Share& at, const Line& line) const {
    if (channels != 0) {
      const int64_t first = int64_t(by_channels.divide(uint64_t(line.number * row_channels)).rest);
      return each_value<T>(at, [&](int r, int j) {
        if (!at.has(r, j)) return;
        const int64_t k = first + int64_t(by_size.quotient(uint64_t(at.index(r, j))));
        if (weight) y.v[r][j] *= weight[k];
        if (bias) y.v[r][j] += bias[k];
      });
    }
    Values<T> some;
    if (weight) {
      load_stored<T>(some, weight, at.along(), T(0));
      each_value<T>(at, [&](int r, int j) { y.v[r][j] *= some.v[r][j]; });
    }
    if (bias) {
      load_stored<T>(some, bias, at.along(), T(0));
      each_value<T>(at, [&](int r, int j) { y.v[r][j] += some.v[r][j]; });
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    layer_norm_rows(const __grid_constant__ Lines lines, const __grid_constant__ LayerNormCall c,
                    const __grid_constant__ Affine<T> affine) {
  each_line(lines, [&](const Line& line) {
    Elements<T, 1> x(line, c.dtype, T(0), c.x);
    Moments<T> moments;
    x.each([&](const Values<T>(&v)[1], const Share& at) { moments = MergeMoments()(moments, moments_of(v[0], at)); });
    moments = line.team.combine(moments, MergeMoments());
    const T mean = moments.mean, inverse = T(1) / std::sqrt(moments.squares / T(line.n) + T(c.eps));
    x.each([&](const Values<T>(&v)[1], const Share& at) {
      Values<T> y;
      each_value<T>(at, [&](int r, int j) { y.v[r][j] = (v[0].v[r][j] - mean) * inverse; });
      affine(y, at, line);
      store_values(y, c.out, c.dtype, at);
    });
    if (!line.first_thread()) return;
    if (c.mean) static_cast<T*>(c.mean)[line.number] = mean;
    if (c.inverse) static_cast<T*>(c.inverse)[line.number] = inverse;
  });
}

/// With y the normalised row: dx = inverse * (g weight - mean(g weight) - y * mean(g weight y)).
template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    layer_norm_dx(const __grid_constant__ Lines lines, const __grid_constant__ LayerNormGradCall c) {
  each_line(lines, [&](const Line& line) {
    Elements<T, 2> in(line, c.dtype, T(0), c.g, c.x);
    const T mean = line.exists ? static_cast<const T*>(c.mean)[line.number] : T(0);
    const T inverse = line.exists ? static_cast<const T*>(c.inverse)[line.number] : T(0);
    const auto scaled = [&](const Values<T>& g, const Share& at) {
      Values<T> out = g;
      if (c.weight) {
        load_stored<T>(out, c.weight, at.along(), T(0));
        each_value<T>(at, [&](int r, int j) { out.v[r][j] *= g.v[r][j]; });
      }
      return out;
    };
    TwoSums<T> sums{0, 0};
    in.each([&](const Values<T>(&v)[2], const Share& at) {
      const Values<T> g = scaled(v[0], at);
      each_value<T>(at, [&](int r, int j) {
        sums.first += g.v[r][j];
        sums.second += g.v[r][j] * ((v[1].v[r][j] - mean) * inverse);
      });
    });
    sums = line.team.combine(sums, Plus());
    const T g_mean = sums.first / T(line.n), along = sums.second / T(line.n);
    in.each([&](const Values<T>(&v)[2], const Share& at) {
      Values<T> dx = scaled(v[0], at);
      each_value<T>(at, [&](int r, int j) {
        dx.v[r][j] = (dx.v[r][j] - g_mean - (v[1].v[r][j] - mean) * inverse * along) * inverse;
      });
      store_values(dx, c.dx, c.dtype, at);
    });
  });
}

/// The sums of g y and of g down a column.
template <class T>
struct AffineGradients {
  using Total = TwoSums<T>;
  using Number = T;

  const void *g, *x;
  const T *mean, *inverse;
  T *dweight, *dbias;
  DType dtype;

  __device__ Total start() const { return {0, 0}; }
  __device__ Total merge(const Total& a, const Total& b) const { return a + b; }
  __device__ Total take(const Share& at, int64_t) const {
    Values<T> gs, xs;
    load_values(gs, g, dtype, at, T(0));
    if (dweight) load_values(xs, x, dtype, at, T(0));
    Total total{0, 0};
    each_value<T>(at, [&](int r, int j) {
      total.second += gs.v[r][j];
      if (!dweight || !at.has(r, j)) return;
      const int64_t row = at.index(r, j);
      total.first += gs.v[r][j] * ((xs.v[r][j] - mean[row]) * inverse[row]);
    });
    return total;
  }
  __device__ Total take_one(int64_t, int64_t, int64_t, int64_t) const { return {0, 0}; }
  __device__ void finish(int64_t column, const Total& total) const {
    if (dweight) dweight[column] = total.first;
    if (dbias) dbias[column] = total.second;
  }
};

template <class T>
void run(const LayerNormCall& c) {
  const auto rule = VectorRule(c.dtype).start(c.x).start(c.out).start(c.weight, sizeof(T)).start(c.bias, sizeof(T));
  const auto lines = Lines::of<T>(c.rows, c.n, 1, rule);
  launch<layer_norm_rows<T>>(Place(c.launch), lines.grid(), lines, c, Affine<T>(c));
}
template <class T>
void run(const LayerNormGradCall& c) {
  if (c.dx) {
    const auto rule = VectorRule(c.dtype).start(c.g).start(c.x).start(c.dx).start(c.weight, sizeof(T));
    const auto lines = Lines::of<T>(c.rows, c.n, 1, rule);
    launch<layer_norm_dx<T>>(Place(c.launch), lines.grid(), lines, c);
  }
  if (c.dweight || c.dbias)
    fold(c.launch, FoldShape::down_columns(c.rows, c.n, kThreadElements<T>),
         AffineGradients<T>{c.g, c.x, static_cast<const T*>(c.mean), static_cast<const T*>(c.inverse),
                            static_cast<T*>(c.dweight), static_cast<T*>(c.dbias), c.dtype});
}

template <class Call>
void in_its_type(const Call& c) {
  if (c.rows == 0 || c.n == 0) return;
  if (c.dtype == DType::Float64) run<double>(c);
  else run<float>(c);
}

const CudaKernel<LayerNormCall> entry("native_layer_norm", in_its_type<LayerNormCall>);
const CudaKernel<LayerNormGradCall> grad_entry("native_layer_norm_backward", in_its_type<LayerNormGradCall>);

}  // namespace
}  // namespace tessera::tensor::cuda
