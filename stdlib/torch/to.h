// Conversions of a tensor between dtypes and devices, as Tensor.to does them.
#pragma once

#include "runtime/tensor.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// The tensor itself where nothing changes and no copy is asked for. Recorded when gradients are.
Tensor tensor_to(const Tensor& t, DType dtype, Device device, bool copy);

}  // namespace tessera::stdlib
