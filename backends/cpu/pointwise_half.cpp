// Pointwise ops on float16 and bfloat16, computed in float: converted in the registers, where a buffer of floats would
// take longer than the op. Compiled for every instruction set and chosen at run time.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pointwise_half.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/number.h"
#include "hwy/highway.h"
#include "runtime/ops/pointwise_ids.h"

#include "backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

#define TS_FN HWY_INLINE
#include "backends/cpu/functors.inc"

// What takes a few instructions. Where there are series and tables, converting a tile before and after is little.
constexpr bool is_quick(int op) {
  using namespace pointwise;
  constexpr int kQuick[] = {k_add,       k_sub,       k_add_scaled, k_mul,     k_div,        k_neg,     k_abs,
                            k_sign,      k_square,    k_reciprocal, k_sqrt,    k_rsqrt,      k_maximum, k_minimum,
                            k_clamp_min, k_clamp_max, k_clamp_both, k_addcmul, k_addcdiv,    k_lerp,    k_floor,
                            k_ceil,      k_round,     k_trunc,      k_relu,    k_leaky_relu, k_relu6,   k_hardtanh,
                            k_eq,        k_ne,        k_lt,         k_le,      k_gt,         k_ge,      k_isnan,
                            k_isinf,     k_isfinite};
  for (int quick : kQuick)
    if (op == quick) return true;
  return false;
}
template <class Op, class E, bool kQuick>
constexpr InnerKernel kernel_of() {
  if constexpr (kQuick) return &run_lanes<Op, float, E>;
  else return nullptr;
}

template <class E>
const InnerKernel* table() {
#define TS_EACH_OP(NAME) kernel_of<F_##NAME, E, is_quick(pointwise::k_##NAME)>(),
  static const InnerKernel kTable[] = {
#include "runtime/ops/pointwise.def"
  };
#undef TS_EACH_OP
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1
#undef TS_FN
  return kTable;
}
const InnerKernel* float16_table() { return table<Half>(); }
const InnerKernel* bfloat16_table() { return table<BFloat16>(); }

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(float16_table);
HWY_EXPORT(bfloat16_table);
const InnerKernel* float16_kernels() { return HWY_DYNAMIC_DISPATCH(float16_table)(); }
const InnerKernel* bfloat16_kernels() { return HWY_DYNAMIC_DISPATCH(bfloat16_table)(); }
}  // namespace tessera::tensor::cpu
#endif
