// What a device offers besides kernels: memory, copies, streams, events, graphs, errors. One table of functions per device
// type, every entry there; what a device cannot do raises. The runtime calls it through memory.h; a plugin fills it (plugin.h).
//
// Order is the stream's: memory, copies and kernels of one stream happen in the order in which they were given. Handles
// are the backend's own; null is the default stream. No function changes the device that is current for the caller's thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device/calls.h"
#include "runtime/device/device.h"
#include "runtime/device/error_word.h"
#include "runtime/device/memory_stats.h"
#include "runtime/device/stream.h"
#include "runtime/device/traits.h"

namespace tessera::tensor {

struct DeviceProperties {
  char name[256];
  unsigned char uuid[16];
  size_t total_memory;
  int major, minor;  // compute capability
  int multiprocessors;
  int warp_size;
  int threads_per_block, threads_per_multiprocessor;
  int registers_per_multiprocessor;
  size_t shared_per_block, shared_per_block_optin, shared_per_multiprocessor;
  size_t l2_bytes;
  int clock_khz, memory_clock_khz, memory_bus_bits;
  int pci_bus, pci_device, pci_domain;
  bool integrated, multi_gpu_board;
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
// Without `wait`: bytes of a host side that is not pinned are read before the function returns, or there when it does; a
// pinned one belongs to the stream until the copy is done (a block of allocate_pinned is not given out again before).

struct StreamPriorities {
  int least, greatest;  // 0 and a negative number: lower is more urgent
};

struct EventOptions {
  bool timed = false;     // elapsed_ms may be asked
  bool blocking = false;  // a host that waits sleeps
};

/// Marks for the tools that record what a program does. Where none listens they do nothing.
struct ProfilerMarks {
  int (*push)(const char* text);  // begins a range that lies within those that are open: how many these are
  int (*pop)();                   // ends the innermost one: how many are open then
  uint64_t (*start)(const char* text);
  void (*end)(uint64_t range);
  void (*mark)(const char* text);
};
inline constexpr int kNobodyListens = -2;  // what push and pop answer then

using GraphHandle = struct DeviceGraph*;

enum class CaptureMode : uint8_t { Global, ThreadLocal, Relaxed };  // which threads a capture forbids unsafe calls
enum class CaptureStatus : uint8_t { None, Active, Invalidated };

struct DeviceBackend {
  const char* name;
  DeviceTraits traits;

  // Devices. A count of 0 has a reason: no driver, one that is too old, no device that the kernels were built for.
  int (*device_count)();
  const char* (*why_none)();
  const char* no_such_index;  // the error of an index that no device has
  void (*properties)(Device device, DeviceProperties& out);
  int (*driver_version)();     // 13000 for 13.0; 0: no driver
  int (*runtime_version)();    // that the kernels were built with
  const char* (*arch_list)();  // "sm_80 sm_90 compute_90": what they were built for
  bool (*can_access_peer)(Device device, Device peer);

  // Memory. `bytes` is rounded up to the block's size; release takes the stream of the allocation. Throws OutOfMemory.
  void* (*allocate)(Device device, StreamHandle stream, size_t& bytes);
  void (*release)(Device device, StreamHandle stream, void* block, size_t bytes) noexcept;
  /// The block is in use by another stream than its own: it may not be reused before that one is done.
  void (*record_stream)(Device device, void* block, StreamHandle user);
  /// Bytes of the block that begins at the address; 0: none does.
  size_t (*block_bytes)(Device device, const void* block);
  void (*trim)(Device device);
  void (*memory_info)(Device device, size_t& free, size_t& total);  // of the device, by everybody's use
  void (*memory_stats)(Device device, MemoryStats& out);
  void (*reset_memory_stats)(Device device, bool peaks, bool totals);
  void (*memory_snapshot)(Device device, const SegmentVisitor& visit);
  /// The most bytes that may be held of the device; 0: no limit but the device's.
  void (*limit_memory)(Device device, size_t bytes);

  // Pools. Blocks of a private pool are reused within it alone; it lives until its last user has let go and no block of it
  // is in use.
  PoolId (*create_pool)();
  void (*retain_pool)(Device device, PoolId pool);
  void (*release_pool)(Device device, PoolId pool);
  /// What this thread allocates on the device comes from the pool, until leave_pool.
  void (*enter_pool)(Device device, PoolId pool);
  void (*leave_pool)(Device device, PoolId pool);

  // Host memory that the device can copy from and to while the host goes on.
  void* (*allocate_pinned)(size_t& bytes);
  void (*release_pinned)(void* block, size_t bytes) noexcept;
  bool (*is_pinned)(const void* address);
  void (*trim_pinned)();
  void (*pinned_stats)(PinnedStats& out);
  void (*reset_pinned_stats)(bool peaks, bool totals);

  /// At least one side is this backend's.
  void (*copy)(const CopyRequest& request);

  StreamPriorities (*stream_priorities)();
  /// One of the few streams that the device has of that priority, in turn; they live as long as the process.
  StreamHandle (*take_stream)(Device device, int priority);
  int (*stream_priority)(Device device, StreamHandle stream);
  bool (*stream_done)(Device device, StreamHandle stream);
  void (*synchronize_stream)(Device device, StreamHandle stream);
  void (*synchronize)(Device device);
  /// What `stream` is given from now on comes after what `before`, of another device or the same, was given.
  void (*order_streams)(Device device, StreamHandle stream, Device before_device, StreamHandle before);

  EventHandle (*create_event)(Device device, EventOptions options);
  void (*destroy_event)(Device device, EventHandle event) noexcept;
  void (*record_event)(Device device, EventHandle event, StreamHandle stream);
  void (*wait_event)(Device device, StreamHandle stream, EventHandle event);  // the stream waits, not the host
  bool (*event_done)(Device device, EventHandle event);
  void (*synchronize_event)(Device device, EventHandle event);
  float (*elapsed_ms)(Device device, EventHandle from, EventHandle to);

  // Graphs. Between begin_capture and end_capture the stream's work is written down instead of done; memory that it asks for
  // meanwhile comes from the pool, which the graph holds until it is destroyed.
  GraphHandle (*begin_capture)(Device device, StreamHandle stream, PoolId pool, CaptureMode mode);
  /// Ends the capture; throws when it was spoilt (the graph is destroyed then). With `keep` the graph waits for instantiate.
  void (*end_capture)(GraphHandle graph, bool keep);
  void (*instantiate_graph)(GraphHandle graph);
  void (*replay_graph)(GraphHandle graph, StreamHandle stream);
  void (*destroy_graph)(GraphHandle graph) noexcept;
  void (*write_graph)(GraphHandle graph, const char* path);  // as text for graphviz
  CaptureStatus (*capture_status)(Device device, StreamHandle stream);

  /// Where the device's kernels write faults.
  ErrorWord* (*error_word)(Device device);
  /// Moves a fault out, if there is one. Called after a synchronisation.
  bool (*take_error)(Device device, ErrorWord& out);

  ProfilerMarks marks;
};

/// Null when the device type has no backend (for cuda: the plugin could not be loaded).
const DeviceBackend* device_backend(DeviceType type);
void register_device_backend(DeviceType type, const DeviceBackend* backend);
/// Checks that the device exists and fills in index -1 (the Context's current one); throws PyTorch's errors (no driver, no
/// such ordinal, mps).
Device resolve_device(Device device);

}  // namespace tessera::tensor
