// Reductions of float and double on lanes, compiled for every instruction set. Note [Order of a reduction] in reduce_table.h says what is added to what.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce_lanes.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/reduce_numbers-inl.h"
#include "backends/cpu/reduce_table.h"
#include "backends/cpu/wide-inl.h"
#include "hwy/highway.h"
#include "runtime/ops/reduce_ids.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

using reduction::ReduceClass, reduction::ReduceShown;

namespace lanes {
namespace m {
using namespace tessera::tensor::cpu::HWY_NAMESPACE::m;
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
}  // namespace m
#define REDUCE(NAME, CLASS, SHOWN, DOC, IDENTITY, MAP, COMBINE, ...) \
  struct Lanes_##NAME {                                              \
    template <class L>                                               \
    static HWY_INLINE L map(L x, [[maybe_unused]] L p) {             \
      return MAP;                                                    \
    }                                                                \
    template <class L>                                               \
    static HWY_INLINE L combine(L a, L b) {                          \
      return COMBINE;                                                \
    }                                                                \
  };
#include "runtime/ops/reduce.def"
#undef REDUCE
}  // namespace lanes
// ---- floating point ----

template <class Op, class Lanes, class T, class In>
struct Floats : Numbers<Op, T, In> {
  using Base = Numbers<Op, T, In>;

  static constexpr int64_t kColumns = kRowColumns<T>, kGroup = kRowGroup<T>;
  static_assert(kColumns == Wide<T>::kSize);

  static TS_WIDE_INLINE Wide<T> merged(Wide<T> a, Wide<T> b) {
    return apply<T>([](Lane<T> u, Lane<T> v) TS_LANES { return Lanes::combine(u, v); }, a, b);
  }
  /// `total` and then rows of 128 bytes of T, one after the other.
  static TS_WIDE_INLINE Wide<T> add_rows(Wide<T> total, const In* x, int64_t stride, int64_t rows, double p_value) {
    const Lane<T> p(p_value);
    for (int64_t i = 0; i < rows; i++, x += stride) {
#pragma GCC unroll kUnroll
      for (int k = 0; k < Wide<T>::kParts; k++)
        total.part[k] =
            Lanes::combine(Lane<T>(total.part[k]), Lanes::map(Lane<T>(load_lane(x + k * Wide<T>::kLanes)), p)).v;
    }
    return total;
  }
  static TS_WIDE_INLINE Wide<T> unit_of(const In* x, int64_t rows, int64_t step, double p) {
    const Wide<T> zero(Base::identity());
    Wide<T> total = zero;
    for (int64_t i = 0; i + step <= rows; i += step)
      total = merged(total, add_rows(zero, x + i * kColumns, kColumns, step, p));
    return total;
  }
  static void unit(T* total, const void* x, int64_t rows, int64_t step, double p) {
    store_wide(unit_of(static_cast<const In*>(x), rows, step, p), total);
  }

  /// The cascade of a row, then its elements behind the last whole cascade row. `units`: as `unit` made them, or null.
  static HWY_INLINE T row(const T* units, const In* x, int64_t n, double p) {
    const int64_t rows = n / kColumns, step = cascade_step(rows), unit_rows = step * step;
    const Wide<T> zero(Base::identity());
    int64_t done = 0;
    Wide<T> level2 = zero, level3 = zero;
    for (int64_t u = 0; done + unit_rows <= rows; done += unit_rows) {
      level2 =
          merged(level2, units ? load_wide<T>(units + u * kColumns) : unit_of(x + done * kColumns, unit_rows, step, p));
      if (++u % step == 0) level3 = merged(level3, level2), level2 = zero;
    }
    const int64_t blocks = (rows - done) / step * step;
    const Wide<T> level1 = unit_of(x + done * kColumns, blocks, step, p);
    Wide<T> total = add_rows(zero, x + (done + blocks) * kColumns, kColumns, rows - done - blocks, p);
    total = merged(total, level1);
    if (done) total = merged(merged(total, level2), level3);

    alignas(64) T columns[size_t(kColumns)];
    int64_t i = rows * kColumns;
    if constexpr (Wide<T>::kLanes == kGroup) {
      Lane<T> first = total.part[0];
      for (; i + kGroup <= n; i += kGroup)
        first = Lanes::combine(first, Lanes::map(Lane<T>(load_lane(x + i)), Lane<T>(p)));
      for (int k = 1; k < 4; k++) first = Lanes::combine(first, Lane<T>(total.part[k]));
      store_lane(first, columns);
    } else {
      store_wide(total, columns);
      for (; i + kGroup <= n; i += kGroup) Base::add(columns, x + i, kGroup, p);
      for (int64_t k = kGroup; k < kColumns; k += kGroup) Base::merge(columns, columns + k, kGroup);
    }
    T result = Base::identity();
    for (; i < n; i++) result = Base::combine(result, Base::mapped(x[i], p));
    for (int64_t k = 0; k < kGroup; k++) result = Base::combine(result, columns[k]);
    return result;
  }
  static void rows(T* out, const T* units, const void* x, int64_t stride, int64_t n, int64_t count, double p) {
    for (int64_t i = 0; i < count; i++) out[i] = row(units, static_cast<const In*>(x) + i * stride, n, p);
  }

