#include "runtime/ops/cudnn.h"

#include "runtime/device/backend.h"

namespace tessera::tensor {

constinit Kernel<CudnnCall> cudnn_kernel("cudnn", ServedBy::Devices);

namespace {

const KernelRegistration known{cudnn_kernel};

int ask(const CudnnSwitches* set, const char*& why_none) {
  int version = 0;
  why_none = "there is no CUDA backend";
  const bool loaded = device_backend(DeviceType::Cuda) != nullptr;
  const Kernel<CudnnCall>::Function asked = loaded ? cudnn_kernel.get(DeviceType::Cuda) : nullptr;
  if (asked != nullptr) asked({set, &version, &why_none});
  return version;
}

}  // namespace

int cudnn_version(const char*& why_none) { return ask(nullptr, why_none); }
void set_cudnn(const CudnnSwitches& switches) {
  const char* why_none;
  ask(&switches, why_none);
}

}  // namespace tessera::tensor
