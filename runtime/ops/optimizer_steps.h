// Steps of optimizers, in one pass over the elements: for one parameter, and for many of them in one call.
#pragma once

#include "runtime/device/kernel.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

/// n elements of float32 or float64, contiguous. What the numbers are stands in optimizer_steps.cpp, beside each formula.
struct OptimizerCall {
  // Of many parameters only: Plain (self -= lr * grad), CountedAdam, Unscale (self = rate * grad).
  enum Rule { Adam, Momentum, RmsProp, Adagrad, Plain, CountedAdam, Unscale } rule;
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
  float* step;  // the number of steps made, on the device; null where the host counts
};

/// The same step for `count` parameters. First the gradient becomes its negative (`maximize`), then `decay` times the weight
/// is added to it; the weight is multiplied by `shrink`. `nesterov` is Momentum's. The list is host memory. What a device
/// counts is counted first. CountedAdam corrects by that count: its fourth number is the learning rate, and where `rate`
/// is given (float32 or float64 on the device) it multiplies that number and what `shrink` takes from the weight.
struct OptimizerListCall {
  OptimizerCall::Rule rule;
  DType dtype;
  bool maximize, nesterov;
  double decay, shrink;
  double numbers[5];
  const void* rate;
  DType rate_dtype;
  float*
      found;  // on the device, or null: Unscale makes it 1 for a gradient that is not finite; the others stay where it is not 0
  int64_t count;
  const OptimizerTensor* tensors;
  Launch launch{};
};
extern Kernel<OptimizerListCall> optimizer_list_kernel;

}  // namespace tessera::tensor
