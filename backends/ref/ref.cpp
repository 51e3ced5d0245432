// The definition: every pointwise op and reduction in double or int64, one element after the other. It reads and writes
// host memory through the same calls as the CPU's kernels, so a test can hand one call to both.
#include "runtime/device/backend.h"
#include "backends/number.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/pointwise_rows.h"
#include "runtime/ops/reduce_ids.h"

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

// ---- reductions ----

#define REDUCE(NAME, CLASS, IDENTITY, MAP, COMBINE, FINISH, DX)        \
  struct R_##NAME {                                                    \
    template <class N>                                                 \
    static N identity([[maybe_unused]] N x) {                          \
      return IDENTITY;                                                 \
    }                                                                  \
    template <class N>                                                 \
    static N map(N x, [[maybe_unused]] N p) {                          \
      return MAP;                                                      \
    }                                                                  \
    template <class N>                                                 \
    static N combine(N a, N b) {                                       \
      return COMBINE;                                                  \
    }                                                                  \
    template <class N>                                                 \
    static N finish(N a, [[maybe_unused]] N n, [[maybe_unused]] N p) { \
      return FINISH;                                                   \
    }                                                                  \
  };
#include "runtime/ops/reduce.def"
#undef REDUCE

int64_t offset(int64_t i, int dims, const int64_t* sizes, const int64_t* strides) {
  int64_t at = 0;
  for (int d = 0; d < dims; d++) {
    at += i % sizes[d] * strides[d];
    i /= sizes[d];
  }
  return at;
}

template <class R>
void reduce_one(const ReduceCall& c) {
  const int64_t item = int64_t(item_size(c.in_dtype));
  auto total = [&](auto zero, auto read, int64_t kept) {
    using N = decltype(zero);
    N p = c.param.to_double(), a = R::identity(zero);
    for (int64_t j = 0; j < c.reduced_numel; j++) {
      int64_t at =
          offset(kept, c.kept, c.kept_sizes, c.kept_strides) + offset(j, c.reduced, c.reduced_sizes, c.reduced_strides);
      a = R::combine(a, R::map(N(read(c.in_dtype, c.in + at * item)), p));
    }
    char* out = c.out + kept * int64_t(item_size(c.out_dtype));
    if constexpr (N::kInteger) store(c.out_dtype, out, a.v);
    else store(c.out_dtype, out, R::finish(a, N(double(c.reduced_numel)), p).v);
  };
  for (int64_t kept = 0; kept < c.kept_numel; kept++) {
    if (is_floating(c.compute)) total(Num<double>(0), load, kept);
    else total(Num<int64_t>(0), load_int, kept);
  }
}

void reduce(const ReduceCall& call) {
  static constexpr void (*kReductions[])(const ReduceCall&) = {
#define REDUCE(NAME, ...) &reduce_one<R_##NAME>,
#include "runtime/ops/reduce.def"
#undef REDUCE
  };
  kReductions[call.op](call);
}

const KernelRegistration pointwise_registration{pointwise_kernel, DeviceType::Ref, &pointwise};
const KernelRegistration reduce_registration{reduce_kernel, DeviceType::Ref, &reduce};

}  // namespace
}  // namespace tessera::tensor::ref
