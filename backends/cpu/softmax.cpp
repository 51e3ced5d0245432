// softmax, log_softmax, logsumexp and their gradients, line by line. The largest element comes first, so that no
// exponential overflows; then the sum of the exponentials, then what is wanted of it.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
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

// Floats of lines of halves that are kept at once: half of a first-level cache.
inline constexpr int64_t kLongestKept = 4096;
template <class T, int64_t kSize>
struct Kept {
  T e[kSize];
};
template <class T>
struct Kept<T, 0> {};

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
      // The exponentials wait in the result; a half would lose what the quotient needs, so they wait beside it.
      constexpr bool kKeep = std::is_same_v<In, T>;
      Kept<T, kKeep ? 0 : kLongestKept> kept;
      const int64_t apart = line.kColumns ? Wide<T>::kSize : 1;
      const bool beside = !kKeep && c.size * apart <= kLongestKept - Wide<T>::kSize;
      const Wide<T> scale = Wide<T>(T(1)) / line.template fold<Add>(T(0), [&](Place<T> at) TS_LANES {
        const Wide<T> e = power(at);
        if constexpr (kKeep) at.store(e, out);
        else if (beside) store_wide(e, kept.e + at.along * apart);
        return e;
      });
      line.map([&](Place<T> at) TS_LANES {
        if constexpr (kKeep) at.store(at.load(out) * scale, out);
        else at.store((beside ? load_wide<T>(kept.e + at.along * apart) : power(at)) * scale, out);
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
TS_ROW_KERNEL(softmax_kernel, SoftmaxCall, softmax_lines)
TS_ROW_KERNEL(softmax_grad_kernel, SoftmaxGradCall, softmax_grad_lines)
TS_ROW_KERNEL(logsumexp_kernel, LogSumExpCall, logsumexp_lines)
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
