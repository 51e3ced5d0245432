// The distances of rows, as a kernel.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

/// The p-norms of the differences of rows of `width` elements, float32 or float64, without gaps. Each row of `a` with each of
/// `b`, batch by batch: out [batches, rows_a, rows_b]. Or, when b is null, each of `a` with each that comes after it, in a row.
struct DistanceCall {
  double p;
  DType dtype;
  const void* a;
  const void* b;
  void* out;
  int64_t batches, rows_a, rows_b, width;
  Launch launch{};
};
extern Kernel<DistanceCall> distance_kernel;

}  // namespace tessera::tensor
