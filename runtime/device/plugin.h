// The contract between the program and a backend that is a plugin (libtessera_cuda.so).
//
// Each sees of the other only these structs. The program gives a way to raise; the plugin gives a table of functions
// (DeviceBackend) and a list of kernels by the names of their slots, which the program walks to fill its slots. Both say
// first how calls and tables lie in memory where they were built (layout.h, a number), so a plugin that numbers ops or lays
// out calls otherwise is refused before anything else of it is looked at.
#pragma once

#include <cstdint>

#include "runtime/device/backend.h"
#include "runtime/error.h"

namespace tessera::tensor {

struct PluginHost {
  uint64_t interface;
  /// Does not return. Lines of `notes` (which may be null) are shown under the message.
  void (*fail)(TensorErrorKind kind, const char* message, const char* notes);
  /// Likewise with what the device's driver said: torch.AcceleratorError and its error_code.
  void (*fail_device)(int code, const char* message, const char* notes);
};

/// A kernel for one slot. In a plugin: one static object beside each kernel, `const PluginKernel entry(...)`.
struct PluginKernel {
  const char* slot;
  size_t call_size;
  KernelSlot::AnyFunction function;
  const PluginKernel* next;
};

struct Plugin {
  uint64_t interface;  // stays the first member in every version
  const DeviceBackend* backend;
  const PluginKernel* kernels;
};

/// The one symbol that a plugin exports, by the name kPluginEntryName. Null: it does not take this host.
using PluginEntry = const Plugin* (*)(const PluginHost& host);
inline constexpr const char* kPluginEntryName = "tessera_plugin";

}  // namespace tessera::tensor
