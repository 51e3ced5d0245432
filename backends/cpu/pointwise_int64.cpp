// Pointwise ops on int64, compiled for every instruction set and chosen at run time.
// compile: dynamic-vectors (plain loops over elements)
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise_int64.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/number.h"
#include "hwy/highway.h"

#define TS_ELEMENT int64_t
#include "backends/cpu/pointwise_int-inl.h"

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(table);
const InnerKernel* int64_kernels() { return HWY_DYNAMIC_DISPATCH(table)(); }
}  // namespace tessera::tensor::cpu
#endif
