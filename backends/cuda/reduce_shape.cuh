// How the elements of a ReduceCall are cut for fold.cuh.
#pragma once

#include "backends/cuda/fold.cuh"
#include "runtime/device/calls.h"

namespace tessera::tensor::cuda {

/// `is_stored`: elements are of a dtype that packs are loaded from.
inline FoldShape shape_of(const ReduceCall& c, bool is_stored, int thread_elements) {
  const Nest kept(c.kept, c.kept_sizes, c.kept_strides), reduced(c.reduced, c.reduced_sizes, c.reduced_strides);
  const int64_t along = c.reduced_strides[0];
  const bool columns = c.kept > 0 && along != 1 && (along == 0 || c.kept_strides[0] < along) && c.kept_strides[0] != 0;
  VectorRule rule(c.in_dtype);
  rule.start(c.in);
  if (along != 1 || !is_stored) rule.step(1);
  if (c.kept_numel > 1)
    for (int d = 0; d < c.kept; d++) rule.step(c.kept_strides[d]);
  if (c.reduced > 1) rule.step(c.reduced_sizes[0]);
  for (int d = 1; d < c.reduced; d++) rule.step(c.reduced_strides[d]);
  FoldShape shape(kept, reduced, c.kept_numel, c.reduced_numel, columns, rule.vector(), thread_elements);
  shape.one_by_one = !is_stored;
  return shape;
}

}  // namespace tessera::tensor::cuda
