// Free lists for what the tape allocates: nodes and tensors' records. A recorded op then costs no malloc.
#pragma once

#include <cstddef>

namespace tessera::tensor {

/// A block of at least `bytes`; blocks up to 1024 bytes come from a list of this thread.
void* pool_allocate(size_t bytes);
/// `bytes` as given to pool_allocate; any thread may call it.
void pool_release(void* block, size_t bytes) noexcept;

}  // namespace tessera::tensor
