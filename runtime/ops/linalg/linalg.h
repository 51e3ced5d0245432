// Linear algebra as C++ functions: what ops of other files are made of; and its error.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "runtime/error.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// A matrix that has no such factors: torch.linalg.LinAlgError, a RuntimeError.
class LinAlgError : public TensorError {
 public:
  explicit LinAlgError(std::string message) : TensorError(TensorErrorKind::Runtime, std::move(message)) {}
};

/// X with A X = B, or X A = B unless `left`. B may be a vector, or a stack of them as high as A's.
Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left = true);
Tensor linalg_solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left = true, bool unit = false);
Tensor linalg_inv(const Tensor& a);
Tensor linalg_inv_named(const Tensor& a, const char* name);  // what its error calls it
std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& a);   // and 0, or what makes it singular
/// LU and pivots of getrf, and its info.
std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& a, bool pivot = true, bool check_errors = false);
Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left = true, bool adjoint = false);
/// P of pivots: A = P L U.
Tensor permutation_matrix(const Tensor& pivots, int64_t rows, DType dtype);
/// U, S, Vh; with `full` all columns of U and rows of Vh.
std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& a, bool full = true,
                                              const std::optional<std::string>& driver = {});
Tensor linalg_svdvals(const Tensor& a, const std::optional<std::string>& driver = {});
std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& a, const std::string& uplo = "L");
Tensor linalg_eigvalsh(const Tensor& a, const std::string& uplo = "L");
/// Z with X Z + Z X = G, X Hermitian and positive definite.
Tensor symmetric_sylvester(const Tensor& x, const Tensor& g);
Tensor pseudo_inverse(const Tensor& a, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                      bool hermitian);
/// The gradient of A from that of its pseudo-inverse P.
Tensor pseudo_inverse_gradient(const Tensor& g, const Tensor& a, const Tensor& p);
Tensor linalg_vector_norm(const Tensor& x, Scalar ord, const std::optional<Dims>& dim, bool keepdim,
                          std::optional<DType> dtype);
Tensor linalg_matrix_norm(const Tensor& a, Scalar ord, Ints dim, bool keepdim, std::optional<DType> dtype);
Tensor linalg_matrix_norm(const Tensor& a, const std::string& ord, Ints dim, bool keepdim, std::optional<DType> dtype);

}  // namespace tessera::tensor
