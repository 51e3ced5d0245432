// The two halves of an AlongCall: extremes with their index, and running sums and products.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor::cpu {

void extreme_along(const AlongCall& call);

}  // namespace tessera::tensor::cpu
