// Body of pointwise_float.cpp and pointwise_double.cpp: every op on lanes of TS_ELEMENT, once per instruction set.
#include "backends/cpu/map-inl.h"
#include "runtime/ops/pointwise_ids.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

#define TS_FN HWY_INLINE
#include "backends/cpu/functors.inc"

template <class Op>
constexpr InnerKernel kernel_of() {
  if constexpr (Op::kClass == OpClass::Bits) return nullptr;
  else return &run_lanes<Op, TS_ELEMENT>;
}

const InnerKernel* table() {
#define TS_EACH_OP(NAME) kernel_of<F_##NAME>(),
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
#ifndef TS_NO_TARGET_NAME
const char* target_name() { return hwy::TargetName(HWY_TARGET); }
#endif

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
