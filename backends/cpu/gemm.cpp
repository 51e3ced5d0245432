// Matrix products on the CPU: tiles of our own for floating numbers (gemm_direct.cpp where they are small, gemm_panels.cpp,
// gemm_blocks.cpp where no cache holds them), OpenBLAS for complex numbers and, where vectors are short, for large ones;
// halves through float, a loop for integers.
//
// What the library computes is cut into slices, which the threads of the pool compute one by one; between them the cancel
// flag is polled. Where it is cut depends on the sizes alone: OpenBLAS's kernels round otherwise when a slice is higher or
// narrower, so only the same slices give the same bits for any number of threads. Tiles of our own may be cut anywhere.
#include <algorithm>
#include <complex>

#include "backends/cpu/blas.h"
#include "backends/cpu/convert.h"
#include "backends/cpu/gemm_blocks.h"
#include "backends/cpu/gemm_direct.h"
#include "backends/cpu/gemm_order.h"
#include "backends/cpu/gemm_panels.h"
#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/gemv.h"
#include "backends/cpu/gemv_half.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/ops/linear.h"
#include "runtime/pieces.h"

namespace tessera::tensor::cpu {
namespace {

// In multiplications of float, of which a thread does about 40 in a nanosecond.
constexpr int64_t kGrain = int64_t(1) << 18;  // small products of a batch that are computed in one go
constexpr int64_t kWorthCutting = int64_t(1) << 21;
constexpr int64_t kLargestSlice = int64_t(1) << 29;  // some 15 ms: how long a cancelled product may go on
constexpr int kWorkShift = 15;                       // of a microsecond, as a power of two, of the countdown
constexpr int64_t kVectorGrain = int64_t(1) << 16;   // elements of a matrix that a vector is multiplied with
constexpr int64_t kWideVector = 64;                  // bytes: products of any size are ours
constexpr int64_t kMostInPanels = 160;               // rows or columns: packing both operands costs more than it saves
constexpr int64_t kDotBlock = int64_t(1) << 14;      // of vectors, where they are not long
constexpr int64_t kOneByOne = 32;                    // of vectors: one addition waits for the other, 1.2 ns each

template <class T>
constexpr bool in_library = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                            std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// ---- one slice, by the library ----

int flag(bool transpose) { return transpose ? kTranspose : kNoTranspose; }

void library_gemm(const GemmCall& c, const float* a, const float* b, float* out) {
  blas().sgemm(kRowMajor, flag(c.transpose_a), flag(c.transpose_b), int(c.m), int(c.n), int(c.k), float(c.alpha), a,
               int(c.lda), b, int(c.ldb), float(c.beta), out, int(c.ldc));
}
void library_gemm(const GemmCall& c, const double* a, const double* b, double* out) {
  blas().dgemm(kRowMajor, flag(c.transpose_a), flag(c.transpose_b), int(c.m), int(c.n), int(c.k), c.alpha, a,
               int(c.lda), b, int(c.ldb), c.beta, out, int(c.ldc));
}
template <class T>
void library_gemm(const GemmCall& c, const std::complex<T>* a, const std::complex<T>* b, std::complex<T>* out) {
  const std::complex<T> alpha(T(c.alpha)), beta(T(c.beta));
  const auto gemm = sizeof(T) == 4 ? blas().cgemm : blas().zgemm;
  gemm(kRowMajor, flag(c.transpose_a), flag(c.transpose_b), int(c.m), int(c.n), int(c.k), &alpha, a, int(c.lda), b,
       int(c.ldb), &beta, out, int(c.ldc));
}

// ---- matrix times vector: a kernel of its own ----

/// out = alpha * op(matrix) x + beta * out; `rows` and `columns` as the matrix is stored.
template <class T>
struct MatrixVector {
  bool transpose;
  int64_t rows, columns, leading;
  const T* matrix;
  const T* x;
  int64_t x_step;
  T* out;
  double alpha, beta;
};

/// `beta` is 0 or 1, and the elements of x are neighbours.
void add_slice(const MatrixVector<float>& v) {
  if (v.transpose) add_matrix_columns({v.matrix, v.leading, v.columns, v.rows, v.x, v.beta != 0, v.out});
  else add_matrix_rows({v.matrix, v.leading, v.rows, v.columns, v.x, float(v.alpha), v.beta != 0, v.out});
}
void library_gemv(const MatrixVector<double>& v) {
  blas().dgemv(kRowMajor, flag(v.transpose), int(v.rows), int(v.columns), v.alpha, v.matrix, int(v.leading), v.x,
               int(v.x_step), v.beta, v.out, 1);
}

// Cut along the result, where sixteen results end. Of a transposed matrix a slice has parts of rows, which should not be short.
template <class T>
void in_slices(const MatrixVector<T>& whole) {
  const int64_t length = whole.transpose ? whole.columns : whole.rows;
  const int64_t summed = whole.transpose ? whole.rows : whole.columns;
  const int64_t shortest = whole.transpose ? 256 : 16;
  int64_t slice = std::max(shortest, (kVectorGrain / std::max<int64_t>(summed, 1) + 15) / 16 * 16);
  if (length < 2 * slice) slice = length;
  const int64_t slices = (length + slice - 1) / slice;
  run_split(slices, {.grain = 1, .most_threads = blas().most_threads}, RangeBody([&](int64_t begin, int64_t end) {
              // In float32 neighbouring slices are one: the library's results may depend on their ends, ours do not.
              const int64_t step = std::is_same_v<T, float> ? end - begin : 1;
              for (int64_t i = begin; i < end; i += step) {
                MatrixVector<T> part = whole;
                const int64_t start = i * slice, n = std::min(step * slice, length - start);
                part.matrix += whole.transpose ? start : start * whole.leading;
                (whole.transpose ? part.columns : part.rows) = n;
                part.out += start;
                if constexpr (std::is_same_v<T, float>) {
                  if (part.beta != 0 && part.beta != 1)
                    std::transform(part.out, part.out + n, part.out, [&](T y) { return T(part.beta) * y; });
                  add_slice(part);
                } else {
                  if (part.beta == 0) std::fill_n(part.out, n, T(0)), part.beta = 1;  // what was there may be NaN
                  library_gemv(part);
                }
              }
            }));
}
void matrix_vector(const MatrixVector<double>& v) { in_slices(v); }
void matrix_vector(const MatrixVector<float>& given) {
  MatrixVector<float> v = given;
  const int64_t length = v.transpose ? v.rows : v.columns;
  const bool copies = v.x_step != 1 || (v.transpose && v.alpha != 1);
  const Scratch<float> x(copies ? length : 0);
  if (copies) {
    const float factor = v.transpose ? float(v.alpha) : 1;
    for (int64_t i = 0; i < length; i++) x.data()[i] = factor * v.x[i * v.x_step];
    v.x = x.data(), v.x_step = 1;
  }
  in_slices(v);
}

// A row times a column: blocks whose length depends on theirs alone, and whose sums are added in order.
template <class T>
void dot(const GemmCall& c, const T* a, const T* b, T* out) {
  const int64_t a_step = c.transpose_a ? c.lda : 1, b_step = c.transpose_b ? 1 : c.ldb;
  if constexpr (std::is_same_v<T, float>) {
    // For oneMKL such a product is one of a row, or else of a column of one element, which is added up one by one.
    if (c.transpose_b && c.k < kDotBlock)
      return matrix_vector(MatrixVector<T>{false, 1, c.k, c.k, b, a, a_step, out, c.alpha, c.beta});
    if (c.k <= kOneByOne && c.alpha == 1 && b_step == 1) {
      if (c.beta != 0) *out *= float(c.beta);
      return add_matrix_columns({a, a_step, 1, c.k, b, c.beta != 0, out});
    }
    if (c.k <= kOneByOne)
      return matrix_vector(MatrixVector<T>{true, c.k, 1, a_step, a, b, b_step, out, c.alpha, c.beta});
  }
  const int64_t length = std::clamp((c.k / 16 + 1023) / 1024 * 1024, kDotBlock, 4 * kDotBlock);
  const auto block = [&](int64_t i) -> T {
    const int64_t first = i * length, n = std::min(length, c.k - first);
    if (a_step == 1 && b_step == 1) return dot_product(a + first, b + first, n);
    T sum = 0;
    matrix_vector(MatrixVector<T>{a_step != 1, a_step == 1 ? 1 : n, a_step == 1 ? n : 1, a_step == 1 ? n : a_step,
                                  a + first * a_step, b + first * b_step, b_step, &sum, 1.0, 1.0});
    return sum;
  };
  const int64_t blocks = (c.k + length - 1) / length;
  T sum = 0;
  if (blocks == 1) {
    sum = block(0);
  } else {
    const Scratch<T> sums(blocks);
    run_split(blocks, {.grain = length < 2 * kDotBlock ? 2 : 1, .most_threads = blas().most_threads},
              RangeBody([&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; i++) sums.data()[i] = block(i);
              }));
    for (int64_t i = 0; i < blocks; i++) sum += sums.data()[i];
  }
  *out = T(c.alpha) * sum + (c.beta == 0 ? T(0) : T(c.beta) * *out);
}

/// A row and a column whose elements are neighbours need neither the library nor a copy.
bool is_plain_dot(const GemmCall& c) {
  return c.m == 1 && c.n == 1 && c.batch == 1 && c.k > 0 && !(c.transpose_a && c.lda != 1) &&
         (c.transpose_b || c.ldb == 1);
}

// True when the product was one: of a matrix and a column, or of a row and a matrix.
template <class T>
bool try_matrix_vector(const GemmCall& c, const T* a, const T* b, T* out) {
  if (c.n == 1 && c.m == 1 && c.k >= 2 * kDotBlock) {
    dot(c, a, b, out);
    return true;
  }
  if (c.n == 1 && (c.ldc == 1 || c.m == 1)) {
    matrix_vector(MatrixVector<T>{c.transpose_a, c.transpose_a ? c.k : c.m, c.transpose_a ? c.m : c.k, c.lda, a, b,
                                  c.transpose_b ? 1 : c.ldb, out, c.alpha, c.beta});
    return true;
  }
  if (c.m == 1) {
    if (c.k == 1)  // a product each: rounded before it is added
      matrix_vector(MatrixVector<T>{false, c.n, 1, c.transpose_b ? c.ldb : 1, b, a, 1, out, c.alpha, c.beta});
    else
      matrix_vector(MatrixVector<T>{!c.transpose_b, c.transpose_b ? c.n : c.k, c.transpose_b ? c.k : c.n, c.ldb, b, a,
                                    c.transpose_a ? c.lda : 1, out, c.alpha, c.beta});
    return true;
  }
  return false;
}

// ---- cutting ----

/// The grid of slices over one result.
struct Grid {
  int64_t rows, columns;  // of a slice
  int64_t down, across;   // slices
  int64_t depth;          // of k, at a time

