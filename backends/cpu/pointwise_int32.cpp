// Pointwise ops on int32, compiled for every instruction set and chosen at run time.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise_int32.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/number.h"
#include "hwy/highway.h"

#define TS_ELEMENT int32_t
#include "backends/cpu/pointwise_int-inl.h"

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(table);
const InnerKernel* int32_kernels() { return HWY_DYNAMIC_DISPATCH(table)(); }
}  // namespace tessera::tensor::cpu
#endif
