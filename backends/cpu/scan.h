// The two halves of an AlongCall: extremes with their index, and running sums and products.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor::cpu {

void extreme_along(const AlongCall& call);

/// Running sums or products of eight contiguous rows of n elements, one below the other.
void scan_eight_rows(const float* x, float* y, int64_t n, bool product, bool backwards);

}  // namespace tessera::tensor::cpu
