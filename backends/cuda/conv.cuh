// What the two ways of convolution share.
#pragma once

#include "backends/cuda/divide.cuh"
#include "backends/cuda/half.cuh"
#include "runtime/ops/conv.h"

namespace tessera::tensor::cuda {

/// The type in which elements are added up: float for halves.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T>
__device__ inline Sum<T> as_sum(T x) {
  if constexpr (std::is_floating_point_v<T>) return x;
  else return float(x);
}
template <class T>
__device__ inline T as_element(Sum<T> x) {
  if constexpr (std::is_floating_point_v<T>) return x;
  else return T(x);
}

/// A call's sizes as a kernel's argument.
struct ConvShape {
  int64_t channels, height, width, outputs, rows, columns;
  int64_t kernel[2], stride[2], padding[2], dilation[2];
  FastDivide<uint32_t> by_stride[2];
  FastDivide<uint64_t> by_channels, by_outputs;  // planes of all images to an image and its plane

  explicit ConvShape(const ConvCall& c)
      : channels(c.channels),
        height(c.height),
        width(c.width),
        outputs(c.outputs),
        rows(c.rows),
        columns(c.columns),
        by_channels(uint64_t(c.channels)),
        by_outputs(uint64_t(c.outputs)) {
    for (int d = 0; d < 2; d++) {
      kernel[d] = c.window.kernel[d], stride[d] = c.window.stride[d];
      padding[d] = c.window.padding[d], dilation[d] = c.window.dilation[d];
      // A larger stride than the image with its padding: there is one window.
      by_stride[d] = FastDivide<uint32_t>(uint32_t(stride[d] < kMostStride ? stride[d] : kMostStride));
    }
  }
  /// Which window sees pixel `at` with its element `k`, along dimension d; -1: none does.
  __device__ int64_t place(int d, int64_t at, int64_t k) const {
    const int64_t from = at + padding[d] - k * dilation[d];
    if (from < 0 || from >= kMostStride) return -1;
    const auto [window, rest] = by_stride[d].divide(uint32_t(from));
    return rest == 0 && int64_t(window) < (d == 0 ? rows : columns) ? int64_t(window) : -1;
  }

 private:
  static constexpr int64_t kMostStride = int64_t(1) << 31;
};

/// Each channel is a group of its own.
inline bool is_depthwise(const ConvCall& c) { return c.groups == c.channels && c.groups > 1; }
void convolve_depthwise(const ConvCall& c);
/// Adds the bias to the result of cuDNN's forward pass, which has less than 2^31 elements and begins at a multiple of 16 bytes.
void add_bias_to(const ConvCall& c);

}  // namespace tessera::tensor::cuda
