// Conversions of a tensor between dtypes and devices, as Tensor.to does them.
#pragma once

#include "runtime/tensor.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

// The tensor itself where nothing changes and no copy is asked for. Recorded when gradients are.
/// Without `wait` a copy between pinned memory and a device is not waited for.
Tensor tensor_to(const Tensor& t, DType dtype, Device device, bool copy, bool wait = true);
// In a memory format by its name, "torch.channels_last".
Tensor tensor_to(const Tensor& t, DType dtype, Device device, bool copy, const char* format);
bool tensor_lies_in(const Tensor& t, const char* format);

}  // namespace tessera::stdlib
