// softmax, log_softmax, logsumexp and the gradients of the first two: one read of a line that fits a team's registers, two of
// a longer one.
#include "runtime/ops/softmax.h"

#include "backends/cuda/exp_total.cuh"

namespace tessera::tensor::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    softmax_lines(const __grid_constant__ Lines lines, const __grid_constant__ SoftmaxCall c) {
  each_line(lines, [&](const Line& line) {
    Elements<T, 1> x(line, c.dtype, -infinity<T>(), c.in);
    const ExpTotal<T> e = exp_total_of(line, x);
    const T scale = T(1) / e.total, log_total = std::log(e.total);
    x.each([&](const Values<T>(&v)[1], const Share& at) {
      Values<T> y;
      if (c.logarithm) each_value<T>(at, [&](int r, int j) { y.v[r][j] = v[0].v[r][j] - e.most - log_total; });
      else each_value<T>(at, [&](int r, int j) { y.v[r][j] = std::exp(v[0].v[r][j] - e.most) * scale; });
      store_values(y, c.out, c.dtype, at);
    });
  });
}

template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    softmax_grad_lines(const __grid_constant__ Lines lines, const __grid_constant__ SoftmaxGradCall c) {
  each_line(lines, [&](const Line& line) {
    Elements<T, 2> x(line, c.dtype, T(0), c.g, c.y);
    T total = 0;
    x.each([&](const Values<T>(&v)[2], const Share& at) {
      each_value<T>(at, [&](int r, int j) { total += c.logarithm ? v[0].v[r][j] : v[0].v[r][j] * v[1].v[r][j]; });
    });
    total = line.team.combine(total, Plus());
    x.each([&](const Values<T>(&v)[2], const Share& at) {
      Values<T> dx;
      each_value<T>(at, [&](int r, int j) {
        const T g = v[0].v[r][j], y = v[1].v[r][j];
        dx.v[r][j] = c.logarithm ? g - std::exp(y) * total : (g - total) * y;
      });
      store_values(dx, c.out, c.dtype, at);
    });
  });
}

template <class T>
__global__ void __launch_bounds__(kMaxTeam, 1)
    logsumexp_lines(const __grid_constant__ Lines lines, const __grid_constant__ LogSumExpCall c) {
  each_line(lines, [&](const Line& line) {
    Elements<T, 1> x(line, c.dtype, -infinity<T>(), c.in);
    const ExpTotal<T> e = exp_total_of(line, x);
    // Of infinite ones the largest is the result.
    const T result = e.most - e.most == T(0) ? std::log(e.total) + e.most : e.most;
    if (line.first_thread()) store_number(result, c.out, c.dtype, line.number);
  });
}

template <class T>
void run(const SoftmaxCall& c) {
  const auto lines = Lines::of<T>(c.outer, c.size, c.inner, VectorRule(c.dtype).start(c.in).start(c.out));
  launch<softmax_lines<T>>(Place(c.launch), lines.grid(), lines, c);
}
template <class T>
void run(const SoftmaxGradCall& c) {
  const auto lines = Lines::of<T>(c.outer, c.size, c.inner, VectorRule(c.dtype).start(c.g).start(c.y).start(c.out));
  launch<softmax_grad_lines<T>>(Place(c.launch), lines.grid(), lines, c);
}
template <class T>
void run(const LogSumExpCall& c) {
  const auto lines = Lines::of<T>(c.outer, c.size, c.inner, VectorRule(c.dtype).start(c.in));
  launch<logsumexp_lines<T>>(Place(c.launch), lines.grid(), lines, c);
}

template <class Call>
void in_its_type(const Call& c) {
  if (c.outer * c.inner == 0) return;
  if (c.dtype == DType::Float64) run<double>(c);
  else run<float>(c);
}

const CudaKernel<SoftmaxCall> entry("softmax", in_its_type<SoftmaxCall>);
const CudaKernel<SoftmaxGradCall> grad_entry("softmax_backward", in_its_type<SoftmaxGradCall>);
const CudaKernel<LogSumExpCall> log_entry("logsumexp", in_its_type<LogSumExpCall>);

}  // namespace
}  // namespace tessera::tensor::cuda
