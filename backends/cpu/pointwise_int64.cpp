// Pointwise ops on int64, compiled for every instruction set but AVX-512 and chosen at run time.
// compile: no-exceptions (for size: nothing throws)
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise_int64.cpp"
#include "backends/cpu/integer_targets.h"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/pointwise_int-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
const InnerKernel* int64_table() { return table_of<int64_t>(); }
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(int64_table);
const InnerKernel* int64_kernels() { return HWY_DYNAMIC_DISPATCH(int64_table)(); }
}  // namespace tessera::tensor::cpu
#endif
