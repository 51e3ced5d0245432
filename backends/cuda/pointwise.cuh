// Kernels of the pointwise table for one type of arithmetic: pointwise_float.cu, _double.cu and _int.cu each include this
// with TS_TYPE (the type) and TS_INTEGER (0 or 1), so that nvcc compiles them side by side.
//
// Two kernels an op: a dense one for operands that all have the arithmetic's own type, and a general one that walks any
// strides and converts as it loads and stores. Numbers of the host are parameters of both.
#pragma once

#include "backends/cuda/loop.cuh"

#include "backends/cuda/lane.cuh"
#include "backends/cuda/pointwise.h"

namespace tessera::tensor::cuda {
namespace {

using T = TS_TYPE;
using L = Lane<T>;

struct Params {
  T p0, p1;
};

// Bodies as functors. Which classes a type has is decided when they are instantiated, in TS_CASE.
// The unused arguments keep one call form for all.
#define TS_BODY(NAME, BODY, PARAMS, P0, P1)                                                      \
  struct Op_##NAME {                                                                             \
    static constexpr int kParams = PARAMS;                                                       \
    template <class X>                                                                           \
    static __device__ auto run([[maybe_unused]] X x, [[maybe_unused]] X y, [[maybe_unused]] X z, \
                               [[maybe_unused]] X P0, [[maybe_unused]] X P1) {                   \
      return BODY;                                                                               \
    }                                                                                            \
  };
#define UNARY(NAME, CLASS, WHERE, DOC, BODY, ...) TS_BODY(NAME, (BODY), 0, p0, p1)
#define UNARY1(NAME, CLASS, WHERE, P, D, DOC, BODY, ...) TS_BODY(NAME, (BODY), 1, P, p1)
#define UNARY2(NAME, CLASS, WHERE, P, D, Q, E, DOC, BODY, ...) TS_BODY(NAME, (BODY), 2, P, Q)
#define BINARY(NAME, CLASS, WHERE, DOC, BODY, ...) TS_BODY(NAME, (BODY), 0, p0, p1)
#define TERNARY(NAME, CLASS, WHERE, SCHEMA, DOC, BODY, ...) TS_BODY(NAME, (BODY), 0, p0, p1)
#define TERNARY1(NAME, CLASS, WHERE, SCHEMA, P, D, DOC, BODY, ...) TS_BODY(NAME, (BODY), 1, P, p1)
#include "runtime/ops/pointwise.def"
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1

__device__ inline T value_of(L x) { return x.v; }
__device__ inline T value_of(bool x) { return T(x); }

// An input of a dense loop: elements in a row, one element for all, or (no data) a number of the host.
struct DenseInput {
  const T* data = nullptr;
  int64_t step = 0;
  T number = T(0);
  __device__ T at(int64_t i) const { return data == nullptr ? number : data[i * step]; }
};

template <class Op, int kInputs>
__global__ void dense(int64_t n, T* out, DenseInput a, DenseInput b, DenseInput c, Params p) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const L x(a.at(i)), y(kInputs > 1 ? b.at(i) : T(0)), z(kInputs > 2 ? c.at(i) : T(0));
    out[i] = value_of(Op::run(x, y, z, L(p.p0), L(p.p1)));
  }
}

struct OperandTypes {
  DType of[4];
};

template <class Op, int kInputs>
__global__ void general(const __grid_constant__ DeviceLoop<kInputs + 1> loop, OperandTypes types, Params p) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < loop.numel; i += step) {
    int64_t at[kInputs + 1];
    loop.offsets(i, at);
    L in[3] = {L(0), L(0), L(0)};
    for (int k = 0; k < kInputs; k++) in[k] = load_as<T>(loop.input(k + 1), at[k + 1], types.of[k + 1]);
    store_as(loop.data[0], at[0], types.of[0], value_of(Op::run(in[0], in[1], in[2], L(p.p0), L(p.p1))));
  }
}

constexpr DType kOwn = sizeof(T) == 4 ? DType::Float32 : TS_INTEGER ? DType::Int64 : DType::Float64;

