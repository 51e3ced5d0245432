// cuSOLVER and the triangular solves of cuBLAS, by type of the elements.
#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "backends/cuda/library.h"

namespace tessera::tensor::cuda {

struct Blas {
  Library library{"cuBLAS", "libcublas.so", CUBLAS_VER_MAJOR};
  TS_FUNCTION(cublasCreate_v2)
  TS_FUNCTION(cublasGetStatusString)
  TS_FUNCTION(cublasSetStream_v2)
  TS_FUNCTION(cublasStrsm_v2)
  TS_FUNCTION(cublasDtrsm_v2)
  TS_FUNCTION(cublasCtrsm_v2)
  TS_FUNCTION(cublasZtrsm_v2)
};
const Blas& blas();

struct SolverCommon {
  Library library{"cuSOLVER", "libcusolver.so", CUSOLVER_VER_MAJOR};
  TS_FUNCTION(cusolverDnCreate)
  TS_FUNCTION(cusolverDnCreateParams)
  TS_FUNCTION(cusolverDnSetStream)
  TS_FUNCTION(cusolverDnXsytrs)
  TS_FUNCTION(cusolverDnXsytrs_bufferSize)
  TS_FUNCTION(cusolverDnXgeev)
  TS_FUNCTION(cusolverDnXgeev_bufferSize)
};
const SolverCommon& solver_common();

/// The routines for elements of type T, under LAPACK's names of the real ones.
template <class T>
struct Solver;

#define TS_SOLVER_ROUTINE(NAME, FUNCTION) \
  decltype(&::FUNCTION) NAME = reinterpret_cast<decltype(&::FUNCTION)>(library.find(#FUNCTION));
#define TS_SOLVER_PAIR(NAME, FUNCTION) \
  TS_SOLVER_ROUTINE(NAME, FUNCTION)    \
  TS_SOLVER_ROUTINE(NAME##_size, FUNCTION##_bufferSize)
#define TS_SOLVER(T, REAL, DATA, L, ORTHOGONAL, SYMMETRIC) \
  template <>                                              \
  struct Solver<T> {                                       \
    using Real = REAL;                                     \
    static constexpr cudaDataType kData = DATA;            \
    const Library& library = solver_common().library;      \
    TS_SOLVER_PAIR(potrf, cusolverDn##L##potrf)            \
    TS_SOLVER_ROUTINE(potrs, cusolverDn##L##potrs)         \
    TS_SOLVER_PAIR(getrf, cusolverDn##L##getrf)            \
    TS_SOLVER_ROUTINE(getrs, cusolverDn##L##getrs)         \
    TS_SOLVER_PAIR(geqrf, cusolverDn##L##geqrf)            \
    TS_SOLVER_PAIR(orgqr, cusolverDn##L##ORTHOGONAL##gqr)  \
    TS_SOLVER_PAIR(ormqr, cusolverDn##L##ORTHOGONAL##mqr)  \
    TS_SOLVER_PAIR(gesvd, cusolverDn##L##gesvd)            \
    TS_SOLVER_PAIR(syevd, cusolverDn##L##SYMMETRIC##evd)   \
    TS_SOLVER_PAIR(sytrf, cusolverDn##L##sytrf)            \
  };
TS_SOLVER(float, float, CUDA_R_32F, S, or, sy)
TS_SOLVER(double, double, CUDA_R_64F, D, or, sy)
TS_SOLVER(cuComplex, float, CUDA_C_32F, C, un, he)
TS_SOLVER(cuDoubleComplex, double, CUDA_C_64F, Z, un, he)
#undef TS_SOLVER
#undef TS_SOLVER_PAIR
#undef TS_SOLVER_ROUTINE

template <class T>
const Solver<T>& solver() {
  static const Solver<T> routines;
  return routines;
}

}  // namespace tessera::tensor::cuda
