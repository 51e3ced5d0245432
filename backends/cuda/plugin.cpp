// The plugin's entry, and what a device offers besides kernels: memory, copies, synchronisation.
#include <cstdio>
#include <mutex>
#include <string>

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

const PluginHost* host = nullptr;

void fail_with(TensorErrorKind kind, const char* message) {
  host->fail(kind, message);
  __builtin_unreachable();
}

void check_call(cudaError_t result) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not show up again at the next check
  std::string message = std::string("CUDA error: ") + cudaGetErrorString(result);
  if (result == cudaErrorMemoryAllocation) fail_with(TensorErrorKind::OutOfMemory, "CUDA out of memory.");
  fail_with(TensorErrorKind::Runtime, message.c_str());
}

namespace {

constexpr int kMaxDevices = 64;

int device_count() {
  int count = 0;
  // No driver, or one that is too old, is an error of the call: there is no device then.
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count < kMaxDevices ? count : kMaxDevices;
}

void use(Device device) { check_call(cudaSetDevice(device.index < 0 ? 0 : device.index)); }

// CUDA's pools reuse freed blocks in stream order; keeping them all makes a warm allocation a few hundred nanoseconds.
void keep_freed_memory(int device) {
  cudaMemPool_t pool;
  uint64_t threshold = UINT64_MAX;
  check_call(cudaDeviceGetDefaultMemPool(&pool, device));
  check_call(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
}

void prepare(Device device) {
  static std::once_flag prepared[kMaxDevices];
  const int index = device.index < 0 ? 0 : device.index;
  use(device);
  std::call_once(prepared[index], [&] { keep_freed_memory(index); });
}

void* allocate(Device device, size_t& bytes) {
  prepare(device);
  bytes = (bytes + 511) & ~size_t(511);
  void* block = nullptr;
  const cudaError_t result = cudaMallocAsync(&block, bytes ? bytes : 512, stream());
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    char message[256];
    std::snprintf(message, sizeof message,
                  "CUDA out of memory. Tried to allocate %.2f MiB (GPU %d; %.2f GiB total capacity; %.2f GiB free)",
                  double(bytes) / (1 << 20), device.index < 0 ? 0 : int(device.index), double(total) / (1 << 30),
                  double(free_bytes) / (1 << 30));
    fail_with(TensorErrorKind::OutOfMemory, message);
  }
  check_call(result);
  return block;
}

void release(Device device, void* block, size_t) noexcept {
  // At the end of the process the driver may be gone already; there is nobody left to tell.
  cudaSetDevice(device.index < 0 ? 0 : device.index);
  cudaFreeAsync(block, stream());
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes) {
  use(to_device.is_cuda() ? to_device : from_device);
  check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()));
  if (!to_device.is_cuda() || !from_device.is_cuda()) check_call(cudaStreamSynchronize(stream()));
}

void synchronize(Device device) {
  use(device);
  check_call(cudaDeviceSynchronize());
}

const DeviceBackend kBackend = {"cuda", device_count, allocate, release, copy_bytes, synchronize};

}  // namespace
}  // namespace tessera::tensor::cuda

extern "C" __attribute__((visibility("default"))) const tessera::tensor::DeviceBackend* tessera_plugin(
    const tessera::tensor::PluginHost& host) {
  using namespace tessera::tensor::cuda;
  if (host.version != tessera::tensor::kPluginVersion) return nullptr;
  static const tessera::tensor::PluginHost kept = host;
  tessera::tensor::cuda::host = &kept;
  fill_copy_slots(kept);
  fill_pointwise_slots(kept);
  fill_reduce_slots(kept);
  fill_gemm_slots(kept);
  return &kBackend;
}
