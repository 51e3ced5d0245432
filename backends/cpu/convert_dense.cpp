// Conversions of dense runs between the dtypes that programs convert most, compiled for every instruction set: plain
// loops for the compiler's vectoriser, and Highway for halves, which it does not know. Values are those of
// convert_element on every one of them.
// compile: vectors (plain loops over elements)
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/convert_dense.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include <limits>
#include "backends/cpu/convert.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class To, class From>
void dense(void* to_v, const void* from_v, int64_t n) {
  To* to = static_cast<To*>(to_v);
  const From* from = static_cast<const From*>(from_v);
  for (int64_t i = 0; i < n; i++) to[i] = convert_element<To>(from[i]);
}

// Highway's own conversions of float16 lose infinities where there is no instruction for them.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
template <>
void dense<float, Half>(void* to_v, const void* from_v, int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const int64_t lanes = int64_t(hn::Lanes(d));
  float* to = static_cast<float*>(to_v);
  const Half* from = static_cast<const Half*>(from_v);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(from + i))), d, to + i);
  for (; i < n; i++) to[i] = float(from[i]);
}
template <>
void dense<Half, float>(void* to_v, const void* from_v, int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const int64_t lanes = int64_t(hn::Lanes(d));
  Half* to = static_cast<Half*>(to_v);
  const float* from = static_cast<const float*>(from_v);
  const auto nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());  // one NaN, whatever bits it had
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto x = hn::LoadU(d, from + i);
    const auto is_nan = hn::IsNaN(x);
    if (!hn::AllFalse(d, is_nan)) [[unlikely]]
      x = hn::IfThenElse(is_nan, hn::CopySign(nan, x), x);
    hn::StoreU(hn::DemoteTo(dh, x), dh, reinterpret_cast<hwy::float16_t*>(to + i));
  }
  for (; i < n; i++) to[i] = Half(from[i]);
}
#endif
#if HWY_TARGET != HWY_SCALAR
template <>
void dense<BFloat16, float>(void* to_v, const void* from_v, int64_t n) {
  const hn::ScalableTag<uint32_t> d;
  const hn::Rebind<uint16_t, decltype(d)> dh;
  const int64_t lanes = int64_t(hn::Lanes(d));
  BFloat16* to = static_cast<BFloat16*>(to_v);
  const float* from = static_cast<const float*>(from_v);
  const auto one = hn::Set(d, 1), below_half = hn::Set(d, 0x7fff), nan = hn::Set(d, 0x7fc00000);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::LoadU(d, reinterpret_cast<const uint32_t*>(from + i));
    const auto rounded = hn::Add(bits, hn::Add(below_half, hn::And(hn::ShiftRight<16>(bits), one)));
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7fffffff));
    const auto is_nan = hn::Gt(magnitude, hn::Set(d, 0x7f800000));
    hn::StoreU(hn::TruncateTo(dh, hn::ShiftRight<16>(hn::IfThenElse(is_nan, nan, rounded))), dh,
               reinterpret_cast<uint16_t*>(to + i));
  }
  for (; i < n; i++) to[i] = BFloat16(from[i]);
}
#endif

template <class To>
DenseRun from_type(DType from) {
  switch (from) {
    case kBool: return dense<To, bool>;
    case kUInt8: return dense<To, uint8_t>;
    case kInt32: return dense<To, int32_t>;
    case kInt64: return dense<To, int64_t>;
    case kFloat32: return dense<To, float>;
    case kFloat64: return dense<To, double>;
    default: return nullptr;
  }
}

DenseRun choose(DType to, DType from) {
  if (to == from) return nullptr;
  if (to == kFloat32 && from == kFloat16) return dense<float, Half>;
  if (to == kFloat32 && from == kBFloat16) return dense<float, BFloat16>;
  if (to == kInt32 && from == kInt16) return dense<int32_t, int16_t>;  // what int16 and int8 are computed in
  if (to == kInt16 && from == kInt32) return dense<int16_t, int32_t>;
  if (to == kInt32 && from == kInt8) return dense<int32_t, int8_t>;
  if (to == kInt8 && from == kInt32) return dense<int8_t, int32_t>;
  switch (to) {
    case kBool: return from_type<bool>(from);
    case kUInt8: return from_type<uint8_t>(from);
    case kInt32: return from_type<int32_t>(from);
    case kInt64: return from_type<int64_t>(from);
    case kFloat16: return from == kFloat32 ? dense<Half, float> : nullptr;
    case kBFloat16: return from == kFloat32 ? dense<BFloat16, float> : nullptr;
    case kFloat32: return from_type<float>(from);
    case kFloat64: return from_type<double>(from);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(choose);
DenseRun dense_converter(DType to, DType from) { return HWY_DYNAMIC_DISPATCH(choose)(to, from); }
}  // namespace tessera::tensor::cpu
#endif
