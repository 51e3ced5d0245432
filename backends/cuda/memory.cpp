// The table's part of memory: the allocators behind it, copies between host and devices, peers.
#include <cstring>
#include <mutex>

#include "backends/cuda/allocator.h"
#include "backends/cuda/events.h"
#include "backends/cuda/pinned.h"
#include "backends/cuda/scratch.h"

namespace tessera::tensor::cuda {
namespace {

cudaStream_t stream_of(StreamHandle stream) { return static_cast<cudaStream_t>(stream); }

void release(Device device, StreamHandle, void* block, size_t) noexcept { allocator_of(device).release(block); }
void record_stream(Device device, void* block, StreamHandle user) {
  allocator_of(device).record_stream(block, stream_of(user));
}
void memory_info(Device device, size_t& free, size_t& total) {
  const OnDevice here(device);
  check_call(cudaMemGetInfo(&free, &total));
}

// ---- peers ----

bool can_access_peer(Device device, Device peer) {
  int can = 0;
  check_call(cudaDeviceCanAccessPeer(&can, index_of(device), index_of(peer)));
  return can != 0;
}

// Copies between devices go directly where the machine can; asked once for each pair.
void enable_peer(Device device, Device peer) {
  static std::once_flag asked[kMaxDevices][kMaxDevices];
  std::call_once(asked[index_of(device)][index_of(peer)], [&] {
    if (!can_access_peer(device, peer)) return;
    const OnDevice here(device);
    const cudaError_t result = cudaDeviceEnablePeerAccess(index_of(peer), 0);
    if (result == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError();
    else check_call(result);
  });
}

// ---- copies ----

// Between two devices each stream waits for the other: the copy for what the source was given, the source's memory for
// the copy.
void copy_between(const CopyRequest& r) {
  const cudaStream_t to = stream_of(r.stream), from = stream_of(r.from_stream);
  enable_peer(r.to_device, r.from_device);
  const cudaEvent_t ready = event_behind(r.from_device, from);
  const OnDevice target(r.to_device);
  cudaError_t result = cudaStreamWaitEvent(to, ready, 0);
  if (result == cudaSuccess)
    result = cudaMemcpyPeerAsync(r.to, index_of(r.to_device), r.from, index_of(r.from_device), r.bytes, to);
  keep_event(r.from_device, ready);  // who waits for it has been told already
  check_call(result);
  try {
    const cudaEvent_t done = event_behind(r.to_device, to);
    const OnDevice source(r.from_device);
    result = cudaStreamWaitEvent(from, done, 0);
    keep_event(r.to_device, done);
    check_call(result);
  } catch (...) {
    cudaStreamSynchronize(to);  // nobody else keeps the source from being used again
    throw;
  }
}

// Up to 64 kB the driver stages on its own without waiting; very large copies would want as much pinned memory.
constexpr size_t kStagedFrom = size_t(64) << 10, kStagedTo = size_t(32) << 20;

// The host's bytes are read before this returns, so nobody need wait.
void copy_from_pageable(const CopyRequest& r, Device device, cudaStream_t stream) {
  if (allocator_of(device).capturing() && stream != nullptr) {
    cudaStreamCaptureStatus status;
    check_call(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusNone)
      fail_with(
          TensorErrorKind::Runtime,
          "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. Please "
          "use tensor.pin_memory() or allocate the tensor with pin_memory=True.");
  }
  if (r.bytes <= kStagedFrom || r.bytes > kStagedTo) {
    check_call(cudaMemcpyAsync(r.to, r.from, r.bytes, cudaMemcpyHostToDevice, stream));
    return;
  }
  size_t bytes = r.bytes;
  void* const staged = take_pinned(bytes);
  std::memcpy(staged, r.from, r.bytes);
  const cudaError_t result = cudaMemcpyAsync(r.to, staged, r.bytes, cudaMemcpyHostToDevice, stream);
  note_use_of_pinned(staged, device, stream);
  give_pinned(staged);
  check_call(result);
}

void copy_from_host(const CopyRequest& r, Device device, cudaStream_t stream) {
  if (!is_pinned(r.from)) return copy_from_pageable(r, device, stream);
  check_call(cudaMemcpyAsync(r.to, r.from, r.bytes, cudaMemcpyHostToDevice, stream));
  note_use_of_pinned(r.from, device, stream);
  if (r.wait) check_call(cudaStreamSynchronize(stream));
}

void copy_to_host(const CopyRequest& r, Device device, cudaStream_t stream) {
  if (r.wait) fetch_errors(device, stream);
  check_call(cudaMemcpyAsync(r.to, r.from, r.bytes, cudaMemcpyDeviceToHost, stream));
  if (r.wait) check_call(cudaStreamSynchronize(stream));
  else note_use_of_pinned(r.to, device, stream);
}

void copy(const CopyRequest& r) {
  if (r.bytes == 0) return;
  if (r.to_device.is_cuda() && r.from_device.is_cuda() && index_of(r.to_device) != index_of(r.from_device))
    return copy_between(r);
  const Device device = r.to_device.is_cuda() ? r.to_device : r.from_device;
  const cudaStream_t stream = stream_of(r.stream);
  const OnDevice here(device);
  if (!r.from_device.is_cuda()) copy_from_host(r, device, stream);
  else if (!r.to_device.is_cuda()) copy_to_host(r, device, stream);
  else check_call(cudaMemcpyAsync(r.to, r.from, r.bytes, cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

void* take_memory(Device device, StreamHandle stream, size_t& bytes) {
  return allocator_of(device).allocate(stream_of(stream), bytes);
}
void give_memory(Device device, StreamHandle, void* block, size_t) noexcept { allocator_of(device).release(block); }

void fill_memory(DeviceBackend& table) {
  table.can_access_peer = can_access_peer;
  table.allocate = take_memory;
  table.release = release;
  table.record_stream = record_stream;
  table.block_bytes = [](Device device, const void* block) { return allocator_of(device).block_bytes(block); };
  table.trim = [](Device device) { allocator_of(device).trim(); };
  table.memory_info = memory_info;
  table.memory_stats = [](Device device, MemoryStats& out) { out = allocator_of(device).stats(); };
  table.reset_memory_stats = [](Device device, bool peaks, bool totals) {
    allocator_of(device).reset_stats(peaks, totals);
  };
  table.memory_snapshot = [](Device device, const SegmentVisitor& visit) { allocator_of(device).snapshot(visit); };
  table.limit_memory = [](Device device, size_t bytes) { allocator_of(device).limit(bytes); };
  table.create_pool = new_pool;
  table.retain_pool = [](Device device, PoolId id) { allocator_of(device).retain_pool(id); };
  table.release_pool = [](Device device, PoolId id) { allocator_of(device).release_pool(id); };
  table.enter_pool = [](Device device, PoolId id) { allocator_of(device).enter_pool(id); };
  table.leave_pool = [](Device device, PoolId id) { allocator_of(device).leave_pool(id); };
  table.allocate_pinned = take_pinned;
  table.release_pinned = [](void* block, size_t) noexcept { give_pinned(block); };
  table.is_pinned = is_pinned;
  table.trim_pinned = trim_pinned;
  table.pinned_stats = pinned_stats;
  table.reset_pinned_stats = reset_pinned_stats;
  table.copy = copy;
}

}  // namespace tessera::tensor::cuda
