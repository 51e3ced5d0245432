// What layers of torch.nn compute as one op: normalisation, embedding, padding.
#pragma once

#include <optional>
#include <string>

#include "runtime/tensor.h"

namespace tessera::tensor {

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
