// How a row records, and its derivatives in one pass: instead of one op after another, the row's formula once per element,
// for every operand that wants a gradient. Only where nothing has to be recorded; the tensor formula stays the definition.
#pragma once

#include <span>

#include "runtime/autograd/record.h"
#include "runtime/device/backend.h"
#include "runtime/ops/pointwise.h"
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

/// An operand of a node, by its number, with its tangent at one level.
struct DualInput {
  uint32_t operand;
  Tensor tangent;
};
/// The tangent of the result of a row's node; undefined where the formulas do not say it, and for other nodes.
Tensor row_tangent(Node& node, std::span<const DualInput> inputs, const Tensor& out);

/// Whether a call with this result records.
bool wants_grad(const PointwiseRow& row, const Operand* in, DType result);
/// What the derivatives that are wanted read (kReadsX ...): what the tape has to keep.
unsigned recorded_reads(const PointwiseRow& row, const Operand* in);
/// The node of a call with a result of this shape, which keeps the operands among them: `before` in the first one's place,
/// if it will be overwritten.
CountedPtr<Node> row_node(int id, const PointwiseRow& row, const Operand* in, const Scalar* params, unsigned reads,
                          Ints result, const Tensor& before = {});
/// Forward mode: gives the node of a call in place the tangents of its result, before operands that lie in the memory of the first one are
/// overwritten. Does nothing if no operand does.
void compute_before_write(Node& node, int id, const Operand* in, int count, const Scalar* params);
/// Once the result is there, if it is read.
void keep_result(Node& node, const Tensor& result);

}  // namespace tessera::tensor
