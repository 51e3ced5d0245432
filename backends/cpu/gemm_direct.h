// Products whose right operand stays in the cache: multiplied where they lie, since packing them for a library's kernel
// costs more than it brings. Each element is summed in the order of k, so they may be cut anywhere.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor::cpu {

/// Whether small_products serves a call: float32 or float64, and each product small.
bool is_small_product(const GemmCall& call);
/// Products [begin, end) of the batch, on this thread.
void small_products(const GemmCall& call, int64_t begin, int64_t end);

/// What the rows of a matrix are padded to, in bytes, for direct_product.
inline constexpr int64_t kPaddedTo = 64;
/// One product of float32 or float64, of any size, on this thread; b is not transposed, and its rows may be read up to a
/// multiple of kPaddedTo. Quicker than the library while b fits the second-level cache.
void direct_product(const GemmCall& call);
/// The same where b lies in so many lines, which begin at b + starts[l] and have k / count rows each.
struct DirectLines {
  const int64_t* starts = nullptr;
  int64_t count = 0;
};
void direct_rows(const GemmCall& call, const DirectLines& lines);
/// out[i, j] = alpha * the dot product of row i of a and row j of b + beta * itself, for the rows [begin, end) of b: a is read
/// as m rows of k, b as n. Of float32, and in an order that is the same for every instruction set (gemm_order.h).
void dot_products(const GemmCall& call, const float* a, const float* b, float* out, int64_t begin, int64_t end);
/// The sum of a[i] * b[i], on this thread.
float dot_product(const float* a, const float* b, int64_t n);
double dot_product(const double* a, const double* b, int64_t n);

}  // namespace tessera::tensor::cpu
