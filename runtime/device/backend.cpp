// Which device types have a backend, what a device that was asked for means, and the slots of the core's kernels.
#include "runtime/device/backend.h"

#include <atomic>

#include "runtime/context.h"
#include "runtime/device/accelerator_error.h"
#include "runtime/device/host_backend.h"
#include "runtime/device/plugin_loader.h"
#include "runtime/error.h"
#include "runtime/fuse/chain.h"

namespace tessera::tensor {
namespace {
std::atomic<const DeviceBackend*> backends[kDeviceTypeCount] = {&kHostBackend, nullptr, nullptr, &kMetaBackend,
                                                                nullptr};
}

constinit Kernel<PointwiseCall> pointwise_kernel("pointwise");
constinit Kernel<ChainCall> chain_kernel("chain", ServedBy::Host);
constinit Kernel<RowsCall> rows_kernel("rows", ServedBy::Host);
constinit Kernel<CopyCall> copy_kernel("copy_");
constinit Kernel<FillCall> fill_kernel("fill_");
constinit Kernel<RangeCall> range_kernel("arange");
constinit Kernel<ReduceCall> reduce_kernel("sum");
constinit Kernel<AlongCall> along_kernel("cumsum");
constinit Kernel<GemmCall> gemm_kernel("mm");

const DeviceBackend* device_backend(DeviceType type) {
  const DeviceBackend* backend = backends[int(type)].load(std::memory_order_acquire);
  return backend == nullptr ? plugin_backend(type) : backend;
}

void register_device_backend(DeviceType type, const DeviceBackend* backend) {
  backends[int(type)].store(backend, std::memory_order_release);
}

const DeviceTraits& traits_of(Device device) {
  const DeviceBackend* backend = device_backend(device.type);
  return (backend == nullptr ? kHostBackend : *backend).traits;
}

DeviceType accelerator() {
  for (int i = 0; i < kDeviceTypeCount; i++) {
    const DeviceBackend* backend = backends[i].load(std::memory_order_acquire);
    if (backend != nullptr && backend->traits.has_streams) return DeviceType(i);
  }
  return first_plugin_type();
}

Device resolve_device(Device device) {
  if (device.is_cpu() || device.is_meta()) return Device(device.type);  // one of each, whatever its index
  const DeviceBackend* backend = device_backend(device.type);
  if (backend == nullptr) fail_no_backend(device.type);
  const int count = backend->device_count();
  if (count == 0) fail(TensorErrorKind::Runtime, backend->why_none());
  if (device.index < 0) device.index = int8_t(Context::current().streams.device);
  if (device.index >= count) throw AcceleratorError(kInvalidDevice, backend->no_such_index);
  return device;
}

}  // namespace tessera::tensor
