// Entries whose operands have to lie on one device, and how PyTorch's CUDA build says so. Its dispatcher looks at the operands of a
// kernel before the kernel does, by the names of both; loops over broadcast operands (plan.h) look themselves, and take numbers
// of the host.
#pragma once

#include "runtime/ops/op.h"

namespace tessera::tensor {

/// Throws where the operands lie on two devices and the entry takes no such (OpFacts::one_device). What says nothing of it has "found at least two devices" where it has a kernel of
/// its own, and leaves it to its parts otherwise.
void check_one_device(const OpCall& call);

}  // namespace tessera::tensor
