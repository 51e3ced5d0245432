// A strided loop as a kernel argument: element i of the nest to an offset in each operand. Numbers of the host come along
// by value; kernels take the loop as `const __grid_constant__`, so that reading them copies nothing.
#pragma once

#include "backends/cuda/element.cuh"

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

}  // namespace tessera::tensor::cuda
