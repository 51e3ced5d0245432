// Running an op of pointwise.def: the one way from operands to a kernel, for every form of every op.
#pragma once

#include "runtime/scalar.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// A tensor or a number. Borrowed: lives as long as the call.
class Operand {
 public:
  Operand(const Tensor& t) : tensor_(&t) {}
  Operand(const Scalar& s) : scalar_(s) {}
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T x) : scalar_(x) {}

  bool is_tensor() const { return tensor_ != nullptr; }
  const Tensor& tensor() const { return *tensor_; }
  const Scalar& scalar() const { return scalar_; }
  /// The operand as a tensor that promotes as it does (numbers: a wrapped 0-dim tensor).
  Tensor as_tensor() const { return tensor_ ? *tensor_ : Tensor::wrapped_number(scalar_); }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_;
};

/// Runs op `id` (a PointwiseId). `out`: where to write, or null for a fresh result. `reuse`: bit i set if operand i may be
/// overwritten, because its only owner lets go of it.
Tensor run_pointwise(int id, const Operand* inputs, const Scalar* params = nullptr, const Tensor* out = nullptr,
                     unsigned reuse = 0);
/// In place: inputs[0] is the destination too; gradients are recorded as for an in-place op.
void run_pointwise_inplace(int id, const Operand* inputs, const Scalar* params = nullptr);

}  // namespace tessera::tensor
