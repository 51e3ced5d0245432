// The skeleton of kernels that give every element of a result by itself: pointwise ops, their derivatives, conversions.
//
// Two kernels a body. `dense` takes operands that run along the innermost dimension (or stay where they are: numbers, rows and
// columns that are repeated) in groups of 16 bytes of arithmetic, which it loads and stores as vectors; halves and bytes are
// converted in the registers. `strided` takes everything else, neighbours by neighbouring threads. Offsets are 32-bit and
// found by multiplications; what reaches further is cut into parts by the host.
//
// A body:  using Lane = Num<float>;  using Result = Lane or bool;
//          static constexpr int kInputs, kOutputs;   static constexpr bool kShort: takes a few instructions
//          using Types: TypeBits kLoads, kStores: the dtypes of `dense`
//          __device__ void operator()(const Lane (&in)[kInputs], Result (&out)[kOutputs]) const
//          static constexpr DType kType, if elements of any dtype that have its size are taken as such
#pragma once

#include "backends/cuda/divide.cuh"
#include "backends/cuda/element.cuh"
#include "backends/cuda/elementwise_plan.h"

namespace tessera::tensor::cuda {

/// n elements that lie together, loaded and stored by one instruction where they have at most 16 bytes.
template <class T, int n>
struct Pack {
  static constexpr int kBytes = int(sizeof(T)) * n;
  using Word =
      std::conditional_t<kBytes % 16 == 0, uint4,
                         std::conditional_t<kBytes == 8, uint2,
                                            std::conditional_t<kBytes == 4, uint32_t,
                                                               std::conditional_t<kBytes == 2, uint16_t, uint8_t>>>>;
  T item[n];

