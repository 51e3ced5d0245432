// Discrete Fourier transforms, as the backends' kernel sees them.
#pragma once

#include "runtime/device/kernel.h"
#include "runtime/dtype.h"
#include "runtime/ops/op.h"

namespace tessera::tensor {

/// Transforms many lines along one dimension: X[k] = scale * sum_j x[j] exp(-2 pi i j k / n), with + where `inverse`.
/// Strides count elements of the tensor in question, a complex number being one. `in` and `out` may be the same memory when
/// both are complex and have the same strides.
struct FftCall {
  enum Kind { Complex, FromReal, ToReal };
  DType dtype;  // float32 or float64, of a part
  Kind kind;
  bool inverse;
  bool whole;  // FromReal: all n numbers; otherwise the first n / 2 + 1, of which the rest are the conjugates
  double scale;
  int64_t n;  // length of the transform; FromReal reads as many, ToReal n / 2 + 1
  const void* in;
  void* out;
  int64_t in_step, out_step;  // from one number of a line to the next
  Ints lines, in_strides, out_strides;
  Launch launch{};
};
extern Kernel<FftCall> fft_kernel;

/// The transforms that all others are made of. `normalization`: 0 none, 1 by the root of the number of points, 2 by it.
Tensor fft_c2c(const Tensor& self, Ints dim, int64_t normalization, bool forward);
Tensor fft_r2c(const Tensor& self, Ints dim, int64_t normalization, bool onesided);
Tensor fft_c2r(const Tensor& self, Ints dim, int64_t normalization, int64_t last_size);

}  // namespace tessera::tensor
