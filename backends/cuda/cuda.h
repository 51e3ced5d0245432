// What every file of the plugin shares: the program's callbacks, error checks, the stream.
//
// Rules of the stream: all work of a host thread goes to its per-thread default stream, so it runs in the order in which
// it was given. Memory that is released goes back to the pool in that order too. The host waits only where it reads.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/device/plugin.h"

namespace tessera::tensor::cuda {

extern const PluginHost* host;  // set once by the entry

inline cudaStream_t stream() { return cudaStreamPerThread; }

[[noreturn]] void fail_with(TensorErrorKind kind, const char* message);
/// RuntimeError "CUDA error: ..." unless the call went well; out of memory becomes OutOfMemoryError.
void check_call(cudaError_t result);
/// After a launch: catches what the launch itself refused (the kernel's own faults show at the next synchronisation).
inline void check_launch() { check_call(cudaGetLastError()); }

/// Threads in a block, and blocks for n elements with `per_thread` each; large grids stride.
inline constexpr int kThreads = 256;
inline unsigned blocks_for(int64_t n, int per_thread = 4) {
  int64_t blocks = (n + int64_t(kThreads) * per_thread - 1) / (int64_t(kThreads) * per_thread);
  return unsigned(blocks < 1 ? 1 : blocks > 65535 * 16 ? 65535 * 16 : blocks);
}

void fill_copy_slots(const PluginHost& host);
void fill_pointwise_slots(const PluginHost& host);
void fill_reduce_slots(const PluginHost& host);
void fill_gemm_slots(const PluginHost& host);

}  // namespace tessera::tensor::cuda
