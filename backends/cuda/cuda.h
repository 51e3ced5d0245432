// What every file of the plugin shares: the program's callbacks, error checks, a call's place, the list of kernels.
//
// Rules of order:
//   1. A kernel runs on the device and the stream of its call; `Place` makes that device current while it is launched.
//   2. The default stream is CUDA's legacy one, shared by all host threads: a tensor may pass from one to another.
//   3. Memory belongs to the stream that it was allocated on and goes back to the pool in that stream's order.
//   4. The host waits only where it reads.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/device/plugin.h"

namespace tessera::tensor::cuda {

extern const PluginHost* host;  // set once by the entry

[[noreturn]] void fail_with(TensorErrorKind kind, const char* message, const char* notes = nullptr);
/// AcceleratorError "CUDA error: ..." unless the call went well; out of memory becomes OutOfMemoryError.
void check_call(cudaError_t result);
/// After a launch: catches what the launch itself refused (the kernel's own faults show at the next synchronisation).
inline void check_launch() { check_call(cudaGetLastError()); }

inline constexpr int kMaxDevices = 64;
inline int index_of(Device device) { return device.index < 0 ? 0 : device.index; }

/// Makes a device the current one for the length of a block.
class OnDevice {
 public:
  explicit OnDevice(Device device) : device_(DeviceType::Cuda, index_of(device)) {
    check_call(cudaGetDevice(&before_));
    changed_ = before_ != index_of(device);
    if (changed_) check_call(cudaSetDevice(index_of(device)));
  }
  ~OnDevice() {
    if (changed_) cudaSetDevice(before_);
  }
  OnDevice(const OnDevice&) = delete;
  Device device() const { return device_; }

 private:
  Device device_;
  int before_ = 0;
  bool changed_ = false;
};

/// Where a call runs: its device is current while this lives.
class Place {
 public:
  explicit Place(const Launch& launch) : device_(launch.device), stream_(static_cast<cudaStream_t>(launch.stream)) {}
  explicit Place(Device device, cudaStream_t stream = nullptr) : device_(device), stream_(stream) {}
  cudaStream_t stream() const { return stream_; }
  Device device() const { return device_.device(); }

 private:
  OnDevice device_;
  cudaStream_t stream_;
};

/// A kernel for the slot of that name: one static object beside the kernel, in the kernel's own file.
template <class Call>
class CudaKernel {
 public:
  CudaKernel(const char* slot, void (*function)(const Call&))
      : entry_{slot, sizeof(Call), reinterpret_cast<KernelSlot::AnyFunction>(function), nullptr} {
    add(entry_);
  }

 private:
  static void add(PluginKernel& entry);
  PluginKernel entry_;
};

/// The kernels of this plugin; complete when dlopen returns.
const PluginKernel*& kernel_list();

template <class Call>
void CudaKernel<Call>::add(PluginKernel& entry) {
  entry.next = kernel_list();
  kernel_list() = &entry;
}

/// Threads in a block, and blocks for n elements with `per_thread` each; large grids stride.
inline constexpr unsigned kThreads = 256;
inline unsigned blocks_for(int64_t n, int per_thread = 4) {
  int64_t blocks = (n + int64_t(kThreads) * per_thread - 1) / (int64_t(kThreads) * per_thread);
  return unsigned(blocks < 1 ? 1 : blocks > 65535 * 16 ? 65535 * 16 : blocks);
}

/// Parts of the table: memory.cpp, streams.cpp, graphs.cpp, marks.cpp.
void fill_memory(DeviceBackend& table);
void fill_streams(DeviceBackend& table);
void fill_graphs(DeviceBackend& table);
void fill_marks(DeviceBackend& table);
/// Where the device's kernels report faults; made when it is first asked for.
ErrorWord* error_word(Device device);
/// Asks for the device's error word to be copied to the host with the work that the stream has.
void fetch_errors(Device device, cudaStream_t stream);

}  // namespace tessera::tensor::cuda
