// The devices without a queue of work: cpu, where the caller's thread does it, and meta, where there is none to do.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

extern const DeviceBackend kHostBackend;
extern const DeviceBackend kMetaBackend;

}  // namespace tessera::tensor
