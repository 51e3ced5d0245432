// torch.backends.cudnn: cuDNN's switches, and whether there is one. A backend that computes convolutions by cuDNN keeps the
// switches itself: they belong to the process, as PyTorch's do.
#pragma once

#include "runtime/device/kernel.h"

namespace tessera::tensor {

struct CudnnSwitches {
  bool enabled = true;
  bool benchmark = false;    // algorithms are measured for a shape that was not seen before
  bool allow_tf32 = true;    // float32 may be multiplied with 10 bits behind the point, by whatever convolves
  int benchmark_limit = 10;  // algorithms that are measured; 0: all
};

/// No kernel: a question to a backend that was loaded, asked without a device and answered in memory of the host.
struct CudnnCall {
  const CudnnSwitches* set;  // null: they stay as they are
  int* version;              // 91900 for 9.19; 0: it cannot be used
  const char** why_none;     // text that lives as long as the process
  Launch launch{};
};
extern Kernel<CudnnCall> cudnn_kernel;

/// 0 and the reason where there is no CUDA backend or it has no cuDNN.
int cudnn_version(const char*& why_none);
void set_cudnn(const CudnnSwitches& switches);

}  // namespace tessera::tensor
