// Normalisation by the root mean square of rows, and its gradient, as the backends' kernels see them.
#pragma once

#include "runtime/device/kernel.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

/// out = x * inverse * weight with inverse = 1 / sqrt(mean(x^2) + eps), for `rows` contiguous rows of n elements of `dtype`.
/// weight (may be null) and inverse, one a row, have the type of the arithmetic: float32 for halves.
struct RmsNormCall {
  DType dtype;
  const void *x, *weight;
  void *out, *inverse;
  int64_t rows, n;
  double eps;
  Launch launch{};
};
extern Kernel<RmsNormCall> rms_norm_kernel;

/// Its gradients; those that are null are not wanted. dweight has the type of the arithmetic.
struct RmsNormGradCall {
  DType dtype;
  const void *g, *x, *weight, *inverse;
  void *dx, *dweight;
  int64_t rows, n;
  Launch launch{};
};
extern Kernel<RmsNormGradCall> rms_norm_grad_kernel;

}  // namespace tessera::tensor