  template <class T>
  static Grid over(const GemmCall& c, const T*) {
    // Several products are slices themselves.
    const int64_t weight = int64_t(sizeof(T)) / 4 * (std::is_floating_point_v<T> ? 1 : 2);
    const int64_t line = std::max<int64_t>(1, c.k * weight), work = c.m * c.n * line;
    const int64_t wanted = c.batch >= 8 || work < kWorthCutting ? 1 : work < kWorthCutting << 4 ? 2 : 4;
    const int64_t shortest = wanted == 4 ? 128 : 64;
    Grid g{c.m, c.n, 1, 1, c.k};
    while (g.down * g.across < wanted || g.rows * g.columns * line > kLargestSlice) {
      int64_t& side = g.rows >= g.columns ? g.rows : g.columns;
      if (side < 2 * shortest) break;
      side = (side / 2 + 15) / 16 * 16;
      g.down = (c.m + g.rows - 1) / g.rows;
      g.across = (c.n + g.columns - 1) / g.columns;
    }
    if (g.rows * g.columns * line > kLargestSlice)
      g.depth = std::max<int64_t>(256, kLargestSlice / (g.rows * g.columns * weight));
    return g;
  }
  int64_t slices() const { return down * across; }
};

template <class T>
void compute_slice(const GemmCall& c, const Grid& g, int64_t index, const T* a, const T* b, T* out) {
  const int64_t i = index / g.across * g.rows, j = index % g.across * g.columns;
  GemmCall part = c;
  part.m = std::min(g.rows, c.m - i);
  part.n = std::min(g.columns, c.n - j);
  for (int64_t p = 0; p < c.k; p += g.depth) {
    if (p > 0) Context::current().poll(), part.beta = 1;
    part.k = std::min(g.depth, c.k - p);
    library_gemm(part, a + (c.transpose_a ? p * c.lda + i : i * c.lda + p),
                 b + (c.transpose_b ? j * c.ldb + p : p * c.ldb + j), out + i * c.ldc + j);
  }
}

template <class T>
void library_batch(const GemmCall& c) {
  const T* a = static_cast<const T*>(c.a);
  const T* b = static_cast<const T*>(c.b);
  T* out = static_cast<T*>(c.c);
  if constexpr (std::is_floating_point_v<T>)
    if (c.batch == 1 && try_matrix_vector(c, a, b, out)) return;
  count_work(uint64_t(c.batch) * uint64_t(c.m * c.n) * uint64_t(c.k) >> kWorkShift);
  const Grid grid = Grid::over(c, a);
  const int64_t slices = grid.slices(), work = std::max<int64_t>(1, grid.rows * grid.columns * c.k);
  const bool tasks = work >= kWorthCutting / 2;
  const auto body = [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; s++) {
      const int64_t i = s / slices;
      compute_slice(c, grid, s % slices, a + i * c.batch_a, b + i * c.batch_b, out + i * c.batch_c);
    }
  };
  const int64_t total = slices * c.batch;
  if (total == 1) return body(0, 1);
  run_split(total, {tasks ? 1 : std::max<int64_t>(1, kGrain / work), tasks, blas().most_threads}, RangeBody(body));
}

