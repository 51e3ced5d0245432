// A layer's product as a backend may offer it whole.
#pragma once

#include "runtime/device/calls.h"
#include "runtime/device/kernel.h"

namespace tessera::tensor {

/// c = a b + bias, one of n for each column; alpha, beta and the batch of the product are not looked at.
struct LinearCall {
  GemmCall product;
  const void* bias;
  Launch launch{};
};
extern Kernel<LinearCall> linear_kernel;

}  // namespace tessera::tensor
