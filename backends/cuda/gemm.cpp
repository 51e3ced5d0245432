// Matrix products through cuBLAS, which is opened at the first one: loading it takes 0.2 s and 200 MB.
//
// cuBLAS is column-major. A row-major C = A B is, read column by column, Ct = Bt At: the same call with the operands
// exchanged and m and n too; nothing is copied. Sizes have 64 bits. float32 is computed in float32 (no TF32).
#include <cublas_v2.h>
#include <dlfcn.h>

#include <mutex>
#include <string>

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {
namespace {

struct Blas {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  // Written out: the header overloads the name for older compute types.
  using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t, int64_t, int64_t,
                                  const void*, const void*, cudaDataType_t, int64_t, long long, const void*,
                                  cudaDataType_t, int64_t, long long, const void*, void*, cudaDataType_t, int64_t,
                                  long long, int64_t, cublasComputeType_t, cublasGemmAlgo_t);
  Gemm gemm = nullptr;
  decltype(&cublasGetStatusString) status_text = nullptr;
  std::string problem;
};

Blas open_blas() {
  Blas blas;
  const std::string names[] = {"libcublas.so." + std::to_string(CUBLAS_VER_MAJOR), "libcublas.so",
                               "/usr/local/cuda/lib64/libcublas.so." + std::to_string(CUBLAS_VER_MAJOR)};
  void* library = nullptr;
  for (const std::string& name : names)
    if (library == nullptr) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    blas.problem = "cuBLAS could not be opened (" + names[0] + "): install the CUDA toolkit's libcublas";
    return blas;
  }
  blas.create = reinterpret_cast<decltype(blas.create)>(dlsym(library, "cublasCreate_v2"));
  blas.set_stream = reinterpret_cast<decltype(blas.set_stream)>(dlsym(library, "cublasSetStream_v2"));
  blas.gemm = reinterpret_cast<decltype(blas.gemm)>(dlsym(library, "cublasGemmStridedBatchedEx_64"));
  blas.status_text = reinterpret_cast<decltype(blas.status_text)>(dlsym(library, "cublasGetStatusString"));
  if (!blas.create || !blas.set_stream || !blas.gemm || !blas.status_text)
    blas.problem = "cuBLAS lacks a function that is needed";
  return blas;
}

const Blas& blas() {
  static const Blas opened = open_blas();
  if (!opened.problem.empty()) fail_with(TensorErrorKind::Runtime, opened.problem.c_str());
  return opened;
}

void check_status(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail_with(TensorErrorKind::Runtime,
            (std::string("CUDA error: ") + blas().status_text(status) + " when calling cuBLAS").c_str());
}

// A handle belongs to a thread and to the device that was current when it was made; the stream is the call's.
cublasHandle_t handle(const Launch& launch) {
  thread_local cublasHandle_t made[kMaxDevices] = {};
  cublasHandle_t& mine = made[index_of(launch.device)];
  if (mine == nullptr) check_status(blas().create(&mine));
  check_status(blas().set_stream(mine, static_cast<cudaStream_t>(launch.stream)));
  return mine;
}

struct Types {
  cudaDataType_t data;
  cublasComputeType_t compute;
};

Types types_of(DType dtype) {
  switch (dtype) {
    case DType::Float64: return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::Float16: return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case DType::BFloat16: return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case DType::Float32: return {CUDA_R_32F, CUBLAS_COMPUTE_32F};
    default: fail_with(TensorErrorKind::Runtime, "\"addmm_cuda\" not implemented for integers");
  }
}

void gemm(const GemmCall& call) {
  const Types types = types_of(call.dtype);
  const float alpha = float(call.alpha), beta = float(call.beta);
  const bool wide = call.dtype == DType::Float64;
  const void* scale = wide ? static_cast<const void*>(&call.alpha) : &alpha;
  const void* keep = wide ? static_cast<const void*>(&call.beta) : &beta;
  const Place place(call.launch);
  check_status(blas().gemm(handle(call.launch), call.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                           call.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, call.n, call.m, call.k, scale, call.b,
                           types.data, call.ldb, call.batch_b, call.a, types.data, call.lda, call.batch_a, keep, call.c,
                           types.data, call.ldc, call.batch_c, call.batch, types.compute, CUBLAS_GEMM_DEFAULT));
}

const CudaKernel<GemmCall> entry("mm", gemm);

}  // namespace
}  // namespace tessera::tensor::cuda
