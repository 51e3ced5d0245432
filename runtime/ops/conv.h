// Convolution and pooling over images [N, C, H, W]. Convolution is a matrix product with im2col, so its derivative, and
// the derivative of that, come from products, im2col and col2im.
#pragma once

#include <optional>
#include <tuple>

#include "runtime/device/backend.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// How a window goes over an image: each pair is (height, width).
struct Window {
  int64_t kernel[2], stride[2], padding[2], dilation[2];
  /// Pixels from a window's first to its last, and those of an image with its padding; both stop at the largest int64.
  int64_t span(int which) const;
  int64_t padded_size(int which, int64_t in) const;
  /// How many windows fit; zero or less: none.
  int64_t out_size(int which, int64_t in, bool round_up = false) const;
};

/// A convolution or one of its derivatives, of images [batch, channels, height, width], weights [outputs, channels / groups,
/// kernel] and results [batch, outputs, rows, columns], all contiguous, or, for another device than the CPU, all with their
/// channels last; the pass says which of them is written.
struct ConvCall {
  enum Pass { Forward, InputGradient, WeightGradient } pass;
  DType dtype;  // float32 or float64; where not the CPU is asked, halves too
  void* image;
  void* weight;
  void* result;
  const void* bias;  // one for each output, or null; Forward only
  int64_t batch, channels, height, width, outputs, rows, columns, groups;
  Window window;
  bool channels_last = false;
  Launch launch{};
};
extern Kernel<ConvCall> conv_kernel;

/// The largest element of each window and its place in the image's plane; images are planes of height * width, contiguous.
struct MaxPoolCall {
  DType dtype;
  const void* in;
  void* out;
  int64_t* index;
  int64_t planes, height, width, out_height, out_width;
  Window window;
  Launch launch{};
};
extern Kernel<MaxPoolCall> max_pool_kernel;

/// Optional: each pixel gets the sum of what comes back to the windows that have their largest element there.
struct MaxPoolGradCall {
  DType dtype;
  const void* g;
  const int64_t* index;
  void* dx;
  int64_t planes, height, width, out_height, out_width;
  Window window;
  Launch launch{};
};
extern Kernel<MaxPoolGradCall> max_pool_grad_kernel;

/// The sum of each window, float32 or float64, where not the CPU is asked halves too, over `divisor`; pixels outside of the image are 0.
struct AvgPoolCall {
  DType dtype;
  const void* in;
  void* out;
  int64_t planes, height, width, out_height, out_width;
  Window window;
  double divisor;
  Launch launch{};
};
extern Kernel<AvgPoolCall> avg_pool_kernel;

/// Optional: each pixel gets the sum of `g` over the windows that it is in.
struct AvgPoolGradCall {
  DType dtype;
  const void* g;
  void* dx;
  int64_t planes, height, width, out_height, out_width;
  Window window;
  Launch launch{};
};
extern Kernel<AvgPoolGradCall> avg_pool_grad_kernel;

/// [N, C, H, W] -> [N, C * kernel, places]: each column is what one place of the window sees.
Tensor im2col(const Tensor& image, const Window& window);
/// Its inverse, adding up what overlaps.
Tensor col2im(const Tensor& columns, const Window& window, int64_t height, int64_t width);

Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, Ints stride, Ints padding,
              Ints dilation, int64_t groups);
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, Ints stride,
                        Ints padding, Ints output_padding, int64_t groups, Ints dilation);
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, Ints kernel, Ints stride, Ints padding,
                                                   Ints dilation, bool ceil_mode);
Tensor avg_pool2d(const Tensor& self, Ints kernel, Ints stride, Ints padding, bool ceil_mode, bool count_include_pad);
Tensor adaptive_avg_pool2d(const Tensor& self, Ints output_size);

}  // namespace tessera::tensor
