// softmax, log_softmax, logsumexp and their gradients, line by line. The largest element comes first, so that no
// exponential overflows; then the sum of the exponentials, then what is wanted of it.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/row_types.h"
#include "backends/cpu/line-inl.h"
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

void softmax_lines(const SoftmaxCall& c) {
  with_row_type(c.dtype, [&](auto in_tag, auto tag) {
    using In = decltype(in_tag);
    using T = decltype(tag);
    const In* in = static_cast<const In*>(c.in);
    In* out = static_cast<In*>(c.out);
    const T lowest = -std::numeric_limits<T>::infinity();
    each_line<T>(c.outer, c.size, c.inner, [&](const auto& line) TS_LANES {
      const Wide<T> most = line.template fold<Most>(lowest, [&](Place<T> at) TS_LANES { return at.load(in); });
      const auto power = [&](Place<T> at) TS_LANES { return exp(at.load(in) - most); };
      if (c.logarithm) {
        const Wide<T> log_total = log(line.template fold<Add>(T(0), power));
        line.map([&](Place<T> at) TS_LANES { at.store(at.load(in) - most - log_total, out); });
        return;
      }
      constexpr bool kKeep = std::is_same_v<In, T>;  // a half would lose what the quotient needs
      const Wide<T> scale = Wide<T>(T(1)) / line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES {
        const Wide<T> e = power(at);
        if constexpr (kKeep) at.store(e, out);
        return e;
      });
      line.map([&](Place<T> at) TS_LANES {
        if constexpr (kKeep) at.store(at.load(out) * scale, out);
        else at.store(power(at) * scale, out);
      });
    });
  });
}

void softmax_grad_lines(const SoftmaxGradCall& c) {
  with_row_type(c.dtype, [&](auto in_tag, auto tag) {
    using In = decltype(in_tag);
    using T = decltype(tag);
    const In *g = static_cast<const In*>(c.g), *y = static_cast<const In*>(c.y);
    In* out = static_cast<In*>(c.out);
    each_line<T>(c.outer, c.size, c.inner, [&](const auto& line) TS_LANES {
      if (c.logarithm) {
        const Wide<T> total = line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return at.load(g); });
        line.map([&](Place<T> at) TS_LANES { at.store(at.load(g) - exp(at.load(y)) * total, out); });
      } else {
        const Wide<T> total =
            line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return at.load(g) * at.load(y); });
        line.map([&](Place<T> at) TS_LANES { at.store((at.load(g) - total) * at.load(y), out); });
      }
    });
  });
}

void logsumexp_lines(const LogSumExpCall& c) {
  with_row_type(c.dtype, [&](auto in_tag, auto tag) {
    using In = decltype(in_tag);
    using T = decltype(tag);
    const In* in = static_cast<const In*>(c.in);
    In* out = static_cast<In*>(c.out);
    const T lowest = -std::numeric_limits<T>::infinity();
    each_line<T>(c.outer, c.size, c.inner, [&](const auto& line) TS_LANES {
      const Wide<T> most =
          finite_or_zero(line.template fold<Most>(lowest, [&](Place<T> at) TS_LANES { return at.load(in); }));
      const Wide<T> total =
          line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES { return exp(at.load(in) - most); });
      line.store_statistic(log(total) + most, out);
    });
  });
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
HWY_EXPORT(softmax_lines);
HWY_EXPORT(softmax_grad_lines);
HWY_EXPORT(logsumexp_lines);
const KernelRegistration<SoftmaxCall> softmax_registration{softmax_kernel, DeviceType::Cpu, [](const SoftmaxCall& c) {
                                                             HWY_DYNAMIC_DISPATCH(softmax_lines)(c);
                                                           }};
const KernelRegistration<SoftmaxGradCall> grad_registration{softmax_grad_kernel, DeviceType::Cpu,
                                                            [](const SoftmaxGradCall& c) {
                                                              HWY_DYNAMIC_DISPATCH(softmax_grad_lines)(c);
                                                            }};
const KernelRegistration<LogSumExpCall> logsumexp_registration{
    logsumexp_kernel, DeviceType::Cpu, [](const LogSumExpCall& c) { HWY_DYNAMIC_DISPATCH(logsumexp_lines)
                                                                    (c); }};
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
