// Losses that are one op in PyTorch. `reduction`: 0 none, 1 mean, 2 sum.
#pragma once

#include <optional>

#include "runtime/device/backend.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// Of contiguous x [outer, classes, inner] and one class number a line: weight[target] * (log(sum(exp(x))) - x[target]), the
/// log(sum(exp(x - max))), and the weight, which is 0 where the target is to be ignored. `weight` may be null. All but x
/// have the type of the arithmetic: float32 for halves.
struct CrossEntropyCall {
  DType dtype;
  const void* x;
  const int64_t* target;
  const void* weight;
  void *loss, *log_totals, *counts;
  int64_t outer, classes, inner, ignore_index;
  Launch launch{};
};
extern Kernel<CrossEntropyCall> cross_entropy_kernel;

/// The gradient at x: scale * (softmax(x) - 1 at the target), `scale` one number a line.
struct CrossEntropyGradCall {
  DType dtype;
  const void* x;
  const int64_t* target;
  const void *log_totals, *scale;
  void* out;
  int64_t outer, classes, inner, ignore_index;
  Launch launch{};
};
extern Kernel<CrossEntropyGradCall> cross_entropy_grad_kernel;

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction = 1);
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                            int64_t reduction = 1);
/// self holds log-probabilities [N, C, ...] or [C]; target class numbers.
Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                int64_t reduction = 1, int64_t ignore_index = -100);
/// nll_loss(log_softmax(self)) in one.
Tensor cross_entropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                     int64_t reduction = 1, int64_t ignore_index = -100);
Tensor one_hot(const Tensor& self, int64_t num_classes = -1);

}  // namespace tessera::tensor
