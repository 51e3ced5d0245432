// The reductions of reduce.def on one number at a time: what is left of a vector, merging, and the integers.
#if defined(TESSERA_REDUCE_NUMBERS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_REDUCE_NUMBERS_INL_H
#undef TESSERA_REDUCE_NUMBERS_INL_H
#else
#define TESSERA_REDUCE_NUMBERS_INL_H
#endif

#include "backends/number.h"
#include "hwy/highway.h"
#include "runtime/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

namespace numbers {
namespace m = number_math;
#define REDUCE(NAME, CLASS, SHOWN, DOC, IDENTITY, MAP, COMBINE, FINISH, ...) \
  struct Numbers_##NAME {                                                    \
    template <class N>                                                       \
    static N identity([[maybe_unused]] N x) {                                \
      return IDENTITY;                                                       \
    }                                                                        \
    template <class N>                                                       \
    static HWY_INLINE N map(N x, [[maybe_unused]] N p) {                     \
      return MAP;                                                            \
    }                                                                        \
    template <class N>                                                       \
    static HWY_INLINE N combine(N a, N b) {                                  \
      return COMBINE;                                                        \
    }                                                                        \
    template <class N>                                                       \
    static N finish(N a, [[maybe_unused]] N n, [[maybe_unused]] N p) {       \
      return FINISH;                                                         \
    }                                                                        \
  };
#include "runtime/ops/reduce.def"
#undef REDUCE
}  // namespace numbers

template <class Op, class T, class In>
struct Numbers {
  static T identity() { return Op::identity(Num<T>(0)).v; }
  static HWY_INLINE T mapped(In x, double p) { return Op::map(Num<T>(convert_element<T>(x)), Num<T>(p)).v; }
  static HWY_INLINE T combine(T a, T b) { return Op::combine(Num<T>(a), Num<T>(b)).v; }
  static T combine_two(T a, T b) { return combine(a, b); }

  static void add(T* total, const void* x, int64_t width, double p) {
    for (int64_t j = 0; j < width; j++) total[j] = combine(total[j], mapped(static_cast<const In*>(x)[j], p));
  }
  static void merge(T* total, const T* other, int64_t width) {
    for (int64_t j = 0; j < width; j++) total[j] = combine(total[j], other[j]);
  }
  static T finish(T a, double n, double p) {
    if constexpr (std::is_integral_v<T>) return a;
    else return Op::finish(Num<T>(a), Num<T>(n), Num<T>(p)).v;
  }
};

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
