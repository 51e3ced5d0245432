// where(condition, x, y) moves elements without looking at them: one kernel for each size of element, compiled for
// every instruction set. The condition stays in bytes.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/where.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include "backends/cpu/pointwise_table.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T, class V>
HWY_INLINE auto widened(V bytes) {
  const hn::ScalableTag<T> d;
  if constexpr (sizeof(T) == 1) return bytes;
  else if constexpr (sizeof(T) == 8) return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<uint32_t, decltype(d)>(), bytes));
  else return hn::PromoteTo(d, bytes);
}

template <class T>
void select_run(const Run& r) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const uint8_t* condition = static_cast<const uint8_t*>(r.in[0]);
  const T* x = static_cast<const T*>(r.in[1]);
  const T* y = static_cast<const T*>(r.in[2]);
  T* out = static_cast<T*>(r.out);
  int64_t i = 0;
  if (r.step[0] == 1 && r.n > 0) {
    const auto x0 = hn::Set(d, *x), y0 = hn::Set(d, *y);
    for (; i + lanes <= r.n; i += lanes) {
      const auto bytes = hn::LoadU(d8, condition + i);
      const auto no = hn::Eq(widened<T>(bytes), hn::Zero(d));
      hn::StoreU(hn::IfThenElse(no, r.step[2] ? hn::LoadU(d, y + i) : y0, r.step[1] ? hn::LoadU(d, x + i) : x0), d,
                 out + i);
    }
  }
  for (; i < r.n; i++) out[i] = condition[i * r.step[0]] ? x[i * r.step[1]] : y[i * r.step[2]];
}

const InnerKernel* select_table() {
  static const InnerKernel kTable[] = {select_run<uint8_t>, select_run<uint16_t>, select_run<uint32_t>,
                                       select_run<uint64_t>};
  return kTable;
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(select_table);
const InnerKernel* select_kernels() { return HWY_DYNAMIC_DISPATCH(select_table)(); }
}  // namespace tessera::tensor::cpu
#endif
