// Reductions of float and double on lanes, of int64 on plain numbers, compiled for every instruction set.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce_lanes.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/number.h"
#include "backends/cpu/lane-inl.h"
#include "backends/cpu/reduce_table.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

// The same text three times: on lanes, on numbers (tails, merging), and its identity.
#define REDUCE(NAME, CLASS, IDENTITY, MAP, COMBINE, FINISH, DX) \
  struct Lanes_##NAME {                                         \
    template <class L>                                          \
    static HWY_INLINE L map(L x, [[maybe_unused]] L p) {        \
      return MAP;                                               \
    }                                                           \
    template <class L>                                          \
    static HWY_INLINE L combine(L a, L b) {                     \
      return COMBINE;                                           \
    }                                                           \
  };
#include "runtime/ops/reduce.def"
#undef REDUCE
namespace numbers {
namespace m = number_math;
#define REDUCE(NAME, CLASS, IDENTITY, MAP, COMBINE, FINISH, DX)        \
  struct Numbers_##NAME {                                              \
    using Lanes = Lanes_##NAME;                                        \
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
}  // namespace numbers

template <class Op, class T>
T block_lanes(const T* x, int64_t n, double p_value) {
  using Lanes = typename Op::Lanes;
  const Tag<T> d;
  const int64_t width = int64_t(hn::Lanes(d));
  const Num<T> pn = p_value;
  int64_t i = 0;
  Num<T> total = Op::identity(Num<T>(0));
  if (n >= width) {
    const Lane<T> p = p_value;
    const Lane<T> start = double(total.v);
    Lane<T> a0 = start, a1 = start, a2 = start, a3 = start;
    auto at = [&](int64_t j) HWY_ATTR { return Lanes::map(Lane<T>(hn::LoadU(d, x + j)), p); };
    for (; i + 4 * width <= n; i += 4 * width) {
      a0 = Lanes::combine(a0, at(i));
      a1 = Lanes::combine(a1, at(i + width));
      a2 = Lanes::combine(a2, at(i + 2 * width));
      a3 = Lanes::combine(a3, at(i + 3 * width));
    }
    for (; i + width <= n; i += width) a0 = Lanes::combine(a0, at(i));
    a0 = Lanes::combine(Lanes::combine(a0, a1), Lanes::combine(a2, a3));
    alignas(64) T parts[hn::MaxLanes(Tag<T>())];
    hn::Store(a0.v, d, parts);
    for (int64_t step = width / 2; step; step /= 2)
      for (int64_t j = 0; j < step; j++) parts[j] = Op::combine(Num<T>(parts[j]), Num<T>(parts[j + step])).v;
    total = parts[0];
  }
  for (; i < n; i++) total = Op::combine(total, Op::map(Num<T>(x[i]), pn));
  return total.v;
}

template <class Op, class T>
void row_lanes(T* acc, const T* x, int64_t n, double p_value) {
  using Lanes = typename Op::Lanes;
  const Tag<T> d;
  const int64_t width = int64_t(hn::Lanes(d));
  const Lane<T> p = p_value;
  int64_t i = 0;
  for (; i + width <= n; i += width)
    hn::StoreU(Lanes::combine(Lane<T>(hn::LoadU(d, acc + i)), Lanes::map(Lane<T>(hn::LoadU(d, x + i)), p)).v, d,
               acc + i);
  for (; i < n; i++) acc[i] = Op::combine(Num<T>(acc[i]), Op::map(Num<T>(x[i]), Num<T>(p_value))).v;
}

template <class Op, class T>
T block_numbers(const T* x, int64_t n, double p) {
  Num<T> total = Op::identity(Num<T>(0));
  for (int64_t i = 0; i < n; i++) total = Op::combine(total, Op::map(Num<T>(x[i]), Num<T>(p)));
  return total.v;
}
template <class Op, class T>
void row_numbers(T* acc, const T* x, int64_t n, double p) {
  for (int64_t i = 0; i < n; i++) acc[i] = Op::combine(Num<T>(acc[i]), Op::map(Num<T>(x[i]), Num<T>(p))).v;
}
template <class Op, class T>
void merge_numbers(T* acc, const T* other, int64_t n) {
  for (int64_t i = 0; i < n; i++) acc[i] = Op::combine(Num<T>(acc[i]), Num<T>(other[i])).v;
}
template <class Op, class T>
T combine_numbers(T a, T b) {
  return Op::combine(Num<T>(a), Num<T>(b)).v;
}
template <class Op, class T>
T finish_number(T a, double n, double p) {
  if constexpr (std::is_integral_v<T>) return a;
  else return Op::finish(Num<T>(a), Num<T>(n), Num<T>(p)).v;
}

template <class Op, class T>
ReduceKernels<T> kernels() {
  // Only sums, products and extremes exist for integers; norms are refused before they get here.
  if constexpr (std::is_floating_point_v<T>)
    return {Op::identity(Num<T>(0)).v, block_lanes<Op, T>,     row_lanes<Op, T>,
            merge_numbers<Op, T>,      combine_numbers<Op, T>, finish_number<Op, T>};
  else
    return {Op::identity(Num<T>(0)).v, block_numbers<Op, T>,   row_numbers<Op, T>,
            merge_numbers<Op, T>,      combine_numbers<Op, T>, finish_number<Op, T>};
}

template <class T>
const ReduceKernels<T>* reductions() {
  using namespace numbers;
  static const ReduceKernels<T> kTable[] = {
#define REDUCE(NAME, ...) kernels<Numbers_##NAME, T>(),
#include "runtime/ops/reduce.def"
#undef REDUCE
  };
  return kTable;
}
const ReduceKernels<float>* reductions_float() { return reductions<float>(); }
const ReduceKernels<double>* reductions_double() { return reductions<double>(); }
const ReduceKernels<int64_t>* reductions_int64() { return reductions<int64_t>(); }

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(reductions_float);
HWY_EXPORT(reductions_double);
HWY_EXPORT(reductions_int64);
const ReduceKernels<float>* float_reductions() { return HWY_DYNAMIC_DISPATCH(reductions_float)(); }
const ReduceKernels<double>* double_reductions() { return HWY_DYNAMIC_DISPATCH(reductions_double)(); }
const ReduceKernels<int64_t>* int64_reductions() { return HWY_DYNAMIC_DISPATCH(reductions_int64)(); }
}  // namespace tessera::tensor::cpu
#endif
