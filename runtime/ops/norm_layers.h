// What layers of torch.nn compute as one op: normalisation, embedding (embedding.cpp), padding (padding.cpp).
#pragma once

#include <optional>
#include <string>

#include "runtime/device/backend.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// Layer norm of `rows` contiguous rows of n elements of `dtype`. weight, bias, mean and inverse (1 / sqrt(var + eps), one
/// a row) have the type of the arithmetic: float32 for halves. All four may be null.
struct LayerNormCall {
  DType dtype;
  const void *x, *weight, *bias;
  void *out, *mean, *inverse;
  int64_t rows, n;
  double eps;
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
