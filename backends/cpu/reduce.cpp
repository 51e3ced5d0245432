// Reductions on the host: what of a ReduceCall is a row, what is a column (Note [Order of a reduction]), and who does it.
//
// A call is kept x reduced. The innermost reduced dimension is a line; if there are several reduced dimensions, the lines'
// totals are added up one after the other. Elements that no kernel reads are converted into a buffer first.
#include <vector>

#include "backends/cpu/convert.h"
#include "backends/cpu/parallel_2d.h"
#include "backends/cpu/reduce_table.h"
#include "runtime/device/backend.h"
#include "runtime/ops/reduce_ids.h"

namespace tessera::tensor::cpu {
namespace {

/// Walks dimensions 1 and following of a nest: the offset of line number i.
int64_t line_offset(int64_t i, int dims, const int64_t* sizes, const int64_t* strides) {
  int64_t offset = 0;
  for (int d = 1; d < dims; d++) {
    offset += i % sizes[d] * strides[d];
    i /= sizes[d];
  }
  return offset;
}

/// Where the elements of a result begin.
const char* result_start(const ReduceCall& c, int64_t result, int64_t item) {
  if (c.kept == 0) return c.in;
  const int64_t first = result % c.kept_sizes[0] * c.kept_strides[0];
  return c.in + item * (first + line_offset(result / c.kept_sizes[0], c.kept, c.kept_sizes, c.kept_strides));
}

/// Of n lines side by side at a distance: how many of the first are one cascade; the others are four.
template <class T>
int64_t single_cascades(const ReduceCall& c, int64_t distance, int64_t n) {
  if (distance == 1 && n >= kRowGroup<T>) return n / kRowColumns<T> * kRowColumns<T>;
  return c.reduced_strides[0] < distance ? 0 : n / 4 * 4;
}

// ---- few elements ----

constexpr int64_t kFew = 16;

/// Less than a strip has to gather or a cascade to climb: what the call costs is then what all of it costs.
template <class T>
bool is_few(const ReduceCall& c) {
  const int64_t length = c.reduced_sizes[0];
  return c.in_dtype == dtype_of<T> && c.out_dtype == dtype_of<T> && c.reduced == 1 && length > 0 && length < kFew &&
         c.kept_numel <= kFew && (c.reduced_strides[0] != 1 || length < kRowGroup<T>);
}
/// What Reduction::columns makes of single columns: the same additions in the same order. `sum` adds elements at a
/// distance to nothing and totals to each other.
template <class T, class Sum>
void reduce_few(const ReduceCall& c, T* totals, const Sum& sum) {
  const int64_t width = c.kept ? c.kept_sizes[0] : 1, distance = c.kept ? c.kept_strides[0] : 0;
  const int64_t whole = single_cascades<T>(c, distance, width), length = c.reduced_sizes[0];
  const int64_t stride = c.reduced_strides[0], rows = length / 4;
  for (int64_t r = 0; r < c.kept_numel; r++) {
    const T* x = reinterpret_cast<const T*>(result_start(c, r, sizeof(T)));
    if (r % width < whole) {
      totals[r] = sum.every(x, stride, length);
      continue;
    }
    T total = sum.every(x, 4 * stride, rows);
    for (int64_t i = rows * 4; i < length; i++) sum.add(total, x + i * stride);
    for (int64_t k = 1; k < 4 && rows > 0; k++) total = sum.combine(total, sum.every(x + k * stride, 4 * stride, rows));
    totals[r] = total;
  }
}

template <class T>
struct AnySum {
  const ReduceKernels<T>& kernel;
  double p;
  void add(T& total, const T* x) const { kernel.add(&total, x, 1, p); }
  T combine(T a, T b) const { return kernel.combine(a, b); }
  T every(const T* x, int64_t step, int64_t n) const {
    T total = kernel.identity;
    for (int64_t i = 0; i < n; i++) add(total, x + i * step);
    return total;
  }
};
/// Sums and means, which are asked for most, without a call for each element.
template <class T>
struct PlainSum {
  static void add(T& total, const T* x) { total += *x; }
  static T combine(T a, T b) { return a + b; }
  static T every(const T* x, int64_t step, int64_t n) {
    T total = 0;
    for (int64_t i = 0; i < n; i++) total += x[i * step];
    return total;
  }
};

template <class T>
void run_few(const ReduceCall& c, const ReduceKernels<T>* (*kernels)(DType)) {
  T* const totals = reinterpret_cast<T*>(c.out);
  if constexpr (std::is_floating_point_v<T>) {
    if (c.op == reduction::r_sum || c.op == reduction::r_mean) {
      reduce_few(c, totals, PlainSum<T>());
      if (c.op == reduction::r_mean)
        for (int64_t r = 0; r < c.kept_numel; r++) totals[r] /= T(c.reduced_numel);
      return;
    }
  }
  const ReduceKernels<T>& kernel = kernels(dtype_of<T>)[c.op];
  const double p = c.param.to_double();
  reduce_few(c, totals, AnySum<T>{kernel, p});
  kernel.finish(totals, c.kept_numel, double(c.reduced_numel), p);
}

// ---- all others ----

template <class T>
class Reduction {
 public:
  Reduction(const ReduceCall& c, const ReduceKernels<T>* (*kernels)(DType))
      : call_(c),
        kernel_(kernels(dtype_of<T>)[c.op]),
        native_(native(kernels(c.in_dtype), c.op)),
        p_(c.param.to_double()),
        item_(int64_t(item_size(c.in_dtype))),
        load_(converter(dtype_of<T>, c.in_dtype)),
        store_(converter(c.out_dtype, dtype_of<T>)),
        length_(c.reduced_sizes[0]),
        stride_(c.reduced_strides[0]),
        lines_(c.reduced_numel / std::max<int64_t>(1, length_)) {}

