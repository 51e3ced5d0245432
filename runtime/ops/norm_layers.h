// What layers of torch.nn compute as one op: normalisation, embedding (embedding.cpp), padding (padding.cpp).
#pragma once

#include <optional>
#include <string>

#include "runtime/device/backend.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// Layer norm of `rows` contiguous rows of n elements of `dtype`. weight, bias, mean and inverse (1 / sqrt(var + eps), one
/// a row) have the type of the arithmetic: float32 for halves. All four may be null. Of group norm, weight and bias have
/// one number for each of `channels` channels, of which a row holds `row_channels`, one behind the other.
struct LayerNormCall {
  DType dtype;
  const void *x, *weight, *bias;
  void *out, *mean, *inverse;
  int64_t rows, n;
  double eps;
  int64_t channels = 0, row_channels = 0;
  Launch launch{};
};
extern Kernel<LayerNormCall> layer_norm_kernel;

/// Its gradients; those that are null are not wanted. dweight and dbias have the type of the arithmetic.
struct LayerNormGradCall {
  DType dtype;
  const void *g, *x, *weight, *mean, *inverse;
  void *dx, *dweight, *dbias;
  int64_t rows, n;
  Launch launch{};
};
extern Kernel<LayerNormGradCall> layer_norm_grad_kernel;

/// Batch norm of contiguous [items, channels, size] in float32 or float64: over items and size, with weight and bias (or
/// null) for each channel. In training mean, variance (of a sample, divided by one less;
/// may be null) and inverse, 1 / sqrt(variance of all + eps), are results; else mean and inverse are given.
struct BatchNormCall {
  DType dtype;
  const void *x, *weight, *bias;
  void *out, *mean, *variance, *inverse;
  int64_t items, channels, size;
  bool training;
  double eps;
  Launch launch{};
};
extern Kernel<BatchNormCall> batch_norm_kernel;

/// Its gradients; those that are null are not wanted.
struct BatchNormGradCall {
  DType dtype;
  const void *g, *x, *weight, *mean, *inverse;
  void *dx, *dweight, *dbias;
  int64_t items, channels, size;
  bool training;
  Launch launch{};
};
extern Kernel<BatchNormGradCall> batch_norm_grad_kernel;

using MaybeTensor = std::optional<Tensor>;

Tensor layer_norm(const Tensor& input, Ints normalized_shape, const MaybeTensor& weight = {},
                  const MaybeTensor& bias = {}, double eps = 1e-5);
/// In training the batch's own mean and variance count, and the running ones move towards them.
Tensor batch_norm(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                  const MaybeTensor& running_mean, const MaybeTensor& running_var, bool training, double momentum,
                  double eps);
Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1);
Tensor pad(const Tensor& self, Ints pad, const std::string& mode = "constant", std::optional<double> value = {});

}  // namespace tessera::tensor
