// Pointwise ops on double lanes, compiled for every instruction set and chosen at run time.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise_double.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/number.h"
#include "hwy/highway.h"

#define TS_ELEMENT double
#define TS_NO_TARGET_NAME
#include "backends/cpu/pointwise_float-inl.h"

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(table);
const InnerKernel* double_kernels() { return HWY_DYNAMIC_DISPATCH(table)(); }
}  // namespace tessera::tensor::cpu
#endif