  static __device__ Pack load(const T* from) {
    Word words[kBytes / sizeof(Word)];
#pragma unroll
    for (unsigned w = 0; w < kBytes / sizeof(Word); w++) words[w] = reinterpret_cast<const Word*>(from)[w];
    Pack pack;
    memcpy(pack.item, words, kBytes);
    return pack;
  }
  __device__ void store(T* to) const {
    Word words[kBytes / sizeof(Word)];
    memcpy(words, item, kBytes);
#pragma unroll
    for (unsigned w = 0; w < kBytes / sizeof(Word); w++) reinterpret_cast<Word*>(to)[w] = words[w];
  }
};

template <class Lane>
using NumberOf = typename LaneOf<Lane>::Number;
/// Elements in a group: 16 bytes of arithmetic.
template <class Lane>
inline constexpr int kGroup = 16 / int(sizeof(Lane));

/// Whether elements are taken by their size alone.
template <class Body>
inline constexpr bool kIsRaw = requires {
  Body::kType;
};

template <class Lane, int inputs, int outputs>
struct OperandsOf {
  static constexpr int kInputs = inputs, kOutputs = outputs;
  char* out[outputs];      // null: not wanted
  const char* in[inputs];  // null: the number
  DType out_type;
  DType in_type[inputs];
  NumberOf<Lane> number[inputs];
};
template <class Body>
using Operands = OperandsOf<typename Body::Lane, Body::kInputs, Body::kOutputs>;

inline constexpr int kRowDims = 4;

/// Groups of a dense call. Without dims one run: edges[0] elements before the first group, edges[1] after the last. With dims
/// (the first one counts groups of a row) no edges.
struct Groups {
  int64_t count;
  int edges[2];
  int dims;
  unsigned runs;  // bit k: input k steps through a row, else it stays
  FastDivide<uint32_t> sizes[kRowDims];
};
template <int kInputs>
struct GroupSteps {
  int32_t out[kRowDims], in[kInputs][kRowDims];
};

// ---- elements ----

template <TypeBits kTypes, class Lane>
__device__ inline Lane load_one(const char* data, int64_t at, DType type) {
  using T = NumberOf<Lane>;
  switch (type) {
#define TS_CASE(NAME, TYPE)                                                                                        \
  case DType::NAME:                                                                                                \
    if constexpr (has_type(kTypes, DType::NAME)) return Lane(convert<T>(reinterpret_cast<const TYPE*>(data)[at])); \
    break;
    TS_DEVICE_TYPES(TS_CASE)
#undef TS_CASE
    default: break;
  }
  return Lane(0);
}

template <TypeBits kTypes, class Result>
__device__ inline void store_one(char* data, int64_t at, DType type, Result x) {
  switch (type) {
#define TS_CASE(NAME, TYPE)                                                         \
  case DType::NAME:                                                                 \
    if constexpr (has_type(kTypes, DType::NAME))                                    \
      reinterpret_cast<TYPE*>(data)[at] = convert<TYPE>(LaneOf<Result>::number(x)); \
    break;
    TS_DEVICE_TYPES(TS_CASE)
#undef TS_CASE
    default: break;
  }
}

template <TypeBits kTypes, class Lane, int n>
__device__ inline void load_group(Lane (&x)[n], const char* data, int64_t at, DType type) {
  using T = NumberOf<Lane>;
  switch (type) {
#define TS_CASE(NAME, TYPE)                                                                \
  case DType::NAME:                                                                        \
    if constexpr (has_type(kTypes, DType::NAME)) {                                         \
      const auto pack = Pack<TYPE, n>::load(reinterpret_cast<const TYPE*>(data) + at);     \
      _Pragma("unroll") for (int j = 0; j < n; j++) x[j] = Lane(convert<T>(pack.item[j])); \
    }                                                                                      \
    break;
    TS_DEVICE_TYPES(TS_CASE)
#undef TS_CASE
    default: break;
  }
}

template <TypeBits kTypes, class Result, int n>
__device__ inline void store_group(char* data, int64_t at, DType type, const Result (&x)[n]) {
  switch (type) {
#define TS_CASE(NAME, TYPE)                                                                                     \
  case DType::NAME:                                                                                             \
    if constexpr (has_type(kTypes, DType::NAME)) {                                                              \
      Pack<TYPE, n> pack;                                                                                       \
      _Pragma("unroll") for (int j = 0; j < n; j++) pack.item[j] = convert<TYPE>(LaneOf<Result>::number(x[j])); \
      pack.store(reinterpret_cast<TYPE*>(data) + at);                                                           \
    }                                                                                                           \
    break;
    TS_DEVICE_TYPES(TS_CASE)
#undef TS_CASE
    default: break;
  }
}

// ---- dense ----

// The few elements beside the groups, one thread each.
template <class Body>
__device__ inline void run_edge(const Body& body, const Operands<Body>& operands, const Groups& groups, int64_t i) {
  using Lane = typename Body::Lane;
  Lane in[Body::kInputs];
#pragma unroll
  for (int k = 0; k < Body::kInputs; k++)
    in[k] = operands.in[k] == nullptr ? Lane(operands.number[k])
                                      : load_one<Body::Types::kLoads, Lane>(
                                            operands.in[k], groups.runs >> k & 1 ? i : 0, operands.in_type[k]);
  typename Body::Result out[Body::kOutputs];
  body(in, out);
#pragma unroll
  for (int k = 0; k < Body::kOutputs; k++)
    if (Body::kOutputs == 1 || operands.out[k] != nullptr)
      store_one<Body::Types::kStores>(operands.out[k], i, operands.out_type, out[k]);
}

template <class Body>
__global__ void __launch_bounds__(kThreads)
    dense(const __grid_constant__ Body body, const __grid_constant__ Operands<Body> operands,
          const __grid_constant__ Groups groups, const __grid_constant__ GroupSteps<Body::kInputs> steps) {
  using Lane = typename Body::Lane;
  constexpr int kItems = kGroup<Lane>, kVectors = Body::kShort ? 2 : 1;
  if (blockIdx.x == 0 && int(threadIdx.x) < groups.edges[0] + groups.edges[1]) {
    const int64_t after = int(threadIdx.x) < groups.edges[0] ? 0 : groups.count * kItems;
    run_edge(body, operands, groups, after + threadIdx.x);
  }
  const int64_t first = int64_t(blockIdx.x) * (kVectors * kThreads) + threadIdx.x;
  Lane in[kVectors][Body::kInputs][kItems];
  int64_t to[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; v++) {
    const int64_t g = first + v * int(kThreads);
    if (g >= groups.count) break;
    int64_t from[Body::kInputs];
    if (groups.dims == 0) {
      to[v] = groups.edges[0] + g * kItems;
#pragma unroll
      for (int k = 0; k < Body::kInputs; k++) from[k] = groups.runs >> k & 1 ? to[v] : 0;
    } else {
      int32_t at = 0, of[Body::kInputs] = {};
      uint32_t rest = uint32_t(g);
#pragma unroll 1
      for (int d = 0; d < groups.dims; d++) {
        const auto place = groups.sizes[d].divide(rest);
        at += int32_t(place.rest) * steps.out[d];
#pragma unroll
        for (int k = 0; k < Body::kInputs; k++) of[k] += int32_t(place.rest) * steps.in[k][d];
        rest = place.quotient;
      }
      to[v] = at;
#pragma unroll
      for (int k = 0; k < Body::kInputs; k++) from[k] = of[k];
    }
#pragma unroll
    for (int k = 0; k < Body::kInputs; k++) {
      if (groups.runs >> k & 1) {
        load_group<Body::Types::kLoads>(in[v][k], operands.in[k], from[k], operands.in_type[k]);
      } else {
        const Lane same = operands.in[k] == nullptr
                              ? Lane(operands.number[k])
                              : load_one<Body::Types::kLoads, Lane>(operands.in[k], from[k], operands.in_type[k]);
#pragma unroll
        for (int j = 0; j < kItems; j++) in[v][k][j] = same;
      }
    }
  }
#pragma unroll
  for (int v = 0; v < kVectors; v++) {
    if (first + v * int(kThreads) >= groups.count) return;
    typename Body::Result out[Body::kOutputs][kItems];
#pragma unroll
    for (int j = 0; j < kItems; j++) {
      Lane of_one[Body::kInputs];
#pragma unroll
      for (int k = 0; k < Body::kInputs; k++) of_one[k] = in[v][k][j];
      typename Body::Result results[Body::kOutputs];
      body(of_one, results);
#pragma unroll
      for (int k = 0; k < Body::kOutputs; k++) out[k][j] = results[k];
    }
#pragma unroll
    for (int k = 0; k < Body::kOutputs; k++)
      if (Body::kOutputs == 1 || operands.out[k] != nullptr)
        store_group<Body::Types::kStores>(operands.out[k], to[v], operands.out_type, out[k]);
  }
}

// ---- strided ----

inline constexpr int kStridedItems = 2;  // of a thread

// Dtypes that are seldom mixed with the lane's take a call: as many cases in every kernel would take nvcc minutes.
template <class T>
[[gnu::noinline]] __device__ T load_other(const char* data, int64_t at, DType type) {
  return load_as<T>(data, at, type);
}
template <class T>
[[gnu::noinline]] __device__ void store_other(char* data, int64_t at, DType type, T value) {
  store_as(data, at, type, value);
}

template <int kInputs>
struct Nest {
  uint32_t numel;
  int dims;
  FastDivide<uint32_t> sizes[kMaxNestDims];
  int32_t out[kMaxNestDims], in[kInputs][kMaxNestDims];
};

template <class Body>
__global__ void __launch_bounds__(kThreads)
    strided(const __grid_constant__ Body body, const __grid_constant__ Operands<Body> operands,
            const __grid_constant__ Nest<Body::kInputs> nest) {
  using Lane = typename Body::Lane;
  constexpr int kItems = kStridedItems;
  const uint32_t first = blockIdx.x * (kItems * kThreads) + threadIdx.x;
  if (first >= nest.numel) return;
  int32_t to[kItems], from[kItems][Body::kInputs];
#pragma unroll
  for (int i = 0; i < kItems; i++) {
    // Beyond the end a thread reads its own first element again: another's may be written meanwhile, when done in place.
    uint32_t rest = first + i * kThreads < nest.numel ? first + i * kThreads : first;
    to[i] = 0;
#pragma unroll
    for (int k = 0; k < Body::kInputs; k++) from[i][k] = 0;
#pragma unroll 1
    for (int d = 0; d < nest.dims; d++) {
      const auto place = nest.sizes[d].divide(rest);
      to[i] += int32_t(place.rest) * nest.out[d];
#pragma unroll
      for (int k = 0; k < Body::kInputs; k++) from[i][k] += int32_t(place.rest) * nest.in[k][d];
      rest = place.quotient;
    }
  }
  Lane in[kItems][Body::kInputs];
#pragma unroll
  for (int k = 0; k < Body::kInputs; k++) {
    if (operands.in[k] == nullptr) {
#pragma unroll
      for (int i = 0; i < kItems; i++) in[i][k] = Lane(operands.number[k]);
      continue;
    }
    if (!kIsRaw<Body> && !has_type(Body::Types::kLoads, operands.in_type[k])) {
#pragma unroll
      for (int i = 0; i < kItems; i++)
        in[i][k] = Lane(load_other<NumberOf<Lane>>(operands.in[k], from[i][k], operands.in_type[k]));
      continue;
    }
    switch (operands.in_type[k]) {
#define TS_CASE(NAME, TYPE)                                                                                          \
  case DType::NAME:                                                                                                  \
    if constexpr (has_type(Body::Types::kLoads, DType::NAME)) {                                                      \
      const TYPE* data = reinterpret_cast<const TYPE*>(operands.in[k]);                                              \
      _Pragma("unroll") for (int i = 0; i < kItems; i++) in[i][k] = Lane(convert<NumberOf<Lane>>(data[from[i][k]])); \
    }                                                                                                                \
    break;
      TS_DEVICE_TYPES(TS_CASE)
#undef TS_CASE
      default: break;
    }
  }
  typename Body::Result out[kItems][Body::kOutputs];
#pragma unroll
  for (int i = 0; i < kItems; i++) body(in[i], out[i]);
#pragma unroll
  for (int k = 0; k < Body::kOutputs; k++) {
    if (Body::kOutputs > 1 && operands.out[k] == nullptr) continue;
#pragma unroll
    for (int i = 0; i < kItems; i++) {
      if (first + i * kThreads >= nest.numel) break;
      if (kIsRaw<Body> || has_type(Body::Types::kStores, operands.out_type))
        store_one<Body::Types::kStores>(operands.out[k], to[i], operands.out_type, out[i][k]);
      else store_other(operands.out[k], to[i], operands.out_type, LaneOf<typename Body::Result>::number(out[i][k]));
    }
  }
}

// ---- the host's side ----
//
// Functions of a body do no more than launch its kernels; what leads there is compiled once for all bodies of as many
// operands.

/// A body's kernels, and what of it the host has to know.
template <class O>
struct Kernels {
  int group, vectors;  // elements of a group, groups of a thread
  TypeBits loads, stores;
  bool raw;
  DType type;  // if it is raw
  void (*dense)(const Place&, unsigned blocks, const void* body, const O&, const Groups&,
                const GroupSteps<O::kInputs>&);
  void (*strided)(const Place&, unsigned blocks, const void* body, const O&, const Nest<O::kInputs>&);
};

template <class Body>
void launch_dense(const Place& place, unsigned blocks, const void* body, const Operands<Body>& operands,
                  const Groups& groups, const GroupSteps<Body::kInputs>& steps) {
  launch<dense<Body>>(place, {blocks, kThreads}, *static_cast<const Body*>(body), operands, groups, steps);
}
template <class Body>
void launch_strided(const Place& place, unsigned blocks, const void* body, const Operands<Body>& operands,
                    const Nest<Body::kInputs>& nest) {
  launch<strided<Body>>(place, {blocks, kThreads}, *static_cast<const Body*>(body), operands, nest);
}

template <class Body>
constexpr Kernels<Operands<Body>> kernels_of() {
  DType type = DType::Float32;
  if constexpr (kIsRaw<Body>) type = Body::kType;
  return {kGroup<typename Body::Lane>,
          Body::kShort ? 2 : 1,
          kIsRaw<Body> ? ~0u : Body::Types::kLoads,
          kIsRaw<Body> ? ~0u : Body::Types::kStores,
          kIsRaw<Body>,
          type,
          launch_dense<Body>,
          launch_strided<Body>};
}
template <class Body>
inline constexpr Kernels<Operands<Body>> kKernels = kernels_of<Body>();

/// Operand k of the loop that each input reads; -1: none, its number counts.
template <int inputs>
struct Inputs {
  int of[inputs];
};

template <class O>
void run_dense(const Place& place, const Loop& loop, const Kernels<O>& kernels, const void* body, const O& operands,
               const Inputs<O::kInputs>& inputs, const DensePlan& plan) {
  Groups groups{plan.groups, {plan.edges[0], plan.edges[1]}, plan.dims, 0, {}};
  GroupSteps<O::kInputs> steps;
  for (int k = 0; k < O::kInputs; k++)
    if (operands.in[k] != nullptr && loop.strides[inputs.of[k]][0] == 1) groups.runs |= 1u << k;
  for (int d = 0; d < plan.dims; d++) {
    const int scale = d == 0 ? kernels.group : 1;
    groups.sizes[d] = FastDivide<uint32_t>(uint32_t(loop.sizes[d] / scale));
    steps.out[d] = int32_t(loop.strides[0][d] * scale);
    for (int k = 0; k < O::kInputs; k++)
      steps.in[k][d] = operands.in[k] == nullptr ? 0 : int32_t(loop.strides[inputs.of[k]][d] * scale);
  }
  const int64_t in_block = kernels.vectors * int64_t(kThreads), blocks = (plan.groups + in_block - 1) / in_block;
  kernels.dense(place, unsigned(blocks < 1 ? 1 : blocks), body, operands, groups, steps);
}

template <class O>
void run_strided(const Place& place, const Loop& loop, const Kernels<O>& kernels, const void* body, const O& operands,
                 const Inputs<O::kInputs>& inputs) {
  constexpr unsigned kItems = kStridedItems;
  Nest<O::kInputs> nest;
  nest.numel = uint32_t(loop.numel);
  nest.dims = loop.ndim;
  for (int d = 0; d < loop.ndim; d++) {
    nest.sizes[d] = FastDivide<uint32_t>(uint32_t(loop.sizes[d]));
    nest.out[d] = int32_t(loop.strides[0][d]);
    for (int k = 0; k < O::kInputs; k++)
      nest.in[k][d] = operands.in[k] == nullptr ? 0 : int32_t(loop.strides[inputs.of[k]][d]);
  }
  kernels.strided(place, (nest.numel + kItems * kThreads - 1) / (kItems * kThreads), body, operands, nest);
}

/// Runs the body over the loop. `operands` has the results' places and, for inputs that no operand gives, numbers; the rest is
/// found in the loop, whose numbers have the lane's type.
template <class O>
void run_elementwise(const Place& place, const Loop& loop, const Kernels<O>& kernels, const void* body, O operands,
                     const Inputs<O::kInputs>& inputs) {
  if (loop.numel == 0) return;
  const auto type_of = [&](int k) { return kernels.raw ? kernels.type : loop.dtype[k]; };
  operands.out_type = type_of(0);
  for (int k = 0; k < O::kInputs; k++) {
    const int of = inputs.of[k];
    const bool number = of < 0 || (loop.host_scalars >> of & 1);
    operands.in[k] = number ? nullptr : loop.data[of];
    operands.in_type[k] = number ? DType::Float32 : type_of(of);
    if (of >= 0 && number) __builtin_memcpy(&operands.number[k], loop.numbers[of], sizeof operands.number[k]);
  }
  const DensePlan plan =
      plan_dense(loop, kernels.group, kernels.loads, kernels.stores, operands.out + 1, O::kOutputs - 1);
  if (plan.is_dense) return run_dense(place, loop, kernels, body, operands, inputs, plan);
  if (is_one_part(loop)) return run_strided(place, loop, kernels, body, operands, inputs);
  each_part(loop, [&](const Loop& part) {
    O moved = operands;
    for (int k = 0; k < O::kOutputs; k++)
      if (moved.out[k] != nullptr) moved.out[k] += part.data[0] - loop.data[0];
    for (int k = 0; k < O::kInputs; k++)
      if (moved.in[k] != nullptr) moved.in[k] = part.data[inputs.of[k]];
    run_strided(place, part, kernels, body, moved, inputs);
  });
}

}  // namespace tessera::tensor::cuda
