// Integer ops as plain loops over Num<T>, compiled once per instruction set: the compiler vectorises them.
// Narrow types and bool are widened to int32 outside, which leaves results the same modulo their size.
#include "backends/cpu/pointwise_table.h"
#include "backends/number.h"
#include "hwy/highway.h"
#include "runtime/ops/pointwise_ids.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

namespace m = number_math;
#define TS_FN
#include "backends/cpu/functors.inc"

template <class Op, class T, bool kStepX, bool kStepY>
void run_steps(const Run& r) {
  using N = Num<T>;
  const N p = Op::kParams > 0 ? N(r.params[0].to<T>()) : N(0);
  const N q = Op::kParams > 1 ? N(r.params[1].to<T>()) : N(0);
  const T* x = static_cast<const T*>(r.in[0]);
  const T* y = Op::kArity > 1 ? static_cast<const T*>(r.in[1]) : x;
  const T* z = Op::kArity > 2 ? static_cast<const T*>(r.in[2]) : x;
  const int64_t step_z = Op::kArity > 2 ? r.step[2] : 0;
  using R = decltype(Op::call(N(0), N(0), N(0), N(0), N(0)));
  // Copies, as a byte that is stored may be one of r for all the compiler knows.
  void* const out = r.out;
  const int64_t n = r.n;
#pragma GCC ivdep  // the result is an operand's own memory, or apart from all
  for (int64_t i = 0; i < n; i++) {
    R result = Op::call(N(x[kStepX ? i : 0]), N(y[kStepY ? i : 0]), N(z[i * step_z]), p, q);
    if constexpr (std::is_same_v<R, bool>) static_cast<uint8_t*>(out)[i] = result;
    else static_cast<T*>(out)[i] = result.v;
  }
}

template <class Op, class T>
void run_numbers(const Run& r) {
  if constexpr (Op::kArity == 1) {
    if (r.step[0]) run_steps<Op, T, true, false>(r);
    else run_steps<Op, T, false, false>(r);
  } else {
    if (r.step[0] && r.step[1]) run_steps<Op, T, true, true>(r);
    else if (r.step[0]) run_steps<Op, T, true, false>(r);
    else if (r.step[1]) run_steps<Op, T, false, true>(r);
    else run_steps<Op, T, false, false>(r);
  }
}

template <class Op>
constexpr InnerKernel kernel_of() {
  if constexpr (Op::kClass == OpClass::Float) return nullptr;
  else return &run_numbers<Op, TS_ELEMENT>;
}

const InnerKernel* table() {
#define TS_EACH_OP(NAME) kernel_of<F_##NAME>(),
  static const InnerKernel kTable[] = {
#include "runtime/ops/pointwise.def"
  };
  return kTable;
}
#undef TS_EACH_OP
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1
#undef TS_FN

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
