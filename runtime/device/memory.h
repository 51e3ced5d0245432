// Memory and copies on any device, in the order of the Context's current stream.
//
// Tensors of device meta have no memory: their addresses are counted from kMetaBase, which no machine maps, so that
// offsets and views work as everywhere and a kernel that reads such an address by mistake stops at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device/device.h"
#include "runtime/device/stream.h"

namespace tessera::tensor {

inline constexpr uintptr_t kMetaBase = uintptr_t(1) << 62;  // not canonical on any 64-bit machine

/// Copies bytes between devices (or on one). With `wait`, a host side is complete when it returns, and faults that kernels
/// reported are raised; a copy out of meta raises PyTorch's NotImplementedError, one into meta does nothing.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes, bool wait = true);

/// Waits until the device has done all that it was given, then raises what its kernels reported.
void synchronize(Device device);

}  // namespace tessera::tensor
