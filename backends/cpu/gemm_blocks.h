// Products of float32 and float64 that no cache holds: both operands packed, the result computed in blocks.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor::cpu {

/// One product, shared out to threads; its bits do not depend on their number.
template <class T>
void block_product(const GemmCall& call, const T* a, const T* b, T* out);
extern template void block_product(const GemmCall&, const float*, const float*, float*);
extern template void block_product(const GemmCall&, const double*, const double*, double*);

}  // namespace tessera::tensor::cpu
