// What a capture of a graph, of this thread or another, forbids to call: memory from the driver, questions about events. The plugin
// calls these for itself, and none of it is a part of the graph.
#pragma once

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {

/// While this lives the thread may call them.
class Relaxed {
 public:
  Relaxed() { check_call(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~Relaxed() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  Relaxed(const Relaxed&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace tessera::tensor::cuda
