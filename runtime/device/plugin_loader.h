// Finds and opens the plugins of device types: one table of their files.
#pragma once

#include <string>

#include "runtime/device/plugin.h"

namespace tessera::tensor {

/// The type of the first plugin in the table.
DeviceType first_plugin_type();

/// Opens the type's plugin on the first call (an environment variable of the table names its file, else it is looked for beside the
/// program, in ../lib of it, and where the system looks). Returns null if no plugin can be opened; `why` then has the paths that were tried with
/// their errors, and is empty for device types without a plugin.
const DeviceBackend* plugin_backend(DeviceType type, std::string* why = nullptr);

/// PyTorch's error for a device type that has no backend, with the reason as a note.
[[noreturn]] void fail_no_backend(DeviceType type);

/// Fills the kernel slots that the plugin has kernels for and returns the plugin's table. Returns null and fills no slot if the plugin is null,
/// has another interface number, or has a kernel whose slot is missing or takes another call; `why` then says which of these.
const DeviceBackend* take_plugin(const Plugin* plugin, uint64_t interface, DeviceType type, std::string& why);

}  // namespace tessera::tensor
