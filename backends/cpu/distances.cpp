// The p-norms of the differences of rows. Each is added up in eight lanes whatever the processor has, and by one thread. The
// compiler makes vectors of the lanes; sums of squares and of absolute values are worth a version for wider ones.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/distances.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/threads.h"
#include "runtime/ops/distances.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

enum class Norm { Count, Sum, Euclid, Most, Power };

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

/// From one row to `count` others.
template <Norm kNorm, class T>
void measure_row(const T* x, const T* others, int64_t count, int64_t width, T* to, T p) {
  for (int64_t j = 0; j < count; j++) to[j] = distance<kNorm>(x, others + j * width, width, p);
}

template <class T>
void measure_row_by(double p, const T* x, const T* others, int64_t count, int64_t width, T* to) {
  if (p == 1) return measure_row<Norm::Sum>(x, others, count, width, to, T(p));
  if (p == 2) return measure_row<Norm::Euclid>(x, others, count, width, to, T(p));
#if HWY_TARGET == HWY_STATIC_TARGET
  if (p == 0) return measure_row<Norm::Count>(x, others, count, width, to, T(p));
  if (std::isinf(p)) return measure_row<Norm::Most>(x, others, count, width, to, T(p));
  measure_row<Norm::Power>(x, others, count, width, to, T(p));
#endif
}

void floats(double p, const float* x, const float* others, int64_t count, int64_t width, float* to) {
  measure_row_by(p, x, others, count, width, to);
}
void doubles(double p, const double* x, const double* others, int64_t count, int64_t width, double* to) {
  measure_row_by(p, x, others, count, width, to);
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
namespace {

HWY_EXPORT(floats);
HWY_EXPORT(doubles);

template <class T, class F>
void measure(const DistanceCall& c, F measure_row) {
  const T *const a = static_cast<const T*>(c.a), *const b = static_cast<const T*>(c.b);
  T* const out = static_cast<T*>(c.out);
  const int64_t n = c.rows_a, others = b ? c.rows_b : n;
  parallel_for(c.batches * n, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, others * (c.width + 8))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; i++) {
                   const T* x = a + i * c.width;
                   if (b) measure_row(c.p, x, b + i / n * c.rows_b * c.width, c.rows_b, c.width, out + i * c.rows_b);
                   else measure_row(c.p, x, x + c.width, n - 1 - i, c.width, out + i * n - i * (i + 1) / 2);
                 }
               });
}

void measure_all(const DistanceCall& c) {
  const bool plain = c.p == 1 || c.p == 2;
  if (c.dtype == kFloat32) measure<float>(c, plain ? &HWY_DYNAMIC_DISPATCH(floats) : &HWY_STATIC_DISPATCH(floats));
  else measure<double>(c, plain ? &HWY_DYNAMIC_DISPATCH(doubles) : &HWY_STATIC_DISPATCH(doubles));
}

const KernelRegistration<DistanceCall> registration{distance_kernel, DeviceType::Cpu, measure_all};

}  // namespace
}  // namespace tessera::tensor::cpu
#endif
