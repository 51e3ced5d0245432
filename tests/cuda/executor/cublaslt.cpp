// cuBLASLt's products by their definition. What a GPU would answer with garbage ends the process here: an operand that is
// too short for its layout or on another device, an address that is aligned less than the algorithm was chosen for, a
// workspace that is too small.
#include <complex>
#include <cstring>
#include <vector>

#include "cublasLt.h"
#include "libraries.h"
#include "runtime/half.h"

using namespace tessera_executor;
using tessera::tensor::BFloat16;
using tessera::tensor::Half;

struct cublasLtContext {
  int device;
};
struct cublasLtMatrixLayoutOpaque {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t ld;
  int32_t batch = 1;
  int64_t step = 0;
};
struct cublasLtMatmulDescOpaque {
  cublasComputeType_t compute;
  cudaDataType scale;
  cublasOperation_t transposes[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  int32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  cudaDataType bias_type = CUDA_R_32F;
};
struct cublasLtMatmulPreferenceOpaque {
  uint64_t workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignments[4] = {256, 256, 256, 256};
};

namespace {

using Layout = cublasLtMatrixLayoutOpaque;

size_t bytes_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_32F: return 4;
    case CUDA_C_64F: return 16;
    default: return 8;
  }
}

/// The algorithm's own data: what it was chosen for.
struct Chosen {
  uint32_t alignments[4];
  uint64_t workspace;
};
static_assert(sizeof(Chosen) <= sizeof(cublasLtMatmulAlgo_t));

struct Product {
  cublasLtMatmulDescOpaque desc;
  Layout a_layout, b_layout, c_layout, d_layout;
  const void *a, *b, *c;
  void *d, *workspace;
  size_t workspace_bytes;
  alignas(16) char alpha[16], beta[16];
  int device;
  bool is_tf32;

  void run() const {
    const auto reach = [](const Layout& l) {
      if (l.rows == 0 || l.columns == 0) return size_t(0);
      const uint64_t one = (l.columns - 1) * uint64_t(l.ld) + l.rows;
      return size_t((uint64_t(l.batch - 1) * uint64_t(l.step) + one) * bytes_of(l.type));
    };
    check_block("cuBLASLt", "A", a, reach(a_layout), device);
    check_block("cuBLASLt", "B", b, reach(b_layout), device);
    check_block("cuBLASLt", "D", d, reach(d_layout), device);
    if (desc.epilogue & CUBLASLT_EPILOGUE_BIAS)
      check_block("cuBLASLt", "the bias", desc.bias, d_layout.rows * bytes_of(desc.bias_type), device);
    check_block("cuBLASLt", "the workspace", workspace, workspace_bytes, device);
    std::memset(workspace, 0xee, workspace_bytes);  // its contents are nobody's
    switch (d_layout.type) {
      case CUDA_R_16F: return multiply<Half, float>();
      case CUDA_R_16BF: return multiply<BFloat16, float>();
      case CUDA_R_32F: return multiply<float, float>();
      case CUDA_R_64F: return multiply<double, double>();
      case CUDA_C_32F: return multiply<std::complex<float>, std::complex<float>>();
      case CUDA_C_64F: return multiply<std::complex<double>, std::complex<double>>();
    }
  }

 private:
  template <class S>
  S rounded(S x) const {
    if constexpr (std::is_same_v<S, float>) return is_tf32 ? as_tf32(x) : x;
    else return x;
  }

  // An operand as op(X), by columns, in the type of the sums.
  template <class T, class S>
  std::vector<S> operand(const void* data, const Layout& l, int32_t matrix, cublasOperation_t op) const {
    const T* x = static_cast<const T*>(data) + matrix * l.step;
    std::vector<S> out(l.rows * l.columns);
    for (uint64_t j = 0; j < l.columns; j++) {
      library_reads(x + int64_t(j) * l.ld, l.rows * sizeof(T));
      for (uint64_t i = 0; i < l.rows; i++) {
        S value = rounded(S(x[int64_t(j) * l.ld + int64_t(i)]));
        if constexpr (!std::is_floating_point_v<S>) value = op == CUBLAS_OP_C ? std::conj(value) : value;
        out[op == CUBLAS_OP_N ? j * l.rows + i : i * l.columns + j] = value;
      }
    }
    return out;
  }

