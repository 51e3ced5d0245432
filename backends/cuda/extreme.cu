// The largest or smallest element along a dimension and where it first is.
#include "backends/cuda/along.h"
#include "backends/cuda/best.cuh"
#include "backends/cuda/fold.cuh"

namespace tessera::tensor::cuda {
namespace {

template <class T>
struct Extreme {
  using Total = Best<T>;
  using Number = T;

  const void* in;
  void* out;  // may be null
  int64_t* index;
  DType dtype;
  bool largest;

  __device__ Total start() const { return {}; }
  __device__ Total merge(const Total& a, const Total& b) const {
    if (a.is_none() || b.is_none()) return a.is_none() ? b : a;
    if (beats(a.value, b.value, largest)) return a;
    if (beats(b.value, a.value, largest)) return b;
    return a.index() < b.index() ? a : b;
  }
  __device__ Total take(const Share& at, int64_t) const {  // the elements come in the order of their indices
    Values<T> x;
    load_values(x, in, dtype, at, T(0));
    T best = x.v[0][0];
    int number = at.number(0, 0);
    if (!at.has(0, 0)) return {};
#pragma unroll
    for (int r = 0; r < kRounds<T>; r++) {
      if (!at.any(r)) continue;
#pragma unroll
      for (int j = 0; j < kPack; j++)
        if (at.has(r, j) && beats(x.v[r][j], best, largest)) best = x.v[r][j], number = at.number(r, j);
    }
    return {best, at.base + number};
  }
  __device__ Total take_one(int64_t, int64_t offset, int64_t i, int64_t) const {
    return {load_number<T>(in, dtype, offset), i};
  }
  __device__ void finish(int64_t result, const Total& best) const {
    index[result] = best.index();
    if (out) store_number(best.value, out, dtype, result);
  }
};

template <class T>
void run(const AlongCall& c) {
  const int64_t kept_sizes[] = {c.inner, c.outer}, kept_strides[] = {1, c.n * c.inner};
  const int64_t row = c.n;
  const Nest kept = c.inner == 1 ? Nest(1, &c.outer, &row) : Nest(2, kept_sizes, kept_strides);
  VectorRule rule(c.dtype);
  rule.start(c.in);
  if (c.outer > 1) rule.step(c.n);
  const FoldShape shape(kept, Nest(1, &c.n, &c.inner), c.outer * c.inner, c.n, c.inner > 1, rule.vector(),
                        kThreadElements<T>);
  fold(c.launch, shape, Extreme<T>{c.in, c.out, c.index, c.dtype, c.op == AlongCall::Max});
}

}  // namespace

void extreme_along(const AlongCall& c) {
  if (is_stored_for<float>(c.dtype)) return run<float>(c);
  if (is_stored_for<double>(c.dtype)) return run<double>(c);
  if (is_stored_for<long long>(c.dtype)) return run<long long>(c);
  fail_with(TensorErrorKind::NotImplemented, "extremes along a dimension are not implemented for this dtype on CUDA");
}

}  // namespace tessera::tensor::cuda
