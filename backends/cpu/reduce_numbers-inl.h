// The rows of reduce.def as functors, and the reductions on one number at a time: single results and the integers. The
// functors run on numbers, and on lanes too where TS_REDUCE_LANES says so.
#if defined(TESSERA_REDUCE_NUMBERS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_REDUCE_NUMBERS_INL_H
#undef TESSERA_REDUCE_NUMBERS_INL_H
#else
#define TESSERA_REDUCE_NUMBERS_INL_H
#endif

#include "backends/number.h"
#include "hwy/highway.h"
#include "runtime/dtype.h"
#ifdef TS_REDUCE_LANES
#include "backends/cpu/lane-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

namespace rows {
namespace m {
using namespace number_math;
#ifdef TS_REDUCE_LANES
using namespace tessera::tensor::cpu::HWY_NAMESPACE::m;
using number_math::maximum, number_math::minimum;
#if HWY_TARGET == HWY_SCALAR
using tessera::tensor::cpu::HWY_NAMESPACE::m::maximum, tessera::tensor::cpu::HWY_NAMESPACE::m::minimum;
#else
// `a` is the total, and the chain of totals is what takes time: here it is one instruction and a choice. Max and Min give
// their second operand on x86 when one is NaN, either NaN elsewhere: a NaN in the total stays.
template <class T>
HWY_INLINE Lane<T> maximum(Lane<T> a, Lane<T> b) {
  return select(is_nan(b), b, Lane<T>(hn::Max(b.v, a.v)));
}
template <class T>
HWY_INLINE Lane<T> minimum(Lane<T> a, Lane<T> b) {
  return select(is_nan(b), b, Lane<T>(hn::Min(b.v, a.v)));
}
#endif
#endif
}  // namespace m
#define REDUCE(NAME, CLASS, SHOWN, DOC, IDENTITY, MAP, COMBINE, FINISH, ...)      \
  struct Row_##NAME {                                                             \
    template <class N>                                                            \
    static constexpr N identity([[maybe_unused]] N x) {                                     \
      return IDENTITY;                                                            \
    }                                                                             \
    template <class N>                                                            \
    static HWY_INLINE N map(N x, [[maybe_unused]] N p) {                          \
      return MAP;                                                                 \
    }                                                                             \
    template <class N>                                                            \
    static HWY_INLINE N combine(N a, N b) {                                       \
      return COMBINE;                                                             \
    }                                                                             \
    template <class N>                                                            \
    static HWY_INLINE N finish(N a, [[maybe_unused]] N n, [[maybe_unused]] N p) { \
      return FINISH;                                                              \
    }                                                                             \
  };
#include "runtime/ops/reduce.def"
#undef REDUCE
}  // namespace rows

template <class Op, class T, class In>
struct Numbers {
  static constexpr T identity() { return Op::identity(Num<T>(0)).v; }
  static HWY_INLINE T mapped(In x, double p) { return Op::map(Num<T>(convert_element<T>(x)), Num<T>(p)).v; }
  static HWY_INLINE T combine(T a, T b) { return Op::combine(Num<T>(a), Num<T>(b)).v; }
  static T combine_two(T a, T b) { return combine(a, b); }

  static void add(T* HWY_RESTRICT total, const In* HWY_RESTRICT x, int64_t width, double p) {
    for (int64_t j = 0; j < width; j++) total[j] = combine(total[j], mapped(x[j], p));
  }
  static void merge(T* HWY_RESTRICT total, const T* HWY_RESTRICT other, int64_t width) {
    for (int64_t j = 0; j < width; j++) total[j] = combine(total[j], other[j]);
  }
};

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
