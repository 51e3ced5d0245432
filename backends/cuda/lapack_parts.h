// What the solvers' library does not do itself, as kernels on a batch of dense column-major matrices.
#pragma once

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda::parts {

/// Zeros above the diagonal of n x n matrices, or below it where `upper` is kept.
void keep_triangle(const Launch& launch, DType dtype, void* a, int64_t n, int64_t batch, bool upper);
/// n x n identities.
void identity(const Launch& launch, DType dtype, void* a, int64_t n, int64_t batch);
/// to (n x m) = the conjugate transpose of from (m x n).
void adjoint(const Launch& launch, DType dtype, const void* from, void* to, int64_t m, int64_t n, int64_t batch);
/// Rows from `first` on of m x n matrices become 0.
void clear_rows(const Launch& launch, DType dtype, void* a, int64_t m, int64_t n, int64_t batch, int64_t first);
/// order[m] after the exchanges of pivots[k], for each matrix; a pivot that is no row is reported.
void order(const Launch& launch, const int32_t* pivots, int64_t* order, int64_t m, int64_t k, int64_t batch);
void widen(const Launch& launch, const int32_t* from, int64_t* to, int64_t n);
/// Of a real matrix LAPACK gives conjugate pairs of eigenvectors as real and imaginary part, in neighbouring columns.
void pairs_to_complex(const Launch& launch, DType real, const void* packed, const void* values, void* vectors,
                      int64_t n);

}  // namespace tessera::tensor::cuda::parts
