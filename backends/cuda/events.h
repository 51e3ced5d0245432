// Events without times, kept for the next who needs one.
#pragma once

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

/// Recorded on the stream. Give it back with keep_event when it has happened or the stream's order is all that it served.
cudaEvent_t event_behind(Device device, cudaStream_t stream);
void keep_event(Device device, cudaEvent_t event) noexcept;
/// Whether it has happened.
bool has_happened(cudaEvent_t event);

}  // namespace tessera::tensor::cuda
