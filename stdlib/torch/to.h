// Conversions of a tensor between dtypes and devices, as Tensor.to does them.
#pragma once

#include "runtime/tensor.h"

namespace tessera {

// The tensor itself where nothing changes and no copy is asked for. Recorded when gradients are.
Tensor tensor_to(const Tensor& t, DType dtype, Device device, bool copy);

}  // namespace tessera
