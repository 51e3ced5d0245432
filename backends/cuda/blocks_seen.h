// What the allocator tells the host executor, so that it sees where each block of a segment ends: nothing on a device.
// Blocks come and go in the order of their stream, as their memory does.
#pragma once

#include "backends/cuda/cuda.h"

#ifdef TESSERA_EXECUTOR_RUNTIME
#include <executor_blocks.h>
#endif

namespace tessera::tensor::cuda::seen {

#ifdef TESSERA_EXECUTOR_RUNTIME
inline void segment_taken(void* segment, size_t bytes) { tessera_executor::segment_taken(segment, bytes); }
inline void block_taken(void* block, size_t bytes, cudaStream_t stream) {
  tessera_executor::block_taken(block, bytes, stream);
}
inline void block_freed(void* block, cudaStream_t stream) { tessera_executor::block_freed(block, stream); }
#else
inline void segment_taken(void*, size_t) {}
inline void block_taken(void*, size_t, cudaStream_t) {}
inline void block_freed(void*, cudaStream_t) {}
#endif

}  // namespace tessera::tensor::cuda::seen