// ---- on lanes ----

/// Operands that no cache holds, read again and again: both are packed, by tiles of our own where vectors are wide, else
/// by the library.
template <class T>
bool is_large(const GemmCall& c) {
  constexpr int64_t kMegabyte = int64_t(1) << 20;
  const int64_t line = c.k * int64_t(sizeof(T)), least = std::min(c.m, c.n), most = std::max(c.m, c.n);
  return (least >= 32 && most * line > 8 * kMegabyte) || least * line >= 2 * kMegabyte;
}

/// Whether one product is computed in panels; of vectors it is not.
template <class T>
bool goes_in_panels(const GemmCall& c) {
  return c.m > 1 && c.n > 1 && !is_small_product(c) && !is_large<T>(c) && !is_by_dots(c);
}

template <class T>
void one_product(const GemmCall& c, const T* a, const T* b, T* out) {
  if constexpr (std::is_same_v<T, float>)
    if (is_by_dots(c)) {
      return parallel_for(c.n, std::max<int64_t>(1, (kGrain >> 2) / (c.m * c.k)),
                          [&](int64_t begin, int64_t end) { dot_products(c, a, b, out, begin, end); });
    }
  if (is_large<T>(c) && std::min(c.m, c.n) > kMostInPanels) return block_product(c, a, b, out);
  panel_product(c, a, b, out);
}

