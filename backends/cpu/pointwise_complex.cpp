// Pointwise ops on complex numbers, for the rows whose class says that they take them: plain loops.
#include "backends/complex_number.h"
#include "backends/cpu/pointwise_table.h"
#include "runtime/ops/pointwise_ids.h"

namespace tessera::tensor::cpu {
namespace {

namespace m = complex_math;
#define TS_FN
#include "backends/cpu/functors.inc"

template <class Op, class T>
void run_complex(const Run& r) {
  using Z = Cx<T>;
  const Z p = Op::kParams > 0 ? Z(r.params[0].to<std::complex<T>>()) : Z(0);
  const Z q = Op::kParams > 1 ? Z(r.params[1].to<std::complex<T>>()) : Z(0);
  const auto* x = static_cast<const std::complex<T>*>(r.in[0]);
  const auto* y = Op::kArity > 1 ? static_cast<const std::complex<T>*>(r.in[1]) : x;
  const auto* z = Op::kArity > 2 ? static_cast<const std::complex<T>*>(r.in[2]) : x;
  const int64_t step_x = r.step[0], step_y = Op::kArity > 1 ? r.step[1] : 0, step_z = Op::kArity > 2 ? r.step[2] : 0;
  using R = decltype(Op::call(Z(0), Z(0), Z(0), Z(0), Z(0)));
  for (int64_t i = 0; i < r.n; i++) {
    const R result = Op::call(Z(x[i * step_x]), Z(y[i * step_y]), Z(z[i * step_z]), p, q);
    if constexpr (std::is_same_v<R, bool>) static_cast<uint8_t*>(r.out)[i] = result;
    else static_cast<std::complex<T>*>(r.out)[i] = result;
  }
}

template <class Op, class T>
constexpr InnerKernel kernel_of() {
  if constexpr (Op::kComplex) return &run_complex<Op, T>;
  else return nullptr;
}

}  // namespace

const InnerKernel* complex64_kernels() {
#define TS_EACH_OP(NAME) kernel_of<F_##NAME, float>(),
  static const InnerKernel kTable[] = {
#include "runtime/ops/pointwise.def"
  };
#undef TS_EACH_OP
  return kTable;
}

const InnerKernel* complex128_kernels() {
#define TS_EACH_OP(NAME) kernel_of<F_##NAME, double>(),
  static const InnerKernel kTable[] = {
#include "runtime/ops/pointwise.def"
  };
#undef TS_EACH_OP
  return kTable;
}
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1
#undef TS_FN

}  // namespace tessera::tensor::cpu
