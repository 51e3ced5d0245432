// linspace and logspace, and the places of triangles: each thread computes elements from their numbers.
#include "backends/cuda/element.cuh"
#include "backends/cuda/launch.cuh"
#include "runtime/ops/steps.h"

namespace tessera::tensor::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) write_steps(const __grid_constant__ StepsCall c) {
  const T start = T(c.start), end = T(c.end), step = T(c.step);
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < c.n; i += threads) {
    const bool first_half = i < c.n / 2 || c.n == 1;
    const T from = first_half ? start : end, by = first_half ? step : -step, count = T(first_half ? i : c.n - 1 - i);
    if (!c.is_power) {
      store_as(static_cast<char*>(c.out), i, c.dtype, fma(by, count, from));
      continue;
    }
    const T way = fma(by, count, T(0));  // rounded by itself, as the CPU does it: whole powers of integers hang on it
    store_as(static_cast<char*>(c.out), i, c.dtype, pow(c.base, double(from + way)));
  }
}
void steps(const StepsCall& c) {
  const Place place(c.launch);
  if (c.wide) launch<write_steps<double>>(place, {blocks_for(c.n), kThreads}, c);
  else launch<write_steps<float>>(place, {blocks_for(c.n), kThreads}, c);
}

template <class T>
__global__ void __launch_bounds__(kThreads) write_places(const __grid_constant__ TrianglePlacesCall c) {
  T* const out = static_cast<T*>(c.out);
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < c.n; i += threads) {
    int64_t row = 0;  // the last one before which there are no more than i
    for (int64_t end = c.rows; row + 1 < end;) {
      const int64_t middle = row + (end - row) / 2;
      if (c.before(middle) <= i) row = middle;
      else end = middle;
    }
    const int64_t first = c.upper && row + c.offset > 0 ? row + c.offset : 0;
    out[i] = T(row);
    out[c.n + i] = T(first + i - c.before(row));
  }
}
void triangle(const TrianglePlacesCall& c) {
  const Place place(c.launch);
  if (c.dtype == DType::Int32) launch<write_places<int>>(place, {blocks_for(c.n), kThreads}, c);
  else launch<write_places<long long>>(place, {blocks_for(c.n), kThreads}, c);
}

const CudaKernel<StepsCall> entry("steps", steps);
const CudaKernel<TrianglePlacesCall> triangle_entry("triangle_places", triangle);

}  // namespace
}  // namespace tessera::tensor::cuda
