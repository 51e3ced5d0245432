// The refusal of operands that lie on different devices, in PyTorch's words.
#pragma once

#include "runtime/device/device.h"

namespace tessera::tensor {

/// Of the devices of two operands, the earlier one first.
[[noreturn]] void fail_two_devices(Device a, Device b);

}  // namespace tessera::tensor
