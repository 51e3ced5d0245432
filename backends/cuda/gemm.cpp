// Matrix products through cuBLASLt.
//
// The library is column-major. A row-major C = A B is, read column by column, Ct = Bt At: the same call with the operands
// exchanged and m and n too; nothing is copied. A number for each column of C is then one for each row of Ct, which is what
// the library's bias is. Sizes have 64 bits. Halves are added up in float32; float32 is computed as TF32 only where the call
// allows it. Sums that are split over blocks are added in the type of the computation and in a fixed order.
//
// Finding an algorithm takes some microseconds of the host, so what was found is kept for the shape, in each thread: a
// program's shapes come again.
#include "backends/cuda/gemm.h"

#include <cublasLt.h>

#include <climits>
#include <cstring>
#include <memory>
#include <mutex>

#include "backends/cuda/kept_by_shape.h"
#include "backends/cuda/library.h"
#include "backends/cuda/scratch.h"

namespace tessera::tensor::cuda {
namespace {

struct Lt {
  Library library{"cuBLASLt", "libcublasLt.so", CUBLAS_VER_MAJOR};
  TS_FUNCTION(cublasLtCreate)
  TS_FUNCTION(cublasLtGetStatusString)
  TS_FUNCTION(cublasLtMatmul)
  TS_FUNCTION(cublasLtMatmulAlgoGetHeuristic)
  TS_FUNCTION(cublasLtMatmulDescCreate)
  TS_FUNCTION(cublasLtMatmulDescDestroy)
  TS_FUNCTION(cublasLtMatmulDescSetAttribute)
  TS_FUNCTION(cublasLtMatmulPreferenceCreate)
  TS_FUNCTION(cublasLtMatmulPreferenceDestroy)
  TS_FUNCTION(cublasLtMatmulPreferenceSetAttribute)
  TS_FUNCTION(cublasLtMatrixLayoutCreate)
  TS_FUNCTION(cublasLtMatrixLayoutDestroy)
  TS_FUNCTION(cublasLtMatrixLayoutSetAttribute)
};
const Lt& lt() {
  static const Lt functions;
  return functions;
}

void check_status(cublasStatus_t status, const char* function) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail_library(lt().cublasLtGetStatusString(status), function);
}

// One for each device, made while it is current; cuBLASLt's handles have no settings and serve all threads.
cublasLtHandle_t handle(Device device) {
  static cublasLtHandle_t made[kMaxDevices] = {};
  static std::mutex lock;
  const std::lock_guard guard(lock);
  cublasLtHandle_t& mine = made[index_of(device)];
  if (mine == nullptr) check_status(lt().cublasLtCreate(&mine), "cublasLtCreate");
  return mine;
}

struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};
Types types_of(DType dtype, bool tf32) {
  const cublasComputeType_t single = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  switch (dtype) {
    case DType::Float64: return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::Complex64: return {CUDA_C_32F, CUDA_C_32F, single};
    case DType::Complex128: return {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    case DType::Float16: return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::BFloat16: return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    default: return {CUDA_R_32F, CUDA_R_32F, single};
  }
}

/// alpha or beta in the type of the scale, in host memory.
struct Factor {
  alignas(16) char bytes[16] = {};
  Factor(double value, DType dtype) {
    const float single = float(value);
    if (dtype == DType::Float64 || dtype == DType::Complex128) std::memcpy(bytes, &value, sizeof value);
    else std::memcpy(bytes, &single, sizeof single);  // the imaginary part stays 0
  }
};

/// What an algorithm depends on. All of it is integers, without gaps, so that it is compared and hashed as bytes.
struct Key {
  int64_t m, n, k, lda, ldb, ldc, batch_a, batch_b, batch_c, batch;
  int32_t device, dtype, transposes, tf32, bias, epilogue, alignments[4];
};

// The largest power of two, up to 256, that the address is a multiple of.
int32_t alignment_of(const void* address) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address) | 256;
  return int32_t(at & (~at + 1));
}

Key key_of(const GemmCall& c, const void* bias, Epilogue epilogue) {
  return {c.m,
          c.n,
          c.k,
          c.lda,
          c.ldb,
          c.ldc,
          c.batch_a,
          c.batch_b,
          c.batch_c,
          c.batch,
          index_of(c.launch.device),
          int32_t(c.dtype),
          c.transpose_a * 2 + c.transpose_b,
          c.tf32,
          bias != nullptr,
          int32_t(epilogue),
          {alignment_of(c.a), alignment_of(c.b), alignment_of(c.c), alignment_of(bias)}};
}

/// What an algorithm may use and rely on.
struct Preference {
  cublasLtMatmulPreference_t made = nullptr;
  Preference() { check_status(lt().cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate"); }
  ~Preference() { lt().cublasLtMatmulPreferenceDestroy(made); }
  Preference(const Preference&) = delete;
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    check_status(lt().cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof value),
                 "cublasLtMatmulPreferenceSetAttribute");
  }
};

cublasLtEpilogue_t with_bias(Epilogue epilogue) {
  return epilogue == Epilogue::Relu       ? CUBLASLT_EPILOGUE_RELU_BIAS
         : epilogue == Epilogue::GeluTanh ? CUBLASLT_EPILOGUE_GELU_BIAS
                                          : CUBLASLT_EPILOGUE_BIAS;
}

