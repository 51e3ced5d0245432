// softmax, log_softmax, logsumexp and their gradients, line by line. The largest element comes first, so that no
// exponential overflows; then the sum of the exponentials, then what is wanted of it.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/row_types.h"
#include "backends/cpu/line-inl.h"
#include "backends/cpu/log_total-inl.h"
#include "hwy/highway.h"
#include "runtime/ops/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

// exp(-inf - -inf) would be NaN where a sum of zeros is meant: a line of nothing but -inf.
template <class T>
HWY_INLINE Wide<T> finite_or_zero(Wide<T> x) {
  return apply<T>([](Lane<T> a) HWY_ATTR { return m::select(m::is_inf(a), Lane<T>(0.0), a); }, x);
}

template <class H>
HWY_INLINE Lane<float> rounded_to(Lane<float> a) {
  const Tag<float> d;
  alignas(64) float each[hn::MaxLanes(d)];
  hn::Store(a.v, d, each);
  for (float& x : each) x = float(H(x));
  return Lane<float>(hn::Load(d, each));
}
// A statistic as PyTorch keeps it of lines of halves along the last dimension: an element of the tensor.
template <class Line, class T>
HWY_INLINE Wide<T> as_kept(const Line& line, DType kept, Wide<T> x) {
  if constexpr (std::is_same_v<T, float>) {
    if (kept == DType::Float16) return line.apply_to_statistic([](Lane<T> a) TS_LANES { return rounded_to<Half>(a); }, x);
    if (kept == DType::BFloat16) return line.apply_to_statistic([](Lane<T> a) TS_LANES { return rounded_to<BFloat16>(a); }, x);
  }
  return x;
}

// The exponentials wait in the result. `kept` is the dtype of the sums and their logarithms.
template <class Line, class T>
HWY_INLINE void softmax_line(const Line& line, bool logarithm, DType kept, const T* in, T* out) {
  const T lowest = -std::numeric_limits<T>::infinity();
  const Wide<T> most = line.template fold<Most>(lowest, [&](Place<T> at) TS_LANES { return at.load(in); });
  if (logarithm) {
    const Wide<T> total = line.sum_of_pieces([&](Place<T> at) TS_LANES { return exp(at.load(in) - most); });
    const Wide<T> log_total = as_kept(line, kept, log_of_total(line, as_kept(line, kept, total)));
    return line.map([&](Place<T> at) TS_LANES { at.store(at.load(in) - most - log_total, out); });
  }
  const Wide<T> scale = Wide<T>(T(1)) / line.sum_of_pieces([&](Place<T> at) TS_LANES {
    const Wide<T> e = exp(at.load(in) - most);
    at.store(e, out);
    return e;
  });
  line.map([&](Place<T> at) TS_LANES { at.store(at.load(out) * scale, out); });
}
void softmax_lines(const SoftmaxCall& c) {
  with_arithmetic_type(c.dtype, [&](auto t) {
    const Elements<decltype(t)> in[] = {{c.dtype, c.in}}, out{c.dtype, c.out};
    each_line(c.outer, c.size, c.inner, in, out,
              [&](const auto& line, const auto& x, auto* y) TS_LANES { softmax_line(line, c.logarithm, c.inner == 1 ? c.dtype : DType::Float64, x[0], y); });
  });
}

template <class T, class Line>
HWY_INLINE void softmax_grad_line(const Line& line, bool logarithm, const T* g, const T* y, T* out) {
  if (logarithm) {
    const Wide<T> total = line.sum_of_pieces([&](Place<T> at) TS_LANES { return at.load(g); });
    return line.map([&](Place<T> at) TS_LANES { at.store(less_product(at.load(g), exp(at.load(y)), total), out); });
  }
  const Wide<T> total = line.sum_of_products([&](Place<T> at) TS_LANES { return at.load(g); },
                                             [&](Place<T> at) TS_LANES { return at.load(y); });
  line.map([&](Place<T> at) TS_LANES { at.store((at.load(g) - total) * at.load(y), out); });
}
void softmax_grad_lines(const SoftmaxGradCall& c) {
  with_arithmetic_type(c.dtype, [&](auto t) {
    const Elements<decltype(t)> in[] = {{c.dtype, c.g}, {c.dtype, c.y}}, out{c.dtype, c.out};
    each_line(c.outer, c.size, c.inner, in, out, [&](const auto& line, const auto& x, auto* dx) TS_LANES {
      softmax_grad_line(line, c.logarithm, x[0], x[1], dx);
    });
  });
}

void logsumexp_lines(const LogSumExpCall& c) {
  with_arithmetic_type(c.dtype, [&](auto t) {
    using T = decltype(t);
    const Elements<T> in[] = {{c.dtype, c.in}}, none{c.dtype, nullptr}, out{c.dtype, c.out};
    const auto buffer = out.buffer(c.outer * c.inner);
    T* const results = out.place(0, buffer.data());
    const T lowest = -std::numeric_limits<T>::infinity();
    each_line(c.outer, c.size, c.inner, in, none, [&](const auto& line, const auto& x, const void*) TS_LANES {
      const Wide<T> most =
          finite_or_zero(line.template fold<Most>(lowest, [&](Place<T> at) TS_LANES { return at.load(x[0]); }));
      const Wide<T> total =
          line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return exp(at.load(x[0]) - most); });
      line.store_statistic(log_of_total(line, total) + most, results);
    });
    out.written(0, c.outer * c.inner, results);
  });
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
TS_ROW_KERNEL(softmax_kernel, SoftmaxCall, softmax_lines)
TS_ROW_KERNEL(softmax_grad_kernel, SoftmaxGradCall, softmax_grad_lines)
TS_ROW_KERNEL(logsumexp_kernel, LogSumExpCall, logsumexp_lines)
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
