// Products of float32 and float64 over packed panels, of any size.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor::cpu {

/// One product, shared out to threads; its bits do not depend on their number. `bias`, one for each column, is added instead of
/// beta * out.
template <class T>
void panel_product(const GemmCall& call, const T* a, const T* b, T* out, const T* bias = nullptr);
extern template void panel_product(const GemmCall&, const float*, const float*, float*, const float*);
extern template void panel_product(const GemmCall&, const double*, const double*, double*, const double*);

}  // namespace tessera::tensor::cpu