  void run() const {
    if (call_.reduced_numel == 0) {
      std::vector<T> none(size_t(call_.kept_numel), kernel_.identity);
      return put(0, none.data(), call_.kept_numel);
    }
    const int64_t group = call_.in_dtype == kFloat16 || call_.in_dtype == kBFloat16 ? 16 : kRowGroup<T>;
    if (stride_ == 1 && length_ >= group) run_rows();
    else run_columns();
  }

 private:
  static const ReduceKernels<T>* native(const ReduceKernels<T>* table, int op) {
    return table && table[op].rows ? &table[op] : nullptr;
  }
  const char* result_start(int64_t result) const { return cpu::result_start(call_, result, item_); }
  int64_t line_start(int64_t line) const {
    return line_offset(line, call_.reduced, call_.reduced_sizes, call_.reduced_strides);
  }

  /// Lanes add up twice what other kernels do in the same time.
  int64_t cost() const { return native_ ? call_.reduced_numel / 2 : call_.reduced_numel; }

  void put(int64_t result, T* totals, int64_t n) const {
    kernel_.finish(totals, n, double(call_.reduced_numel), p_);
    store_(call_.out + result * int64_t(item_size(call_.out_dtype)), 1, totals, 1, n);
  }

  // ---- rows ----

  void run_rows() const {
    const int64_t rows = length_ / kRowColumns<T>, step = cascade_step(rows), units = rows / (step * step);
    if (native_ && units > 1 && call_.kept_numel * lines_ < 8) return run_units(units, step);
    parallel_2d(call_.kept_numel, 1, 1, cost(), [&](const Tile& tile) {
      std::vector<T> converted(native_ ? 0 : size_t(length_));
      T totals[kReduceStrip];
      for (int64_t r = tile.outer_begin; r < tile.outer_end;) {
        const int64_t n = std::min(tile.outer_end - r, rows_at_once(r));
        some_rows(totals, r, n, converted.data());
        put(r, totals, n);
        r += n;
      }
    });
  }
  /// Results from r on whose rows lie at the distance of the innermost kept dimension.
  int64_t rows_at_once(int64_t r) const {
    if (!native_ || call_.kept == 0 || lines_ > 1) return 1;
    return std::min(kReduceStrip, call_.kept_sizes[0] - r % call_.kept_sizes[0]);
  }
  void some_rows(T* totals, int64_t r, int64_t n, T* converted) const {
    const char* start = result_start(r);
    if (native_ && lines_ == 1)
      return native_->rows(totals, nullptr, start, call_.kept ? call_.kept_strides[0] : 0, length_, n, p_);
    totals[0] = kernel_.identity;
    for (int64_t line = 0; line < lines_; line++) {
      const char* x = start + line_start(line) * item_;
      T total;
      if (native_) {
        native_->rows(&total, nullptr, x, 0, length_, 1, p_);
      } else {
        load_(converted, 1, x, 1, length_);
        kernel_.rows(&total, nullptr, converted, 0, length_, 1, p_);
      }
      totals[0] = kernel_.combine(totals[0], total);
    }
  }
  /// Few long rows: threads share the units of each.
  void run_units(int64_t units, int64_t step) const {
    std::vector<T> parts(size_t(units * kRowColumns<T>));
    const int64_t unit_rows = step * step, unit_size = unit_rows * kRowColumns<T>;
    for (int64_t r = 0; r < call_.kept_numel; r++) {
      T total = kernel_.identity;
      for (int64_t line = 0; line < lines_; line++) {
        const char* x = result_start(r) + line_start(line) * item_;
        parallel_for(units, std::max<int64_t>(1, kTileGrain / unit_size), [&](int64_t begin, int64_t end) {
          for (int64_t u = begin; u < end; u++)
            native_->unit(&parts[size_t(u * kRowColumns<T>)], x + u * unit_size * item_, unit_rows, step, p_);
        });
        T row;
        native_->rows(&row, parts.data(), x, 0, length_, 1, p_);
        total = lines_ == 1 ? row : kernel_.combine(total, row);
      }
      put(r, &total, 1);
    }
  }

