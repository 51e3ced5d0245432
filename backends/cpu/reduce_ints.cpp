// Reductions of integers to int64: plain loops that the compiler makes vectors of, compiled for every instruction set but AVX-512.
// Integers have no order to keep.
// compile: no-exceptions (for size: nothing throws)
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce_ints.cpp"
#include "backends/cpu/integer_targets.h"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#include <algorithm>
#include "backends/cpu/one_of.h"
#include "backends/cpu/reduce_ints.h"
#include "backends/cpu/reduce_numbers-inl.h"
#include "backends/cpu/reduce_table.h"
#include "hwy/highway.h"
#include "runtime/ops/reduce_ids.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

using reduction::ReduceClass;

// The type of the partial result over at most kMostRows rows: the element's own type if every result fits it, int32 for sums of elements of one
// and two bytes, int64 otherwise.
template <class Op, class In>
using Part = std::conditional_t<is_one_of<Op, rows::Row_amax, rows::Row_amin, rows::Row_any, rows::Row_all>, In,
                                std::conditional_t<is_one_of<Op, rows::Row_sum, rows::Row_count_nonzero> && sizeof(In) < 4, int32_t, int64_t>>;

template <class Op, class In>
struct Integers : Numbers<Op, int64_t, In> {
  using Base = Numbers<Op, int64_t, In>;
  using Parts = Numbers<Op, Part<Op, In>, In>;
  static constexpr int64_t kBlock = IntegerRows::kBlock, kMostRows = 32768;

  static void add_rows(int64_t* HWY_RESTRICT total, const void* from, int64_t stride, int64_t count) {
    const In* HWY_RESTRICT x = static_cast<const In*>(from);
    while (count > 0) {
      alignas(64) Part<Op, In> part[kBlock];
      for (int j = 0; j < kBlock; j++) part[j] = Parts::identity();
      const int64_t here = std::min(count, kMostRows);
      for (int64_t i = 0; i < here; i++, x += stride)
        for (int j = 0; j < kBlock; j++) part[j] = Parts::combine(part[j], Parts::mapped(x[j], 0));
      for (int j = 0; j < kBlock; j++) total[j] = Base::combine(total[j], part[j]);
      count -= here;
    }
  }
  static void add_some(int64_t* total, const void* x, int64_t width) { Base::add(total, static_cast<const In*>(x), width, 0); }
  static constexpr IntegerRows kRows = {add_rows, add_some, Base::merge, Base::combine_two, Base::identity, sizeof(In)};

  static void unit(int64_t* total, const void* x, int64_t rows, int64_t, double) { combine_unit(kRows, total, x, rows); }
  static void rows(int64_t* out, const int64_t* units, const void* x, int64_t stride, int64_t n, int64_t count, double) {
    combine_rows(kRows, {out, units, x, stride, n, count});
  }
  static void block(int64_t* total, const void* x, int64_t stride, int64_t rows, int64_t width, double) {
    combine_block(kRows, {total, nullptr, x, stride, width, rows});
  }
  static void finish(int64_t*, int64_t, double, double) {}
  static constexpr ReduceKernels<int64_t> table() {
    return {Base::identity(), nullptr, rows, unit, block, Base::merge, Base::combine_two, finish};
  }
};

/// Kernels of one row of reduce.def: empty for reductions of floating elements; nansum is sum, since no integer is NaN.
template <class Op, class In, ReduceClass kClass>
constexpr ReduceKernels<int64_t> kernels() {
  if constexpr (kClass == ReduceClass::Float) return {};
  else if constexpr (std::is_same_v<Op, rows::Row_nansum>) return Integers<rows::Row_sum, In>::table();
  else return Integers<Op, In>::table();
}
template <class In>
const ReduceKernels<int64_t>* reductions() {
  static constexpr ReduceKernels<int64_t> kTable[] = {
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
         : in == kInt8                 ? reductions<int8_t>()
         : in == kInt16                ? reductions<int16_t>()
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
