// Devices that are registered, and the slots of the core's kernels.
#include "runtime/device/backend.h"

#include <atomic>

#include "runtime/device/cuda_plugin.h"

namespace tessera::tensor {
namespace {
std::atomic<const DeviceBackend*> backends[kDeviceTypeCount];
}

constinit Kernel<PointwiseCall> pointwise_kernel("pointwise");
constinit Kernel<CopyCall> copy_kernel("copy_");
constinit Kernel<FillCall> fill_kernel("fill_");
constinit Kernel<RangeCall> range_kernel("arange");
constinit Kernel<ReduceCall> reduce_kernel("sum");
constinit Kernel<AlongCall> along_kernel("cumsum");
constinit Kernel<GemmCall> gemm_kernel("mm");

const DeviceBackend* device_backend(DeviceType type) {
  if (type == DeviceType::Cuda) return cuda_plugin();
  return backends[int(type)].load(std::memory_order_acquire);
}

void register_device_backend(DeviceType type, const DeviceBackend* backend) {
  backends[int(type)].store(backend, std::memory_order_release);
}

Device resolve_device(Device device) {
  if (device.is_cpu()) {
    return Device(DeviceType::Cpu);
  }
  const DeviceBackend* backend = device_backend(device.type);
  if (!backend) {
    // PyTorch's words for a build without CUDA; why the plugin is not there is our note.
    if (device.is_cuda()) {
      std::string why;
      cuda_plugin(&why);
      throw TensorError(TensorErrorKind::Assertion, "Torch not compiled with CUDA enabled", {"no CUDA plugin: " + why});
    }
    if (device.type == DeviceType::Mps)
      fail(TensorErrorKind::Runtime, "PyTorch is not linked with support for mps devices");
    fail_no_kernel("empty.memory_format", device.type);
  }
  if (device.is_cuda() && backend->device_count() == 0) fail(TensorErrorKind::Runtime, "No CUDA GPUs are available");
  if (device.index < 0) device.index = 0;
  check(device.index < backend->device_count(), TensorErrorKind::Runtime, "CUDA error: invalid device ordinal");
  return device;
}

void fail_no_kernel(const char* family, DeviceType type) {
  const char* shown = type == DeviceType::Cpu    ? "CPU"
                      : type == DeviceType::Cuda ? "CUDA"
                      : type == DeviceType::Mps  ? "MPS"
                                                 : "Meta";
  fail(TensorErrorKind::NotImplemented, "Could not run 'aten::", family, "' with arguments from the '", shown,
       "' backend.");
}

}  // namespace tessera::tensor
