// Conjugates and negatives that are views: a tensor with the conj bit stands for the conjugates of what its memory holds,
// one with the neg bit for the negatives. x.conj(), x.H and x.conj().imag cost nothing this way, and a write through them
// stores the conjugate.
//
// Note [Math bits]: who knows of them.
//   views           keep them (Tensor::view_of), so that a part of a conjugate is one too;
//   copies          heed them (copy_into, item): clone, contiguous, to, copy_;
//   entries         are called by call_entry: whoever is no view and does not say kTakesMathBits gets what the operands
//                   stand for. So no kernel ever sees a bit, which Tensor::bytes asserts in debug builds;
//   fast pointers   (op.h) are for tensors without bits: who calls them asks first, or takes a Plain;
//   autograd        saves what the entries were given; gradients that a script hands in are resolved there.
// In C++ `conj` (complex.h) computes; the entry "conj" is conj_view.
#pragma once

#include "runtime/ops/op.h"

namespace tessera::tensor {

/// A view that stands for the conjugates; a real tensor itself.
Tensor conj_view(const Tensor& self);
/// A view that stands for the negatives.
Tensor neg_view(const Tensor& self);
/// The same memory without the bits.
Tensor without_math_bits(const Tensor& self);

/// What a tensor with bits stands for, in memory of its own and in the same place of the graph.
Tensor resolve_math_bits(const Tensor& self);
inline Tensor resolved(const Tensor& self) {
  return self.defined() && self.has_math_bits() ? resolve_math_bits(self) : self;
}

/// A tensor as kernels take it, for as long as this lives: itself, without a count, where it has no bits.
class Plain {
 public:
  explicit Plain(const Tensor& t) : tensor_(&t) {
    if (t.has_math_bits()) [[unlikely]]
      made_ = resolve_math_bits(t), tensor_ = &made_;
  }
  Plain(const Plain&) = delete;
  operator const Tensor&() const { return *tensor_; }

 private:
  Tensor made_;
  const Tensor* tensor_;
};

/// Runs a boxed call. Operands with bits are resolved first, and what is written goes through the bits of where it goes.
void call_entry(OpCall& call);

}  // namespace tessera::tensor
