// A layer's product as a backend may offer it whole.
#pragma once

#include "runtime/device/calls.h"
#include "runtime/device/kernel.h"

namespace tessera::tensor {

/// c = a b + bias, one of n for each column; alpha and beta are not looked at, and there is one product.
struct LinearCall {
  GemmCall product;
  const void* bias;
  Launch launch{};
};
extern Kernel<LinearCall> linear_kernel;

}  // namespace tessera::tensor
