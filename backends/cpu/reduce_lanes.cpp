// Reductions of float and double on lanes, compiled for every instruction set. Note [Order of a reduction] in
// reduce_table.h says what is added to what.
#include "backends/cpu/disabled_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce_lanes.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "backends/cpu/fallback-inl.h"
#define TS_REDUCE_LANES
#include "backends/cpu/one_of.h"
#include "backends/cpu/reduce_numbers-inl.h"
#include "backends/cpu/reduce_table.h"
#include "backends/cpu/wide-inl.h"
#include "hwy/highway.h"
#include "runtime/ops/reduce_ids.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::tensor::cpu::HWY_NAMESPACE {
namespace {

using reduction::ReduceShown;

template <class Op, class T, class In>
struct Floats : Numbers<Op, T, In> {
  using Base = Numbers<Op, T, In>;

  static constexpr int64_t kColumns = kRowColumns<T>, kGroup = kRowGroup<T>;
  static constexpr int kLanes = Wide<T>::kLanes;
  static constexpr int64_t kTogether = 32;  // rows that are finished at once
  static_assert(kColumns == Wide<T>::kSize && kTogether % kLanes == 0);

  // ---- side by side ----

  static void map(T* x, int64_t n, double p_value) {
    const Lane<T> p(p_value);
    each_lane<T>(
        n, [&](int64_t j, int some) TS_LANES { store_lane(Lane<T>(Op::map(load_lane(x + j, some), p)), x + j, some); });
  }
  static void merge(T* total, const T* other, int64_t width) {
    each_lane<T>(width, [&](int64_t j, int n) TS_LANES {
      store_lane(Op::combine(load_lane(total + j, n), load_lane(other + j, n)), total + j, n);
    });
  }
  static void finish(T* totals, int64_t count, double n_value, double p_value) {
    const Lane<T> n(n_value), p(p_value);
    each_lane<T>(count, [&](int64_t j, int some) TS_LANES {
      store_lane(Lane<T>(Op::finish(load_lane(totals + j, some), n, p)), totals + j, some);
    });
  }

  // ---- Wides ----

