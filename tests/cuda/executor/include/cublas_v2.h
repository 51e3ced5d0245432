// The part of cuBLAS that the plugin uses beside cuBLASLt: triangular solves (defined in cusolver.cpp).
#pragma once

#include "cublasLt.h"
#include "cuda_runtime.h"

using cuComplex = float2;
using cuDoubleComplex = double2;
using cublasHandle_t = struct cublasContext*;

#define TS_TRSM(NAME, T)                                                                                         \
  cublasStatus_t NAME(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, \
                      cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int lda, T* b, int ldb)
extern "C" {
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
const char* cublasGetStatusString(cublasStatus_t status);
TS_TRSM(cublasStrsm_v2, float);
TS_TRSM(cublasDtrsm_v2, double);
TS_TRSM(cublasCtrsm_v2, cuComplex);
TS_TRSM(cublasZtrsm_v2, cuDoubleComplex);
}
#undef TS_TRSM
