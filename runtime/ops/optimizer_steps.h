// Steps of optimizers, in one pass over the elements: for one parameter, and for many of them in one call.
#pragma once

#include "runtime/device/kernel.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

/// n elements of float32 or float64, contiguous. What the numbers are stands in optimizer_steps.cpp, beside each formula.
struct OptimizerCall {
  enum Rule { Adam, Momentum, RmsProp, Adagrad, Plain } rule;  // Plain (self -= lr * grad): of many parameters only
  DType dtype;
  int64_t n;
  void* weight;
  const void* gradient;
  void *first, *second;  // the optimizer's state
  double numbers[5];
  Launch launch{};
};
extern Kernel<OptimizerCall> optimizer_kernel;

struct OptimizerTensor {
  void* weight;
  const void* gradient;
  void *first, *second;
  int64_t n;
};

/// The same step for `count` parameters. First the gradient becomes its negative (`maximize`), then `decay` times the weight
/// is added to it; the weight is multiplied by `shrink`. `nesterov` is Momentum's. The list is host memory.
struct OptimizerListCall {
  OptimizerCall::Rule rule;
  DType dtype;
  bool maximize, nesterov;
  double decay, shrink;
  double numbers[5];
  int64_t count;
  const OptimizerTensor* tensors;
  Launch launch{};
};
extern Kernel<OptimizerListCall> optimizer_list_kernel;

}  // namespace tessera::tensor
