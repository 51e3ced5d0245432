// Matrix products by tiles in shared memory, for the few calls that cuBLASLt has no algorithm for (sizes beyond its 32 bits,
// a type that an old GPU lacks, a bias that cannot be taken along): every dtype, layout and size, deterministic, not fast.
#include "backends/cuda/divide.cuh"
#include "backends/cuda/element.cuh"
#include "backends/cuda/gemm.h"

namespace tessera::tensor::cuda {
namespace {

constexpr int kTile = 16;
static_assert(kTile * kTile == kThreads);

template <class T>
struct ComplexOf {
  T re, im;
  __device__ ComplexOf operator*(ComplexOf o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
  __device__ ComplexOf operator+(ComplexOf o) const { return {re + o.re, im + o.im}; }
};

template <class T>
__device__ T load_number(const void* data, int64_t at, DType dtype) {
  if constexpr (std::is_floating_point_v<T>) return load_as<T>(static_cast<const char*>(data), at, dtype);
  else return static_cast<const T*>(data)[at];
}
template <class T>
__device__ void store_number(void* data, int64_t at, DType dtype, T value) {
  if constexpr (std::is_floating_point_v<T>) store_as<T>(static_cast<char*>(data), at, dtype, value);
  else static_cast<T*>(data)[at] = value;
}

template <class T>
__device__ T finished(T x, Epilogue epilogue) {
  if constexpr (std::is_same_v<T, float>) {
    if (epilogue == Epilogue::Relu) return x < 0 ? 0 : x;
    if (epilogue == Epilogue::GeluTanh)
      return 0.5f * x * (1 + tanhf(fmaf(x * x * x, 0.044715f, x) * 0.79788456080286535588f));
  }
  return x;
}

template <class T>
__global__ void tiles(GemmCall c, const void* bias, Epilogue epilogue, T alpha, T beta, bool keeps,
                      FastDivide<uint64_t> across, FastDivide<uint64_t> down) {
  TS_SHARED(T, left, kThreads);
  TS_SHARED(T, right, kThreads);
  const int row = int(threadIdx.x) / kTile, column = int(threadIdx.x) % kTile;
  const T zero{};
  const uint64_t tiles = across.divisor() * down.divisor() * uint64_t(c.batch);
  for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const auto line = across.divide(tile), at_matrix = down.divide(line.quotient);
    const int64_t matrix = int64_t(at_matrix.quotient);
    const int64_t i = int64_t(at_matrix.rest) * kTile + row, j = int64_t(line.rest) * kTile + column;
    T total = zero;
    for (int64_t step = 0; step < c.k; step += kTile) {
      const int64_t p = step + column, q = step + row;
      left[threadIdx.x] =
          i < c.m && p < c.k
              ? load_number<T>(c.a, matrix * c.batch_a + (c.transpose_a ? p * c.lda + i : i * c.lda + p), c.dtype)
              : zero;
      right[threadIdx.x] =
          q < c.k && j < c.n
              ? load_number<T>(c.b, matrix * c.batch_b + (c.transpose_b ? j * c.ldb + q : q * c.ldb + j), c.dtype)
              : zero;
      __syncthreads();
      for (int t = 0; t < kTile; t++) total = total + left[row * kTile + t] * right[t * kTile + column];
      __syncthreads();
    }
    if (i >= c.m || j >= c.n) continue;
    const int64_t at = matrix * c.batch_c + i * c.ldc + j;
    T value = alpha * total;
    if (keeps) value = value + beta * load_number<T>(c.c, at, c.dtype);
    if (bias != nullptr) value = value + load_number<T>(bias, j, c.dtype);
    store_number<T>(c.c, at, c.dtype, finished(value, epilogue));
  }
}

template <class T>
T number(double x) {
  if constexpr (std::is_floating_point_v<T>) return T(x);
  else return {decltype(T::re)(x), 0};
}

template <class T>
void run(const GemmCall& c, const void* bias, Epilogue epilogue) {
  const Place place(c.launch);
  const int64_t across = (c.n + kTile - 1) / kTile, down = (c.m + kTile - 1) / kTile;
  launch<tiles<T>>(place, {blocks_for(across * down * c.batch * kThreads, 1), kThreads}, c, bias, epilogue,
                   number<T>(c.alpha), number<T>(c.beta), c.beta != 0, FastDivide<uint64_t>(uint64_t(across)),
                   FastDivide<uint64_t>(uint64_t(down)));
}

}  // namespace

void multiply_plainly(const GemmCall& c, const void* bias, Epilogue epilogue) {
  switch (c.dtype) {
    case DType::Float64: return run<double>(c, bias, epilogue);
    case DType::Complex64: return run<ComplexOf<float>>(c, bias, epilogue);
    case DType::Complex128: return run<ComplexOf<double>>(c, bias, epilogue);
    default: return run<float>(c, bias, epilogue);
  }
}

}  // namespace tessera::tensor::cuda
