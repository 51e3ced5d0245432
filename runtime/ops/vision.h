// Regions of feature maps and columns of deformable convolutions, as kernels: what torch.ops.torchvision is made of.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

enum class RegionKind : int64_t { Align, AlignUnclamped, Pool, SensitiveAlign, SensitivePool };

/// Bins of regions (image, x1, y1, x2, y2) of `input` [images, channels, height, width]. A bin's element is the largest of its elements (Pool, whose
/// place goes to `places`) or the mean of its samples (the others). `out` is [regions, channels of a bin, high, wide]. A bin of a sensitive kind reads a
/// channel of its own. In the other direction `out` is read and added to `input`. Raises an index error
/// for a region of an image that there is not.
struct RegionCall {
  DType dtype;
  RegionKind kind;
  bool backward;
  void* input;
  const void* regions;
  void* out;
  int32_t* places;
  int64_t count, images, channels, height, width, high, wide, samples;
  double scale;
  Launch launch{};
};
extern Kernel<RegionCall> region_kernel;

/// Columns [images, channels * kernel, out_high * out_wide] of a convolution whose samples lie beside their places by `offset` and count by `mask`, if
/// there is one. With `grad` (of columns) gradients of all three are written instead; their elements are zero before.
struct DeformCall {
  DType dtype;
  const void *input, *offset, *mask;
  void *columns, *grad_input, *grad_offset, *grad_mask;
  int64_t images, channels, groups, sides[2], kernel[2], out[2], stride[2], padding[2], dilation[2];
  Launch launch{};
};
extern Kernel<DeformCall> deform_kernel;

}  // namespace tessera::tensor
