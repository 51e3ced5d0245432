// Special functions (special.def): the slot that computes them, and those that other ops and derivatives call.
#pragma once

#include "runtime/device/backend.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

enum class SpecialId {
#define SPECIAL1(NAME, ...) NAME,
#define SPECIAL2(NAME, ...) NAME,
#define INTEGER2(NAME, ...) NAME,
#include "runtime/ops/special.def"
#undef SPECIAL1
#undef SPECIAL2
#undef INTEGER2
};

/// out[i] = f(x[i]) or f(x[i], y[i]), all contiguous, of one dtype: float32 or float64, or int64 for those of integers.
struct SpecialCall {
  int op;  // SpecialId
  DType dtype;
  const void *x, *y;  // y: null for functions of one number
  void* out;
  int64_t n;
  Launch launch{};
};
extern Kernel<SpecialCall> special_kernel;

Tensor digamma(const Tensor& self);
Tensor polygamma(int64_t n, const Tensor& self);

}  // namespace tessera::tensor