  static TS_WIDE_INLINE Wide<T> merged(Wide<T> a, Wide<T> b) {
    return apply<T>([](Lane<T> u, Lane<T> v) TS_LANES { return Op::combine(u, v); }, a, b);
  }
  /// `total` and then rows of 128 bytes of T, one after the other.
  static TS_WIDE_INLINE Wide<T> add_rows(Wide<T> total, const In* x, int64_t stride, int64_t rows, double p_value) {
    const Lane<T> p(p_value);
    for (int64_t i = 0; i < rows; i++, x += stride) {
#pragma GCC unroll kUnroll
      for (int k = 0; k < Wide<T>::kParts; k++)
        total.part[k] = Op::combine(Lane<T>(total.part[k]), Op::map(Lane<T>(load_lane(x + k * Wide<T>::kLanes)), p)).v;
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

  // ---- rows ----

  /// Of n elements: whole rows of the cascade, those in whole units, and those in whole blocks behind these.
  struct Cut {
    int64_t n, rows, step, in_units, in_blocks;
    explicit Cut(int64_t length) : n(length), rows(n / kColumns), step(cascade_step(rows)) {
      in_units = rows / (step * step) * (step * step);
      in_blocks = (rows - in_units) / step * step;
    }
  };
  /// The columns that are left of a row's cascade, and of the groups behind its last whole cascade row. `units`: as `unit`
  /// made them, and x begins behind them; or null.
  static HWY_INLINE void columns_of(T* columns, const T* units, const In* x, const Cut& cut, double p) {
    const Wide<T> zero(Base::identity());
    const int64_t done = cut.in_units + cut.in_blocks, behind = cut.in_units * kColumns;
    Wide<T> level2, level3;
    if (cut.in_units) add_units(level2, level3, units, x, cut, p);
    if (!units) x += behind;
    const Wide<T> level1 = unit_of(x, cut.in_blocks, cut.step, p);
    Wide<T> total = add_rows(zero, x + cut.in_blocks * kColumns, kColumns, cut.rows - done, p);
    if (done) total = merged(total, level1);
    if (cut.in_units) total = merged(merged(total, level2), level3);
    fold_groups(columns, total, x, cut.rows * kColumns - behind, cut.n - behind, p);
  }
  /// Of long rows only, so it is no part of the loop over rows.
  static HWY_NOINLINE void add_units(Wide<T>& level2, Wide<T>& level3, const T* units, const In* x, const Cut& cut,
                                     double p) {
    const Wide<T> zero(Base::identity());
    const int64_t unit_rows = cut.step * cut.step;
    level2 = level3 = zero;
    for (int64_t u = 0; u * unit_rows < cut.in_units;) {
      const Wide<T> unit =
          units ? load_wide<T>(units + u * kColumns) : unit_of(x + u * unit_rows * kColumns, unit_rows, cut.step, p);
      level2 = merged(level2, unit);
      if (++u % cut.step == 0) level3 = merged(level3, level2), level2 = zero;
    }
  }
  /// The groups from x[i] on join the first one of the total, then its other three do.
  static HWY_INLINE void fold_groups(T* columns, const Wide<T>& total, const In* x, int64_t i, int64_t n, double p) {
    if constexpr (kLanes == kGroup) {
      Lane<T> first = total.part[0];
      for (; i + kGroup <= n; i += kGroup) first = Op::combine(first, Op::map(Lane<T>(load_lane(x + i)), Lane<T>(p)));
      for (int k = 1; k < 4; k++) first = Op::combine(first, Lane<T>(total.part[k]));
      return store_lane(first, columns);
    }
#if HWY_TARGET != HWY_SCALAR
    if constexpr (kLanes == 2 * kGroup) {  // the lower half counts
      const auto upper = [](Lane<T> v) TS_LANES { return Lane<T>(hn::ConcatUpperUpper(Tag<T>(), v.v, v.v)); };
      Lane<T> first = total.part[0];
      for (; i + kGroup <= n; i += kGroup) {
        const Lane<T> group = i ? upper(load_lane(x + i - kGroup)) : load_lane(x, int(kGroup));
        first = Op::combine(first, Op::map(group, Lane<T>(p)));
      }
      first = Op::combine(first, upper(total.part[0]));
      first = Op::combine(first, Lane<T>(total.part[1]));
      first = Op::combine(first, upper(total.part[1]));
      const hn::Half<Tag<T>> half;
      return hn::StoreU(hn::LowerHalf(half, first.v), half, columns);
    }
#endif
    alignas(64) T all[size_t(kColumns)];
    store_wide(total, all);
    for (; i + kGroup <= n; i += kGroup) Base::add(all, x + i, kGroup, p);
    for (int64_t k = kGroup; k < kColumns; k += kGroup) merge(all, all + k, kGroup);
    std::copy_n(all, kGroup, columns);
  }
  static HWY_NOINLINE T row(const T* units, const In* x, int64_t n, double p) {
    alignas(64) T columns[size_t(kGroup)];
    const Cut cut(n);
    columns_of(columns, units, x, cut, p);
    const int64_t skipped = units ? cut.in_units * kColumns : 0;
    T result = Base::identity();
    for (int64_t i = n / kGroup * kGroup; i < n; i++) result = Base::combine(result, Base::mapped(x[i - skipped], p));
    for (int64_t k = 0; k < kGroup; k++) result = Base::combine(result, columns[k]);
    return result;
  }
  /// Many rows: the last steps, one element after the other, are made for as many rows at once as there are lanes.
  static void rows_together(T* out, const In* x, int64_t stride, int64_t n, int64_t count, double p_value) {
    const Lane<T> p(p_value);
    const int64_t whole = n / kGroup * kGroup;
    const Cut cut(n);
    alignas(64) T columns[size_t(kGroup)], turned[2 * size_t(kGroup)][kTogether];
    const auto rest = turned + kGroup;
    if (count % kLanes)
      for (auto& line : turned) std::fill(line + count, line + kTogether, T(0));
    for (int64_t r = 0; r < count; r++) {
      const In* row = x + r * stride;
      columns_of(columns, nullptr, row, cut, p_value);
      for (int64_t k = 0; k < kGroup; k++) turned[k][r] = columns[k];
      for (int64_t k = whole; k < n; k++) rest[k - whole][r] = convert_element<T>(row[k]);
    }
    each_lane<T>(count, [&](int64_t j, int some) TS_LANES {
      Lane<T> total(Base::identity());
      for (int64_t k = 0; k < n - whole; k++) total = Op::combine(total, Op::map(Lane<T>(load_lane(rest[k] + j)), p));
      for (int64_t k = 0; k < kGroup; k++) total = Op::combine(total, Lane<T>(load_lane(turned[k] + j)));
      store_lane(total, out + j, some);
    });
  }
  static void rows(T* out, const T* units, const void* x_given, int64_t stride, int64_t n, int64_t count, double p) {
    const In* x = static_cast<const In*>(x_given);
    if (count < 4) {
      for (int64_t i = 0; i < count; i++) out[i] = row(units, x + i * stride, n, p);
      return;
    }
    for (int64_t i = 0; i < count; i += kTogether)
      rows_together(out + i, x + i * stride, stride, n, std::min(kTogether, count - i), p);
  }

  // ---- columns ----

  /// `rows` rows of kMany Wides from the identity on join the totals. Rows are far apart: what lies together is read
  /// together.
  template <int kMany>
  static TS_WIDE_INLINE void add_rows_of_many(T* total, const In* x, int64_t stride, int64_t rows, double p_value) {
    const Lane<T> p(p_value);
    Wide<T> sums[kMany];
#pragma GCC unroll kUnroll
    for (int w = 0; w < kMany; w++) sums[w] = Wide<T>(Base::identity());
    for (int64_t i = 0; i < rows; i++, x += stride) {
#pragma GCC unroll kUnroll
      for (int w = 0; w < kMany; w++) {
#pragma GCC unroll kUnroll
        for (int k = 0; k < Wide<T>::kParts; k++) {
          const Lane<T> element = load_lane(x + w * kColumns + k * kLanes);
          sums[w].part[k] = Op::combine(Lane<T>(sums[w].part[k]), Op::map(element, p)).v;
        }
      }
    }
#pragma GCC unroll kUnroll
    for (int w = 0; w < kMany; w++)
      store_wide(merged(load_wide<T>(total + w * kColumns), sums[w]), total + w * kColumns);
  }
  /// total[j] = combine(total[j], `rows` rows from the identity on). As many bytes of a row at a time as eight registers
  /// hold, then 128, then numbers.
  static void block(T* total, const void* x_given, int64_t stride, int64_t rows, int64_t width, double p) {
    const In* x = static_cast<const In*>(x_given);
    constexpr int kMany = std::max(1, 8 / Wide<T>::kParts);
    int64_t j = 0;
    for (; j + kMany * kColumns <= width; j += kMany * kColumns)
      add_rows_of_many<kMany>(total + j, x + j, stride, rows, p);
    for (; j + kColumns <= width; j += kColumns) add_rows_of_many<1>(total + j, x + j, stride, rows, p);
    if (j == width) return;
    if constexpr (kMasks && std::is_same_v<T, In>) {  // a register that leaves out what is behind the end
      const Tag<T> d;
      for (; j < width; j += kLanes) {
        const auto mask = hn::FirstN(d, size_t(std::min<int64_t>(kLanes, width - j)));
        Lane<T> sum(Base::identity());
        for (int64_t i = 0; i < rows; i++)
          sum = Op::combine(sum, Op::map(Lane<T>(hn::MaskedLoad(mask, d, x + i * stride + j)), Lane<T>(p)));
        const Lane<T> before = hn::MaskedLoad(mask, d, total + j);
        hn::BlendedStore(Op::combine(before, sum).v, mask, d, total + j);
      }
      return;
    }
    T rest[size_t(kColumns)];
    std::fill(rest, rest + (width - j), Base::identity());
    for (int64_t i = 0; i < rows; i++) Base::add(rest, x + i * stride + j, width - j, p);
    merge(total + j, rest, width - j);
  }

  static ReduceKernels<T> table() {
    return {Base::identity(), nullptr, rows, unit, block, merge, Base::combine_two, finish};
  }
};

/// The row whose kernels combine the elements of Op: one that maps them in the same way, or one that takes them as they are
/// where elements are mapped before. The latter is a second pass over them, for what programs hardly ever ask for.
template <class Op>
struct Combined {
  using Row = Op;
  static constexpr bool kMapsBefore = false;
};
#define TS_COMBINED_BY(NAME, ROW, MAPS_BEFORE)       \
  template <>                                        \
  struct Combined<rows::Row_##NAME> {                \
    using Row = rows::Row_##ROW;                     \
    static constexpr bool kMapsBefore = MAPS_BEFORE; \
  };
TS_COMBINED_BY(mean, sum, false)
TS_COMBINED_BY(sum_squares, norm2, false)
TS_COMBINED_BY(nansum, sum, true)
#if HWY_TARGET == HWY_SCALAR
TS_COMBINED_BY(count_nonzero, sum, true)
TS_COMBINED_BY(norm1, sum, true)
TS_COMBINED_BY(norm_p, sum, true)
TS_COMBINED_BY(any, amax, true)
TS_COMBINED_BY(norm_max, amax, true)
TS_COMBINED_BY(all, amin, true)
TS_COMBINED_BY(norm_min, amin, true)
#endif
#undef TS_COMBINED_BY

template <class Row>
constexpr bool kEveryday = is_one_of<Row, rows::Row_sum, rows::Row_amax, rows::Row_amin, rows::Row_norm2>;

template <class Op, class T, class In, ReduceShown kShown>
ReduceKernels<T> kernels([[maybe_unused]] reduction::Id id) {
  using Row = typename Combined<Op>::Row;
  constexpr bool kMapsBefore = Combined<Op>::kMapsBefore;
  constexpr bool kReadsHalves =
      HWY_TARGET != HWY_SCALAR && kEveryday<Row> && kShown != ReduceShown::Hidden && !kMapsBefore;
  if constexpr (!std::is_same_v<T, In> && !kReadsHalves) {
    return {};
#if HWY_TARGET == HWY_AVX3 && (HWY_TARGETS & HWY_AVX2)
  } else if constexpr (!kEveryday<Row>) {  // AVX-512 takes AVX2's: its own would be as much code again
    return N_AVX2::reductions<T, In>()[id];
#endif
  } else {
    ReduceKernels<T> table = Floats<Row, T, In>::table();
    if constexpr (kMapsBefore) table.map = Floats<Op, T, T>::map;
    table.identity = Floats<Op, T, T>::identity(), table.finish = Floats<Op, T, T>::finish;
    return table;
  }
}
template <class T, class In>
const ReduceKernels<T>* reductions() {
  static const ReduceKernels<T> kTable[] = {
#define REDUCE(NAME, CLASS, SHOWN, ...) kernels<rows::Row_##NAME, T, In, ReduceShown::SHOWN>(reduction::r_##NAME),
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
