// Derivatives of pointwise ops on double lanes, compiled for every instruction set and chosen at run time.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise_grad_double.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include <cstring>
#include "backends/number.h"
#include "hwy/highway.h"
#include "runtime/ops/pointwise_rows.h"

#define TS_ELEMENT double
#include "backends/cpu/pointwise_grad-inl.h"

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(grad_table);
const GradKernel* double_grad_kernels() { return HWY_DYNAMIC_DISPATCH(grad_table)(); }
}  // namespace tessera::tensor::cpu
#endif
