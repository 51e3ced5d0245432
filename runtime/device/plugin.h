// The contract between the program and a backend that is a plugin (libtessera_cuda.so).
//
// The plugin sees nothing of the program but this struct: it fills the kernel slots that it is given and answers its memory
// functions. Errors go through `fail`, which throws in the program's own code, so that the exception is the program's.
#pragma once

#include <cstdint>

#include "runtime/device/backend.h"
#include "runtime/error.h"

namespace tessera::tensor {

inline constexpr uint32_t kPluginVersion = 1;  // of this struct and of everything that it reaches

struct PluginHost {
  uint32_t version;
  void (*fail)(TensorErrorKind kind, const char* message);  // does not return
  Kernel<PointwiseCall>* pointwise;
  Kernel<CopyCall>* copy;
  Kernel<FillCall>* fill;
  Kernel<RangeCall>* range;
  Kernel<ReduceCall>* reduce;
  Kernel<GemmCall>* gemm;
};

/// The one symbol that a plugin exports, by the name kPluginEntryName. Null: the versions do not fit.
using PluginEntry = const DeviceBackend* (*)(const PluginHost& host);
inline constexpr const char* kPluginEntryName = "tessera_plugin";

}  // namespace tessera::tensor
