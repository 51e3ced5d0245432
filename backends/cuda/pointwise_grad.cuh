// Derivatives of the pointwise table for one type of arithmetic: every row's in one kernel, which reads what the formulas name
// and writes what is wanted. pointwise_grad_float.cu and its kin include this with TS_REAL and TS_ENTRY.
#pragma once

#include "backends/cuda/elementwise.cuh"
#include "backends/cuda/grad_words.cuh"
#include "backends/cuda/pointwise_grad.h"
#include "runtime/ops/grad_probe.h"

#ifdef __NVCC__
// Formulas on probes call what only the host has; they are never run, only the type of what they give is asked.
#pragma nv_diag_suppress 20013
#pragma nv_diag_suppress 20015
#endif

namespace tessera::tensor::cuda {
namespace formulas {
namespace {

#define TS_FN TS_NUMBER
#include "runtime/ops/formulas.inc"

struct GradTypes {
  static constexpr TypeBits kOwn = 1u << int(dtype_of<TS_REAL>);
  static constexpr TypeBits kLoads = kOwn | bits_of(sizeof(TS_REAL) == 4 ? kHalfTypes | DType::Bool : DTypeSet());
  static constexpr TypeBits kStores = kOwn;
};

template <class D>
inline constexpr bool kComputed = is_computed<D>();

/// Where x, y, z and the result (operands 0 to 3) stand among the inputs, behind g; 0: no formula reads it.
constexpr int place_among(unsigned reads, int operand) {
  int place = 1;
  for (int k = 0; k < operand; k++) place += reads >> k & 1;
  return reads >> operand & 1 ? place : 0;
}
template <unsigned reads, int operand>
inline constexpr int kPlace = place_among(reads, operand);

/// A call's numbers, the same for all rows.
struct GradNumbers {
  double p, q;
  unsigned wanted;  // bit k: the derivative by operand k
};

template <class D0, class D1, class D2>
struct GradBody : GradNumbers {
  using Lane = Num<TS_REAL>;
  using Result = Lane;
  using Types = GradTypes;
  static constexpr unsigned kReads = derivative_reads<D0>() | derivative_reads<D1>() | derivative_reads<D2>();
  static constexpr int kInputs = 1 + (kReads & 1) + (kReads >> 1 & 1) + (kReads >> 2 & 1) + (kReads >> 3 & 1);
  static constexpr int kOutputs = 3;
  static constexpr bool kShort = false;

  template <class D, int k>
  __device__ void put(const Lane (&in)[kInputs], Lane (&out)[kOutputs]) const {
    out[k] = Lane(0);
    if constexpr (kComputed<D>)
      if (wanted >> k & 1)
        out[k] = Lane(D::of(in[0], in[kPlace<kReads, 0>], in[kPlace<kReads, 1>], in[kPlace<kReads, 2>],
                            in[kPlace<kReads, 3>], p, q));
  }
  __device__ void operator()(const Lane (&in)[kInputs], Lane (&out)[kOutputs]) const {
    put<D0, 0>(in, out);
    put<D1, 1>(in, out);
    put<D2, 2>(in, out);
  }
};

template <class O>
[[gnu::noinline]] void run_row(const PointwiseGradCall& call, const Kernels<O>& kernels, const void* body,
                               unsigned reads) {
  O operands{};
  for (int k = 0; k < 3; k++) operands.out[k] = call.results[k];
  Inputs<O::kInputs> inputs;
  for (int& of : inputs.of) of = -1;
  for (TS_REAL& number : operands.number) number = 1;
  inputs.of[0] = 1;
  int operand = 2;
  for (int k = 0; k < 4; k++)
    if (call.reads >> k & 1) inputs.of[place_among(reads, k)] = operand++;
  run_elementwise(Place(call.launch), call.loop, kernels, body, operands, inputs);
}

[[gnu::noinline]] GradNumbers numbers_of(const PointwiseGradCall& call) {
  GradNumbers numbers{call.params[0].to_double(), call.params[1].to_double(), 0};
  for (int k = 0; k < 3; k++) numbers.wanted |= call.results[k] ? 1u << k : 0u;
  return numbers;
}

template <class D0, class D1, class D2>
void run(const PointwiseGradCall& call) {
  using Body = GradBody<D0, D1, D2>;
  const Body body{numbers_of(call)};
  run_row(call, kKernels<Body>, &body, Body::kReads);
}

using Function = void (*)(const PointwiseGradCall&);
template <class D0, class D1, class D2>
constexpr Function function_of() {
  if constexpr (kComputed<D0> || kComputed<D1> || kComputed<D2>) return &run<D0, D1, D2>;
  else return nullptr;
}

}  // namespace
}  // namespace formulas

void TS_ENTRY(const PointwiseGradCall& call) {
  using namespace formulas;
#define TS_EACH_ROW(NAME, D0, D1, D2) function_of<D0, D1, D2>(),
  static constexpr Function kTable[] = {
#include "runtime/ops/pointwise.def"
  };
#undef TS_EACH_ROW
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1
#undef TS_FN
  kTable[call.op](call);
}

}  // namespace tessera::tensor::cuda
