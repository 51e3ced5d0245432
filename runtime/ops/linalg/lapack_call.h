// The slot of the factorisations and solvers: one call is one LAPACK routine on a batch of matrices.
#pragma once

#include "runtime/device/backend.h"

namespace tessera::tensor {

/// Matrices are dense and column-major, one after the other, `batch` of them; so are the lists. What a routine does not
/// name it does not read. `info` gets LAPACK's answer for each matrix: 0, or what failed.
struct LapackCall {
  enum Routine : uint8_t {
    Cholesky,         // a (n x n) <- its factor, zeros in the other triangle; upper, info
    CholeskySolve,    // b (n x k) <- x with a's matrix x = b, a a factor; upper
    CholeskyInverse,  // a (n x n), a factor <- the inverse of its matrix, both triangles; upper
    Lu,               // a (m x n) <- L and U in one, pivots (min(m, n)); info
    LuSolve,          // b (n x k) <- x with op(a) x = b, a from Lu with its pivots; op
    Order,            // order (m) <- where each row stands after the exchanges of pivots (k)
    TriangularSolve,  // b (m x n) <- x with a x = b, or x a = b unless left; upper, unit
    Qr,               // a (m x n) <- R and reflectors, values (min(m, n)) <- their factors
    Reflectors,       // a (m x n) with k reflectors <- the first n columns of their product; values
    Reflect,          // b (m x n) <- op(Q) b, or b op(Q) unless left; Q of k reflectors in a; values, op
    Svd,              // values <- singular values of a (m x n); b, c <- U and V^H as job says; a is lost; info
    Eigh,             // values <- eigenvalues of a (n x n), a <- vectors when job is 'V', else lost; upper, info
    Eig,           // values (complex) <- eigenvalues of a (n x n), b (complex) <- vectors if not null; a is lost; info
    Ldl,           // a (n x n) <- L and D, pivots (n); hermitian, info
    LdlSolve,      // b (n x k) <- x; a and pivots from Ldl; hermitian
    LeastSquares,  // b (max(m, n) x k) <- x, then what is left; a (m x n) is lost; driver, rcond, rank, values, info
  };
  enum Driver : uint8_t { Gels, Gelsy, Gelsd, Gelss };

  Routine routine;
  DType dtype;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  void* a = nullptr;
  void* b = nullptr;
  void* c = nullptr;
  void* values = nullptr;
  int32_t* pivots = nullptr;
  int32_t* info = nullptr;
  int64_t* order = nullptr;
  int64_t* rank = nullptr;
  bool upper = false, left = true, unit = false, hermitian = false;
  char op = 'N';   // N: as it is, T: transposed, C: the adjoint
  char job = 'N';  // Svd: A all columns, S the first min(m, n), N none
  Driver driver = Gelsy;
  double rcond = 0;
  Launch launch{};
};
extern Kernel<LapackCall> lapack_kernel;

}  // namespace tessera::tensor