  /// total[j] = combine(total[j], `rows` rows from the identity on). 128 bytes of a row at a time, then numbers.
  static void add_block(T* total, const In* x, int64_t stride, int64_t rows, int64_t width, double p) {
    const Wide<T> zero(Base::identity());
    int64_t j = 0;
    for (; j + kColumns <= width; j += kColumns)
      store_wide(merged(load_wide<T>(total + j), add_rows(zero, x + j, stride, rows, p)), total + j);
    if (j == width) return;
    T rest[size_t(kColumns)];
    std::fill(rest, rest + (width - j), Base::identity());
    for (int64_t i = 0; i < rows; i++) Base::add(rest, x + i * stride + j, width - j, p);
    Base::merge(total + j, rest, width - j);
  }
  static void cascade(T* total, const void* x_given, int64_t stride, int64_t rows, int64_t width, double p) {
    const In* x = static_cast<const In*>(x_given);
    const int64_t step = cascade_step(rows), blocks = rows / step;
    const T zero = Base::identity();
    T level[4][kReduceStrip];
    for (int l = 1; l < 4; l++) std::fill(level[l], level[l] + (l == 1 || blocks >= step ? width : 0), zero);
    int64_t done = 0;
    for (int64_t b = 1; b <= blocks; b++, done += step) {
      add_block(level[1], x + done * stride, stride, step, width, p);
      for (int64_t l = 1, count = b; l < 3 && count % step == 0; l++, count /= step) {
        Base::merge(level[l + 1], level[l], width);
        std::fill(level[l], level[l] + width, zero);
      }
    }
    std::fill(total, total + width, zero);
    add_block(total, x + done * stride, stride, rows - done, width, p);
    Base::merge(total, level[1], width);
    if (blocks < step) return;
    Base::merge(total, level[2], width);
    Base::merge(total, level[3], width);
  }

  static ReduceKernels<T> table() {
    return {Base::identity(), rows, unit, cascade, Base::add, Base::merge, Base::combine_two, Base::finish};
  }
};

/// Halves of what sums and compares; the rare others are converted before.
template <class T, class In>
constexpr bool is_native(ReduceClass row_class, ReduceShown shown) {
  return std::is_same_v<T, In> ||
         (shown != ReduceShown::Hidden && row_class != ReduceClass::Bool && row_class != ReduceClass::Count);
}
template <class Op, class Lanes, class T, class In, bool kNative>
ReduceKernels<T> kernels() {
  if constexpr (kNative) {
    return Floats<Op, Lanes, T, In>::table();
  } else {
    return {};
  }
}
template <class T, class In>
const ReduceKernels<T>* reductions() {
  using namespace numbers;
  static const ReduceKernels<T> kTable[] = {
#define REDUCE(NAME, CLASS, SHOWN, ...) \
  kernels<Numbers_##NAME, lanes::Lanes_##NAME, T, In, is_native<T, In>(ReduceClass::CLASS, ReduceShown::SHOWN)>(),
#include "runtime/ops/reduce.def"
#undef REDUCE
  };
  return kTable;
}
const ReduceKernels<float>* reductions_float(DType in) {
  return in == kFloat32    ? reductions<float, float>()
         : in == kFloat16  ? reductions<float, Half>()
         : in == kBFloat16 ? reductions<float, BFloat16>()
                           : nullptr;
}
const ReduceKernels<double>* reductions_double(DType in) {
  return in == kFloat64 ? reductions<double, double>() : nullptr;
}
}  // namespace
}  // namespace tessera::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::tensor::cpu {
HWY_EXPORT(reductions_float);
HWY_EXPORT(reductions_double);
const ReduceKernels<float>* float_reductions(DType in) { return HWY_DYNAMIC_DISPATCH(reductions_float)(in); }
const ReduceKernels<double>* double_reductions(DType in) { return HWY_DYNAMIC_DISPATCH(reductions_double)(in); }
}  // namespace tessera::tensor::cpu
#endif
