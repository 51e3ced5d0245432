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
int no_version() { return 0; }
bool no_peer(Device, Device) { return false; }
const char* no_reason() { return ""; }
void no_properties(Device device, DeviceProperties&) {
  fail(TensorErrorKind::Runtime, "device ", device.str(), " has no properties to tell");
}

void* allocate(Device, StreamHandle, size_t& bytes) { return host::allocate(bytes); }
void release(Device, StreamHandle, void* block, size_t bytes) noexcept { host::release(block, bytes); }
void record_stream(Device, void*, StreamHandle) {}
size_t block_bytes(Device, const void*) { return 0; }
void trim(Device) { host::trim(); }
void memory_info(Device, size_t& free, size_t& total) { free = total = 0; }
void memory_stats(Device, MemoryStats& out) {
  out = {};
  out.reserved_bytes[MemoryStats::All].current = int64_t(host::cached_bytes());
}
void reset_memory_stats(Device, bool, bool) {}
void memory_snapshot(Device, const SegmentVisitor&) {}
void limit_memory(Device, size_t) {}

[[noreturn]] void no_pools() { fail(TensorErrorKind::Runtime, "only CUDA devices have private pools of memory"); }
PoolId create_pool() { no_pools(); }
void use_pool(Device, PoolId) { no_pools(); }

// Memory that nobody pins; a GPU's backend brings its own.
void* allocate_pinned(size_t& bytes) { return host::allocate(bytes); }
void release_pinned(void* block, size_t bytes) noexcept { host::release(block, bytes); }
bool is_pinned(const void*) { return false; }
void trim_pinned() {}
void pinned_stats(PinnedStats& out) { out = {}; }
void reset_pinned_stats(bool, bool) {}

void copy(const CopyRequest& r) { std::memmove(r.to, r.from, r.bytes); }

StreamPriorities stream_priorities() { return {0, 0}; }
StreamHandle take_stream(Device, int) { return nullptr; }
int stream_priority(Device, StreamHandle) { return 0; }
bool stream_done(Device, StreamHandle) { return true; }
void synchronize_stream(Device, StreamHandle) {}
void synchronize_device(Device) {}

void order_streams(Device, StreamHandle, Device, StreamHandle) {}

int push_range(const char*) { return kNobodyListens; }
int pop_range() { return kNobodyListens; }
uint64_t start_range(const char*) { return 0; }
void end_range(uint64_t) {}
void mark(const char*) {}

EventHandle create_event(Device, EventOptions) { return new Clock::time_point(); }
void destroy_event(Device, EventHandle event) noexcept { delete static_cast<Clock::time_point*>(event); }
void record_event(Device, EventHandle event, StreamHandle) { *static_cast<Clock::time_point*>(event) = Clock::now(); }
void wait_event(Device, StreamHandle, EventHandle) {}
bool event_done(Device, EventHandle) { return true; }
void synchronize_event(Device, EventHandle) {}
float elapsed_ms(Device, EventHandle from, EventHandle to) {
  const auto passed = *static_cast<Clock::time_point*>(to) - *static_cast<Clock::time_point*>(from);
  return std::chrono::duration<float, std::milli>(passed).count();
}

[[noreturn]] void no_graphs() { fail(TensorErrorKind::Runtime, "only CUDA devices have graphs"); }
GraphHandle begin_capture(Device, StreamHandle, PoolId, CaptureMode) { no_graphs(); }
void end_capture(GraphHandle, bool) { no_graphs(); }
void instantiate_graph(GraphHandle) { no_graphs(); }
void replay_graph(GraphHandle, StreamHandle) { no_graphs(); }
void destroy_graph(GraphHandle) noexcept {}
void write_graph(GraphHandle, const char*) { no_graphs(); }
CaptureStatus capture_status(Device, StreamHandle) { return CaptureStatus::None; }

ErrorWord* no_error_word(Device) { return nullptr; }
bool take_no_error(Device, ErrorWord&) { return false; }

void* allocate_nothing(Device, StreamHandle, size_t& bytes) {
  bytes = 0;
  return reinterpret_cast<void*>(kMetaBase);
}
void release_nothing(Device, StreamHandle, void*, size_t) noexcept {}
void trim_nothing(Device) {}
void stats_of_nothing(Device, MemoryStats& out) { out = {}; }
void copy_nothing(const CopyRequest&) {}

constexpr DeviceBackend host_table() {
  return {
      .name = "cpu",
      .traits = {},
      .device_count = one_device,
      .why_none = no_reason,
      .no_such_index = "",
      .properties = no_properties,
      .driver_version = no_version,
      .runtime_version = no_version,
      .arch_list = no_reason,
      .can_access_peer = no_peer,
      .allocate = allocate,
      .release = release,
      .record_stream = record_stream,
      .block_bytes = block_bytes,
      .trim = trim,
      .memory_info = memory_info,
      .memory_stats = memory_stats,
      .reset_memory_stats = reset_memory_stats,
      .memory_snapshot = memory_snapshot,
      .limit_memory = limit_memory,
      .create_pool = create_pool,
      .retain_pool = use_pool,
      .release_pool = use_pool,
      .enter_pool = use_pool,
      .leave_pool = use_pool,
      .allocate_pinned = allocate_pinned,
      .release_pinned = release_pinned,
      .is_pinned = is_pinned,
      .trim_pinned = trim_pinned,
      .pinned_stats = pinned_stats,
      .reset_pinned_stats = reset_pinned_stats,
      .copy = copy,
      .stream_priorities = stream_priorities,
      .take_stream = take_stream,
      .stream_priority = stream_priority,
      .stream_done = stream_done,
      .synchronize_stream = synchronize_stream,
      .synchronize = synchronize_device,
      .order_streams = order_streams,
      .create_event = create_event,
      .destroy_event = destroy_event,
      .record_event = record_event,
      .wait_event = wait_event,
      .event_done = event_done,
      .synchronize_event = synchronize_event,
      .elapsed_ms = elapsed_ms,
      .begin_capture = begin_capture,
      .end_capture = end_capture,
      .instantiate_graph = instantiate_graph,
      .replay_graph = replay_graph,
      .destroy_graph = destroy_graph,
      .write_graph = write_graph,
      .capture_status = capture_status,
      .error_word = no_error_word,
      .take_error = take_no_error,
      .marks = {push_range, pop_range, start_range, end_range, mark},
  };
}

constexpr DeviceBackend meta_table() {
  DeviceBackend meta = host_table();
  meta.name = "meta";
  meta.allocate = allocate_nothing;
  meta.release = release_nothing;
  meta.trim = trim_nothing;
  meta.memory_stats = stats_of_nothing;
  meta.copy = copy_nothing;
  return meta;
}

}  // namespace

constinit const DeviceBackend kHostBackend = host_table();
constinit const DeviceBackend kMetaBackend = meta_table();

}  // namespace tessera::tensor
