// The p-norms of the differences of rows. Each is added up in eight lanes whatever the processor has, and by one thread.
#include "runtime/ops/distances.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/threads.h"

namespace tessera::tensor::cpu {
namespace {

enum class Norm { Count, Sum, Euclid, Most, Power };

Norm norm_of(double p) {
  return p == 0 ? Norm::Count : p == 1 ? Norm::Sum : p == 2 ? Norm::Euclid : std::isinf(p) ? Norm::Most : Norm::Power;
}

template <Norm kNorm, class T>
inline T met(T total, T x, T y, T p) {
  const T d = std::abs(x - y);
  if constexpr (kNorm == Norm::Count) return total + T(d != 0);
  else if constexpr (kNorm == Norm::Sum) return total + d;
  else if constexpr (kNorm == Norm::Euclid) return total + d * d;
  else if constexpr (kNorm == Norm::Most) return d > total || d != d ? d : total;
  else return total + std::pow(d, p);
}

template <Norm kNorm, class T>
T distance(const T* x, const T* y, int64_t n, T p) {
  constexpr int kLanes = 8;
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; k++) lanes[k] = met<kNorm>(lanes[k], x[i + k], y[i + k], p);
  for (; i < n; i++) lanes[i % kLanes] = met<kNorm>(lanes[i % kLanes], x[i], y[i], p);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; k++)
      lanes[k] = kNorm == Norm::Most ? met<kNorm>(lanes[k], lanes[k + half], T(0), p) : lanes[k] + lanes[k + half];
  if constexpr (kNorm == Norm::Euclid) return std::sqrt(lanes[0]);
  return kNorm == Norm::Power ? std::pow(lanes[0], 1 / p) : lanes[0];
}

template <Norm kNorm, class T>
void measure(const DistanceCall& c) {
  const T *const a = static_cast<const T*>(c.a), *const b = static_cast<const T*>(c.b);
  T* const out = static_cast<T*>(c.out);
  const int64_t n = c.rows_a, grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, c.rows_b * (c.width + 8)));
  parallel_for(c.batches * n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      // Without b the rows after this one; what rows before it have written are that many more each.
      const T* other = b ? b + i / n * c.rows_b * c.width : a + (i + 1) * c.width;
      T* to = out + (b ? i * c.rows_b : i * n - i * (i + 1) / 2);
      const int64_t count = b ? c.rows_b : n - 1 - i;
      for (int64_t j = 0; j < count; j++)
        to[j] = distance<kNorm>(a + i * c.width, other + j * c.width, c.width, T(c.p));
    }
  });
}

template <class T>
void measure_rows(const DistanceCall& c) {
  switch (norm_of(c.p)) {
    case Norm::Count: return measure<Norm::Count, T>(c);
    case Norm::Sum: return measure<Norm::Sum, T>(c);
    case Norm::Euclid: return measure<Norm::Euclid, T>(c);
    case Norm::Most: return measure<Norm::Most, T>(c);
    case Norm::Power: return measure<Norm::Power, T>(c);
  }
}

void measure_all(const DistanceCall& c) { c.dtype == kFloat64 ? measure_rows<double>(c) : measure_rows<float>(c); }

const KernelRegistration<DistanceCall> registration{distance_kernel, DeviceType::Cpu, measure_all};

}  // namespace
}  // namespace tessera::tensor::cpu
