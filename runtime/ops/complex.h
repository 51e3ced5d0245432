// Complex tensors and their parts. Most of it is composition: a complex tensor is a real one with a last dimension of two,
// so sums, products and absolute values follow from real ops, their derivatives too.
#pragma once

#include "runtime/tensor.h"

namespace tessera::tensor {

/// Self as a real tensor with a last dimension (real part, imaginary part), on the same memory.
Tensor view_as_real(const Tensor& self);
/// The reverse: the last dimension has two neighbouring elements of float16, float32 or float64.
Tensor view_as_complex(const Tensor& self);
/// The parts as views; of a real tensor `real` is the tensor itself, and `imag` is refused.
Tensor real(const Tensor& self);
Tensor imag(const Tensor& self);
/// real + imag * 1j, both float16, both float32 or both float64.
Tensor complex(const Tensor& real, const Tensor& imag);
/// The conjugate, computed (math_bits.h has the view); a real tensor itself.
Tensor conj(const Tensor& self);
/// The tensor, whose node has PyTorch's name for what was made of several ops.
Tensor renamed(Tensor result, const char* node);
/// |self| as a real tensor; the derivative at 0 is 0.
Tensor complex_abs(const Tensor& self);
Tensor angle(const Tensor& self);
/// log(exp(x) + exp(y)) of complex numbers; its angle goes on from that of the larger one.
Tensor complex_logaddexp(const Tensor& x, const Tensor& y);
/// self / |self|, and 0 where self is 0; the sign of real numbers.
Tensor sgn(const Tensor& self);

}  // namespace tessera::tensor
