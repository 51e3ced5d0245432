// A row of pointwise.def as data: what run_pointwise needs to know of an op.
#pragma once

#include "runtime/tensor.h"

namespace tessera::tensor {

enum class PointwiseClass : unsigned char { Float, Number, Divide, Predicate, Compare, Bits, Select };

struct GradArgs {
  const Tensor& g;
  const Tensor& x;
  const Tensor& y;
  const Tensor& z;
  const Tensor& result;
  const Scalar* params;
};
/// Bits of what a derivative reads.
enum : unsigned { kReadsX = 1, kReadsY = 2, kReadsZ = 4, kReadsResult = 8 };

struct PointwiseRow {
  const char* name;
  const char* backward_name;  // "TanhBackward0"
  PointwiseClass row_class;
  unsigned char arity, params;
  struct Derivative {
    Tensor (*formula)(const GradArgs&) = nullptr;  // null: not differentiable
    unsigned reads = 0;
    bool computed = false;  // false: the gradient is handed on as it is
  } derivative[3];
  const char* body;  // as text, for run-time compilation
};

extern const PointwiseRow kPointwiseRows[];

}  // namespace tessera::tensor
