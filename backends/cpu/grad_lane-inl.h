// The words of derivatives (grad_words.inc) on lanes.
#if defined(TESSERA_GRAD_LANE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_GRAD_LANE_INL_H
#undef TESSERA_GRAD_LANE_INL_H
#else
#define TESSERA_GRAD_LANE_INL_H
#endif

#include "backends/cpu/lane-inl.h"
#include "backends/special_math.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {

template <class T>
HWY_INLINE LaneMask<T> operator&(LaneMask<T> a, LaneMask<T> b) {
  return a && b;
}
template <class T>
HWY_INLINE LaneMask<T> operator|(LaneMask<T> a, LaneMask<T> b) {
  return a || b;
}

namespace formulas {

template <class T>
using Same = std::type_identity_t<T>;
#define TS_WORD HWY_INLINE
#include "backends/grad_words.inc"
#undef TS_WORD
template <class T>
HWY_INLINE Lane<T> digamma(Lane<T> x) {
  return m::each(x, [](T e) { return T(special::digamma(double(e))); });
}

}  // namespace formulas
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