  // ---- columns ----

  void run_columns() const {
    const int64_t width = call_.kept ? call_.kept_sizes[0] : 1, distance = call_.kept ? call_.kept_strides[0] : 0;
    const int64_t whole = lines_ > 1 ? 0 : single_cascades<T>(call_, distance, width);
    const int64_t whole_lines =
        lines_ > 1 ? single_cascades<T>(call_, call_.reduced_strides[1], call_.reduced_sizes[1]) : 0;
    // A single column needs no gathering; it may be longer than memory (an expanded tensor).
    const bool direct = native_ && (distance == 1 || width == 1);
    // Whole rows come quickest from memory: they are cut for the threads alone.
    const int64_t strip = direct ? strip_for_threads(call_.kept_numel, kReduceStrip, 1)
                                 : std::clamp<int64_t>(kGathered / length_, 1, kRowColumns<T>);
    parallel_2d(call_.kept_numel / width, width, strip, cost(), [&](const Tile& tile) {
      std::vector<T> gathered(direct ? 0 : size_t(length_ * strip));
      T totals[kReduceStrip], line_totals[kReduceStrip];
      for (int64_t o = tile.outer_begin; o < tile.outer_end; o++)
        for (int64_t j = tile.inner_begin; j < tile.inner_end;) {
          const bool whole_columns = j < whole;
          const int64_t n = std::min((whole_columns ? std::min(whole, tile.inner_end) : tile.inner_end) - j, strip);
          const char* start = result_start(o * width + j);
          for (int64_t line = 0; line < lines_; line++) {
            const char* x = start + line_start(line) * item_;
            T* const into = line ? line_totals : totals;
            const bool one = lines_ > 1 ? line % call_.reduced_sizes[1] < whole_lines : whole_columns;
            if (direct) {
              columns(*native_, into, x, stride_, item_, n, one);
            } else {
              for (int64_t i = 0; i < length_; i++)
                load_(&gathered[size_t(i * n)], 1, x + i * stride_ * item_, distance, n);
              columns(kernel_, into, reinterpret_cast<const char*>(gathered.data()), n, sizeof(T), n, one);
            }
            if (line) kernel_.merge(totals, line_totals, n);
          }
          put(o * width + j, totals, n);
          j += n;
        }
    });
  }
  /// n columns as one cascade, or as four of every fourth row.
  void columns(const ReduceKernels<T>& kernel, T* totals, const char* x, int64_t stride, int64_t item, int64_t n,
               bool one) const {
    if (one) return kernel.cascade(totals, x, stride, length_, n, p_);
    const int64_t rows = length_ / 4;
    T quarter[kReduceStrip];
    kernel.cascade(totals, x, 4 * stride, rows, n, p_);
    for (int64_t i = rows * 4; i < length_; i++) kernel.add(totals, x + i * stride * item, n, p_);
    for (int64_t k = 1; k < 4; k++) {
      kernel.cascade(quarter, x + k * stride * item, 4 * stride, rows, n, p_);
      kernel.merge(totals, quarter, n);
    }
  }

  static constexpr int64_t kGathered = 65536;  // elements copied together at once: they stay in the second-level cache

  const ReduceCall& call_;
  const ReduceKernels<T>& kernel_;        // for elements of the lane's type
  const ReduceKernels<T>* const native_;  // for those of the call; null: they have to be converted
  const double p_;
  const int64_t item_;
  const ConvertRun load_, store_;
  const int64_t length_, stride_, lines_;  // of the innermost reduced dimension, and how many of these
};

template <class T>
void reduce_as(const ReduceCall& call, const ReduceKernels<T>* (*kernels)(DType)) {
  if (is_few<T>(call)) run_few<T>(call, kernels);
  else Reduction<T>(call, kernels).run();
}

void reduce(const ReduceCall& call) {
  switch (call.compute) {
    case DType::Float32: return reduce_as<float>(call, float_reductions);
    case DType::Float64: return reduce_as<double>(call, double_reductions);
    default: return reduce_as<int64_t>(call, int64_reductions);
  }
}

const KernelRegistration reduce_registration{reduce_kernel, DeviceType::Cpu, &reduce};

}  // namespace
}  // namespace tessera::tensor::cpu
