// The derivatives of a row in one pass: instead of one op after another, the row's formula once per element, for every
// operand that wants a gradient. Only where nothing has to be recorded; the tensor formula stays the definition.
#pragma once

#include "runtime/device/backend.h"
#include "runtime/ops/pointwise_rows.h"

namespace tessera::tensor {

/// Operand 0 of the loop is the layout of the results; then come the gradient and those of x, y, z, result that `reads`
/// names, in that order. results[k] is null where operand k wants nothing.
struct PointwiseGradCall {
  int op;         // PointwiseId
  DType compute;  // float32 or float64: that of the results
  const Loop& loop;
  unsigned reads;
  char* results[3];
  const Scalar* params;
  Launch launch{};
};
extern Kernel<PointwiseGradCall> pointwise_grad_kernel;

/// Fills out[k] for those of the `wanted` operands whose derivative can be computed so, and returns them as bits. The
/// gradients have the shape of a.g: they are not summed over broadcast dimensions yet.
unsigned fused_gradients(int id, const PointwiseRow& row, const GradArgs& a, unsigned wanted, Tensor* out);

}  // namespace tessera::tensor
