// Reductions on the host, in an order that depends only on the shape.
//
// Rows: the reduced elements of one result are cut into blocks of kReduceBlock, each is combined on lanes, and the
// blocks' totals are combined as a balanced tree; threads share out results or blocks. Columns (the result's
// elements are neighbours): rows are added to a strip of accumulators, in a cascade of levels of 16, which keeps the
// rounding error that of a tree.
#include <vector>

#include "runtime/device/backend.h"
#include "backends/cpu/convert.h"
#include "backends/cpu/reduce_table.h"
#include "backends/cpu/threads.h"
#include "backends/cpu/walk.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kGrain = 32768;
constexpr int64_t kStrip = 512;
constexpr int64_t kFan = 16;

template <class T>
class Reduction {
 public:
  Reduction(const ReduceCall& c, const ReduceKernels<T>& k)
      : call_(c),
        kernel_(k),
        p_(c.param.to_double()),
        item_(int64_t(item_size(c.in_dtype))),
        out_item_(int64_t(item_size(c.out_dtype))),
        native_(c.in_dtype == dtype_of<T>),
        load_(converter(dtype_of<T>, c.in_dtype)),
        store_(converter(c.out_dtype, dtype_of<T>)) {
    inner_.operands = 1;
    inner_.ndim = c.reduced;
    inner_.numel = c.reduced_numel;
    inner_.dtype[0] = c.in_dtype;
    for (int d = 0; d < c.reduced; d++)
      inner_.sizes[d] = c.reduced_sizes[d], inner_.strides[0][d] = c.reduced_strides[d];
  }

  void run() {
    const bool columns =
        call_.kept > 0 && call_.kept_strides[0] == 1 && call_.kept_sizes[0] >= 8 && call_.reduced_strides[0] != 1;
    if (columns) run_columns();
    else run_rows();
  }

 private:
  const char* start_of(int64_t result) const {
    const char* at = call_.in;
    for (int d = 0; d < call_.kept; d++) {
      at += result % call_.kept_sizes[d] * call_.kept_strides[d] * item_;
      result /= call_.kept_sizes[d];
    }
    return at;
  }

  T block(const char* start, int64_t b, T* buffer) const {
    const int64_t begin = b * kReduceBlock, n = std::min(kReduceBlock, call_.reduced_numel - begin);
    if (native_ && call_.reduced == 1 && call_.reduced_strides[0] == 1)
      return kernel_.block(reinterpret_cast<const T*>(start) + begin, n, p_);
    Loop loop = {};
    loop.operands = 1;
    loop.ndim = inner_.ndim;
    loop.dtype[0] = inner_.dtype[0];
    loop.data[0] = const_cast<char*>(start);
    for (int d = 0; d < inner_.ndim; d++) loop.sizes[d] = inner_.sizes[d], loop.strides[0][d] = inner_.strides[0][d];
    Walker w(loop, begin);
    for (int64_t done = 0; done < n;) {
      int64_t part = std::min(n - done, w.row_left());
      load_(buffer + done, 1, w.at(0), loop.strides[0][0], part);
      w.advance(part);
      done += part;
    }
    return kernel_.block(buffer, n, p_);
  }

  T tree(const T* parts, int64_t n) const {
    if (n == 1) return parts[0];
    int64_t half = n / 2;
    return kernel_.combine(tree(parts, half), tree(parts + half, n - half));
  }

  void put(int64_t result, T total) const {
    T value = kernel_.finish(total, double(call_.reduced_numel), p_);
    store_(call_.out + result * out_item_, 1, &value, 1, 1);
  }

  void run_rows() {
    const int64_t blocks = (call_.reduced_numel + kReduceBlock - 1) / kReduceBlock;
    if (blocks == 0) {
      for (int64_t r = 0; r < call_.kept_numel; r++) put(r, kernel_.identity);
      return;
    }
    if (blocks == 1) {
      parallel_for(call_.kept_numel, std::max<int64_t>(1, kGrain / call_.reduced_numel),
                   [&](int64_t begin, int64_t end) {
                     alignas(64) T buffer[kReduceBlock];
                     for (int64_t r = begin; r < end; r++) put(r, block(start_of(r), 0, buffer));
                   });
      return;
    }
    std::vector<T> parts(static_cast<size_t>(blocks));
    for (int64_t r = 0; r < call_.kept_numel; r++) {
      const char* start = start_of(r);
      parallel_for(blocks, kGrain / kReduceBlock, [&](int64_t begin, int64_t end) {
        alignas(64) T buffer[kReduceBlock];
        for (int64_t b = begin; b < end; b++) parts[size_t(b)] = block(start, b, buffer);
      });
      put(r, tree(parts.data(), blocks));
    }
  }

