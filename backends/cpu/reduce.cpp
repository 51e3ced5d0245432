// Reductions on the host: what of a ReduceCall is a row, what is a column (Note [Order of a reduction]), and who does it.
//
// A call is kept x reduced. The innermost reduced dimension is a line; if there are several reduced dimensions, the lines'
// totals are added up one after the other. Elements that the kernels do not read are converted, and mapped, into a buffer that
// stays in the first cache.
#include <vector>

#include "backends/cpu/convert.h"
#include "backends/cpu/parallel_2d.h"
#include "backends/cpu/reduce_table.h"
#include "backends/cpu/scratch.h"
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
  void add(T& total, const T* x) const {
    T one = *x;
    if (kernel.map) kernel.map(&one, 1, p);
    kernel.block(&total, &one, 1, 1, 1, p);
  }
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
        p_(c.param.to_double()),
        item_(int64_t(item_size(c.in_dtype))),
        load_(converter(dtype_of<T>, c.in_dtype)),
        store_(converter(c.out_dtype, dtype_of<T>)),
        length_(c.reduced_sizes[0]),
        stride_(c.reduced_strides[0]),
        lines_(c.reduced_numel / std::max<int64_t>(1, length_)),
        width_(c.kept ? c.kept_sizes[0] : 1),
        distance_(c.kept ? c.kept_strides[0] : 0),
        rows_(stride_ == 1 && length_ >= (is_half(c.in_dtype) ? 16 : kRowGroup<T>)),
        unit_size_(kRowColumns<T> * cascade_step(length_ / kRowColumns<T>) * cascade_step(length_ / kRowColumns<T>)),
        direct_(!c.source && (rows_ || distance_ == 1 || width_ == 1) && reads(kernels(c.in_dtype), c.op)),
        kernel_(kernels(direct_ ? c.in_dtype : dtype_of<T>)[c.op]) {}

  void run() const {
    if (call_.reduced_numel == 0) {
      std::vector<T> none(size_t(call_.kept_numel), kernel_.identity);
      return put(0, none.data(), call_.kept_numel);
    }
    if (rows_) run_rows();
    else run_columns();
  }

 private:
  static bool is_half(DType dtype) { return dtype == kFloat16 || dtype == kBFloat16; }
  bool has_units() const { return length_ >= 2 * unit_size_; }
  static bool reads(const ReduceKernels<T>* table, int op) { return table && table[op].rows && !table[op].map; }
  const char* result_start(int64_t result) const { return cpu::result_start(call_, result, item_); }
  int64_t line_start(int64_t line) const {
    return line_offset(line, call_.reduced, call_.reduced_sizes, call_.reduced_strides);
  }

  /// Lanes add up twice what other kernels do in the same time.
  int64_t cost() const { return direct_ ? call_.reduced_numel / 2 : call_.reduced_numel; }

  void put(int64_t result, T* totals, int64_t n) const {
    kernel_.finish(totals, n, double(call_.reduced_numel), p_);
    store_(call_.out + result * int64_t(item_size(call_.out_dtype)), 1, totals, 1, n);
  }

  // ---- elements for the kernels ----

  static constexpr int64_t kLoaded = 8192 / int64_t(sizeof(T));  // elements that are converted together
  void load(T* to, const char* x, int64_t distance, int64_t n) const {
    if (call_.source) call_.source->read((x - call_.in) / item_, n, to);
    else load_(to, 1, x, distance, n);
    if (kernel_.map) kernel_.map(to, n, p_);
  }
  /// n elements in a row, as the kernels read them.
  const void* row_at(const char* x, int64_t n, T* buffer) const {
    if (direct_) return x;
    load(buffer, x, 1, n);
    return buffer;
  }

  // ---- rows ----

  void run_rows() const {
    if (has_units() && call_.kept_numel * lines_ < 8) {
      for (int64_t r = 0; r < call_.kept_numel; r++) {
        T total = long_row(result_start(r));
        for (int64_t line = 1; line < lines_; line++)
          total = kernel_.combine(total, long_row(result_start(r) + line_start(line) * item_));
        put(r, &total, 1);
      }
      return;
    }
    parallel_2d(call_.kept_numel, 1, 1, cost(), [&](const Tile& tile) {
      const Scratch<T> buffer(direct_ ? 0 : std::max(kLoaded, has_units() ? 0 : length_));
      T totals[kReduceStrip];
      for (int64_t r = tile.outer_begin; r < tile.outer_end;) {
        const int64_t n = std::min(tile.outer_end - r, rows_at_once(r));
        some_rows(totals, r, n, buffer.data());
        put(r, totals, n);
        r += n;
      }
    });
  }
  /// Results from r on whose rows lie at the distance of the innermost kept dimension.
  int64_t rows_at_once(int64_t r) const {
    if (lines_ > 1 || width_ == 1) return 1;
    const int64_t most = direct_ ? kReduceStrip : std::clamp<int64_t>(kLoaded / length_, 1, kReduceStrip);
    return std::min(most, width_ - r % width_);
  }
  void some_rows(T* totals, int64_t r, int64_t n, T* buffer) const {
    const char* start = result_start(r);
    if (lines_ == 1 && direct_) return kernel_.rows(totals, nullptr, start, distance_, length_, n, p_);
    if (call_.source && lines_ == 1 && !has_units()) {
      load(buffer, start, 1, n * length_);  // one after the other
      return kernel_.rows(totals, nullptr, buffer, length_, length_, n, p_);
    }
    if (n > 1) {
      for (int64_t i = 0; i < n; i++) load(buffer + i * length_, start + i * distance_ * item_, 1, length_);
      return kernel_.rows(totals, nullptr, buffer, length_, length_, n, p_);
    }
    totals[0] = kernel_.identity;
    for (int64_t line = 0; line < lines_; line++) {
      const char* x = start + line_start(line) * item_;
      T total;
      if (has_units()) total = long_row(x);
      else kernel_.rows(&total, nullptr, row_at(x, length_, buffer), 0, length_, 1, p_);
      totals[0] = kernel_.combine(totals[0], total);
    }
  }
  /// Threads share the units.
  T long_row(const char* x) const {
    const int64_t whole = length_ / unit_size_, step = cascade_step(length_ / kRowColumns<T>);
    std::vector<T> parts(size_t(whole * kRowColumns<T>));
    parallel_for(whole, std::max<int64_t>(1, kTileGrain / unit_size_), [&](int64_t begin, int64_t end) {
      const Scratch<T> buffer(direct_ ? 0 : unit_size_);
      for (int64_t u = begin; u < end; u++) {
        const void* unit = row_at(x + u * unit_size_ * item_, unit_size_, buffer.data());
        kernel_.unit(&parts[size_t(u * kRowColumns<T>)], unit, step * step, step, p_);
      }
    });
    const int64_t rest = length_ - whole * unit_size_;
    const Scratch<T> buffer(direct_ ? 0 : rest);
    T total;
    kernel_.rows(&total, parts.data(), row_at(x + whole * unit_size_ * item_, rest, buffer.data()), 0, length_, 1, p_);
    return total;
  }

  // ---- columns ----

  void run_columns() const {
    const int64_t whole = lines_ > 1 ? 0 : single_cascades<T>(call_, distance_, width_);
    const int64_t whole_lines =
        lines_ > 1 ? single_cascades<T>(call_, call_.reduced_strides[1], call_.reduced_sizes[1]) : 0;
    // Whole rows come quickest from memory: they are cut for the threads alone.
    const int64_t step = cascade_step(length_);
    const int64_t strip = direct_          ? strip_for_threads(call_.kept_numel, kReduceStrip, 1)
                          : distance_ == 1 ? std::clamp(kLoaded / step, kRowColumns<T>, kReduceStrip)
                                           : kRowColumns<T>;
    parallel_2d(call_.kept_numel / width_, width_, strip, cost(), [&](const Tile& tile) {
      const Scratch<T> buffer(direct_ ? 0 : strip * step);
      T totals[kReduceStrip], line_totals[kReduceStrip];
      for (int64_t o = tile.outer_begin; o < tile.outer_end; o++)
        for (int64_t j = tile.inner_begin; j < tile.inner_end;) {
          const bool whole_columns = j < whole;
          const int64_t n = std::min((whole_columns ? std::min(whole, tile.inner_end) : tile.inner_end) - j, strip);
          const char* start = result_start(o * width_ + j);
          for (int64_t line = 0; line < lines_; line++) {
            const bool one = lines_ > 1 ? line % call_.reduced_sizes[1] < whole_lines : whole_columns;
            columns(line ? line_totals : totals, start + line_start(line) * item_, n, one, buffer.data());
            if (line) kernel_.merge(totals, line_totals, n);
          }
          put(o * width_ + j, totals, n);
          j += n;
        }
    });
  }
  /// n columns as one cascade, or as four of every fourth row.
  void columns(T* totals, const char* x, int64_t n, bool one, T* buffer) const {
    if (one) return cascade(totals, x, stride_, length_, n, buffer);
    const int64_t rows = length_ / 4;
    T quarter[kReduceStrip];
    cascade(totals, x, 4 * stride_, rows, n, buffer);
    for (int64_t i = rows * 4; i < length_; i++) block(totals, x + i * stride_ * item_, 0, 1, n, buffer);
    for (int64_t k = 1; k < 4; k++) {
      cascade(quarter, x + k * stride_ * item_, 4 * stride_, rows, n, buffer);
      kernel_.merge(totals, quarter, n);
    }
  }
  static constexpr int64_t kPollBlocks = 64;
  /// total[j] = the cascade of x[i * stride + j] over i < rows, for j < n.
  void cascade(T* total, const char* x, int64_t stride, int64_t rows, int64_t n, T* buffer) const {
    const int64_t step = cascade_step(rows), blocks = rows / step;
    std::fill_n(total, n, kernel_.identity);
    if (const int64_t rest = rows % step) block(total, x + blocks * step * stride * item_, stride, rest, n, buffer);
    if (blocks == 0) return;
    T level[3][kReduceStrip];
    const int levels = blocks < step ? 1 : 3;
    for (int l = 0; l < levels; l++) std::fill_n(level[l], n, kernel_.identity);
    for (int64_t b = 1; b <= blocks; b++, x += step * stride * item_) {
      if (b % kPollBlocks == 0) Context::current().poll();  // an expanded tensor has no bound
      block(level[0], x, stride, step, n, buffer);
      int64_t count = b;
      for (int l = 0; l < 2 && count % step == 0; l++, count /= step) {
        kernel_.merge(level[l + 1], level[l], n);
        std::fill_n(level[l], n, kernel_.identity);
      }
    }
    for (int l = 0; l < levels; l++) kernel_.merge(total, level[l], n);
  }
  /// total[j] = combine(total[j], `rows` rows combined).
  void block(T* total, const char* x, int64_t stride, int64_t rows, int64_t n, T* buffer) const {
    if (direct_) return kernel_.block(total, x, stride, rows, n, p_);
    for (int64_t i = 0; i < rows; i++) load(buffer + i * n, x + i * stride * item_, distance_, n);
    kernel_.block(total, buffer, n, rows, n, p_);
  }

  const ReduceCall& call_;
  const double p_;
  const int64_t item_;
  const ConvertRun load_, store_;
  const int64_t length_, stride_, lines_;  // of the innermost reduced dimension, and how many of these
  const int64_t width_, distance_;         // of the innermost kept dimension
  const bool rows_;                        // or columns
  const int64_t unit_size_;                // elements of a row
  const bool direct_;                      // the kernels read elements where they are
  const ReduceKernels<T>& kernel_;
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
