// Everything has happened when the call that asked for it returns, so streams are null and events are points in time.
#include "runtime/device/host_backend.h"

#include <chrono>
#include <cstring>

#include "runtime/alloc.h"
#include "runtime/device/memory.h"
#include "runtime/error.h"

namespace tessera::tensor {
namespace {

using Clock = std::chrono::steady_clock;

int one_device() { return 1; }
const char* no_reason() { return ""; }
void no_properties(Device device, DeviceProperties&) {
  fail(TensorErrorKind::Runtime, "device ", device.str(), " has no properties to tell");
}

void* allocate(Device, StreamHandle, size_t& bytes) { return host::allocate(bytes); }
void release(Device, StreamHandle, void* block, size_t bytes) noexcept { host::release(block, bytes); }
void record_stream(Device, void*, StreamHandle) {}
void trim(Device) { host::trim(); }
void memory_use(Device, MemoryUse& out) { out = {0, host::cached_bytes(), 0, 0, 0}; }

// Memory that nobody pins; a GPU's backend brings its own.
void* allocate_pinned(size_t& bytes) { return host::allocate(bytes); }
void release_pinned(void* block, size_t bytes) noexcept { host::release(block, bytes); }
bool is_pinned(const void*) { return false; }

void copy(const CopyRequest& r) { std::memmove(r.to, r.from, r.bytes); }

StreamHandle create_stream(Device, int) { return nullptr; }
void destroy_stream(Device, StreamHandle) noexcept {}
bool stream_done(Device, StreamHandle) { return true; }
void synchronize_stream(Device, StreamHandle) {}
void synchronize_device(Device) {}

EventHandle create_event(Device, bool) { return new Clock::time_point(); }
void destroy_event(Device, EventHandle event) noexcept { delete static_cast<Clock::time_point*>(event); }
void record_event(Device, EventHandle event, StreamHandle) { *static_cast<Clock::time_point*>(event) = Clock::now(); }
void wait_event(Device, StreamHandle, EventHandle) {}
bool event_done(Device, EventHandle) { return true; }
void synchronize_event(Device, EventHandle) {}
float elapsed_ms(Device, EventHandle from, EventHandle to) {
  const auto passed = *static_cast<Clock::time_point*>(to) - *static_cast<Clock::time_point*>(from);
  return std::chrono::duration<float, std::milli>(passed).count();
}

ErrorWord* no_error_word(Device) { return nullptr; }
bool take_no_error(Device, ErrorWord&) { return false; }

void* allocate_nothing(Device, StreamHandle, size_t& bytes) {
  bytes = 0;
  return reinterpret_cast<void*>(kMetaBase);
}
void release_nothing(Device, StreamHandle, void*, size_t) noexcept {}
void trim_nothing(Device) {}
void use_nothing(Device, MemoryUse& out) { out = {}; }
void copy_nothing(const CopyRequest&) {}

constexpr DeviceBackend host_table() {
  return {
      .name = "cpu",
      .device_count = one_device,
      .why_none = no_reason,
      .properties = no_properties,
      .allocate = allocate,
      .release = release,
      .record_stream = record_stream,
      .trim = trim,
      .memory_use = memory_use,
      .allocate_pinned = allocate_pinned,
      .release_pinned = release_pinned,
      .is_pinned = is_pinned,
      .copy = copy,
      .create_stream = create_stream,
      .destroy_stream = destroy_stream,
      .stream_done = stream_done,
      .synchronize_stream = synchronize_stream,
      .synchronize = synchronize_device,
      .create_event = create_event,
      .destroy_event = destroy_event,
      .record_event = record_event,
      .wait_event = wait_event,
      .event_done = event_done,
      .synchronize_event = synchronize_event,
      .elapsed_ms = elapsed_ms,
      .error_word = no_error_word,
      .take_error = take_no_error,
  };
}

constexpr DeviceBackend meta_table() {
  DeviceBackend meta = host_table();
  meta.name = "meta";
  meta.allocate = allocate_nothing;
  meta.release = release_nothing;
  meta.trim = trim_nothing;
  meta.memory_use = use_nothing;
  meta.copy = copy_nothing;
  return meta;
}

}  // namespace

constinit const DeviceBackend kHostBackend = host_table();
constinit const DeviceBackend kMetaBackend = meta_table();

}  // namespace tessera::tensor
