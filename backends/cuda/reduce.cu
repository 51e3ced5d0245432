// Reductions of runtime/ops/reduce.def: float32 and halves are added up in float32 as trees, float64 in float64, integers in
// int64.
#include "runtime/device/calls.h"

#include "backends/cuda/reduce_shape.cuh"
#include "backends/cuda/element.cuh"
#include "backends/cuda/lane.cuh"
#include "runtime/ops/reduce_ids.h"

namespace tessera::tensor::cuda {
namespace {

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

constexpr bool for_integers_Sum = true, for_integers_Keep = true, for_integers_Bool = true, for_integers_Count = true,
               for_integers_Float = false;

// pow of doubles is a call, around which registers are saved: rows with it have kernels of their own.
__host__ __device__ constexpr bool calls_pow(int op) { return op == reduction::r_norm_p; }

/// f(the row's functions): all threads of a launch go the same way, and kernels are few.
template <class T, bool kPow, class F>
__device__ T with_row(int op, const F& f) {
  switch (op) {
#define REDUCE(NAME, CLASS, ...)                                                                                   \
  case reduction::r_##NAME:                                                                                        \
    if constexpr (calls_pow(reduction::r_##NAME) == kPow && (std::is_floating_point_v<T> || for_integers_##CLASS)) \
      return f(Reduce_##NAME());                                                                                   \
    else break;
#include "runtime/ops/reduce.def"
#undef REDUCE
  }
  return T(0);
}

template <class T, bool kPow>
struct Reduction {
  using Total = T;
  using Number = T;
  using L = Lane<T>;

  const char* in;
  char* out;
  int op;
  DType in_dtype, out_dtype;
  double n, p;

  __device__ T start() const {
    return with_row<T, kPow>(op, [](auto row) { return decltype(row)::identity(L(0)).v; });
  }
  __device__ T merge(T a, T b) const {
    return with_row<T, kPow>(op, [&](auto row) { return decltype(row)::combine(L(a), L(b)).v; });
  }
  __device__ T take(const Share& at, int64_t) const {
    Values<T> x;
    load_values(x, in, in_dtype, at, T(0));
    return with_row<T, kPow>(op, [&](auto row) {
      using Row = decltype(row);
      L total = Row::identity(L(0));
#pragma unroll
      for (int r = 0; r < kRounds<T>; r++) {
        if (!at.any(r)) continue;
        L m[kPack];
#pragma unroll
        for (int j = 0; j < kPack; j++) m[j] = at.has(r, j) ? Row::map(L(x.v[r][j]), L(p)) : Row::identity(L(0));
        total = Row::combine(total, Row::combine(Row::combine(m[0], m[1]), Row::combine(m[2], m[3])));
      }
      return total.v;
    });
  }
  __device__ T take_one(int64_t, int64_t offset, int64_t, int64_t) const {
    const T x = load_as<T>(in, offset, in_dtype);
    return with_row<T, kPow>(op, [&](auto row) { return decltype(row)::map(L(x), L(p)).v; });
  }
  __device__ void finish(int64_t result, T total) const {
    const T y = with_row<T, kPow>(op, [&](auto row) { return decltype(row)::finish(L(total), L(n), L(p)).v; });
    store_as(out, result, out_dtype, y);
  }
};

template <class T, bool kPow>
void run(const ReduceCall& c) {
  const bool is_stored = is_stored_for<T>(c.in_dtype);
  fold(c.launch, shape_of(c, is_stored, kThreadElements<T>),
       Reduction<T, kPow>{c.in, c.out, c.op, c.in_dtype, c.out_dtype, double(c.reduced_numel), c.param.to_double()});
}

constexpr bool is_for_integers(int op) {
  constexpr bool kTable[] = {
#define REDUCE(NAME, CLASS, ...) for_integers_##CLASS,
#include "runtime/ops/reduce.def"
#undef REDUCE
  };
  return kTable[op];
}

void reduce(const ReduceCall& c) {
  const bool pow = calls_pow(c.op);
  if (c.compute == DType::Float32) return pow ? run<float, true>(c) : run<float, false>(c);
  if (c.compute == DType::Float64) return pow ? run<double, true>(c) : run<double, false>(c);
  if (!is_for_integers(c.op))
    fail_with(TensorErrorKind::NotImplemented, "this reduction is not implemented for integers on CUDA");
  run<long long, false>(c);
}

const CudaKernel<ReduceCall> entry("sum", reduce);

}  // namespace
}  // namespace tessera::tensor::cuda
