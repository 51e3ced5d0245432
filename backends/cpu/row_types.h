// Which dtypes the row kernels know, and what each is computed in.
#pragma once

#include "runtime/dtype.h"

namespace tessera::tensor::cpu {

/// f(In(), T()): elements of type In, computed in T. The runtime has refused other dtypes.
template <class F>
void with_row_type(DType dtype, const F& f) {
  switch (dtype) {
    case kFloat32: return f(float(), float());
    case kFloat64: return f(double(), double());
    case kFloat16: return f(Half(), float());
    default: return f(BFloat16(), float());
  }
}

}  // namespace tessera::tensor::cpu