template <class T>
void panel_batch(const GemmCall& c) {
  const T* a = static_cast<const T*>(c.a);
  const T* b = static_cast<const T*>(c.b);
  T* out = static_cast<T*>(c.c);
  if (c.batch == 1 && try_matrix_vector(c, a, b, out)) return;
  count_work(uint64_t(c.batch) * uint64_t(c.m * c.n) * uint64_t(c.k) >> kWorkShift);
  const int64_t grain = c.batch < 4 ? c.batch : std::max<int64_t>(1, kGrain / (c.m * c.n * c.k));
  parallel_for(c.batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) one_product(c, a + i * c.batch_a, b + i * c.batch_b, out + i * c.batch_c);
  });
}

bool fits_library(const GemmCall& c) { return std::max({c.m, c.n, c.k, c.lda, c.ldb, c.ldc}) <= INT_MAX; }

// ---- without the library ----

// Integers wrap round, as PyTorch's do.
template <class T>
T wrapped_product(T x, T y) {
  if constexpr (std::is_integral_v<T>) return T(uint64_t(x) * uint64_t(y));
  else return T(x * y);
}
template <class T>
T wrapped_sum(T x, T y) {
  if constexpr (std::is_integral_v<T>) return T(uint64_t(x) + uint64_t(y));
  else return T(x + y);
}

// Rows of the result one after the other; the inner loop runs along a row of b, so it vectorises.
template <class T>
void loop_row(const GemmCall& c, int64_t i, const T* a, const T* b, T* out) {
  T* row = out + i * c.ldc;
  for (int64_t j = 0; j < c.n; j++) row[j] = c.beta == 0 ? T(0) : wrapped_product(row[j], T(c.beta));
  in_pieces(c.k, std::max<int64_t>(1, kPieceElements / c.n), [&](int64_t p, int64_t end) {
    for (; p < end; p++) {
      const T factor = wrapped_product(T(c.alpha), c.transpose_a ? a[p * c.lda + i] : a[i * c.lda + p]);
      for (int64_t j = 0; j < c.n; j++)
        row[j] = wrapped_sum(row[j], wrapped_product(factor, c.transpose_b ? b[j * c.ldb + p] : b[p * c.ldb + j]));
    }
  });
}