  // Columns [first, first + n) of the results that begin at `result`.
  void strip(int64_t result, int64_t n) const {
    constexpr int kLevels = 6;
    alignas(64) T acc[kLevels][kStrip];
    alignas(64) T converted[kStrip];
    for (auto& level : acc) std::fill_n(level, n, kernel_.identity);
    const char* start = start_of(result);
    int64_t index[kMaxLoopDims] = {};
    const char* at = start;
    for (int64_t row = 0; row < call_.reduced_numel; row++) {
      const T* x = reinterpret_cast<const T*>(at);
      if (!native_) {
        load_(converted, 1, at, 1, n);
        x = converted;
      }
      kernel_.row(acc[0], x, n, p_);
      int64_t count = row + 1;
      for (int level = 0; level + 1 < kLevels && count % kFan == 0; level++, count /= kFan) {
        kernel_.merge(acc[level + 1], acc[level], n);
        std::fill_n(acc[level], n, kernel_.identity);
      }
      for (int d = 0; d < call_.reduced; d++) {  // the next row
        at += call_.reduced_strides[d] * item_;
        if (++index[d] < call_.reduced_sizes[d]) break;
        at -= call_.reduced_sizes[d] * call_.reduced_strides[d] * item_;
        index[d] = 0;
      }
    }
    for (int level = 1; level < kLevels; level++) kernel_.merge(acc[0], acc[level], n);
    for (int64_t i = 0; i < n; i++) acc[0][i] = kernel_.finish(acc[0][i], double(call_.reduced_numel), p_);
    store_(call_.out + result * out_item_, 1, acc[0], 1, n);
  }

  void run_columns() {
    const int64_t columns = call_.kept_sizes[0], strips = (columns + kStrip - 1) / kStrip;
    const int64_t tasks = call_.kept_numel / columns * strips;
    const int64_t work = std::max<int64_t>(1, call_.reduced_numel * std::min(columns, kStrip));
    parallel_for(tasks, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; t++) {
        int64_t first = t % strips * kStrip;
        strip(t / strips * columns + first, std::min(kStrip, columns - first));
      }
    });
  }

  const ReduceCall& call_;
  const ReduceKernels<T>& kernel_;
  const double p_;
  const int64_t item_, out_item_;
  const bool native_;
  ConvertRun load_, store_;
  Loop inner_;
};

void reduce(const ReduceCall& call) {
  switch (call.compute) {
    case DType::Float32: return Reduction<float>(call, float_reductions()[call.op]).run();
    case DType::Float64: return Reduction<double>(call, double_reductions()[call.op]).run();
    default: return Reduction<int64_t>(call, int64_reductions()[call.op]).run();
  }
}

// ---- extremes with their index, and scans: along one dimension ----

template <class T, bool kMax>
void extreme(const AlongCall& c) {
  parallel_for(c.outer * c.inner, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, c.n)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; r++) {
                   const T* x = static_cast<const T*>(c.in) + r / c.inner * c.n * c.inner + r % c.inner;
                   int64_t best = 0;
                   auto value = [&](int64_t i) {
                     return convert_element<std::conditional_t<sizeof(T) == 2, float, T>>(x[i * c.inner]);
                   };
                   auto top = value(0);
                   for (int64_t i = 1; i < c.n && top == top; i++) {
                     auto v = value(i);
                     if ((kMax ? v > top : v < top) || v != v) top = v, best = i;
                   }
                   if (c.out) static_cast<T*>(c.out)[r] = x[best * c.inner];
                   c.index[r] = best;
                 }
               });
}

template <class T, bool kProduct>
void scan(const AlongCall& c) {
  using Acc = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Half> ||
                                     std::is_same_v<T, BFloat16>,
                                 double, int64_t>;
  parallel_for(c.outer * c.inner, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, c.n)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; r++) {
                   int64_t at = r / c.inner * c.n * c.inner + r % c.inner;
                   const T* x = static_cast<const T*>(c.in) + at;
                   T* y = static_cast<T*>(c.out) + at;
                   Acc total = kProduct ? 1 : 0;
                   for (int64_t i = 0; i < c.n; i++) {
                     Acc v = convert_element<Acc>(x[i * c.inner]);
                     total = kProduct ? total * v : total + v;
                     y[i * c.inner] = convert_element<T>(total);
                   }
                 }
               });
}

void along(const AlongCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    switch (c.op) {
      case AlongCall::Max: return extreme<T, true>(c);
      case AlongCall::Min: return extreme<T, false>(c);
      case AlongCall::Sum: return scan<T, false>(c);
      case AlongCall::Product: return scan<T, true>(c);
    }
  });
}

const KernelRegistration reduce_registration{reduce_kernel, DeviceType::Cpu, &reduce};
const KernelRegistration along_registration{along_kernel, DeviceType::Cpu, &along};

}  // namespace
}  // namespace tessera::tensor::cpu
