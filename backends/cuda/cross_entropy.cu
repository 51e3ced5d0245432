// Cross entropy with class numbers and its gradient: of a line log(sum(exp(x - max))) and the target's element.
#include "backends/cuda/errors.cuh"
#include "backends/cuda/exp_total.cuh"
#include "runtime/ops/loss.h"

namespace tessera::tensor::cuda {
namespace {

template <class T>
__device__ void write_loss(const CrossEntropyCall& c, const Line& line, const ExpTotal<T>& e) {
  T *loss = static_cast<T*>(c.loss), *log_totals = static_cast<T*>(c.log_totals), *counts = static_cast<T*>(c.counts);
  const T log_total = std::log(e.total);
  const int64_t target = c.target[line.number];
  log_totals[line.number] = log_total;
  if (target < 0 || target >= c.classes) {
    if (target != c.ignore_index) report(c.launch.errors, ErrorWord::Target, 0, target, c.classes);
    loss[line.number] = counts[line.number] = T(0);
    return;
  }
  if (target == c.ignore_index) {
    loss[line.number] = counts[line.number] = T(0);
    return;
  }
  const T at_target = load_number<T>(c.x, c.dtype, line.start + target * line.inner);
  const T count = c.weight ? static_cast<const T*>(c.weight)[target] : T(1);
  counts[line.number] = count;
  loss[line.number] = count * (log_total - (at_target - e.most));
}

template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    cross_entropy_lines(const __grid_constant__ Lines lines, const __grid_constant__ CrossEntropyCall c) {
  each_line(lines, [&](const Line& line) {
    Elements<T, 1> x(line, c.dtype, -infinity<T>(), c.x);
    const ExpTotal<T> e = exp_total_of(line, x);
    if (line.first_thread()) write_loss(c, line, e);
  });
}

struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return larger(a, b);
  }
};

template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    cross_entropy_dx(const __grid_constant__ Lines lines, const __grid_constant__ CrossEntropyGradCall c) {
  each_line(lines, [&](const Line& line) {
    Elements<T, 1> x(line, c.dtype, -infinity<T>(), c.x);
    T most = -infinity<T>();
    x.each([&](const Values<T>(&v)[1], const Share& at) {
      each_value<T>(at, [&](int r, int j) { most = larger(most, v[0].v[r][j]); });
    });
    most = line.team.combine(most, Larger());
    T log_total = 0, scale = 0;
    int64_t target = -1;
    if (line.exists) {
      log_total = static_cast<const T*>(c.log_totals)[line.number];
      scale = static_cast<const T*>(c.scale)[line.number];
      target = c.target[line.number];
      if (target == c.ignore_index) target = -1;
    }
    x.each([&](const Values<T>(&v)[1], const Share& at) {
      Values<T> dx;
      each_value<T>(at, [&](int r, int j) {
        const T p = std::exp(v[0].v[r][j] - most - log_total);
        dx.v[r][j] = at.index(r, j) == target ? std::fma(p, scale, -scale) : p * scale;
      });
      store_values(dx, c.out, c.dtype, at);
    });
  });
}

template <class T>
void run(const CrossEntropyCall& c) {
  const auto lines = Lines::of<T>(c.outer, c.classes, c.inner, VectorRule(c.dtype).start(c.x));
  launch<cross_entropy_lines<T>>(Place(c.launch), lines.grid(), lines, c);
}
template <class T>
void run(const CrossEntropyGradCall& c) {
  const auto lines = Lines::of<T>(c.outer, c.classes, c.inner, VectorRule(c.dtype).start(c.x).start(c.out));
  launch<cross_entropy_dx<T>>(Place(c.launch), lines.grid(), lines, c);
}

template <class Call>
void in_its_type(const Call& c) {
  if (c.outer * c.inner == 0) return;
  if (c.dtype == DType::Float64) run<double>(c);
  else run<float>(c);
}

const CudaKernel<CrossEntropyCall> entry("cross_entropy", in_its_type<CrossEntropyCall>);
const CudaKernel<CrossEntropyGradCall> grad_entry("cross_entropy_backward", in_its_type<CrossEntropyGradCall>);

}  // namespace
}  // namespace tessera::tensor::cuda