  template <class T, class S>
  void multiply() const {
    const uint64_t m = d_layout.rows, n = d_layout.columns;
    const uint64_t k = desc.transposes[0] == CUBLAS_OP_N ? a_layout.columns : a_layout.rows;
    S by, keep;
    std::memcpy(&by, alpha, sizeof by);
    std::memcpy(&keep, beta, sizeof keep);
    std::vector<S> column(m);
    for (int32_t matrix = 0; matrix < d_layout.batch; matrix++) {
      const std::vector<S> left = operand<T, S>(a, a_layout, matrix, desc.transposes[0]);
      const std::vector<S> right = operand<T, S>(b, b_layout, matrix, desc.transposes[1]);
      for (uint64_t j = 0; j < n; j++) {
        std::fill(column.begin(), column.end(), S(0));
        for (uint64_t p = 0; p < k; p++) {
          const S factor = right[j * k + p];
          for (uint64_t i = 0; i < m; i++) column[i] += left[p * m + i] * factor;
        }
        finish<T, S>(matrix, int64_t(j), column, by, keep);
      }
    }
  }

  template <class T, class S>
  void finish(int32_t matrix, int64_t j, const std::vector<S>& column, S by, S keep) const {
    T* out = static_cast<T*>(d) + matrix * d_layout.step + j * d_layout.ld;
    const T* before = static_cast<const T*>(c) + matrix * c_layout.step + j * c_layout.ld;
    if (keep != S(0)) library_reads(before, column.size() * sizeof(T));
    if (desc.epilogue & CUBLASLT_EPILOGUE_BIAS) library_reads(desc.bias, column.size() * sizeof(T));
    library_writes(out, column.size() * sizeof(T));
    for (size_t i = 0; i < column.size(); i++) {
      S value = by * column[i];
      if (keep != S(0)) value += keep * S(before[i]);
      if (desc.epilogue & CUBLASLT_EPILOGUE_BIAS) value += S(static_cast<const T*>(desc.bias)[i]);
      if constexpr (std::is_floating_point_v<S>) {
        if (desc.epilogue & CUBLASLT_EPILOGUE_RELU) value = value > 0 || value != value ? value : S(0);
        if (desc.epilogue & CUBLASLT_EPILOGUE_GELU)
          value =
              S(0.5) * value * (1 + std::tanh(S(0.7978845608028654) * (value + S(0.044715) * value * value * value)));
      }
      out[i] = T(value);
    }
  }
};

