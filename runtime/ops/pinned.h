// Host memory that devices copy from and to while the host goes on, and copies that nobody waits for (non_blocking=True).
#pragma once

#include <optional>

#include "runtime/tensor.h"

namespace tessera::tensor {

/// Whether the tensor is the host's and pinned; false where there is no device.
bool is_pinned(const Tensor& t);
/// The tensor, copied into pinned memory unless it lies there. Raises PyTorch's errors.
Tensor pin_memory(const Tensor& t);
Tensor empty_pinned(Ints sizes, DType dtype);

/// copy_, without waiting for a device where the host's side is pinned.
Tensor copy_without_waiting(const Tensor& self, const Tensor& from);
/// to, likewise: what comes from a device comes into pinned memory.
Tensor to_without_waiting(const Tensor& self, DType dtype, Device device, bool copy);

}  // namespace tessera::tensor
