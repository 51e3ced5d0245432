// softmax of rows: the largest element first, so that no exponential overflows; then the sum, then the quotient.
#include "runtime/ops/softmax.h"

#include <cmath>
#include <limits>

#include "backends/cpu/threads.h"

namespace tessera::tensor::cpu {
namespace {

template <class T>
void one_row(const SoftmaxCall& c, const T* in, T* out) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const int64_t n = c.size, step = c.inner;
  const auto at = [&](int64_t i) { return convert_element<Sum>(in[i * step]); };
  Sum most = -std::numeric_limits<Sum>::infinity(), total = 0;
  for (int64_t i = 0; i < n; i++) {
    const Sum x = at(i);
    most = x > most || std::isnan(x) ? x : most;
  }
  if (c.logarithm) {
    for (int64_t i = 0; i < n; i++) total += std::exp(at(i) - most);
    const Sum log_total = std::log(total);
    for (int64_t i = 0; i < n; i++) out[i * step] = convert_element<T>(at(i) - most - log_total);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    const Sum e = std::exp(at(i) - most);
    total += e;
    out[i * step] = convert_element<T>(e);
  }
  for (int64_t i = 0; i < n; i++) out[i * step] = convert_element<T>(convert_element<Sum>(out[i * step]) / total);
}

void softmax_rows(const SoftmaxCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_integral_v<T>) {
      const int64_t grain = std::max<int64_t>(1, 16384 / c.size);
      parallel_for(c.outer * c.inner, grain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; row++) {
          const int64_t start = row / c.inner * c.size * c.inner + row % c.inner;
          one_row(c, static_cast<const T*>(c.in) + start, static_cast<T*>(c.out) + start);
        }
      });
    }
  });
}

const KernelRegistration<SoftmaxCall> registration{softmax_kernel, DeviceType::Cpu, softmax_rows};

}  // namespace
}  // namespace tessera::tensor::cpu
