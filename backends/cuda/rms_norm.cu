// Root mean square norm and its gradient: a block of threads for each row; the weight's gradient goes down the columns, one
// thread each, in the order of the rows.
#include "backends/cuda/line.cuh"
#include "runtime/ops/rms_norm.h"

namespace tessera::tensor::cuda {
namespace {

template <class T>
__global__ void rms_norm_rows(RmsNormCall c) {
  const T* weight = static_cast<const T*>(c.weight);
  for (int64_t r = blockIdx.x; r < c.rows; r += gridDim.x) {
    const Line<T> line{r * c.n, c.n};
    const T squares = line.sum([&](int64_t i) {
      const T x = line.load(c.x, i, c.dtype);
      return x * x;
    });
    const T inverse = T(1) / sqrt(squares / T(c.n) + T(c.eps));
    line.map([&](int64_t i) {
      const T y = line.load(c.x, i, c.dtype) * inverse;
      line.store(c.out, i, c.dtype, weight ? y * weight[i] : y);
    });
    if (threadIdx.x == 0) static_cast<T*>(c.inverse)[r] = inverse;
  }
}

template <class T>
__global__ void rms_norm_dx(RmsNormGradCall c) {
  const T* weight = static_cast<const T*>(c.weight);
  for (int64_t r = blockIdx.x; r < c.rows; r += gridDim.x) {
    const Line<T> line{r * c.n, c.n};
    const T inverse = static_cast<const T*>(c.inverse)[r];
    const auto normal = [&](int64_t i) { return line.load(c.x, i, c.dtype) * inverse; };
    const auto scaled = [&](int64_t i) { return line.load(c.g, i, c.dtype) * (weight ? weight[i] : T(1)); };
    const T along = line.sum([&](int64_t i) { return scaled(i) * normal(i); }) / T(c.n);
    line.map([&](int64_t i) { line.store(c.dx, i, c.dtype, (scaled(i) - normal(i) * along) * inverse); });
  }
}

template <class T>
__global__ void rms_norm_dweight(RmsNormGradCall c) {
  const T* inverse = static_cast<const T*>(c.inverse);
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < c.n; i += int64_t(gridDim.x) * blockDim.x) {
    T total = T(0);
    for (int64_t r = 0; r < c.rows; r++) {
      const Line<T> line{r * c.n, c.n};
      total += line.load(c.g, i, c.dtype) * line.load(c.x, i, c.dtype) * inverse[r];
    }
    static_cast<T*>(c.dweight)[i] = total;
  }
}

template <class T>
void run(const RmsNormCall& c, const Place& place) {
  launch<rms_norm_rows<T>>(place, {blocks_for_rows(c.rows), kThreads}, c);
}
template <class T>
void run(const RmsNormGradCall& c, const Place& place) {
  if (c.dx) launch<rms_norm_dx<T>>(place, {blocks_for_rows(c.rows), kThreads}, c);
  if (c.dweight) launch<rms_norm_dweight<T>>(place, {blocks_for(c.n, 1), kThreads}, c);
}

template <class Call>
void in_its_type(const Call& c) {
  const Place place(c.launch);
  if (c.dtype == DType::Float64) run<double>(c, place);
  else run<float>(c, place);
}

const CudaKernel<RmsNormCall> entry("rms_norm", in_its_type<RmsNormCall>);
const CudaKernel<RmsNormGradCall> grad_entry("rms_norm_backward", in_its_type<RmsNormGradCall>);

}  // namespace
}  // namespace tessera::tensor::cuda
