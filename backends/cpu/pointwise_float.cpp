// Pointwise ops on float lanes, compiled for every instruction set and chosen at run time.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise_float.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/number.h"
#include "hwy/highway.h"

#define TS_ELEMENT float
#include "backends/cpu/pointwise_float-inl.h"

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(table);
const InnerKernel* float_kernels() { return HWY_DYNAMIC_DISPATCH(table)(); }
HWY_EXPORT(target_name);
const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }
}  // namespace tessera::tensor::cpu
#endif
