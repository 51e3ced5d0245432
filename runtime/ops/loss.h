// Losses that are one op in PyTorch. `reduction`: 0 none, 1 mean, 2 sum.
#pragma once

#include <optional>

#include "runtime/tensor.h"

namespace tessera::tensor {

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction = 1);
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                            int64_t reduction = 1);
/// self holds log-probabilities [N, C, ...] or [C]; target class numbers.
Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                int64_t reduction = 1, int64_t ignore_index = -100);
Tensor one_hot(const Tensor& self, int64_t num_classes = -1);

}  // namespace tessera::tensor
