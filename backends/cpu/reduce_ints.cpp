// Reductions of integers in int64: plain loops that the compiler makes vectors of, compiled for every
// instruction set. Integers have no order to keep.
// compile: dynamic-vectors (plain loops over elements)
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce_ints.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include <algorithm>

#include "backends/cpu/reduce_numbers-inl.h"
#include "backends/cpu/reduce_table.h"
#include "hwy/highway.h"
#include "runtime/ops/reduce_ids.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

using reduction::ReduceClass;

template <class Op, class In>
struct Integers : Numbers<Op, int64_t, In> {
  using Base = Numbers<Op, int64_t, In>;

  static int64_t row(const In* x, int64_t n, double p) {
    int64_t total = Base::identity();
    for (int64_t j = 0; j < n; j++) total = Base::combine(total, Base::mapped(x[j], p));
    return total;
  }
  static void unit(int64_t* total, const void* x, int64_t rows, int64_t, double p) {
    std::fill(total, total + kRowColumns<int64_t>, Base::identity());
    total[0] = row(static_cast<const In*>(x), rows * kRowColumns<int64_t>, p);
  }
  static void rows(int64_t* out, const int64_t* units, const void* x_given, int64_t stride, int64_t n, int64_t count,
                   double p) {
    const In* x = static_cast<const In*>(x_given);
    if (!units) {
      for (int64_t i = 0; i < count; i++) out[i] = row(x + i * stride, n, p);
      return;
    }
    const int64_t step = cascade_step(n / kRowColumns<int64_t>), unit_size = step * step * kRowColumns<int64_t>;
    out[0] = row(x, n % unit_size, p);
    for (int64_t u = 0; u < n / unit_size; u++) out[0] = Base::combine(out[0], units[u * kRowColumns<int64_t>]);
  }
  static void block(int64_t* total, const void* x, int64_t stride, int64_t rows_given, int64_t width, double p) {
    for (int64_t i = 0; i < rows_given; i++) Base::add(total, static_cast<const In*>(x) + i * stride, width, p);
  }
  static void finish(int64_t*, int64_t, double, double) {}
  static ReduceKernels<int64_t> table() {
    return {Base::identity(), nullptr, rows, unit, block, Base::merge, Base::combine_two, finish};
  }
};

/// Rows for floating elements only have none; no integer is NaN.
template <class Op, class In, ReduceClass kClass>
ReduceKernels<int64_t> kernels() {
  if constexpr (kClass == ReduceClass::Float) return {};
  else if constexpr (std::is_same_v<Op, rows::Row_nansum>) return Integers<rows::Row_sum, In>::table();
  else return Integers<Op, In>::table();
}
template <class In>
const ReduceKernels<int64_t>* reductions() {
  static const ReduceKernels<int64_t> kTable[] = {
#define REDUCE(NAME, CLASS, ...) kernels<rows::Row_##NAME, In, ReduceClass::CLASS>(),
#include "runtime/ops/reduce.def"
#undef REDUCE
  };
  return kTable;
}
const ReduceKernels<int64_t>* reductions_int64(DType in) {
  return in == kInt64                  ? reductions<int64_t>()
         : in == kInt32                ? reductions<int32_t>()
         : in == kUInt8 || in == kBool ? reductions<uint8_t>()
                                       : nullptr;
}

}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(reductions_int64);
const ReduceKernels<int64_t>* int64_reductions(DType in) { return HWY_DYNAMIC_DISPATCH(reductions_int64)(in); }
}  // namespace tessera::tensor::cpu
#endif