template <class T>
void loop_batch(const GemmCall& c) {
  const auto rows = [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) {
      const int64_t i = r / c.m;
      loop_row(c, r % c.m, static_cast<const T*>(c.a) + i * c.batch_a, static_cast<const T*>(c.b) + i * c.batch_b,
               static_cast<T*>(c.c) + i * c.batch_c);
    }
  };
  const int64_t row_work = std::max<int64_t>(1, c.n * c.k);
  count_work(uint64_t(c.batch * c.m) * uint64_t(row_work) >> 10);
  // A long row is a piece by itself: between pieces the program can be stopped.
  if (row_work >= kGrain) return run_split(c.batch * c.m, {.grain = 1, .tasks = true}, RangeBody(rows));
  parallel_for(c.batch * c.m, std::max<int64_t>(1, (kGrain >> 4) / row_work), rows);
}

template <class T>
void product(const GemmCall& c) {
  if constexpr (std::is_floating_point_v<T>)
    if (is_plain_dot(c)) return dot(c, static_cast<const T*>(c.a), static_cast<const T*>(c.b), static_cast<T*>(c.c));
  if (is_small_product(c)) {
    const int64_t work = c.m * c.n * c.k;
    return parallel_for(c.batch, std::max<int64_t>(1, kGrain / work),
                        [&](int64_t begin, int64_t end) { small_products(c, begin, end); });
  }
  if constexpr (std::is_floating_point_v<T>)
    if (!is_large<T>(c) || tile_lanes(T()) * int64_t(sizeof(T)) >= kWideVector || blas().sgemm == nullptr ||
        !fits_library(c))
      return panel_batch<T>(c);
  if constexpr (in_library<T>)
    if (blas().sgemm != nullptr && fits_library(c)) return library_batch<T>(c);
  loop_batch<T>(c);
}

// ---- halves ----

/// Into `wide`, in float and without gaps.
void widen(DType from, const char* data, int64_t rows, int64_t columns, int64_t leading, float* wide) {
  const ConvertRun run = converter(kFloat32, from);
  const int64_t size = int64_t(item_size(from));
  parallel_for(rows, std::max<int64_t>(1, 16384 / columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) run(wide + i * columns, 1, data + i * leading * size, 1, columns);
  });
}

/// Few vectors times a matrix of halves that lies as it is read: true if so.
bool half_vectors(const GemmCall& c) {
  // The transposed product of a matrix and one vector is the vector's with the matrix.
  const bool turned = c.n == 1 && c.m > 1 && !c.transpose_a && (c.transpose_b || c.ldb == 1);
  const bool plain = c.m <= kHalfVectors && (!c.transpose_a || (c.m == 1 && c.lda == 1)) && c.ldc >= c.n;
  if (c.beta != 0 || c.alpha != 1 || c.batch != 1 || !(turned || plain)) return false;
  const int64_t count = turned ? 1 : c.m, results = turned ? c.m : c.n;
  const bool by_rows = turned || c.transpose_b;
  const int64_t leading = turned ? c.lda : c.ldb, size = int64_t(item_size(c.dtype));
  const Scratch<float> x(count * c.k), wide(count * results);
  widen(c.dtype, static_cast<const char*>(turned ? c.b : c.a), count, c.k, turned || c.transpose_a ? c.k : c.lda,
        x.data());
  if (!by_rows) std::fill_n(wide.data(), count * results, 0.0f);
  const auto* const matrix = static_cast<const char*>(turned ? c.a : c.b);
  count_work(uint64_t(results) * uint64_t(c.k) >> kWorkShift);
  parallel_for(results, std::max<int64_t>(16, kVectorGrain / c.k), [&](int64_t begin, int64_t end) {
    const char* const at = matrix + begin * (by_rows ? leading : 1) * size;
    const HalfMatrix part{c.dtype,  at,  leading, by_rows ? end - begin : c.k, by_rows ? c.k : end - begin,
                          x.data(), c.k, count,   wide.data() + begin,         results};
    by_rows ? half_rows(part) : half_columns(part);
  });
  const ConvertRun narrow = converter(c.dtype, kFloat32);
  for (int64_t v = 0; v < count; v++) {
    char* const out = static_cast<char*>(c.c) + v * c.ldc * size;
    narrow(out, turned ? c.ldc : 1, wide.data() + v * results, 1, results);
  }
  return true;
}

