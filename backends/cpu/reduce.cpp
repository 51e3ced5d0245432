// Reductions on the host: what of a ReduceCall is a row, what is a column (Note [Order of a reduction]), and who does it.
//
// A call is kept x reduced. The innermost reduced dimension is a line; if there are several reduced dimensions, the lines'
// totals are added up one after the other. Elements that no kernel reads are converted into a buffer first.
#include <vector>

#include "backends/cpu/convert.h"
#include "backends/cpu/parallel_2d.h"
#include "backends/cpu/reduce_table.h"
#include "runtime/device/backend.h"

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
    else if (is_few()) run_few();
    else run_columns();
  }

 private:
  static const ReduceKernels<T>* native(const ReduceKernels<T>* table, int op) {
    return table && table[op].rows ? &table[op] : nullptr;
  }
  const char* result_start(int64_t result) const {
    if (call_.kept == 0) return call_.in;
    const int64_t first = result % call_.kept_sizes[0] * call_.kept_strides[0];
    return call_.in + item_ * (first + line_offset(result / call_.kept_sizes[0], call_.kept, call_.kept_sizes,
                                                   call_.kept_strides));
  }
  int64_t line_start(int64_t line) const {
    return line_offset(line, call_.reduced, call_.reduced_sizes, call_.reduced_strides);
  }

  void put(int64_t result, T* totals, int64_t n) const {
    kernel_.finish(totals, n, double(call_.reduced_numel), p_);
    store_(call_.out + result * int64_t(item_size(call_.out_dtype)), 1, totals, 1, n);
  }

  // ---- rows ----

  void run_rows() const {
    const int64_t rows = length_ / kRowColumns<T>, step = cascade_step(rows), units = rows / (step * step);
    if (native_ && units > 1 && call_.kept_numel * lines_ < 8) return run_units(units, step);
    parallel_2d(call_.kept_numel, 1, 1, call_.reduced_numel, [&](const Tile& tile) {
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

  /// Of n lines side by side at a distance: how many of the first are one cascade; the others are four.
  int64_t single_cascades(int64_t distance, int64_t n) const {
    if (distance == 1 && n >= kRowGroup<T>) return n / kRowColumns<T> * kRowColumns<T>;
    return stride_ < distance ? 0 : n / 4 * 4;
  }

  void run_columns() const {
    const int64_t width = call_.kept ? call_.kept_sizes[0] : 1, distance = call_.kept ? call_.kept_strides[0] : 0;
    const int64_t whole = lines_ > 1 ? 0 : single_cascades(distance, width);
    const int64_t whole_lines = lines_ > 1 ? single_cascades(call_.reduced_strides[1], call_.reduced_sizes[1]) : 0;
    const bool direct = native_ && distance == 1;
    const int64_t strip = direct ? kReduceStrip / 2 : std::clamp<int64_t>(kGathered / length_, 1, kRowColumns<T>);
    parallel_2d(call_.kept_numel / width, width, strip, call_.reduced_numel, [&](const Tile& tile) {
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

  // ---- few elements ----

  /// Less than a strip has to gather or a cascade to climb: what the call costs is then what all of it costs.
  bool is_few() const { return native_ == &kernel_ && lines_ == 1 && length_ < kFew && call_.kept_numel <= kFew; }
  void run_few() const {
    const int64_t width = call_.kept ? call_.kept_sizes[0] : 1, distance = call_.kept ? call_.kept_strides[0] : 0;
    const int64_t whole = single_cascades(distance, width);
    T totals[kFew];
    for (int64_t r = 0; r < call_.kept_numel; r++) totals[r] = few(result_start(r), r % width < whole);
    put(0, totals, call_.kept_numel);
  }
  /// What columns() makes of one column: the same additions in the same order.
  T few(const char* x, bool one) const {
    if (one) return every(x, 1, length_);
    const int64_t rows = length_ / 4;
    T total = every(x, 4, rows);
    for (int64_t i = rows * 4; i < length_; i++) kernel_.add(&total, x + i * stride_ * item_, 1, p_);
    for (int64_t k = 1; k < 4 && rows > 0; k++) total = kernel_.combine(total, every(x + k * stride_ * item_, 4, rows));
    return total;
  }
  T every(const char* x, int64_t step, int64_t rows) const {
    T total = kernel_.identity;
    for (int64_t i = 0; i < rows; i++) kernel_.add(&total, x + i * step * stride_ * item_, 1, p_);
    return total;
  }

  static constexpr int64_t kFew = 16;
  static constexpr int64_t kGathered = 65536;  // elements copied together at once: they stay in the second-level cache

  const ReduceCall& call_;
  const ReduceKernels<T>& kernel_;        // for elements of the lane's type
  const ReduceKernels<T>* const native_;  // for those of the call; null: they have to be converted
  const double p_;
  const int64_t item_;
  const ConvertRun load_, store_;
  const int64_t length_, stride_, lines_;  // of the innermost reduced dimension, and how many of these
};

void reduce(const ReduceCall& call) {
  switch (call.compute) {
    case DType::Float32: return Reduction<float>(call, float_reductions).run();
    case DType::Float64: return Reduction<double>(call, double_reductions).run();
    default: return Reduction<int64_t>(call, int64_reductions).run();
  }
}

const KernelRegistration reduce_registration{reduce_kernel, DeviceType::Cpu, &reduce};

}  // namespace
}  // namespace tessera::tensor::cpu
