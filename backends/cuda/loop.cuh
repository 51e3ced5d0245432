// A strided loop as a kernel argument: element i of the nest to an offset in each operand. Numbers of the host come along
// by value; kernels take the loop as `const __grid_constant__`, so that reading them copies nothing.
#pragma once

#include "backends/cuda/half.cuh"
#include "backends/cuda/launch.cuh"

namespace tessera::tensor::cuda {

inline constexpr int kMaxDeviceDims = 16;  // after neighbours are merged

template <int kOperands>
struct DeviceLoop {
  int ndim;
  int64_t numel;
  int64_t sizes[kMaxDeviceDims];  // innermost first
  int64_t strides[kOperands][kMaxDeviceDims];
  char* data[kOperands];
  unsigned host_scalars;
  alignas(16) char numbers[kOperands][16];

  explicit DeviceLoop(const Loop& loop) : ndim(loop.ndim), numel(loop.numel), host_scalars(loop.host_scalars) {
    if (loop.ndim > kMaxDeviceDims)
      fail_with(TensorErrorKind::Runtime,
                "tensors with more than 16 dimensions that do not merge are not supported on CUDA");
    for (int d = 0; d < ndim; d++) {
      sizes[d] = loop.sizes[d];
      for (int k = 0; k < kOperands; k++) strides[k][d] = loop.strides[k][d];
    }
    for (int k = 0; k < kOperands; k++) {
      const bool number = host_scalars >> k & 1;
      data[k] = number ? nullptr : loop.data[k];
      if (number) __builtin_memcpy(numbers[k], loop.numbers[k], sizeof numbers[k]);
    }
  }

  /// Where operand k begins.
  __device__ const char* input(int k) const { return host_scalars >> k & 1 ? numbers[k] : data[k]; }

  __device__ void offsets(int64_t i, int64_t (&out)[kOperands]) const {
    for (int k = 0; k < kOperands; k++) out[k] = 0;
    for (int d = 0; d < ndim; d++) {
      const int64_t rest = d + 1 < ndim ? i / sizes[d] : 0;
      const int64_t at = i - rest * sizes[d];
      for (int k = 0; k < kOperands; k++) out[k] += at * strides[k][d];
      i = rest;
    }
  }
};

/// Loads an element of a run-time dtype as T: operands may have other dtypes than the arithmetic.
template <class T>
__device__ inline T load_as(const char* data, int64_t at, DType dtype) {
  switch (dtype) {
    case DType::Bool: return T(reinterpret_cast<const bool*>(data)[at]);
    case DType::UInt8: return T(reinterpret_cast<const uint8_t*>(data)[at]);
    case DType::Int8: return T(reinterpret_cast<const int8_t*>(data)[at]);
    case DType::Int16: return T(reinterpret_cast<const int16_t*>(data)[at]);
    case DType::Int32: return T(reinterpret_cast<const int32_t*>(data)[at]);
    case DType::Int64: return T(reinterpret_cast<const int64_t*>(data)[at]);
    case DType::Float16: return T(float(reinterpret_cast<const Float16*>(data)[at]));
    case DType::BFloat16: return T(float(reinterpret_cast<const Brain16*>(data)[at]));
    case DType::Float64: return T(reinterpret_cast<const double*>(data)[at]);
    default: return T(reinterpret_cast<const float*>(data)[at]);
  }
}

template <class T>
__device__ inline void store_as(char* data, int64_t at, DType dtype, T value) {
  switch (dtype) {
    case DType::Bool: reinterpret_cast<bool*>(data)[at] = value != T(0); break;
    case DType::UInt8: reinterpret_cast<uint8_t*>(data)[at] = uint8_t(int64_t(value)); break;
    case DType::Int8: reinterpret_cast<int8_t*>(data)[at] = int8_t(int64_t(value)); break;
    case DType::Int16: reinterpret_cast<int16_t*>(data)[at] = int16_t(int64_t(value)); break;
    case DType::Int32: reinterpret_cast<int32_t*>(data)[at] = int32_t(int64_t(value)); break;
    case DType::Int64: reinterpret_cast<int64_t*>(data)[at] = int64_t(value); break;
    case DType::Float16: reinterpret_cast<Float16*>(data)[at] = Float16(float(value)); break;
    case DType::BFloat16: reinterpret_cast<Brain16*>(data)[at] = Brain16(float(value)); break;
    case DType::Float64: reinterpret_cast<double*>(data)[at] = double(value); break;
    default: reinterpret_cast<float*>(data)[at] = float(value); break;
  }
}

}  // namespace tessera::tensor::cuda
