// The two halves of an AlongCall: extremes with their index, and running sums and products.
#pragma once

#include "runtime/device/calls.h"

namespace tessera::tensor::cuda {

void extreme_along(const AlongCall& call);

}  // namespace tessera::tensor::cuda
