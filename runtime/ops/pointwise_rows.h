// A row of pointwise.def as data: what run_pointwise needs to know of an op.
#pragma once

#include "runtime/tensor.h"

namespace tessera::tensor {

enum class PointwiseClass : unsigned char {
  Float,
  Number,
  Divide,
  Predicate,
  Compare,
  Bits,
  Select,
  Analytic,  // from here on: as the four above, and complex numbers too
  Field,
  Property,
  Equality,
};

/// What a class is for real numbers.
constexpr PointwiseClass real_class(PointwiseClass c) {
  switch (c) {
    case PointwiseClass::Analytic: return PointwiseClass::Float;
    case PointwiseClass::Field: return PointwiseClass::Number;
    case PointwiseClass::Property: return PointwiseClass::Predicate;
    case PointwiseClass::Equality: return PointwiseClass::Compare;
    default: return c;
  }
}
/// The dtypes that a row computes in. uint16, uint32 and uint64 are storage: they are compared, chosen from, limited and
/// taken to floats, as PyTorch does.
constexpr DTypeSet types_of(PointwiseClass c) {
  const DTypeSet complex = c >= PointwiseClass::Select ? kComplexTypes : DTypeSet();
  switch (real_class(c)) {
    case PointwiseClass::Bits: return DTypeSet(DType::Bool) | kIntegralTypes | kWideUnsignedTypes;
    case PointwiseClass::Select: return kAllTypes;
    case PointwiseClass::Float:
    case PointwiseClass::Predicate: return kRealTypes | kWideUnsignedTypes | complex;
    case PointwiseClass::Compare:  // equal or not needs no order
      return c == PointwiseClass::Equality ? kAllTypes : kRealTypes;
    default: return kRealTypes | complex;
  }
}

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
  PointwiseClass row_class;   // for real numbers
  DTypeSet types;
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
