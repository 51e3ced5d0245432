// Cross entropy with class numbers, line by line: log(sum(exp(x - max))) and the target's element are all that a line needs,
// so the logarithms of all probabilities are never written. The bits are those of log_softmax and its gradient.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/loss.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/line-inl.h"
#include "backends/cpu/log_total-inl.h"
#include "backends/cpu/row_types.h"
#include "hwy/highway.h"
#include "runtime/ops/loss.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

template <class T>
int64_t lines_of(const Row<T>&) {
  return 1;
}
template <class T>
int64_t lines_of(const Columns<T>& c) {
  return c.count;
}

void cross_entropy_lines(const CrossEntropyCall& c) {
  with_arithmetic_type(c.dtype, [&](auto t) {
    using T = decltype(t);
    const Elements<T> inputs[] = {{c.dtype, c.x}}, none{c.dtype, nullptr};
    const T* weight = static_cast<const T*>(c.weight);
    T *loss = static_cast<T*>(c.loss), *log_totals = static_cast<T*>(c.log_totals), *counts = static_cast<T*>(c.counts);
    const T lowest = -std::numeric_limits<T>::infinity();
    const auto kernel = [&](const auto& line, const auto& in, const void*) TS_LANES {
      const auto x = in[0];
      const Wide<T> most = line.template fold<Most>(lowest, [&](Place<T> at) TS_LANES { return at.load(x); });
      const Wide<T> total = line.sum_of_pieces([&](Place<T> at) TS_LANES { return exp(at.load(x) - most); });
      line.store_statistic(log_of_total(line, total), log_totals);
      alignas(64) T most_of[size_t(Wide<T>::kSize)];
      store_wide(most, most_of);
      for (int64_t k = 0; k < lines_of(line); k++) {
        const int64_t number = line.line + k, target = c.target[number];
        if (target == c.ignore_index) {
          loss[number] = counts[number] = 0;
          continue;
        }
        if (target < 0 || target >= c.classes) fail(TensorErrorKind::Index, "Target ", target, " is out of bounds.");
        const T at_target = x[line.start + k + target * line.step];
        counts[number] = weight ? weight[target] : T(1);
        loss[number] = counts[number] * (log_totals[number] - (at_target - most_of[k]));
      }
    };
    each_line(c.outer, c.classes, c.inner, inputs, none, kernel);
  });
}

void cross_entropy_grad_lines(const CrossEntropyGradCall& c) {
  with_arithmetic_type(c.dtype, [&](auto t) {
    using T = decltype(t);
    const Elements<T> inputs[] = {{c.dtype, c.x}}, result{c.dtype, c.out};
    const T *log_totals = static_cast<const T*>(c.log_totals), *scales = static_cast<const T*>(c.scale);
    const auto kernel = [&](const auto& line, const auto& in, auto* out) TS_LANES {
      const auto x = in[0];
      alignas(64) T at_target[size_t(Wide<T>::kSize)] = {};  // read before the results come, which may lie where x does
      const auto place_of = [&](int64_t k) { return line.start + k + c.target[line.line + k] * line.step; };
      const auto is_ignored = [&](int64_t k) { return c.target[line.line + k] == c.ignore_index; };
      for (int64_t k = 0; k < lines_of(line); k++)
        if (!is_ignored(k)) at_target[k] = x[place_of(k)];
      const T lowest = -std::numeric_limits<T>::infinity();
      const Wide<T> most = line.template fold<Most>(lowest, [&](Place<T> at) TS_LANES { return at.load(x); });
      const Wide<T> log_total = line.load_statistic(log_totals), scale = line.load_statistic(scales);
      // At the target rounded once, as the gradient of log_softmax is there.
      const Wide<T> p = exp(load_wide<T>(at_target) - most - log_total);
      store_wide(plus_product(Wide<T>(T(0)) - scale, p, scale), at_target);
      line.map([&](Place<T> at) TS_LANES { at.store(exp(at.load(x) - most - log_total) * scale, out); });
      for (int64_t k = 0; k < lines_of(line); k++)
        if (!is_ignored(k)) out[place_of(k)] = at_target[k];
    };
    each_line(c.outer, c.classes, c.inner, inputs, result, kernel);
  });
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {
TS_ROW_KERNEL(cross_entropy_kernel, CrossEntropyCall, cross_entropy_lines)
TS_ROW_KERNEL(cross_entropy_grad_kernel, CrossEntropyGradCall, cross_entropy_grad_lines)
}  // namespace
}  // namespace tessera::tensor::cpu
#endif
