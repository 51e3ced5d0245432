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

// The exponentials wait in the result; a half would lose what the quotient needs, so they wait beside it.
template <class Line, class T, class Out>
HWY_INLINE void softmax_line(const Line& line, bool logarithm, const T* in, Out* out) {
  const T lowest = -std::numeric_limits<T>::infinity();
  const Wide<T> most = line.template fold<Most>(lowest, [&](Place<T> at) TS_LANES { return at.load(in); });
  if (logarithm) {
    const Wide<T> total = line.sum_of_pieces([&](Place<T> at) TS_LANES { return exp(at.load(in) - most); });
    const Wide<T> log_total = log_of_total(line, total);
    return line.map([&](Place<T> at) TS_LANES { at.store(at.load(in) - most - log_total, out); });
  }
  const Wide<T> scale = Wide<T>(T(1)) / line.sum_of_pieces([&](Place<T> at) TS_LANES {
    const Wide<T> e = exp(at.load(in) - most);
    at.store(e, out);
    return e;
  });
  line.map([&](Place<T> at) TS_LANES { at.store(at.load(out) * scale, out); });
}
template <class T, class Half>
HWY_INLINE void softmax_line(const Row<T>& line, bool logarithm, const Half* in, Half* out) {
  const Scratch<T> numbers(line.n + Wide<T>::kSize);
  const auto put = [&](Wide<T> x, Place<T> at) TS_LANES { store_wide(x, numbers.data() + at.along); };
  const auto get = [&](Place<T> at) TS_LANES { return load_wide<T>(numbers.data() + at.along); };
  const T lowest = -std::numeric_limits<T>::infinity();
  const Wide<T> most = line.template fold<Most>(lowest, [&](Place<T> at) TS_LANES {
    const Wide<T> x = at.load(in);
    put(x, at);
    return x;
  });
  const Wide<T> total = line.sum_of_pieces([&](Place<T> at) TS_LANES {
    const Wide<T> x = get(at) - most, e = exp(x);
    put(logarithm ? x : e, at);
    return e;
  });
  if (logarithm) {
    const Wide<T> log_total = log_of_total(line, total);
    return line.map([&](Place<T> at) TS_LANES { at.store(get(at) - log_total, out); });
  }
  const Wide<T> scale = Wide<T>(T(1)) / total;
  line.map([&](Place<T> at) TS_LANES { at.store(get(at) * scale, out); });
}
void softmax_lines(const SoftmaxCall& c) {
  with_row_type(c.dtype, [&](auto in_tag, auto tag) {
    using In = decltype(in_tag);
    const In* const inputs[] = {static_cast<const In*>(c.in)};
    each_line<decltype(tag)>(c.outer, c.size, c.inner, inputs, static_cast<In*>(c.out),
                             [&](const auto& line, const auto& in, auto* out)
                                 TS_LANES { softmax_line(line, c.logarithm, in[0], out); });
  });
}

template <class T, class Line, class In, class Out>
HWY_INLINE void softmax_grad_line(const Line& line, bool logarithm, const In* g, const In* y, Out* out) {
  if (logarithm) {
    const Wide<T> total = line.sum_of_pieces([&](Place<T> at) TS_LANES { return at.load(g); });
    return line.map([&](Place<T> at) TS_LANES { at.store(less_product(at.load(g), exp(at.load(y)), total), out); });
  }
  const Wide<T> total = line.sum_of_products([&](Place<T> at) TS_LANES { return at.load(g); },
                                             [&](Place<T> at) TS_LANES { return at.load(y); });
  line.map([&](Place<T> at) TS_LANES { at.store((at.load(g) - total) * at.load(y), out); });
}
void softmax_grad_lines(const SoftmaxGradCall& c) {
  with_row_type(c.dtype, [&](auto in_tag, auto tag) {
    using In = decltype(in_tag);
    using T = decltype(tag);
    const In* const inputs[] = {static_cast<const In*>(c.g), static_cast<const In*>(c.y)};
    each_line<T>(c.outer, c.size, c.inner, inputs, static_cast<In*>(c.out),
                 [&](const auto& line, const auto& in, auto* out)
                     TS_LANES { softmax_grad_line<T>(line, c.logarithm, in[0], in[1], out); });
  });
}

void logsumexp_lines(const LogSumExpCall& c) {
  with_row_type(c.dtype, [&](auto in_tag, auto tag) {
    using In = decltype(in_tag);
    using T = decltype(tag);
    const In* const inputs[] = {static_cast<const In*>(c.in)};
    In* results = static_cast<In*>(c.out);
    const T lowest = -std::numeric_limits<T>::infinity();
    each_line<T>(c.outer, c.size, c.inner, inputs, static_cast<In*>(nullptr),
                 [&](const auto& line, const auto& in, const void*) TS_LANES {
                   const Wide<T> most = finite_or_zero(
                       line.template fold<Most>(lowest, [&](Place<T> at) TS_LANES { return at.load(in[0]); }));
                   const Wide<T> total =
                       line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return exp(at.load(in[0]) - most); });
                   line.store_statistic(log_of_total(line, total) + most, results);
                 });
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
