// OpenBLAS, opened with dlopen at the first matrix product: start-up stays small, and a machine without it still works.
// It runs without threads of its own: products are cut here, and the process's one pool computes the slices (gemm.cpp).
#pragma once

#include <string>

namespace tessera::tensor::cpu {

// Row-major, as cblas.h numbers them.
enum : int { kRowMajor = 101, kNoTranspose = 111, kTranspose = 112 };

struct Blas {
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                         int);
  using Sgemv = void (*)(int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  using Dgemv = void (*)(int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
  /// Of complex64 and complex128; alpha and beta are numbers of that type.
  using ComplexGemm = void (*)(int, int, int, int, int, int, const void*, const void*, int, const void*, int,
                               const void*, void*, int);
  Sgemm sgemm = nullptr;
  Dgemm dgemm = nullptr;
  Sgemv sgemv = nullptr;
  Dgemv dgemv = nullptr;
  ComplexGemm cgemm = nullptr;
  ComplexGemm zgemm = nullptr;
  /// How many threads of the pool may be in the library for one product: OPENBLAS_NUM_THREADS, or what its buffers allow.
  int most_threads = 64;
  /// Whether other threads may be in the library at the same time: not where address space is limited.
  bool has_room = true;
  void* library = nullptr;  // for the routines that are looked up by name: lapack.h
  std::string core;         // the kernel family that runs: "SkylakeX"
  std::string version;      // "OpenBLAS 0.3.21"
  std::string problem;      // why there is none; then every pointer is null
};

/// Opened by the first call, by whichever thread; never closed.
const Blas& blas();

}  // namespace tessera::tensor::cpu
