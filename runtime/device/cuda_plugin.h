// Finds and opens the CUDA plugin.
#pragma once

#include <string>

#include "runtime/device/plugin.h"

namespace tessera::tensor {

/// Opens libtessera_cuda.so on the first call (TESSERA_CUDA_PLUGIN names it, else it is looked for beside the program, in
/// ../lib of it, and where the system looks). Null when there is none; why says what was tried.
const DeviceBackend* cuda_plugin(std::string* why = nullptr);

/// Fills the slots that the plugin has kernels for and gives its table. Null when it is none, is of another interface or has
/// one kernel that does not fit: then nothing is filled, and why says what is wrong.
const DeviceBackend* take_plugin(const Plugin* plugin, uint64_t interface, DeviceType type, std::string& why);

}  // namespace tessera::tensor
