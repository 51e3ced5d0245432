// Finds and opens the plugins of device types: one table of their files.
#pragma once

#include <string>

#include "runtime/device/plugin.h"

namespace tessera::tensor {

/// The type of the first plugin in the table.
DeviceType first_plugin_type();

/// Opens the type's plugin on the first call (an environment variable of the table names its file, else it is looked for beside the
/// program, in ../lib of it, and where the system looks). Null when there is none; why says what was tried, "" for types without a plugin.
const DeviceBackend* plugin_backend(DeviceType type, std::string* why = nullptr);

/// PyTorch's error for a device type that has no backend, with the reason as a note.
[[noreturn]] void fail_no_backend(DeviceType type);

/// Fills the slots that the plugin has kernels for and gives its table. Null when it is none, is of another interface or has
/// one kernel that does not fit: then nothing is filled, and why says what is wrong.
const DeviceBackend* take_plugin(const Plugin* plugin, uint64_t interface, DeviceType type, std::string& why);

}  // namespace tessera::tensor
