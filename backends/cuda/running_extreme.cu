// The largest or smallest element so far and where it stands, the last of equal ones.
#include "backends/cuda/best.cuh"
#include "backends/cuda/scan.cuh"
#include "runtime/ops/sorting.h"

namespace tessera::tensor::cuda {
namespace {

template <class T>
struct RunningExtreme {
  using Total = Best<T>;

  const T* in;
  T* out;
  int64_t* index;
  bool largest;

  __device__ Total start() const { return {}; }
  __device__ Total merge(const Total& a, const Total& b) const {
    if (a.is_none() || b.is_none()) return a.is_none() ? b : a;
    return beats(a.value, b.value, largest) ? a : b;
  }
  __device__ void load(Total (&to)[kPack], const ScanPack& at) const {
#pragma unroll
    for (int j = 0; j < kPack; j++) to[j] = at.has(j) ? Total(in[at.offset + j * at.step], at.index_of(j)) : Total();
  }
  __device__ void store(const Total (&from)[kPack], const ScanPack& at) const {
#pragma unroll
    for (int j = 0; j < kPack; j++)
      if (at.has(j)) out[at.offset + j * at.step] = from[j].value, index[at.offset + j * at.step] = from[j].index();
  }
};

template <class T>
void run(const RunningExtremeCall& c) {
  scan(c.launch, ScanShape(c.outer, c.n, c.inner, false, VectorRule(c.dtype)),
       RunningExtreme<T>{static_cast<const T*>(c.in), static_cast<T*>(c.out), c.index, c.largest});
}

void running_extreme(const RunningExtremeCall& c) {
  switch (c.dtype) {
    case DType::Float32: return run<float>(c);
    case DType::Float64: return run<double>(c);
    case DType::UInt64: return run<unsigned long long>(c);
    default: return run<long long>(c);
  }
}

const CudaKernel<RunningExtremeCall> entry("running_extreme", running_extreme);

}  // namespace
}  // namespace tessera::tensor::cuda
