#include "runtime/device/memory.h"

#include <cstdlib>

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/error.h"

namespace tessera::tensor {

StreamHandle current_stream(Device device) {
  if (!has_streams(device)) [[likely]]
    return nullptr;
  return Context::current().streams.get(device.index);
}

void set_current_stream(Device device, StreamHandle stream) {
  check(has_streams(device) && device.index >= 0, TensorErrorKind::Runtime, "device ", device.str(), " has no streams");
  Context::current().streams.set(device.index, stream);
}

Launch launch_on(Device device, const char* slot) {
  const DeviceBackend* backend = device_backend(device.type);
  if (backend == nullptr || !backend->traits.has_streams) return {device, nullptr, {}};
  const Context& context = Context::current();
  const uint32_t number = context.launches != nullptr && slot != nullptr ? context.launches->note(slot) : 0;
  return {device, context.streams.get(device.index), {backend->error_word(device), number}};
}

bool launches_wait() {
  static const bool asked = [] {
    const char* value = std::getenv("TESSERA_SYNC");
    return value != nullptr && *value != 0 && std::string_view(value) != "0";
  }();
  return asked;
}

void wait_for_launch(Device device) {
  const DeviceBackend* backend = device_backend(device.type);
  if (!has_streams(device) || backend->capture_status(device, current_stream(device)) != CaptureStatus::None) return;
  backend->synchronize_stream(device, current_stream(device));
  raise_reported(device);
}

// A copy that the host waits for is what torch.cuda.set_sync_debug_mode looks for.
static void note_wait() {
  Context& context = Context::current();
  if (context.sync_debug == Context::SyncDebug::Off) [[likely]]
    return;
  const char* text = "called a synchronizing CUDA operation";
  if (context.sync_debug == Context::SyncDebug::Error) fail(TensorErrorKind::Runtime, text);
  context.warn(text);
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes, bool wait) {
  if (to_device.is_meta()) return;
  if (from_device.is_meta()) fail(TensorErrorKind::NotImplemented, "Cannot copy out of meta tensor; no data!");
  const Device place = to_device.is_cpu() ? from_device : to_device;
  if (wait && (to_device.is_cpu() != from_device.is_cpu())) note_wait();
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
