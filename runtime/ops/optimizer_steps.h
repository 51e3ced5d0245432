// One step of an optimizer for one parameter, in one pass over its elements.
#pragma once

#include "runtime/device/kernel.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

/// n elements of float32 or float64, contiguous. What the numbers are stands in optimizer_steps.cpp, beside each formula.
struct OptimizerCall {
  enum Rule { Adam, Momentum, RmsProp, Adagrad } rule;
  DType dtype;
  int64_t n;
  void* weight;
  const void* gradient;
  void *first, *second;  // the optimizer's state
  double numbers[5];
  Launch launch{};
};
extern Kernel<OptimizerCall> optimizer_kernel;

}  // namespace tessera::tensor
