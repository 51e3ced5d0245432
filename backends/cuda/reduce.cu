// Reductions of runtime/ops/reduce.def: a block of threads for each result, combined in a fixed order, so that a result has
// the same bits in every run. Floating point is summed in double.
#include "backends/cuda/loop.cuh"

#include "backends/cuda/lane.cuh"

#include "runtime/ops/reduce_ids.h"

namespace tessera::tensor::cuda {
namespace {

struct Layout {
  const char* in;
  char* out;
  int64_t* out_index;
  DType in_dtype, out_dtype;
  int kept, reduced;
  int64_t kept_sizes[kMaxDeviceDims], kept_strides[kMaxDeviceDims];
  int64_t reduced_sizes[kMaxDeviceDims], reduced_strides[kMaxDeviceDims];
  int64_t kept_numel, reduced_numel;
  double p;
};

__device__ inline int64_t offset_of(int64_t i, int dims, const int64_t* sizes, const int64_t* strides) {
  int64_t at = 0;
  for (int d = 0; d < dims; d++) {
    const int64_t rest = d + 1 < dims ? i / sizes[d] : 0;
    at += (i - rest * sizes[d]) * strides[d];
    i = rest;
  }
  return at;
}

#define REDUCE(NAME, CLASS, SHOWN, DOC, IDENTITY, MAP, COMBINE, FINISH, ...)      \
  struct Reduce_##NAME {                                                          \
    template <class L>                                                            \
    static __device__ L identity([[maybe_unused]] L x) {                          \
      return IDENTITY;                                                            \
    }                                                                             \
    template <class L>                                                            \
    static __device__ L map(L x, [[maybe_unused]] L p) {                          \
      return MAP;                                                                 \
    }                                                                             \
    template <class L>                                                            \
    static __device__ L combine(L a, L b) {                                       \
      return COMBINE;                                                             \
    }                                                                             \
    template <class L>                                                            \
    static __device__ L finish(L a, [[maybe_unused]] L n, [[maybe_unused]] L p) { \
      return FINISH;                                                              \
    }                                                                             \
  };
#include "runtime/ops/reduce.def"
#undef REDUCE

// Thread t takes elements t, t + 256, ...; then the 256 totals are combined as a tree.
template <class Op, class T>
__global__ void reduce_kernel(Layout layout) {
  using L = Lane<T>;
  TS_SHARED(T, totals, kThreads);
  TS_SHARED(unsigned long long, firsts, 1);
  unsigned long long& first = firsts[0];
  for (int64_t k = blockIdx.x; k < layout.kept_numel; k += gridDim.x) {
    const int64_t base = offset_of(k, layout.kept, layout.kept_sizes, layout.kept_strides);
    auto element = [&](int64_t i) {
      return load_as<T>(layout.in, base + offset_of(i, layout.reduced, layout.reduced_sizes, layout.reduced_strides),
                        layout.in_dtype);
    };
    L total = Op::identity(L(0));
    for (int64_t i = threadIdx.x; i < layout.reduced_numel; i += kThreads)
      total = Op::combine(total, Op::map(L(element(i)), L(layout.p)));
    totals[threadIdx.x] = total.v;
    if (threadIdx.x == 0) first = ~0ull;
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half)
        totals[threadIdx.x] = Op::combine(L(totals[threadIdx.x]), L(totals[threadIdx.x + half])).v;
      __syncthreads();
    }
    const T best = totals[0];
    if (threadIdx.x == 0)
      store_as(layout.out, k, layout.out_dtype, Op::finish(L(best), L(layout.reduced_numel), L(layout.p)).v);
    if (layout.out_index != nullptr) {
      for (int64_t i = threadIdx.x; i < layout.reduced_numel; i += kThreads) {
        const T x = element(i);
        if (x == best || (x != x && best != best)) {
          atomicMin(&first, (unsigned long long)i);
          break;
        }
      }
      __syncthreads();
      if (threadIdx.x == 0) layout.out_index[k] = int64_t(first);
    }
    __syncthreads();
  }
}

template <class Op, class T>
void run(const Layout& layout, const Place& place) {
  const int64_t blocks = layout.kept_numel < 65535 ? layout.kept_numel : 65535;
  launch<reduce_kernel<Op, T>>(place, {unsigned(blocks), kThreads}, layout);
}

constexpr bool for_integers_Sum = true, for_integers_Keep = true, for_integers_Bool = true, for_integers_Count = true,
               for_integers_Float = false;

template <class Op, bool kIntegers>
void run_for(const Layout& layout, DType compute, const Place& place) {
  if (is_floating(compute)) return run<Op, double>(layout, place);
  if constexpr (kIntegers) run<Op, long long>(layout, place);
  else fail_with(TensorErrorKind::NotImplemented, "this reduction is not implemented for integers on CUDA");
}

void reduce(const ReduceCall& call) {
  if (call.kept_numel == 0) return;
  if (call.kept > kMaxDeviceDims || call.reduced > kMaxDeviceDims)
    fail_with(TensorErrorKind::Runtime,
              "tensors with more than 16 dimensions that do not merge are not supported on CUDA");
  Layout layout{call.in,
                call.out,
                reinterpret_cast<int64_t*>(call.out_index),
                call.in_dtype,
                call.out_dtype,
                call.kept,
                call.reduced,
                {},
                {},
                {},
                {},
                call.kept_numel,
                call.reduced_numel,
                call.param.to_double()};
  for (int d = 0; d < call.kept; d++)
    layout.kept_sizes[d] = call.kept_sizes[d], layout.kept_strides[d] = call.kept_strides[d];
  for (int d = 0; d < call.reduced; d++)
    layout.reduced_sizes[d] = call.reduced_sizes[d], layout.reduced_strides[d] = call.reduced_strides[d];
  using Function = void (*)(const Layout&, DType, const Place&);
  static constexpr Function kTable[] = {
#define REDUCE(NAME, CLASS, ...) run_for<Reduce_##NAME, for_integers_##CLASS>,
#include "runtime/ops/reduce.def"
#undef REDUCE
  };
  const Place place(call.launch);
  kTable[call.op](layout, call.compute, place);
}

const CudaKernel<ReduceCall> reduce_entry("sum", reduce);

}  // namespace
}  // namespace tessera::tensor::cuda
