// The definition: every pointwise op in double or int64, one element after the other. It reads and writes
// host memory through the same calls as the CPU's kernels, so a test can hand one call to both.
// compile: small (runs in tests)
#include "runtime/device/backend.h"
#include "backends/number.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/pointwise_rows.h"

namespace tessera::tensor::ref {
namespace {

namespace m = number_math;
#define TS_FN
#include "backends/cpu/functors.inc"

double load(DType type, const char* at) {
  return with_type(type, [&](auto tag) {
    return convert_element<double>(*reinterpret_cast<const typename decltype(tag)::type*>(at));
  });
}
int64_t load_int(DType type, const char* at) {
  return with_type(type, [&](auto tag) {
    return convert_element<int64_t>(*reinterpret_cast<const typename decltype(tag)::type*>(at));
  });
}
template <class V>
void store(DType type, char* at, V value) {
  with_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *reinterpret_cast<T*>(at) = convert_element<T>(value);
  });
}

/// f(element addresses) for every element of the loop.
template <class F>
void each(const Loop& loop, const F& f) {
  int64_t index[kMaxLoopDims] = {};
  for (int64_t i = 0; i < loop.numel; i++) {
    char* at[kMaxOperands];
    for (int k = 0; k < loop.operands; k++) {
      at[k] = loop.data[k];
      for (int d = 0; d < loop.ndim; d++) at[k] += index[d] * loop.strides[k][d] * int64_t(item_size(loop.dtype[k]));
    }
    f(at);
    for (int d = 0; d < loop.ndim && ++index[d] == loop.sizes[d]; d++) index[d] = 0;
  }
}

template <class Op>
void run(const PointwiseCall& call) {
  const Loop& loop = call.loop;
  auto number = [&](auto zero, auto read, char* const* at) {
    using N = decltype(zero);
    N in[3] = {0, 0, 0}, p[2] = {0, 0};
    for (int k = 1; k < loop.operands; k++) in[k - 1] = read(loop.dtype[k], at[k]);
    for (int k = 0; k < Op::kParams; k++) p[k] = call.params[k].template to<decltype(zero.v)>();
    auto result = Op::call(in[0], in[1], in[2], p[0], p[1]);
    if constexpr (std::is_same_v<decltype(result), bool>) store(loop.dtype[0], at[0], result);
    else store(loop.dtype[0], at[0], result.v);
  };
  each(loop, [&](char* const* at) {
    if (is_floating(call.compute)) {
      if constexpr (Op::kClass != OpClass::Bits) number(Num<double>(0), load, at);
    } else if constexpr (Op::kClass != OpClass::Float) {
      number(Num<int64_t>(0), load_int, at);
    }
  });
}

using Function = void (*)(const PointwiseCall&);
#define TS_EACH_OP(NAME) &run<F_##NAME>,
const Function kTable[] = {
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

void pointwise(const PointwiseCall& call) { kTable[call.op](call); }

const KernelRegistration pointwise_registration{pointwise_kernel, DeviceType::Ref, &pointwise};

}  // namespace
}  // namespace tessera::tensor::ref
