// Variance and standard deviation in one pass: `op` is 1 for the root, `param` what the sum of squares is divided by.
#include "backends/cuda/element.cuh"
#include "backends/cuda/moments.cuh"
#include "backends/cuda/reduce_shape.cuh"

namespace tessera::tensor::cuda {
namespace {

// A mean from which squares are taken may be off in its last digit; the exact division is a call, around which registers are
// saved.
__device__ inline float over(float sum, int count) { return __fdividef(sum, float(count)); }
__device__ inline double over(double sum, int count) { return sum / count; }

// Elements are taken from the first of their result: equal ones vary by exactly nothing, and those far from zero lose no
// digits.
template <class T>
struct Variance {
  using Total = Moments<T>;
  using Number = T;

  const char* in;
  char* out;
  DType in_dtype, out_dtype;
  bool root;
  double divisor;

  __device__ Total start() const { return {}; }
  __device__ Total merge(const Total& a, const Total& b) const { return MergeMoments()(a, b); }
  __device__ Total take(const Share& at, int64_t) const {
    if (at.left == 0) return {};
    Values<T> x;
    load_values(x, in, in_dtype, at, T(0));
    const T first = load_as<T>(in, at.start, in_dtype);
    int count = 0;
    T sum = 0, squares = 0;
#pragma unroll
    for (int r = 0; r < kRounds<T>; r++)
#pragma unroll
      for (int j = 0; j < kPack; j++)
        if (at.has(r, j)) sum += x.v[r][j] - first, count++;
    if (count == 0) return {};
    const T mean = over(sum, count);
#pragma unroll
    for (int r = 0; r < kRounds<T>; r++)
#pragma unroll
      for (int j = 0; j < kPack; j++) {
        const T gap = x.v[r][j] - first - mean;
        if (at.has(r, j)) squares += gap * gap;
      }
    return {T(count), mean, squares};
  }
  __device__ Total take_one(int64_t start, int64_t offset, int64_t, int64_t) const {
    return {T(1), load_as<T>(in, offset, in_dtype) - load_as<T>(in, start, in_dtype), T(0)};
  }
  __device__ void finish(int64_t result, const Total& total) const {
    const T variance = total.squares / T(divisor);
    store_as(out, result, out_dtype, root ? std::sqrt(variance) : variance);
  }
};

template <class T>
void run(const ReduceCall& c) {
  fold(c.launch, shape_of(c, is_stored_for<T>(c.in_dtype), kThreadElements<T>),
       Variance<T>{c.in, c.out, c.in_dtype, c.out_dtype, c.op == 1, c.param.to_double()});
}

void variance(const ReduceCall& c) { c.compute == DType::Float64 ? run<double>(c) : run<float>(c); }

const CudaKernel<ReduceCall> entry("variance", variance);

}  // namespace
}  // namespace tessera::tensor::cuda
