#include "runtime/device/sleep.h"

namespace tessera::tensor {

constinit Kernel<SleepCall> sleep_kernel("sleep", ServedBy::Devices);

static const KernelRegistration known{sleep_kernel};

}  // namespace tessera::tensor