// Halves and float8 are multiplied and summed in float, and rounded once.
void half_product(const GemmCall& c) {
  if (!is_float8(c.dtype) && half_vectors(c)) return;
  const ConvertRun narrow = converter(c.dtype, kFloat32);
  const int64_t size = int64_t(item_size(c.dtype));
  const int64_t rows_a = c.transpose_a ? c.k : c.m, columns_a = c.transpose_a ? c.m : c.k;
  const int64_t rows_b = c.transpose_b ? c.n : c.k, columns_b = c.transpose_b ? c.k : c.n;
  const Scratch<float> a(c.m * c.k), b(c.k * c.n), wide(c.m * c.n);
  GemmCall one = c;
  one.dtype = kFloat32;
  one.batch = 1;
  one.a = a.data(), one.lda = columns_a;
  one.b = b.data(), one.ldb = columns_b;
  one.c = wide.data(), one.ldc = c.n;
  for (int64_t i = 0; i < c.batch; i++) {
    const auto at = [&](const void* data, int64_t stride) {
      return static_cast<const char*>(data) + i * stride * size;
    };
    char* out = const_cast<char*>(at(c.c, c.batch_c));
    widen(c.dtype, at(c.a, c.batch_a), rows_a, columns_a, c.lda, a.data());
    widen(c.dtype, at(c.b, c.batch_b), rows_b, columns_b, c.ldb, b.data());
    if (c.beta != 0) widen(c.dtype, out, c.m, c.n, c.ldc, wide.data());
    product<float>(one);
    parallel_for(c.m, std::max<int64_t>(1, 16384 / c.n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; r++) narrow(out + r * c.ldc * size, 1, wide.data() + r * c.n, 1, c.n);
    });
  }
}

void gemm(const GemmCall& c) {
  if (c.m == 0 || c.n == 0 || c.k == 0 || c.batch == 0) return;
  switch (c.dtype) {
    case DType::Float32: return product<float>(c);
    case DType::Float64: return product<double>(c);
    case DType::Complex64: return product<std::complex<float>>(c);
    case DType::Complex128: return product<std::complex<double>>(c);
    case DType::Float16:
    case DType::BFloat16: return half_product(c);
    case DType::UInt8: return product<uint8_t>(c);
    case DType::Int8: return product<int8_t>(c);
    case DType::Int16: return product<int16_t>(c);
    case DType::Int32: return product<int32_t>(c);
    case DType::Int64: return product<int64_t>(c);
    default:
      if (is_float8(c.dtype)) return half_product(c);
      fail(TensorErrorKind::Runtime, "\"addmm_impl_cpu_\" not implemented for '", scalar_type_name(c.dtype), "'");
  }
}

// Tiles add the bias on their way out; other products are added to rows of it.
template <class T>
void linear_product(const LinearCall& call) {
  GemmCall c = call.product;
  const T* const bias = static_cast<const T*>(call.bias);
  T* const out = static_cast<T*>(c.c);
  if (goes_in_panels<T>(c)) {
    count_work(uint64_t(c.m * c.n) * uint64_t(c.k) >> kWorkShift);
    return panel_product(c, static_cast<const T*>(c.a), static_cast<const T*>(c.b), out, bias);
  }
  if constexpr (std::is_same_v<T, float>)
    if (c.k == 1 && c.m > 1 && c.n > 1) {
      const int64_t a_step = c.transpose_a ? 1 : c.lda, b_step = c.transpose_b ? c.ldb : 1;
      return parallel_for(c.m, std::max<int64_t>(1, kVectorGrain / c.n), [&](int64_t begin, int64_t end) {
        add_outer_product({static_cast<const T*>(c.a) + begin * a_step, a_step, static_cast<const T*>(c.b), b_step,
                           bias, end - begin, c.n, out + begin * c.ldc, c.ldc});
      });
    }
  parallel_for(c.m, std::max<int64_t>(1, kVectorGrain / c.n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) std::copy_n(bias, c.n, out + i * c.ldc);
  });
  c.beta = 1;
  product<T>(c);
}
void linear(const LinearCall& c) { c.product.dtype == kFloat32 ? linear_product<float>(c) : linear_product<double>(c); }

const KernelRegistration<GemmCall> registration(gemm_kernel, DeviceType::Cpu, gemm);
const KernelRegistration<LinearCall> linear_registration(linear_kernel, DeviceType::Cpu, linear);

}  // namespace
}  // namespace tessera::tensor::cpu
