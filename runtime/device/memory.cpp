#include "runtime/device/memory.h"

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/error.h"

namespace tessera::tensor {

StreamHandle current_stream(Device device) {
  return device.is_cuda() ? Context::current().streams.get(device.index) : nullptr;
}

void set_current_stream(Device device, StreamHandle stream) {
  check(device.is_cuda() && device.index >= 0, TensorErrorKind::Runtime, "device ", device.str(), " has no streams");
  Context::current().streams.set(device.index, stream);
}

Launch launch_on(Device device) {
  const DeviceBackend* backend = device_backend(device.type);
  return {device, current_stream(device), backend == nullptr ? nullptr : backend->error_word(device)};
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes, bool wait) {
  if (to_device.is_meta()) return;
  if (from_device.is_meta()) fail(TensorErrorKind::NotImplemented, "Cannot copy out of meta tensor; no data!");
  const Device place = to_device.is_cpu() ? from_device : to_device;
  device_backend(place.type)
      ->copy({to, to_device, from, from_device, bytes, current_stream(place), current_stream(from_device), wait});
  if (wait) raise_reported(place);
}

void synchronize(Device device) {
  device = resolve_device(device);
  device_backend(device.type)->synchronize(device);
  raise_reported(device);
}

}  // namespace tessera::tensor
