// A layer's product as a backend may offer it whole.
#pragma once

#include "runtime/device/calls.h"
#include "runtime/device/kernel.h"

namespace tessera::tensor {

/// What is done to a product on its way out.
enum class Epilogue : uint8_t { None, Relu, GeluTanh };

/// c = epilogue(a b + bias), one of n for each column; alpha and beta are not looked at, and there is one product. The CPU is
/// asked for no epilogue.
struct LinearCall {
  GemmCall product;
  const void* bias;
  Epilogue epilogue = Epilogue::None;
  Launch launch{};
};
extern Kernel<LinearCall> linear_kernel;

}  // namespace tessera::tensor
