// What a device offers besides kernels: memory, copies, streams, events, errors. One table of functions per device type,
// every entry there; what a device cannot do raises. The runtime calls it through memory.h; a plugin fills it (plugin.h).
//
// Order is the stream's: memory, copies and kernels of one stream happen in the order in which they were given. Handles
// are the backend's own; null is the default stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device/calls.h"
#include "runtime/device/device.h"
#include "runtime/device/error_word.h"
#include "runtime/device/stream.h"

namespace tessera::tensor {

struct DeviceProperties {
  char name[256];
  size_t total_memory;
  int major, minor;  // compute capability
  int multiprocessors;
};

struct MemoryUse {
  size_t allocated;  // held by tensors
  size_t reserved;   // held from the system for them
  size_t peak_allocated;
  size_t free, total;  // of the device, by everybody's use
};

struct CopyRequest {
  void* to;
  Device to_device;
  const void* from;
  Device from_device;
  size_t bytes;
  StreamHandle stream;       // of to_device, or of the one device that is no host
  StreamHandle from_stream;  // of from_device, where both are devices: the copy comes after what was given there
  bool wait;                 // host sides are complete when the function returns
};

struct DeviceBackend {
  const char* name;

  // Devices. A count of 0 has a reason: no driver, one that is too old, no device.
  int (*device_count)();
  const char* (*why_none)();
  void (*properties)(Device device, DeviceProperties& out);

  // Memory. `bytes` is rounded up to the block's size; release takes the stream of the allocation. Throws OutOfMemory.
  void* (*allocate)(Device device, StreamHandle stream, size_t& bytes);
  void (*release)(Device device, StreamHandle stream, void* block, size_t bytes) noexcept;
  /// The block is in use by another stream than its own: it may not be reused before that one is done.
  void (*record_stream)(Device device, void* block, StreamHandle user);
  void (*trim)(Device device);
  void (*memory_use)(Device device, MemoryUse& out);

  // Host memory that the device can copy from and to while the host goes on.
  void* (*allocate_pinned)(size_t& bytes);
  void (*release_pinned)(void* block, size_t bytes) noexcept;
  bool (*is_pinned)(const void* address);

  /// At least one side is this backend's.
  void (*copy)(const CopyRequest& request);

  StreamHandle (*create_stream)(Device device, int priority);
  void (*destroy_stream)(Device device, StreamHandle stream) noexcept;
  bool (*stream_done)(Device device, StreamHandle stream);
  void (*synchronize_stream)(Device device, StreamHandle stream);
  void (*synchronize)(Device device);

  EventHandle (*create_event)(Device device, bool timed);
  void (*destroy_event)(Device device, EventHandle event) noexcept;
  void (*record_event)(Device device, EventHandle event, StreamHandle stream);
  void (*wait_event)(Device device, StreamHandle stream, EventHandle event);  // the stream waits, not the host
  bool (*event_done)(Device device, EventHandle event);
  void (*synchronize_event)(Device device, EventHandle event);
  float (*elapsed_ms)(Device device, EventHandle from, EventHandle to);

  /// Where the device's kernels write faults.
  ErrorWord* (*error_word)(Device device);
  /// Moves a fault out, if there is one. Called after a synchronisation.
  bool (*take_error)(Device device, ErrorWord& out);
};

/// Null when the device type has no backend (for cuda: the plugin could not be loaded).
const DeviceBackend* device_backend(DeviceType type);
void register_device_backend(DeviceType type, const DeviceBackend* backend);
/// Checks that the device exists and fills in index -1; throws PyTorch's errors (no driver, no such ordinal, mps).
Device resolve_device(Device device);

}  // namespace tessera::tensor
