// What files of row kernels share: which dtypes they know, what each is computed in, and the way into their slots.
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

/// After the functions for every instruction set (HWY_ONCE): the slot calls the one for this processor.
#define TS_ROW_KERNEL(SLOT, CALL, FUNCTION)                                                         \
  HWY_EXPORT(FUNCTION);                                                                             \
  const KernelRegistration<CALL> FUNCTION##_registration{SLOT, DeviceType::Cpu, [](const CALL& c) { \
                                                           HWY_DYNAMIC_DISPATCH(FUNCTION)(c);       \
                                                         }};

}  // namespace tessera::tensor::cpu
