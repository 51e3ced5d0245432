// Root mean square norm and its gradient; the weight's gradient is a fold down the rows.
#include "runtime/ops/rms_norm.h"

#include "backends/cuda/fold.cuh"
#include "backends/cuda/line.cuh"

namespace tessera::tensor::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    rms_norm_rows(const __grid_constant__ Lines lines, const __grid_constant__ RmsNormCall c) {
  each_line(lines, [&](const Line& line) {
    Elements<T, 1> x(line, c.dtype, T(0), c.x);
    T squares = 0;
    x.each([&](const Values<T>(&v)[1], const Share& at) {
      each_value<T>(at, [&](int r, int j) { squares += v[0].v[r][j] * v[0].v[r][j]; });
    });
    const T inverse = T(1) / std::sqrt(line.team.combine(squares, Plus()) / T(line.n) + T(c.eps));
    x.each([&](const Values<T>(&v)[1], const Share& at) {
      Values<T> y;
      each_value<T>(at, [&](int r, int j) { y.v[r][j] = v[0].v[r][j] * inverse; });
      if (c.weight) {
        Values<T> weight;
        load_stored<T>(weight, c.weight, at.along(), T(0));
        each_value<T>(at, [&](int r, int j) { y.v[r][j] *= weight.v[r][j]; });
      }
      store_values(y, c.out, c.dtype, at);
    });
    if (line.first_thread()) static_cast<T*>(c.inverse)[line.number] = inverse;
  });
}

/// dx = inverse * (g weight - x inverse * mean(g weight x inverse)).
template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    rms_norm_dx(const __grid_constant__ Lines lines, const __grid_constant__ RmsNormGradCall c) {
  each_line(lines, [&](const Line& line) {
    Elements<T, 2> in(line, c.dtype, T(0), c.g, c.x);
    const T inverse = line.exists ? static_cast<const T*>(c.inverse)[line.number] : T(0);
    const auto scaled = [&](const Values<T>& g, const Share& at) {
      Values<T> out = g;
      if (c.weight) {
        load_stored<T>(out, c.weight, at.along(), T(0));
        each_value<T>(at, [&](int r, int j) { out.v[r][j] *= g.v[r][j]; });
      }
      return out;
    };
    T along = 0;
    in.each([&](const Values<T>(&v)[2], const Share& at) {
      const Values<T> g = scaled(v[0], at);
      each_value<T>(at, [&](int r, int j) { along += g.v[r][j] * (v[1].v[r][j] * inverse); });
    });
    along = line.team.combine(along, Plus()) / T(line.n);
    in.each([&](const Values<T>(&v)[2], const Share& at) {
      Values<T> dx = scaled(v[0], at);
      each_value<T>(at, [&](int r, int j) { dx.v[r][j] = (dx.v[r][j] - v[1].v[r][j] * inverse * along) * inverse; });
      store_values(dx, c.dx, c.dtype, at);
    });
  });
}

/// The sum of g x inverse down a column.
template <class T>
struct WeightGradient {
  using Total = T;
  using Number = T;

  const void *g, *x;
  const T* inverse;
  T* out;
  DType dtype;

  __device__ T start() const { return T(0); }
  __device__ T merge(T a, T b) const { return a + b; }
  __device__ T take(const Share& at, int64_t) const {
    Values<T> gs, xs;
    load_values(gs, g, dtype, at, T(0));
    load_values(xs, x, dtype, at, T(0));
    T total = 0;
    each_value<T>(at, [&](int r, int j) {
      if (at.has(r, j)) total += gs.v[r][j] * (xs.v[r][j] * inverse[at.index(r, j)]);
    });
    return total;
  }
  __device__ T take_one(int64_t, int64_t, int64_t, int64_t) const { return T(0); }
  __device__ void finish(int64_t column, T total) const { out[column] = total; }
};

template <class T>
void run(const RmsNormCall& c) {
  const auto rule = VectorRule(c.dtype).start(c.x).start(c.out).start(c.weight, sizeof(T));
  const auto lines = Lines::of<T>(c.rows, c.n, 1, rule);
  launch<rms_norm_rows<T>>(Place(c.launch), lines.grid(), lines, c);
}
template <class T>
void run(const RmsNormGradCall& c) {
  if (c.dx) {
    const auto rule = VectorRule(c.dtype).start(c.g).start(c.x).start(c.dx).start(c.weight, sizeof(T));
    const auto lines = Lines::of<T>(c.rows, c.n, 1, rule);
    launch<rms_norm_dx<T>>(Place(c.launch), lines.grid(), lines, c);
  }
  if (c.dweight)
    fold(c.launch, FoldShape::down_columns(c.rows, c.n, kThreadElements<T>),
         WeightGradient<T>{c.g, c.x, static_cast<const T*>(c.inverse), static_cast<T*>(c.dweight), c.dtype});
}

template <class Call>
void in_its_type(const Call& c) {
  if (c.rows == 0 || c.n == 0) return;
  if (c.dtype == DType::Float64) run<double>(c);
  else run<float>(c);
}

const CudaKernel<RmsNormCall> entry("rms_norm", in_its_type<RmsNormCall>);
const CudaKernel<RmsNormGradCall> grad_entry("rms_norm_backward", in_its_type<RmsNormGradCall>);

}  // namespace
}  // namespace tessera::tensor::cuda