template <class T>
cublasStatus_t take(T& field, const void* value, size_t bytes) {
  if (bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

// Which types go together, as the documentation's table says.
bool types_fit(const cublasLtMatmulDescOpaque& desc, cudaDataType type) {
  const bool single = desc.compute == CUBLAS_COMPUTE_32F || desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF: return desc.compute == CUBLAS_COMPUTE_32F && desc.scale == CUDA_R_32F;
    case CUDA_R_32F: return single && desc.scale == CUDA_R_32F;
    case CUDA_C_32F: return single && desc.scale == CUDA_C_32F;
    case CUDA_R_64F:
    case CUDA_C_64F: return desc.compute == CUBLAS_COMPUTE_64F && desc.scale == type;
  }
  return false;
}

bool same_shape(const Layout& a, const Layout& b) {
  return a.type == b.type && a.rows == b.rows && a.columns == b.columns && a.ld == b.ld && a.batch == b.batch;
}

// What both the search for an algorithm and the product refuse.
cublasStatus_t problem_of(const cublasLtMatmulDescOpaque& desc, const Layout& a, const Layout& b, const Layout& c,
                          const Layout& d) {
  for (const Layout* l : {&a, &b, &c, &d})
    if (l->type != d.type || l->ld < int64_t(l->rows) || l->batch != d.batch || l->batch < 1 || l->rows == 0 ||
        l->columns == 0)
      return CUBLAS_STATUS_INVALID_VALUE;
  if (!types_fit(desc, d.type)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool turn_a = desc.transposes[0] != CUBLAS_OP_N, turn_b = desc.transposes[1] != CUBLAS_OP_N;
  const uint64_t m = turn_a ? a.columns : a.rows, k = turn_a ? a.rows : a.columns;
  const uint64_t n = turn_b ? b.rows : b.columns, other_k = turn_b ? b.columns : b.rows;
  if (m != d.rows || n != d.columns || k != other_k || !same_shape(c, d)) return CUBLAS_STATUS_INVALID_VALUE;
  for (const Layout* l : {&a, &b, &d})
    if (l->rows > INT32_MAX || l->columns > INT32_MAX) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool complex = d.type == CUDA_C_32F || d.type == CUDA_C_64F;
  if (desc.epilogue != CUBLASLT_EPILOGUE_DEFAULT && (complex || desc.bias_type != d.type))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool activates = desc.epilogue & (CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_GELU);
  if (activates && d.type == CUDA_R_64F) return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext{current_device()};
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  *layout = new Layout{type, rows, columns, ld};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                size_t bytes) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return take(layout->batch, value, bytes);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return take(layout->step, value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  *desc = new cublasLtMatmulDescOpaque{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete desc;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return take(desc->transposes[0], value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return take(desc->transposes[1], value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return take(desc->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return take(desc->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return take(desc->bias_type, value, bytes);
    default: return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return take(preference->workspace, value, bytes);
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) return take(preference->reductions, value, bytes);
  const int which = attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  if (which < 0 || which > 3) return CUBLAS_STATUS_INVALID_VALUE;
  return take(preference->alignments[which], value, bytes);
}

// An algorithm that relies on all that it was told, and wants a workspace where a GPU's might split the sums.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* count) {
  *count = 0;
  if (handle->device != current_device()) violation("cuBLASLt: the handle belongs to another device");
  if (asked_fault("cublasLtMatmulAlgoGetHeuristic")) return CUBLAS_STATUS_NOT_SUPPORTED;
  const cublasStatus_t problem = problem_of(*desc, *a, *b, *c, *d);
  if (problem != CUBLAS_STATUS_SUCCESS || wanted < 1) return problem;
  Chosen chosen{};
  std::memcpy(chosen.alignments, preference->alignments, sizeof chosen.alignments);
  const uint64_t k = desc->transposes[0] == CUBLAS_OP_N ? a->columns : a->rows;
  if (preference->reductions & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE && k >= 64 && preference->workspace >= 1024)
    chosen.workspace = 1024;
  results[0] = {};
  std::memcpy(&results[0].algo, &chosen, sizeof chosen);
  results[0].workspaceSize = chosen.workspace;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  if (handle->device != current_device()) violation("cuBLASLt: the handle belongs to another device");
  const cublasStatus_t problem = problem_of(*desc, *a_layout, *b_layout, *c_layout, *d_layout);
  if (problem != CUBLAS_STATUS_SUCCESS) return problem;
  Chosen chosen;
  std::memcpy(&chosen, algo, sizeof chosen);
  const void* const operands[] = {a, b, c, d};
  for (int i = 0; i < 4; i++)
    if (uintptr_t(operands[i]) % chosen.alignments[i] != 0)
      violation("cuBLASLt: an operand is aligned less than the algorithm was chosen for");
  if (workspace_bytes < chosen.workspace) violation("cuBLASLt: the workspace is smaller than the algorithm's");
  if (c != d && c_layout->step != d_layout->step) return CUBLAS_STATUS_INVALID_VALUE;
  Product product{*desc,
                  *a_layout,
                  *b_layout,
                  *c_layout,
                  *d_layout,
                  a,
                  b,
                  c,
                  d,
                  workspace,
                  workspace_bytes,
                  {},
                  {},
                  handle->device,
                  desc->compute == CUBLAS_COMPUTE_32F_FAST_TF32 && allows_tf32()};
  const size_t scale = bytes_of(desc->scale);
  std::memcpy(product.alpha, alpha, scale);
  std::memcpy(product.beta, beta, scale);
  queue_work("cublasLtMatmul", stream, product);
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"

namespace {
const StandIn cublaslt("libcublasLt.so", {
                                             TS_STAND_IN(cublasLtCreate),
                                             TS_STAND_IN(cublasLtGetStatusString),
                                             TS_STAND_IN(cublasLtMatmul),
                                             TS_STAND_IN(cublasLtMatmulAlgoGetHeuristic),
                                             TS_STAND_IN(cublasLtMatmulDescCreate),
                                             TS_STAND_IN(cublasLtMatmulDescDestroy),
                                             TS_STAND_IN(cublasLtMatmulDescSetAttribute),
                                             TS_STAND_IN(cublasLtMatmulPreferenceCreate),
                                             TS_STAND_IN(cublasLtMatmulPreferenceDestroy),
                                             TS_STAND_IN(cublasLtMatmulPreferenceSetAttribute),
                                             TS_STAND_IN(cublasLtMatrixLayoutCreate),
                                             TS_STAND_IN(cublasLtMatrixLayoutDestroy),
                                             TS_STAND_IN(cublasLtMatrixLayoutSetAttribute),
                                         });
}  // namespace
