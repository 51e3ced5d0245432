// Steps of optimizers on lanes. Each line is an op of the formula in stdlib/torch/optim, rounded where that op rounds.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/optimizer_steps.cpp"
#include <cmath>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/number.h"
#include "backends/cpu/lane_memory-inl.h"
#include "backends/cpu/threads.h"
#include "hwy/highway.h"
#include "runtime/ops/optimizer_steps.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

template <class T>
struct Step {
  T *weight, *first, *second;
  const T* gradient;
  const double* numbers;

  explicit Step(const OptimizerCall& c)
      : weight(static_cast<T*>(c.weight)),
        first(static_cast<T*>(c.first)),
        second(static_cast<T*>(c.second)),
        gradient(static_cast<const T*>(c.gradient)),
        numbers(c.numbers) {}
};
template <class T>
HWY_INLINE Lane<T> at(const T* p, int64_t j, int count) {
  return load_lane(p + j, count);
}

// numbers: beta1, beta2, eps, step size, correction of the spread.
template <class T>
void adam(const Step<T>& s, int64_t begin, int64_t end) {
  const double weight = 1 - s.numbers[0];
  const Lane<T> w = weight, rest = T(1) - T(weight), beta2 = s.numbers[1], value = 1 - s.numbers[1], eps = s.numbers[2];
  const Lane<T> step = -s.numbers[3], correction = s.numbers[4];
  const bool near = std::abs(T(weight)) < T(0.5);
  each_lane<T>(end - begin, [&](int64_t i, int count) HWY_ATTR {
    const int64_t j = begin + i;
    const Lane<T> g = at(s.gradient, j, count), old = at<T>(s.first, j, count);
    const Lane<T> mean = near ? m::mul_add(w, g - old, old) : m::mul_add(old - g, rest, g);
    const Lane<T> square = m::mul_add(value * g, g, at<T>(s.second, j, count) * beta2);
    const Lane<T> spread = m::sqrt(square) / correction + eps;
    store_lane(mean, s.first + j, count);
    store_lane(square, s.second + j, count);
    store_lane(at<T>(s.weight, j, count) + step * mean / spread, s.weight + j, count);
  });
}
// numbers: momentum, rate of the gradient, learning rate.
template <class T>
void momentum(const Step<T>& s, int64_t begin, int64_t end) {
  const Lane<T> keep = s.numbers[0], rate = s.numbers[1], step = -s.numbers[2];
  each_lane<T>(end - begin, [&](int64_t i, int count) HWY_ATTR {
    const int64_t j = begin + i;
    const Lane<T> buffer = m::mul_add(rate, at(s.gradient, j, count), at<T>(s.first, j, count) * keep);
    store_lane(buffer, s.first + j, count);
    store_lane(m::mul_add(step, buffer, at<T>(s.weight, j, count)), s.weight + j, count);
  });
}
// numbers: alpha, eps, learning rate.
template <class T>
void rms_prop(const Step<T>& s, int64_t begin, int64_t end) {
  const Lane<T> alpha = s.numbers[0], value = 1 - s.numbers[0], eps = s.numbers[1], step = -s.numbers[2];
  each_lane<T>(end - begin, [&](int64_t i, int count) HWY_ATTR {
    const int64_t j = begin + i;
    const Lane<T> g = at(s.gradient, j, count), square = m::mul_add(value * g, g, at<T>(s.first, j, count) * alpha);
    store_lane(square, s.first + j, count);
    store_lane(at<T>(s.weight, j, count) + step * g / (m::sqrt(square) + eps), s.weight + j, count);
  });
}
// numbers: eps, learning rate.
template <class T>
void adagrad(const Step<T>& s, int64_t begin, int64_t end) {
  const Lane<T> eps = s.numbers[0], step = -s.numbers[1];
  each_lane<T>(end - begin, [&](int64_t i, int count) HWY_ATTR {
    const int64_t j = begin + i;
    const Lane<T> g = at(s.gradient, j, count), sum = m::mul_add(g, g, at<T>(s.first, j, count));
    store_lane(sum, s.first + j, count);
    store_lane(at<T>(s.weight, j, count) + step * g / (m::sqrt(sum) + eps), s.weight + j, count);
  });
}

template <class T>
void range(const OptimizerCall& c, int64_t begin, int64_t end) {
  const Step<T> step(c);
  switch (c.rule) {
    case OptimizerCall::Adam: return adam(step, begin, end);
    case OptimizerCall::Momentum: return momentum(step, begin, end);
    case OptimizerCall::RmsProp: return rms_prop(step, begin, end);
    case OptimizerCall::Adagrad: return adagrad(step, begin, end);
    case OptimizerCall::Plain:
    case OptimizerCall::CountedAdam:
    case OptimizerCall::Unscale: return;  // only of many parameters, which the CPU moves one by one
  }
}
void float_range(const OptimizerCall& c, int64_t begin, int64_t end) { range<float>(c, begin, end); }
void double_range(const OptimizerCall& c, int64_t begin, int64_t end) { range<double>(c, begin, end); }

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
HWY_EXPORT(float_range);
HWY_EXPORT(double_range);

void optimizer_step(const OptimizerCall& c) {
  parallel_for(c.n, 8192, [&](int64_t begin, int64_t end) {
    if (c.dtype == kFloat32) HWY_DYNAMIC_DISPATCH(float_range)(c, begin, end);
    else HWY_DYNAMIC_DISPATCH(double_range)(c, begin, end);
  });
}
const KernelRegistration<OptimizerCall> registration{optimizer_kernel, DeviceType::Cpu, optimizer_step};
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
