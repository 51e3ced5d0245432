// What the plugin's allocator tells the executor (backends/cuda/blocks_seen.h): a segment may be touched only in its blocks,
// which have bounds and an age of their own and come and go in the order of their stream.
#pragma once

#include <cstddef>

#include "cuda_runtime_api.h"

namespace tessera_executor {

void segment_taken(void* segment, size_t bytes);
void block_taken(void* block, size_t bytes, cudaStream_t stream = nullptr);
void block_freed(void* block, cudaStream_t stream = nullptr);

}  // namespace tessera_executor
