// The pointwise table for one type of arithmetic: pointwise_float.cu and its kin each include this with TS_LANE (a number of
// backends/number.h or complex_number.h), TS_FUNCTIONS (its namespace) and TS_ENTRY, so that nvcc compiles them side by side.
#pragma once

#include "backends/cuda/elementwise.cuh"
#include "backends/cuda/pointwise.h"
#include "runtime/ops/pointwise_ids.h"

namespace tessera::tensor::cuda {
namespace {

using Lane = TS_LANE;
namespace m = TS_FUNCTIONS;
#define TS_FN TS_NUMBER  // for the host too: the type of what a body gives is asked there
#include "backends/cpu/functors.inc"

constexpr bool kIsComplex = is_complex_number<Lane>, kIsWhole = std::is_integral_v<NumberOf<Lane>>;

/// What a body takes and gives as vectors beside the lane's own type: what programs mix.
template <class Result>
struct PointwiseTypes {
  static constexpr DTypeSet narrow() {
    if constexpr (std::is_same_v<Lane, Num<float>>) return DTypeSet(DType::Float32) | kHalfTypes;
    else if constexpr (std::is_same_v<Lane, Num<double>>) return DType::Float64;
    else if constexpr (std::is_same_v<Lane, Num<int32_t>>)
      return DTypeSet(DType::Int32) | DType::Bool | DType::UInt8 | DType::Int8 | DType::Int16;
    else if constexpr (std::is_same_v<Lane, Num<int64_t>>) return DType::Int64;
    else return sizeof(Lane) == 8 ? DType::Complex64 : DType::Complex128;
  }
  static constexpr bool kMask = std::is_same_v<Result, bool>;
  static constexpr TypeBits kLoads = bits_of(kIsComplex ? narrow() : narrow() | DType::Bool);
  static constexpr TypeBits kStores = bits_of(kMask ? DTypeSet(DType::Bool) : narrow());
};

template <class F>
struct PointwiseBody {
  using Lane = cuda::Lane;
  using Result = decltype(F::call(Lane(0), Lane(0), Lane(0), Lane(0), Lane(0)));
  using Types = PointwiseTypes<Result>;
  static constexpr int kInputs = F::kArity, kOutputs = 1;
  // Few instructions, of which several in a row are worth their code.
  static constexpr bool kShort =
      !kIsComplex && F::kClass != OpClass::Float && F::kClass != OpClass::Divide && !std::is_same_v<F, F_pow>;

  Lane p, q;
  __device__ void operator()(const Lane (&in)[kInputs], Result (&out)[1]) const {
    out[0] = F::call(in[0], in[kInputs > 1 ? 1 : 0], in[kInputs > 2 ? 2 : 0], p, q);
  }
};

template <class L>
[[gnu::noinline]] L parameter(const Scalar& given) {
  if constexpr (kIsComplex) return L(given.to<std::complex<decltype(L::re)>>());
  else if constexpr (kIsWhole) return L(given.to<NumberOf<L>>());
  else return L(given.to_double());
}

template <class O>
[[gnu::noinline]] void run_body(const PointwiseCall& call, const Kernels<O>& kernels, const void* body) {
  O operands{};
  operands.out[0] = call.loop.data[0];
  Inputs<O::kInputs> inputs;
  for (int k = 0; k < O::kInputs; k++) inputs.of[k] = k + 1;
  run_elementwise(Place(call.launch), call.loop, kernels, body, operands, inputs);
}

template <class F>
void run(const PointwiseCall& call) {
  using Body = PointwiseBody<F>;
  const Body body{F::kParams > 0 ? parameter<Lane>(call.params[0]) : Lane(0),
                  F::kParams > 1 ? parameter<Lane>(call.params[1]) : Lane(0)};
  run_body(call, kKernels<Body>, &body);
}

/// Whether the rows of a class are computed in this type.
template <class F>
constexpr bool is_computed() {
  if (kIsComplex) return F::kComplex;
  if (kIsWhole) return F::kClass != OpClass::Float;
  return F::kClass != OpClass::Bits;
}

using Function = void (*)(const PointwiseCall&);
template <class F>
constexpr Function function_of() {
  if constexpr (is_computed<F>()) return &run<F>;
  else return nullptr;
}

}  // namespace

void TS_ENTRY(const PointwiseCall& call) {
#define TS_EACH_OP(NAME) function_of<F_##NAME>(),
  static constexpr Function kTable[] = {
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
  if (kTable[call.op] == nullptr)
    fail_with(TensorErrorKind::NotImplemented, "this operation is not implemented for the dtype on CUDA");
  kTable[call.op](call);
}

}  // namespace tessera::tensor::cuda
