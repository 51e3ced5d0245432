// A device that is kept busy for a while: what tests of streams and events wait for.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

struct SleepCall {
  int64_t cycles;  // of the device's clock
  Launch launch{};
};
extern Kernel<SleepCall> sleep_kernel;

}  // namespace tessera::tensor
