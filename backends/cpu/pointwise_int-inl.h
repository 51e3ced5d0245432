// Integer ops as plain loops over Num<T>. Each loop has a fixed number of elements, so the compiler makes vectors of it and writes no code
// for a remainder; run_in_blocks handles remainders and operands of stride 0 for all ops. The kernels have no form for AVX-512, which would
// enlarge the program: these loops are limited by memory.
#include "backends/cpu/one_of.h"
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

template <class Op, class T>
void blocks_of(void* out, const void* const* in, const Scalar* params, int64_t blocks) {
  using N = Num<T>;
  const N p = Op::kParams > 0 ? N(params[0].wrapped<T>()) : N(0);
  const N q = Op::kParams > 1 ? N(params[1].wrapped<T>()) : N(0);
  const T* x = static_cast<const T*>(in[0]);
  const T* y = static_cast<const T*>(in[Op::kArity > 1 ? 1 : 0]);
  const T* z = static_cast<const T*>(in[Op::kArity > 2 ? 2 : 0]);
  using Result = decltype(Op::call(N(0), N(0), N(0), N(0), N(0)));
  using To = std::conditional_t<std::is_same_v<Result, bool>, uint8_t, T>;
  To* to = static_cast<To*>(out);
  for (; blocks > 0; blocks--) {
#pragma GCC ivdep  // the result is an operand's own memory, or apart from all
    for (int i = 0; i < kIntegerBlock; i++) {
      const Result result = Op::call(N(x[i]), N(y[i]), N(z[i]), p, q);
      if constexpr (std::is_same_v<Result, bool>) to[i] = result;
      else to[i] = result.v;
    }
    to += kIntegerBlock, x += kIntegerBlock, y += kIntegerBlock, z += kIntegerBlock;
  }
}

template <class Op, class T>
void run_numbers(const Run& r) {
  using Result = decltype(Op::call(Num<T>(0), Num<T>(0), Num<T>(0), Num<T>(0), Num<T>(0)));
  run_in_blocks(r, blocks_of<Op, T>, {Op::kArity, sizeof(T), std::is_same_v<Result, bool> ? 1 : sizeof(T)});
}

// True for ops that have kernels for elements of one and two bytes; the other ops convert to int32 and back.
template <class Op>
constexpr bool kNarrow =
    is_one_of<Op, F_add, F_sub, F_mul, F_neg, F_abs, F_sign, F_square, F_maximum, F_minimum, F_clamp_min, F_clamp_max, F_clamp_both,
              F_relu, F_eq, F_ne, F_lt, F_le, F_gt, F_ge, F_logical_and, F_logical_or, F_logical_xor, F_logical_not, F_bitwise_not,
              F_bitwise_and, F_bitwise_or, F_bitwise_xor>;
// True for narrow ops that give the same bits for signed and unsigned elements: int8 uses the kernel of uint8.
template <class Op>
constexpr bool kSignless = is_one_of<Op, F_add, F_sub, F_mul, F_neg, F_square, F_eq, F_ne, F_logical_and, F_logical_or, F_logical_xor,
                                     F_logical_not, F_bitwise_not, F_bitwise_and, F_bitwise_or, F_bitwise_xor>;

template <class Op, class T>
constexpr InnerKernel kernel_of() {
  if constexpr (Op::kClass == OpClass::Float || (sizeof(T) < 4 && !kNarrow<Op>)) return nullptr;
  else if constexpr (std::is_same_v<T, int8_t> && kSignless<Op>) return &run_numbers<Op, uint8_t>;
  else return &run_numbers<Op, T>;
}

template <class T>
const InnerKernel* table_of() {
#define TS_EACH_OP(NAME) kernel_of<F_##NAME, T>(),
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
