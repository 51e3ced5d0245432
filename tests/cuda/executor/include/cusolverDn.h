// The part of cuSOLVER that the plugin uses: types, names and numbers as NVIDIA's documentation of version 12 gives them;
// functions as the executor defines them (cusolver.cpp).
#pragma once

#include "cublas_v2.h"

#define CUSOLVER_VER_MAJOR 12

enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_NOT_SUPPORTED = 9,
};
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 };
using cusolverDnHandle_t = struct cusolverDnContext*;
using cusolverDnParams_t = struct cusolverDnParams*;

// Of elements of type T, whose real parts are R; OR and SY are what LAPACK calls orthogonal and symmetric there.
#define TS_CUSOLVER(L, OR, SY, T, R)                                                                                   \
  cusolverStatus_t cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t uplo, int n, T* a, int lda,    \
                                                   int* size);                                                         \
  cusolverStatus_t cusolverDn##L##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda,        \
                                        T* work, int size, int* info);                                                 \
  cusolverStatus_t cusolverDn##L##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int k, const T* a,    \
                                        int lda, T* b, int ldb, int* info);                                            \
  cusolverStatus_t cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t, int m, int n, T* a, int lda, int* size);        \
  cusolverStatus_t cusolverDn##L##getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* work, int* pivots,  \
                                        int* info);                                                                    \
  cusolverStatus_t cusolverDn##L##getrs(cusolverDnHandle_t handle, cublasOperation_t op, int n, int k, const T* a,     \
                                        int lda, const int* pivots, T* b, int ldb, int* info);                         \
  cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t, int m, int n, T* a, int lda, int* size);        \
  cusolverStatus_t cusolverDn##L##geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* tau, T* work,       \
                                        int size, int* info);                                                          \
  cusolverStatus_t cusolverDn##L##OR##gqr_bufferSize(cusolverDnHandle_t, int m, int n, int k, const T* a, int lda,     \
                                                     const T* tau, int* size);                                         \
  cusolverStatus_t cusolverDn##L##OR##gqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, const T* tau, \
                                          T* work, int size, int* info);                                               \
  cusolverStatus_t cusolverDn##L##OR##mqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t side, cublasOperation_t op,  \
                                                     int m, int n, int k, const T* a, int lda, const T* tau,           \
                                                     const T* c, int ldc, int* size);                                  \
  cusolverStatus_t cusolverDn##L##OR##mqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op,      \
                                          int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc,       \
                                          T* work, int size, int* info);                                               \
  cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t, int m, int n, int* size);                       \
  cusolverStatus_t cusolverDn##L##gesvd(cusolverDnHandle_t handle, signed char job_u, signed char job_v, int m, int n, \
                                        T* a, int lda, R* s, T* u, int ldu, T* v, int ldv, T* work, int size,          \
                                        R* real_work, int* info);                                                      \
  cusolverStatus_t cusolverDn##L##SY##evd_bufferSize(cusolverDnHandle_t, cusolverEigMode_t job, cublasFillMode_t uplo, \
                                                     int n, const T* a, int lda, const R* w, int* size);               \
  cusolverStatus_t cusolverDn##L##SY##evd(cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo,     \
                                          int n, T* a, int lda, R* w, T* work, int size, int* info);                   \
  cusolverStatus_t cusolverDn##L##sytrf_bufferSize(cusolverDnHandle_t, int n, T* a, int lda, int* size);               \
  cusolverStatus_t cusolverDn##L##sytrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda,        \
                                        int* pivots, T* work, int size, int* info);

extern "C" {
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
TS_CUSOLVER(S, or, sy, float, float)
TS_CUSOLVER(D, or, sy, double, double)
TS_CUSOLVER(C, un, he, cuComplex, float)
TS_CUSOLVER(Z, un, he, cuDoubleComplex, double)
cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t k,
                                             cudaDataType a_type, const void* a, int64_t lda, const int64_t* pivots,
                                             cudaDataType b_type, void* b, int64_t ldb, size_t* on_device,
                                             size_t* on_host);
cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t k,
                                  cudaDataType a_type, const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType b_type, void* b, int64_t ldb, void* work, size_t on_device,
                                  void* host_work, size_t on_host, int* info);
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                            cusolverEigMode_t left, cusolverEigMode_t right, int64_t n,
                                            cudaDataType a_type, const void* a, int64_t lda, cudaDataType w_type,
                                            const void* w, cudaDataType l_type, const void* l, int64_t ldl,
                                            cudaDataType r_type, const void* r, int64_t ldr, cudaDataType compute,
                                            size_t* on_device, size_t* on_host);
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t left,
                                 cusolverEigMode_t right, int64_t n, cudaDataType a_type, void* a, int64_t lda,
                                 cudaDataType w_type, void* w, cudaDataType l_type, void* l, int64_t ldl,
                                 cudaDataType r_type, void* r, int64_t ldr, cudaDataType compute, void* work,
                                 size_t on_device, void* host_work, size_t on_host, int* info);
}