template <class From>
T read_number(const char* bytes) {
  From value;
  __builtin_memcpy(&value, bytes, sizeof value);
  return T(value);
}

// Operand k, which the host wrote in the type of its own arithmetic.
T number_of(const Loop& loop, int k) {
  switch (loop.dtype[k]) {
    case DType::Float32: return read_number<float>(loop.numbers[k]);
    case DType::Float64: return read_number<double>(loop.numbers[k]);
    case DType::Int32: return read_number<int32_t>(loop.numbers[k]);
    case DType::Int64: return read_number<int64_t>(loop.numbers[k]);
    default: fail_with(TensorErrorKind::NotImplemented, "a number of this dtype is not implemented on CUDA");
  }
}

bool is_dense(const Loop& loop, int inputs) {
  if (loop.ndim != 1 || loop.strides[0][0] != 1 || loop.dtype[0] != kOwn) return false;
  for (int k = 1; k <= inputs; k++)
    if (!(loop.host_scalars >> k & 1) &&
        (loop.dtype[k] != kOwn || (loop.strides[k][0] != 0 && loop.strides[k][0] != 1)))
      return false;
  return true;
}

template <class Op>
Params params_of(const PointwiseCall& call) {
  const auto get = [&](int i) { return TS_INTEGER ? T(call.params[i].to_int()) : T(call.params[i].to_double()); };
  return {Op::kParams > 0 ? get(0) : T(0), Op::kParams > 1 ? get(1) : T(0)};
}

template <class Op, int kInputs>
void run(const PointwiseCall& call) {
  const Loop& loop = call.loop;
  if (loop.numel == 0) return;
  const Place place(call.launch);
  const Params params = params_of<Op>(call);
  if (is_dense(loop, kInputs)) {
    DenseInput in[3];
    for (int k = 1; k <= kInputs; k++) {
      if (loop.host_scalars >> k & 1) in[k - 1].number = number_of(loop, k);
      else in[k - 1] = {reinterpret_cast<const T*>(loop.data[k]), loop.strides[k][0], T(0)};
    }
    launch<dense<Op, kInputs>>(place, {blocks_for(loop.numel), kThreads}, loop.numel,
                               reinterpret_cast<T*>(loop.data[0]), in[0], in[1], in[2], params);
  } else {
    OperandTypes types{};
    for (int k = 0; k <= kInputs; k++) types.of[k] = loop.dtype[k];
    launch<general<Op, kInputs>>(place, {blocks_for(loop.numel), kThreads}, DeviceLoop<kInputs + 1>(loop), types,
                                 params);
  }
}

// What each class of the table computes in.
constexpr bool has_Float = !TS_INTEGER, has_Number = true, has_Divide = true, has_Predicate = true, has_Compare = true,
               has_Select = true, has_Bits = TS_INTEGER, has_Analytic = has_Float, has_Field = has_Number,
               has_Property = has_Predicate, has_Equality = has_Compare;

template <class Op, int kInputs, bool kHas>
void run_if(const PointwiseCall& call) {
  if constexpr (kHas) run<Op, kInputs>(call);
  else fail_with(TensorErrorKind::NotImplemented, "this operation is not implemented for the dtype on CUDA");
}

}  // namespace

void TS_ENTRY(const PointwiseCall& call) {
  using Function = void (*)(const PointwiseCall&);
  static constexpr Function kTable[] = {
#define UNARY(NAME, CLASS, ...) run_if<Op_##NAME, 1, has_##CLASS>,
#define UNARY1 UNARY
#define UNARY2 UNARY
#define BINARY(NAME, CLASS, ...) run_if<Op_##NAME, 2, has_##CLASS>,
#define TERNARY(NAME, CLASS, ...) run_if<Op_##NAME, 3, has_##CLASS>,
#define TERNARY1 TERNARY
#include "runtime/ops/pointwise.def"
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1
  };
  kTable[call.op](call);
}

}  // namespace tessera::tensor::cuda
