// Numbers at even steps and the places of triangles, as calls of a device: each element from its own number. The CPU computes
// them without a kernel.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

/// out[i] = start + i step before the middle, end - (n - 1 - i) step from there on, computed in float64 where `wide`, else in
/// float32; the power of `base` to that where there is one.
struct StepsCall {
  void* out;
  DType dtype;
  int64_t n;
  double start, end, step;
  bool wide, is_power;
  double base;
  Launch launch{};
};
extern Kernel<StepsCall> steps_kernel;

/// Rows, then columns, of the n places of a triangle, row by row: int32 or int64.
struct TrianglePlacesCall {
  void* out;
  DType dtype;
  int64_t n, rows, columns, offset;
  bool upper;
  Launch launch{};

  /// How many places the rows before this one have.
  TS_ON_BOTH int64_t before(int64_t row) const {
    // Of a row the lower triangle has columns up to row + offset, the upper one those from there on.
    if (upper) return row * columns - (clamped_sum(offset + row - 1) - clamped_sum(offset - 1));
    return clamped_sum(offset + row) - clamped_sum(offset);
  }

 private:
  /// The sum of all integers up to t, those below 0 taken for 0, those beyond `columns` for `columns`.
  TS_ON_BOTH int64_t clamped_sum(int64_t t) const {
    if (t <= 0) return 0;
    return t <= columns ? t * (t + 1) / 2 : columns * (columns + 1) / 2 + (t - columns) * columns;
  }
};
extern Kernel<TrianglePlacesCall> triangle_places_kernel;

}  // namespace tessera::tensor
