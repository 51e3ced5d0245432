// Memory, pinned host memory, and copies.
#include <atomic>
#include <cstdio>

#include "backends/cuda/scratch.h"

namespace tessera::tensor::cuda {
namespace {

constexpr size_t kBlock = 512;

struct Account {
  std::atomic<size_t> allocated{0}, peak{0};
};

Account& account_of(Device device) {
  static Account accounts[kMaxDevices];
  return accounts[index_of(device)];
}

[[noreturn]] void out_of_memory(Device device, size_t bytes) {
  size_t free_bytes = 0, total = 0;
  cudaMemGetInfo(&free_bytes, &total);
  char message[256];
  std::snprintf(message, sizeof message,
                "CUDA out of memory. Tried to allocate %.2f MiB. GPU %d has a total capacity of %.2f GiB of which %.2f "
                "GiB is free.",
                double(bytes) / (1 << 20), index_of(device), double(total) / (1 << 30), double(free_bytes) / (1 << 30));
  fail_with(TensorErrorKind::OutOfMemory, message);
}

void trim(Device) {}

void* allocate(Device device, StreamHandle, size_t& bytes) {
  const OnDevice here(device);
  Account& account = account_of(device);
  bytes = bytes == 0 ? kBlock : (bytes + kBlock - 1) & ~(kBlock - 1);
  void* block = nullptr;
  cudaError_t result = cudaMalloc(&block, bytes);
  if (result == cudaErrorMemoryAllocation) {  // once more, with what other streams and sizes hold
    cudaGetLastError();
    trim(device);
    result = cudaMalloc(&block, bytes);
  }
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    out_of_memory(device, bytes);
  }
  check_call(result);
  const size_t now = account.allocated += bytes;
  for (size_t peak = account.peak; peak < now && !account.peak.compare_exchange_weak(peak, now);) {}
  return block;
}

// At the end of the process the driver may be gone already; there is nobody left to tell.
void release(Device device, StreamHandle, void* block, size_t bytes) noexcept {
  int before = 0;
  cudaGetDevice(&before);
  if (before != index_of(device)) cudaSetDevice(index_of(device));
  cudaFree(block);
  if (before != index_of(device)) cudaSetDevice(before);
  account_of(device).allocated -= bytes;
}

// Needs an allocator that knows its blocks; until then a tensor may not be used on a stream that is not its own.
void record_stream(Device, void*, StreamHandle) {
  fail_with(TensorErrorKind::NotImplemented, "record_stream is not implemented on CUDA");
}

void memory_stats(Device device, MemoryStats& out) {
  out.allocated_bytes[0].current = out.reserved_bytes[0].current = int64_t(account_of(device).allocated);
  out.allocated_bytes[0].peak = out.reserved_bytes[0].peak = int64_t(account_of(device).peak);
}

void memory_info(Device device, size_t& free, size_t& total) {
  const OnDevice here(device);
  check_call(cudaMemGetInfo(&free, &total));
}

void* allocate_pinned(size_t& bytes) {
  void* block = nullptr;
  check_call(cudaHostAlloc(&block, bytes ? bytes : 1, cudaHostAllocPortable));
  return block;
}

void release_pinned(void* block, size_t) noexcept { cudaFreeHost(block); }

bool is_pinned(const void* address) {
  cudaPointerAttributes found;
  if (cudaPointerGetAttributes(&found, address) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return found.type == cudaMemoryTypeHost;
}

// Between two devices each stream waits for the other: the copy for what the source was given, the source's memory for
// the copy.
void copy_between(const CopyRequest& r) {
  const auto to = static_cast<cudaStream_t>(r.stream), from = static_cast<cudaStream_t>(r.from_stream);
  cudaEvent_t ready, done;
  {
    const OnDevice source(r.from_device);
    check_call(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    check_call(cudaEventRecord(ready, from));
  }
  {
    const OnDevice target(r.to_device);
    check_call(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    check_call(cudaStreamWaitEvent(to, ready, 0));
    check_call(cudaMemcpyPeerAsync(r.to, index_of(r.to_device), r.from, index_of(r.from_device), r.bytes, to));
    check_call(cudaEventRecord(done, to));
  }
  const OnDevice source(r.from_device);
  check_call(cudaStreamWaitEvent(from, done, 0));
  check_call(cudaEventDestroy(ready));  // CUDA keeps them until they have happened
  check_call(cudaEventDestroy(done));
}

void copy(const CopyRequest& r) {
  if (r.to_device.is_cuda() && r.from_device.is_cuda() && index_of(r.to_device) != index_of(r.from_device))
    return copy_between(r);
  const Device device = r.to_device.is_cuda() ? r.to_device : r.from_device;
  const auto stream = static_cast<cudaStream_t>(r.stream);
  const OnDevice here(device);
  check_call(cudaMemcpyAsync(r.to, r.from, r.bytes, cudaMemcpyDefault, stream));
  if (!r.wait || (r.to_device.is_cuda() && r.from_device.is_cuda())) return;
  fetch_errors(device, stream);
  check_call(cudaStreamSynchronize(stream));
}

}  // namespace

void* take_memory(Device device, StreamHandle stream, size_t& bytes) { return allocate(device, stream, bytes); }
void give_memory(Device device, StreamHandle stream, void* block, size_t bytes) noexcept {
  release(device, stream, block, bytes);
}

void fill_memory(DeviceBackend& table) {
  table.allocate = allocate;
  table.release = release;
  table.record_stream = record_stream;
  table.trim = trim;
  table.memory_stats = memory_stats;
  table.memory_info = memory_info;
  table.allocate_pinned = allocate_pinned;
  table.release_pinned = release_pinned;
  table.is_pinned = is_pinned;
  table.copy = copy;
}

}  // namespace tessera::tensor::cuda
