// Finds and opens the CUDA plugin.
#pragma once

#include <string>

#include "runtime/device/backend.h"

namespace tessera::tensor {

/// Opens libtessera_cuda.so on the first call (TESSERA_CUDA_PLUGIN names it, else it is looked for beside the program, in
/// ../lib of it, and where the system looks). Null when there is none; why says what was tried.
const DeviceBackend* cuda_plugin(std::string* why = nullptr);

}  // namespace tessera::tensor
