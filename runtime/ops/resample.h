// Weighted sums of a few items along a dimension, as a kernel: what images of another size are made of.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

/// outer x size x inner and outer x wanted x inner, without gaps, float32 or float64: item i of the second is the sum over k of
/// weights[i, k] times item places[i, k] of the first. Or, when `spread`, the transpose of that: the second is read, and the
/// first gets what each of its items is part of.
struct TapsCall {
  bool spread;
  DType dtype;
  const void* in;
  void* out;
  const int64_t* places;
  const void* weights;
  int64_t outer, size, wanted, inner, taps;
  Launch launch{};
};
extern Kernel<TapsCall> taps_kernel;

}  // namespace tessera::tensor
