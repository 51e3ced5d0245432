// Weighted sums of a few items along a dimension, and their transpose: rows where there are dimensions inside, else numbers.
// compile: dynamic-vectors (plain loops over elements)
#include "runtime/ops/resample.h"

#include <algorithm>

#include "backends/cpu/threads.h"

namespace tessera::tensor::cpu {
namespace {

template <class T>
class Taps {
 public:
  explicit Taps(const TapsCall& c)
      : c_(c),
        in_(static_cast<const T*>(c.in)),
        out_(static_cast<T*>(c.out)),
        weights_(static_cast<const T*>(c.weights)) {}

  void run() {
    const int64_t items = c_.outer * (c_.spread ? 1 : c_.wanted),
                  cost = c_.inner * c_.taps * (c_.spread ? c_.wanted : 1);
    parallel_for(items, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, cost)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        if (c_.spread) spread(i);
        else if (c_.inner == 1) i = numbers(i, end) - 1;
        else row(i);
      }
    });
  }

 private:
  // Item i % wanted of the result's line i / wanted.
  void row(int64_t i) {
    const int64_t n = c_.inner, at = i % c_.wanted * c_.taps;
    T* out = out_ + i * n;
    for (int64_t k = 0; k < c_.taps; k++) {
      const T* in = in_ + (i / c_.wanted * c_.size + c_.places[at + k]) * n;
      const T w = weights_[at + k];
      if (k == 0)
        for (int64_t j = 0; j < n; j++) out[j] = in[j] * w;
      else
        for (int64_t j = 0; j < n; j++) out[j] += in[j] * w;
    }
  }

  // Items from i on to the end of the line, or of the piece; returns which one comes next.
  int64_t numbers(int64_t i, int64_t end) {
    const int64_t line = i / c_.wanted, last = std::min(end, (line + 1) * c_.wanted);
    const T* in = in_ + line * c_.size;
    const int64_t* places = c_.places + i % c_.wanted * c_.taps;
    const T* w = weights_ + i % c_.wanted * c_.taps;
    if (c_.taps == 2) {
      for (; i < last; i++, places += 2, w += 2) out_[i] = in[places[0]] * w[0] + in[places[1]] * w[1];
      return last;
    }
    for (; i < last; i++, places += c_.taps, w += c_.taps) {
      T total = in[places[0]] * w[0];
      for (int64_t k = 1; k < c_.taps; k++) total += in[places[k]] * w[k];
      out_[i] = total;
    }
    return last;
  }

  void spread(int64_t line) {
    const int64_t n = c_.inner;
    const T* in = in_ + line * c_.wanted * n;
    T* const out = out_ + line * c_.size * n;
    std::fill_n(out, c_.size * n, T(0));
    for (int64_t i = 0; i < c_.wanted; i++, in += n)
      for (int64_t k = 0; k < c_.taps; k++) {
        T* to = out + c_.places[i * c_.taps + k] * n;
        const T w = weights_[i * c_.taps + k];
        for (int64_t j = 0; j < n; j++) to[j] += in[j] * w;
      }
  }

  const TapsCall& c_;
  const T* in_;
  T* out_;
  const T* weights_;
};

void run_taps(const TapsCall& c) { c.dtype == kFloat64 ? Taps<double>(c).run() : Taps<float>(c).run(); }

const KernelRegistration<TapsCall> registration{taps_kernel, DeviceType::Cpu, run_taps};

}  // namespace
}  // namespace tessera::tensor::cpu
