// Memory of the host that devices copy from and to on their own (pinned), kept for the next who asks. A block is not given
// out again before the copies that streams make of it are done.
#pragma once

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

void* take_pinned(size_t& bytes);  // rounded up to a power of two
void give_pinned(void* block) noexcept;
/// Whether the address lies in a block, or in memory that another library has pinned.
bool is_pinned(const void* address);
/// The stream copies from or to the block that the address lies in (none: nothing happens).
void note_use_of_pinned(const void* address, Device device, cudaStream_t stream);
void trim_pinned();
void pinned_stats(PinnedStats& out);
void reset_pinned_stats(bool peaks, bool totals);

}  // namespace tessera::tensor::cuda
