// The class of a tensor as PyTorch's messages name it, by dtype and device.
#pragma once

#include <string>

#include "runtime/device/device.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

/// "torch.FloatTensor", on an accelerator "torch.cuda.FloatTensor"; dtypes without a class: "CPUBoolType", "CUDABoolType".
std::string class_text(DType t, Device device = kCpu);

}  // namespace tessera::tensor