/// A call's description for the library and the algorithm for it.
class Recipe {
 public:
  Recipe(const GemmCall& c, const void* bias, Epilogue epilogue) {
    const Types types = types_of(c.dtype, c.tf32);
    check_status(lt().cublasLtMatmulDescCreate(&operation_, types.compute, types.scale), "cublasLtMatmulDescCreate");
    const cublasOperation_t first = c.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                            second = c.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    set(CUBLASLT_MATMUL_DESC_TRANSA, first);
    set(CUBLASLT_MATMUL_DESC_TRANSB, second);
    if (bias != nullptr) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, with_bias(epilogue));
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, types.data);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    }
    layout(a_, types.data, c.n, c.k, c.transpose_b, c.ldb, c.batch, c.batch_b);
    layout(b_, types.data, c.k, c.m, c.transpose_a, c.lda, c.batch, c.batch_a);
    layout(c_, types.data, c.n, c.m, false, c.ldc, c.batch, c.batch_c);
    choose(c);
  }
  ~Recipe() {
    for (const cublasLtMatrixLayout_t made : {a_, b_, c_})
      if (made != nullptr) lt().cublasLtMatrixLayoutDestroy(made);
    if (operation_ != nullptr) lt().cublasLtMatmulDescDestroy(operation_);
  }
  Recipe(const Recipe&) = delete;

  bool found() const { return found_; }

  void run(const GemmCall& c, const void* bias, const Place& place) {
    if (bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    const Scratch workspace(c.launch, choice_.workspaceSize);
    const Factor alpha(c.alpha, c.dtype), beta(c.beta, c.dtype);
    check_status(
        lt().cublasLtMatmul(handle(c.launch.device), operation_, alpha.bytes, c.b, a_, c.a, b_, beta.bytes, c.c, c_,
                            c.c, c_, &choice_.algo, workspace.get(), choice_.workspaceSize, place.stream()),
        "cublasLtMatmul");
  }

 private:
  // What Hopper's algorithms want at most; taken from the stream's pool only as far as the algorithm uses it.
  static constexpr size_t kWorkspace = size_t(32) << 20;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    check_status(lt().cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof value),
                 "cublasLtMatmulDescSetAttribute");
  }

  static void layout(cublasLtMatrixLayout_t& out, cudaDataType_t type, int64_t rows, int64_t columns, bool transposed,
                     int64_t ld, int64_t batch, int64_t step) {
    if (transposed) std::swap(rows, columns);
    check_status(lt().cublasLtMatrixLayoutCreate(&out, type, uint64_t(rows), uint64_t(columns), ld),
                 "cublasLtMatrixLayoutCreate");
    if (batch == 1) return;
    const int32_t count = int32_t(batch);
    check_status(lt().cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                 "cublasLtMatrixLayoutSetAttribute");
    check_status(
        lt().cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step),
        "cublasLtMatrixLayoutSetAttribute");
  }

  void choose(const GemmCall& c) {
    Preference preference;
    preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
    preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t(alignment_of(c.b)));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, uint32_t(alignment_of(c.a)));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, uint32_t(alignment_of(c.c)));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, uint32_t(alignment_of(c.c)));
    int count = 0;
    const cublasStatus_t status = lt().cublasLtMatmulAlgoGetHeuristic(handle(c.launch.device), operation_, a_, b_, c_,
                                                                      c_, preference.made, 1, &choice_, &count);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) check_status(status, "cublasLtMatmulAlgoGetHeuristic");
    found_ = status == CUBLAS_STATUS_SUCCESS && count > 0 && choice_.state == CUBLAS_STATUS_SUCCESS;
  }

  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulHeuristicResult_t choice_ = {};
  bool found_ = false;
};

Recipe& recipe_for(const GemmCall& c, const void* bias, Epilogue epilogue) {
  thread_local KeptByShape<Key, Recipe> kept(4096);
  const Key key = key_of(c, bias, epilogue);
  Recipe* const known = kept.find(key);
  return known != nullptr ? *known : kept.keep(key, std::make_unique<Recipe>(c, bias, epilogue));
}

void multiply_batch(const GemmCall& c, const void* bias, Epilogue epilogue, const Place& place) {
  Recipe& recipe = recipe_for(c, bias, epilogue);
  if (recipe.found()) recipe.run(c, bias, place);
  else multiply_plainly(c, bias, epilogue);
}

const char* past(const void* base, int64_t elements, DType dtype) {
  return static_cast<const char*>(base) + elements * int64_t(element_size(dtype));
}

}  // namespace

void multiply(const GemmCall& call, const void* bias, Epilogue epilogue) {
  if (call.m == 0 || call.n == 0 || call.batch == 0) return;
  const Place place(call.launch);
  // A row of one matrix or a column of it needs no step, but the library wants one that would do.
  GemmCall c = call;
  c.lda = std::max(c.lda, c.transpose_a ? c.m : c.k);
  c.ldb = std::max(c.ldb, c.transpose_b ? c.k : c.n);
  if (c.batch == 1) c.batch_a = c.batch_b = c.batch_c = 0;  // of one matrix it says nothing, and shapes are compared
  // The library counts matrices with 32 bits.
  for (int64_t begin = 0; begin < call.batch; begin += INT_MAX) {
    c.batch = std::min<int64_t>(call.batch - begin, INT_MAX);
    c.a = past(call.a, begin * call.batch_a, c.dtype);
    c.b = past(call.b, begin * call.batch_b, c.dtype);
    c.c = const_cast<char*>(past(call.c, begin * call.batch_c, c.dtype));
    multiply_batch(c, bias, epilogue, place);
  }
}

namespace {

void mm(const GemmCall& call) { multiply(call); }

void linear(const LinearCall& call) {
  GemmCall product = call.product;
  product.alpha = 1;
  product.beta = 0;
  product.launch = call.launch;
  multiply(product, call.bias, call.epilogue);
}

const CudaKernel<GemmCall> entry("mm", mm);
const CudaKernel<LinearCall> linear_entry("linear", linear);

}  // namespace
}  // namespace tessera::tensor::cuda
