// Running sums and products: halves and float32 in float32, float64 in float64, integers in int64.
#include "backends/cuda/along.h"
#include "backends/cuda/scan.cuh"

namespace tessera::tensor::cuda {
namespace {

template <class T>
struct Running {
  using Total = T;

  const void* in;
  void* out;
  DType dtype;
  bool product;

  __device__ T start() const { return product ? T(1) : T(0); }
  __device__ T merge(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {  // wraps round
      const auto x = (unsigned long long)a, y = (unsigned long long)b;
      return T(product ? x * y : x + y);
    } else {
      return product ? a * b : a + b;
    }
  }
  /// The order of memory to that of the scan, and back. Numbers change places: an index that is not known would make an array
  /// in memory of registers.
  static __device__ void turn(T (&v)[kPack], bool backwards) {
    const T first = v[0], second = v[1];
    v[0] = backwards ? v[3] : v[0], v[1] = backwards ? v[2] : v[1];
    v[2] = backwards ? second : v[2], v[3] = backwards ? first : v[3];
  }
  __device__ void load(T (&to)[kPack], const ScanPack& at) const {
    with_stored<T>(dtype, [&](auto s) {
      using S = typename decltype(s)::type;
      const S* const x = static_cast<const S*>(in);
      if constexpr (sizeof(S) <= 4) {
        if (at.vector) {
          Vector<S, kPack> some = {};
          if (at.count)
            some = *reinterpret_cast<const Vector<S, kPack>*>(x + (at.step < 0 ? at.offset - 3 : at.offset));
#pragma unroll
          for (int j = 0; j < kPack; j++) to[j] = converted<S, T>(some.v[j]);
          turn(to, at.step < 0);
#pragma unroll
          for (int j = 0; j < kPack; j++)
            if (!at.has(j)) to[j] = start();
          return;
        }
      }
#pragma unroll
      for (int j = 0; j < kPack; j++) to[j] = at.has(j) ? converted<S, T>(x[at.offset + j * at.step]) : start();
    });
  }
  __device__ void store(const T (&from)[kPack], const ScanPack& at) const {
    with_stored<T>(dtype, [&](auto s) {
      using S = typename decltype(s)::type;
      S* const y = static_cast<S*>(out);
      if constexpr (sizeof(S) <= 4) {
        if (at.vector) {
          if (at.count == 0) return;
          Vector<S, kPack> some;
          T turned[kPack];
#pragma unroll
          for (int j = 0; j < kPack; j++) turned[j] = from[j];
          turn(turned, at.step < 0);
#pragma unroll
          for (int j = 0; j < kPack; j++) some.v[j] = converted<T, S>(turned[j]);
          *reinterpret_cast<Vector<S, kPack>*>(y + (at.step < 0 ? at.offset - 3 : at.offset)) = some;
          return;
        }
      }
#pragma unroll
      for (int j = 0; j < kPack; j++)
        if (at.has(j)) y[at.offset + j * at.step] = converted<T, S>(from[j]);
    });
  }
};

template <class T>
void run(const AlongCall& c) {
  VectorRule rule(c.dtype);
  rule.start(c.in).start(c.out);
  scan(c.launch, ScanShape(c.outer, c.n, c.inner, c.backwards, rule),
       Running<T>{c.in, c.out, c.dtype, c.op == AlongCall::Product});
}

void along(const AlongCall& c) {
  if (c.op == AlongCall::Max || c.op == AlongCall::Min) return extreme_along(c);
  if (is_stored_for<float>(c.dtype)) return run<float>(c);
  if (is_stored_for<double>(c.dtype)) return run<double>(c);
  if (is_stored_for<long long>(c.dtype)) return run<long long>(c);
  fail_with(TensorErrorKind::NotImplemented, "running sums are not implemented for this dtype on CUDA");
}

const CudaKernel<AlongCall> entry("cumsum", along);

}  // namespace
}  // namespace tessera::tensor::cuda
