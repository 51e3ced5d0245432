// cuDNN's convolutions by their definition. What the library itself would refuse gets its status; what a GPU would answer with
// garbage ends the process: an operand of another device or too short, a workspace that nobody asked the size of, an algorithm
// that was measured while a graph is captured.
//
// What is offered is in the order in which it looks good: first algorithms that no shape here has, that add up in another order
// each time, or that want more memory than there is. Each adds the taps of a window up from another one on, so that the bits
// tell which one it was.
#include "cudnn.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "libraries.h"
#include "runtime/half.h"

using namespace tessera_executor;
using tessera::tensor::BFloat16;
using tessera::tensor::Half;

struct cudnnContext {
  int device;
  cudaStream_t stream = nullptr;
  bool has_stream = false;
};
struct cudnnTensorStruct {
  cudnnTensorFormat_t format;
  cudnnDataType_t type;
  int64_t n = 0, c, h, w;  // of a filter n is the outputs

  bool is_set() const { return n > 0; }
  int64_t numel() const { return n * c * h * w; }
  int64_t at(int64_t i, int64_t channel, int64_t y, int64_t x) const {
    return format == CUDNN_TENSOR_NHWC ? ((i * h + y) * w + x) * c + channel : ((i * c + channel) * h + y) * w + x;
  }
};
struct cudnnFilterStruct : cudnnTensorStruct {};
struct cudnnConvolutionStruct {
  int pad[2], stride[2] = {0, 0}, dilation[2];
  cudnnDataType_t compute;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  std::set<int> asked;  // algorithms whose workspace was asked for since the last change: pass * 16 + algorithm
};

namespace {

using Tensor = cudnnTensorStruct;
using How = cudnnConvolutionStruct;
enum Pass { kForward, kData, kFilter };
const char* const kNames[] = {"cudnnConvolutionForward", "cudnnConvolutionBackwardData",
                              "cudnnConvolutionBackwardFilter"};

size_t bytes_of(cudnnDataType_t type) { return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2; }

/// An algorithm of a pass; `first` says in which turn it is offered.
struct Algorithm {
  int number;
  bool deterministic;
  enum Needs { Nothing, Scratch, Mountains, AnotherShape } needs;
};
constexpr Algorithm kAlgorithms[3][4] = {{{CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, true, Algorithm::AnotherShape},
                                          {CUDNN_CONVOLUTION_FWD_ALGO_FFT, true, Algorithm::Mountains},
                                          {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, true, Algorithm::Scratch},
                                          {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, true, Algorithm::Nothing}},
                                         {{CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, false, Algorithm::Nothing},
                                          {CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, true, Algorithm::AnotherShape},
                                          {CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, true, Algorithm::Mountains},
                                          {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, true, Algorithm::Scratch}},
                                         {{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, false, Algorithm::Nothing},
                                          {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, false, Algorithm::Scratch},
                                          {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT, true, Algorithm::Mountains},
                                          {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, true, Algorithm::Scratch}}};
const Algorithm* find_algorithm(Pass pass, int number) {
  for (const Algorithm& a : kAlgorithms[pass])
    if (a.number == number) return &a;
  return nullptr;
}
size_t workspace_of(const Algorithm& a) {
  return a.needs == Algorithm::Scratch ? 1000 : a.needs == Algorithm::Mountains ? size_t(1) << 50 : 0;
}

/// A convolution with its operands: the pass says which of them is written.
struct Work {
  Pass pass;
  int algorithm, turn;
  Tensor x_desc, w_desc, y_desc;
  int pad[2], stride[2], dilation[2], groups;
  bool tf32;
  const void* operands[3];  // x, w, y
  void* workspace;
  size_t workspace_bytes;
  double alpha, beta;
  int device;

  void run() const {
    const Tensor* const descs[] = {&x_desc, &w_desc, &y_desc};
    const char* const names[] = {"the image", "the filter", "the result"};
    for (int k = 0; k < 3; k++)
      check_block("cuDNN", names[k], operands[k], size_t(descs[k]->numel()) * bytes_of(x_desc.type), device);
    check_block("cuDNN", "the workspace", workspace, workspace_bytes, device);
    if (workspace_bytes > 0) {
      library_writes(workspace, workspace_bytes);
      std::memset(workspace, 0xee, workspace_bytes);  // its contents are nobody's
    }
    switch (x_desc.type) {
      case CUDNN_DATA_HALF: return convolve<Half, float>();
      case CUDNN_DATA_BFLOAT16: return convolve<BFloat16, float>();
      case CUDNN_DATA_FLOAT: return convolve<float, float>();
      case CUDNN_DATA_DOUBLE: return convolve<double, double>();
    }
  }

 private:
  template <class T, class S>
  std::vector<S> read(const void* data, const Tensor& desc) const {
    const T* const x = static_cast<const T*>(data);
    library_reads(x, size_t(desc.numel()) * sizeof(T));
    std::vector<S> out(size_t(desc.numel()));
    for (size_t i = 0; i < out.size(); i++) {
      out[i] = S(x[i]);
      if constexpr (std::is_same_v<T, float>)
        if (tf32) out[i] = as_tf32(out[i]);
    }
    return out;
  }

  template <class T, class S>
  void convolve() const {
    const Tensor* const descs[] = {&x_desc, &w_desc, &y_desc};
    const int target = pass == kForward ? 2 : pass == kData ? 0 : 1;
    std::vector<S> values[3];
    for (int k = 0; k < 3; k++)
      if (k == target) values[k].assign(size_t(descs[k]->numel()), S(0));
      else values[k] = read<T, S>(operands[k], *descs[k]);
    add_up(values[0], values[1], values[2]);
    T* const out = static_cast<T*>(const_cast<void*>(operands[target]));
    if (beta != 0) library_reads(out, values[target].size() * sizeof(T));
    library_writes(out, values[target].size() * sizeof(T));
    for (size_t i = 0; i < values[target].size(); i++) {
      S value = S(alpha) * values[target][i];
      if (beta != 0) value += S(beta) * S(out[i]);
      out[i] = T(value);
    }
  }

  // Every product once: y += x w, x += y w or w += x y, tap by tap.
  template <class S>
  void add_up(std::vector<S>& x, std::vector<S>& w, std::vector<S>& y) const {
    const int64_t taps = w_desc.h * w_desc.w, outputs = w_desc.n / groups;
    for (int64_t t = 0; t < taps; t++) {
      const int64_t tap = (t + turn) % taps, i = tap / w_desc.w, j = tap % w_desc.w;
      for (int64_t n = 0; n < x_desc.n; n++)
        for (int64_t row = 0; row < y_desc.h; row++) {
          const int64_t in_row = row * stride[0] - pad[0] + i * dilation[0];
          if (in_row < 0 || in_row >= x_desc.h) continue;
          for (int64_t column = 0; column < y_desc.w; column++) {
            const int64_t in_column = column * stride[1] - pad[1] + j * dilation[1];
            if (in_column < 0 || in_column >= x_desc.w) continue;
            for (int64_t k = 0; k < w_desc.n; k++) {
              S& result = y[size_t(y_desc.at(n, k, row, column))];
              for (int64_t c = 0; c < w_desc.c; c++) {
                S& pixel = x[size_t(x_desc.at(n, k / outputs * w_desc.c + c, in_row, in_column))];
                S& factor = w[size_t(w_desc.at(k, c, i, j))];
                if (pass == kForward) result += pixel * factor;
                else if (pass == kData) pixel += result * factor;
                else factor += pixel * result;
              }
            }
          }
        }
    }
  }
};

/// The arguments that describe a convolution, whatever the pass calls them.
struct Problem {
  Pass pass;
  cudnnHandle_t handle;
  const Tensor *x, *w, *y;
  How* how;

  // As the documentation lists for all three.
  cudnnStatus_t status() const {
    if (handle == nullptr || x == nullptr || w == nullptr || y == nullptr || how == nullptr)
      return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    if (handle->device != current_device()) violation("cuDNN: the handle belongs to another device");
    if (!x->is_set() || !w->is_set() || !y->is_set() || how->stride[0] == 0) return CUDNN_STATUS_BAD_PARAM;
    if (x->type != w->type || x->type != y->type) return CUDNN_STATUS_BAD_PARAM;
    if (how->compute != (x->type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
      return CUDNN_STATUS_NOT_SUPPORTED;
    if (x->n != y->n || x->c != w->c * how->groups || w->n % how->groups != 0 || y->c != w->n)
      return CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH;
    const int64_t in[] = {x->h, x->w}, kernel[] = {w->h, w->w}, out[] = {y->h, y->w};
    for (int d = 0; d < 2; d++) {
      const int64_t rest = in[d] + 2 * how->pad[d] - (how->dilation[d] * (kernel[d] - 1) + 1);
      if (rest < 0 || rest / how->stride[d] + 1 != out[d]) return CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH;
    }
    if (w->format != x->format || w->format != y->format) return CUDNN_STATUS_NOT_SUPPORTED_LAYOUT;
    if (w->format == CUDNN_TENSOR_NHWC && x->type == CUDNN_DATA_DOUBLE) return CUDNN_STATUS_NOT_SUPPORTED_LAYOUT;
    return CUDNN_STATUS_SUCCESS;
  }

  cudnnStatus_t status_of(const Algorithm& a) const {
    return a.needs == Algorithm::AnotherShape ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
  }
};

// A status that was asked for as an error of the runtime's: 801 is "not supported".
cudnnStatus_t asked_status(const char* function) {
  const cudaError_t asked = asked_fault(function);
  if (asked == cudaSuccess) return CUDNN_STATUS_SUCCESS;
  return asked == cudaErrorNotSupported ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_EXECUTION_FAILED;
}

template <class Result>
void describe(Result& out, const Problem& p, const Algorithm& a, float time) {
  out = {};
  out.algo = decltype(out.algo)(a.number);
  out.status = p.status_of(a);
  out.time = out.status == CUDNN_STATUS_SUCCESS ? time : -1;
  out.memory = workspace_of(a);
  out.determinism = a.deterministic ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
  out.mathType = p.how->math;
}

template <class Result>
cudnnStatus_t guess(const char* function, const Problem& p, int wanted, int* count, Result* results) {
  *count = 0;
  if (const cudnnStatus_t asked = asked_status(function)) return asked;
  if (const cudnnStatus_t problem = p.status()) return problem;
  if (wanted < 1) return CUDNN_STATUS_BAD_PARAM;
  for (const Algorithm& a : kAlgorithms[p.pass])
    if (*count < wanted) describe(results[(*count)++], p, a, -1);
  return CUDNN_STATUS_SUCCESS;
}

Work work_of(const Problem& p, const Algorithm& a, const void* const (&operands)[3], void* workspace, double alpha,
             double beta) {
  static int turns = 0;
  const How& how = *p.how;
  Work work{p.pass,
            a.number,
            a.deterministic ? a.number : ++turns,
            *p.x,
            *p.w,
            *p.y,
            {how.pad[0], how.pad[1]},
            {how.stride[0], how.stride[1]},
            {how.dilation[0], how.dilation[1]},
            how.groups,
            p.x->type == CUDNN_DATA_FLOAT && how.math != CUDNN_FMA_MATH && allows_tf32(),
            {operands[0], operands[1], operands[2]},
            workspace,
            workspace_of(a),
            alpha,
            beta,
            p.handle->device};
  return work;
}

// What all that compute ask of the operands.
void check_operands(const Problem& p, const void* const (&operands)[3], const void* workspace) {
  if (!p.handle->has_stream) violation("cuDNN: the handle was given no stream");
  const size_t wanted = p.how->math == CUDNN_TENSOR_OP_MATH ? 16 : bytes_of(p.x->type);
  for (const void* operand : operands)
    if (uintptr_t(operand) % wanted != 0) violation("cuDNN: an operand is aligned less than its kernels rely on");
  if (uintptr_t(workspace) % 16 != 0) violation("cuDNN: the workspace is not aligned");
}

// Runs each on the operands themselves and waits. The one that was offered last is the fastest.
template <class Result>
cudnnStatus_t measure(const char* function, const Problem& p, const void* const (&operands)[3], int wanted, int* count,
                      Result* results, void* workspace, size_t bytes) {
  *count = 0;
  if (const cudnnStatus_t asked = asked_status(function)) return asked;
  if (const cudnnStatus_t problem = p.status()) return problem;
  if (wanted < 1) return CUDNN_STATUS_BAD_PARAM;
  check_operands(p, operands, workspace);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (p.handle->stream != nullptr) cudaStreamIsCapturing(p.handle->stream, &capture);
  if (capture != cudaStreamCaptureStatusNone) violation(std::string(function) + " waits, which a capture forbids");
  std::vector<Result> found;
  float time = 1;
  for (const Algorithm& a : kAlgorithms[p.pass]) {
    if (int(found.size()) == wanted) break;
    describe(found.emplace_back(), p, a, time /= 2);
    if (found.back().status != CUDNN_STATUS_SUCCESS) continue;
    if (workspace_of(a) > bytes) found.back().status = CUDNN_STATUS_INTERNAL_ERROR, found.back().time = -1;
    else queue_work(function, p.handle->stream, work_of(p, a, operands, workspace, 1, 0));
  }
  if (cudaStreamSynchronize(p.handle->stream) != cudaSuccess) return CUDNN_STATUS_EXECUTION_FAILED;
  std::stable_sort(found.begin(), found.end(), [](const Result& a, const Result& b) {
    const bool a_ran = a.status == CUDNN_STATUS_SUCCESS, b_ran = b.status == CUDNN_STATUS_SUCCESS;
    return a_ran != b_ran ? a_ran : a.time < b.time;
  });
  std::copy(found.begin(), found.end(), results);
  *count = int(found.size());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t ask_workspace(const Problem& p, int number, size_t* bytes) {
  if (const cudnnStatus_t problem = p.status()) return problem;
  const Algorithm* a = find_algorithm(p.pass, number);
  if (a == nullptr || p.status_of(*a) != CUDNN_STATUS_SUCCESS) return CUDNN_STATUS_NOT_SUPPORTED;
  p.how->asked.insert(p.pass * 16 + number);
  *bytes = workspace_of(*a);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t compute(const Problem& p, int number, const void* const (&operands)[3], void* workspace, size_t bytes,
                      const void* alpha, const void* beta) {
  if (const cudnnStatus_t asked = asked_status(kNames[p.pass])) return asked;
  if (const cudnnStatus_t problem = p.status()) return problem;
  if (alpha == nullptr || beta == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  const Algorithm* a = find_algorithm(p.pass, number);
  if (a == nullptr || p.status_of(*a) != CUDNN_STATUS_SUCCESS) return CUDNN_STATUS_NOT_SUPPORTED;
  check_operands(p, operands, workspace);
  if (p.how->asked.count(p.pass * 16 + number) == 0)
    violation("cuDNN: nobody asked how large the algorithm's workspace has to be");
  if (bytes < workspace_of(*a)) violation("cuDNN: the workspace is smaller than the algorithm's");
  const auto factor = [&](const void* at) {
    return p.x->type == CUDNN_DATA_DOUBLE ? *static_cast<const double*>(at) : double(*static_cast<const float*>(at));
  };
  queue_work(kNames[p.pass], p.handle->stream, work_of(p, *a, operands, workspace, factor(alpha), factor(beta)));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t status_of_sizes(int64_t n, int64_t c, int64_t h, int64_t w) {
  if (n <= 0 || c <= 0 || h <= 0 || w <= 0) return CUDNN_STATUS_BAD_PARAM;
  return n * c <= INT32_MAX / h / w ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_NOT_INITIALIZED: return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_BAD_PARAM_NULL_POINTER: return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH: return "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH";
    case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_NOT_SUPPORTED_LAYOUT: return "CUDNN_STATUS_NOT_SUPPORTED_LAYOUT";
    case CUDNN_STATUS_INTERNAL_ERROR: return "CUDNN_STATUS_INTERNAL_ERROR";
    case CUDNN_STATUS_EXECUTION_FAILED: return "CUDNN_STATUS_EXECUTION_FAILED";
  }
  return "CUDNN_UNKNOWN_STATUS";
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (asked_fault("cudnnCreate")) return CUDNN_STATUS_NOT_INITIALIZED;
  *handle = new cudnnContext{current_device()};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  handle->stream = stream;
  handle->has_stream = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  *tensor = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  if (const cudnnStatus_t refused = status_of_sizes(n, c, h, w)) return refused;
  *tensor = {format, type, n, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  delete tensor;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter) {
  *filter = new cudnnFilterStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  return cudnnSetTensor4dDescriptor(filter, format, type, k, c, h, w);
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  delete filter;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* how) {
  *how = new How;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t how, int pad_h, int pad_w, int stride_h,
                                              int stride_w, int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute) {
  if (pad_h < 0 || pad_w < 0 || stride_h < 1 || stride_w < 1 || dilation_h < 1 || dilation_w < 1)
    return CUDNN_STATUS_BAD_PARAM;
  if (mode != CUDNN_CROSS_CORRELATION) return CUDNN_STATUS_NOT_SUPPORTED;
  *how = How{{pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}, compute, 1, CUDNN_DEFAULT_MATH, {}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t how, int groups) {
  if (groups < 1) return CUDNN_STATUS_BAD_PARAM;
  how->groups = groups;
  how->asked.clear();
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t how, cudnnMathType_t math) {
  if (math < CUDNN_DEFAULT_MATH || math > CUDNN_FMA_MATH) return CUDNN_STATUS_BAD_PARAM;
  if (how->math != math) how->asked.clear();
  how->math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t how) {
  delete how;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(cudnnHandle_t, int* count) {
  *count = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, const cudnnTensorDescriptor_t x_desc,
                                                     const cudnnFilterDescriptor_t w_desc,
                                                     const cudnnConvolutionDescriptor_t how,
                                                     const cudnnTensorDescriptor_t y_desc, const int wanted, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* results) {
  return guess(__func__, {kForward, handle, x_desc, w_desc, y_desc, how}, wanted, count, results);
}
cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle, const cudnnTensorDescriptor_t x_desc,
                                                     const void* x, const cudnnFilterDescriptor_t w_desc, const void* w,
                                                     const cudnnConvolutionDescriptor_t how,
                                                     const cudnnTensorDescriptor_t y_desc, void* y, const int wanted,
                                                     int* count, cudnnConvolutionFwdAlgoPerf_t* results,
                                                     void* workspace, size_t bytes) {
  return measure(__func__, {kForward, handle, x_desc, w_desc, y_desc, how}, {x, w, y}, wanted, count, results,
                 workspace, bytes);
}
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle, const cudnnTensorDescriptor_t x_desc,
                                                      const cudnnFilterDescriptor_t w_desc,
                                                      const cudnnConvolutionDescriptor_t how,
                                                      const cudnnTensorDescriptor_t y_desc,
                                                      cudnnConvolutionFwdAlgo_t algorithm, size_t* bytes) {
  return ask_workspace({kForward, handle, x_desc, w_desc, y_desc, how}, algorithm, bytes);
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x_desc,
                                      const void* x, const cudnnFilterDescriptor_t w_desc, const void* w,
                                      const cudnnConvolutionDescriptor_t how, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* workspace, size_t bytes, const void* beta,
                                      const cudnnTensorDescriptor_t y_desc, void* y) {
  return compute({kForward, handle, x_desc, w_desc, y_desc, how}, algorithm, {x, w, y}, workspace, bytes, alpha, beta);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(cudnnHandle_t, int* count) {
  *count = CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle, const cudnnFilterDescriptor_t w_desc,
                                                          const cudnnTensorDescriptor_t dy_desc,
                                                          const cudnnConvolutionDescriptor_t how,
                                                          const cudnnTensorDescriptor_t dx_desc, const int wanted,
                                                          int* count, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return guess(__func__, {kData, handle, dx_desc, w_desc, dy_desc, how}, wanted, count, results);
}
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w_desc, const void* w, const cudnnTensorDescriptor_t dy_desc,
    const void* dy, const cudnnConvolutionDescriptor_t how, const cudnnTensorDescriptor_t dx_desc, void* dx,
    const int wanted, int* count, cudnnConvolutionBwdDataAlgoPerf_t* results, void* workspace, size_t bytes) {
  return measure(__func__, {kData, handle, dx_desc, w_desc, dy_desc, how}, {dx, w, dy}, wanted, count, results,
                 workspace, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t handle, const cudnnFilterDescriptor_t w_desc,
                                                           const cudnnTensorDescriptor_t dy_desc,
                                                           const cudnnConvolutionDescriptor_t how,
                                                           const cudnnTensorDescriptor_t dx_desc,
                                                           cudnnConvolutionBwdDataAlgo_t algorithm, size_t* bytes) {
  return ask_workspace({kData, handle, dx_desc, w_desc, dy_desc, how}, algorithm, bytes);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           const cudnnFilterDescriptor_t w_desc, const void* w,
                                           const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           const cudnnConvolutionDescriptor_t how,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace, size_t bytes,
                                           const void* beta, const cudnnTensorDescriptor_t dx_desc, void* dx) {
  return compute({kData, handle, dx_desc, w_desc, dy_desc, how}, algorithm, {dx, w, dy}, workspace, bytes, alpha, beta);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(cudnnHandle_t, int* count) {
  *count = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle, const cudnnTensorDescriptor_t x_desc,
                                                            const cudnnTensorDescriptor_t dy_desc,
                                                            const cudnnConvolutionDescriptor_t how,
                                                            const cudnnFilterDescriptor_t dw_desc, const int wanted,
                                                            int* count, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return guess(__func__, {kFilter, handle, x_desc, dw_desc, dy_desc, how}, wanted, count, results);
}
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t dy_desc,
    const void* dy, const cudnnConvolutionDescriptor_t how, const cudnnFilterDescriptor_t dw_desc, void* dw,
    const int wanted, int* count, cudnnConvolutionBwdFilterAlgoPerf_t* results, void* workspace, size_t bytes) {
  return measure(__func__, {kFilter, handle, x_desc, dw_desc, dy_desc, how}, {x, dw, dy}, wanted, count, results,
                 workspace, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t handle, const cudnnTensorDescriptor_t x_desc,
                                                             const cudnnTensorDescriptor_t dy_desc,
                                                             const cudnnConvolutionDescriptor_t how,
                                                             const cudnnFilterDescriptor_t dw_desc,
                                                             cudnnConvolutionBwdFilterAlgo_t algorithm, size_t* bytes) {
  return ask_workspace({kFilter, handle, x_desc, dw_desc, dy_desc, how}, algorithm, bytes);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             const cudnnTensorDescriptor_t x_desc, const void* x,
                                             const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             const cudnnConvolutionDescriptor_t how,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* workspace, size_t bytes,
                                             const void* beta, const cudnnFilterDescriptor_t dw_desc, void* dw) {
  return compute({kFilter, handle, x_desc, dw_desc, dy_desc, how}, algorithm, {x, dw, dy}, workspace, bytes, alpha,
                 beta);
}

}  // extern "C"

namespace {
const StandIn cudnn("libcudnn.so", {
                                       TS_STAND_IN(cudnnConvolutionBackwardData),
                                       TS_STAND_IN(cudnnConvolutionBackwardFilter),
                                       TS_STAND_IN(cudnnConvolutionForward),
                                       TS_STAND_IN(cudnnCreate),
                                       TS_STAND_IN(cudnnCreateConvolutionDescriptor),
                                       TS_STAND_IN(cudnnCreateFilterDescriptor),
                                       TS_STAND_IN(cudnnCreateTensorDescriptor),
                                       TS_STAND_IN(cudnnDestroyConvolutionDescriptor),
                                       TS_STAND_IN(cudnnDestroyFilterDescriptor),
                                       TS_STAND_IN(cudnnDestroyTensorDescriptor),
                                       TS_STAND_IN(cudnnFindConvolutionBackwardDataAlgorithmEx),
                                       TS_STAND_IN(cudnnFindConvolutionBackwardFilterAlgorithmEx),
                                       TS_STAND_IN(cudnnFindConvolutionForwardAlgorithmEx),
                                       TS_STAND_IN(cudnnGetConvolutionBackwardDataAlgorithmMaxCount),
                                       TS_STAND_IN(cudnnGetConvolutionBackwardDataAlgorithm_v7),
                                       TS_STAND_IN(cudnnGetConvolutionBackwardDataWorkspaceSize),
                                       TS_STAND_IN(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount),
                                       TS_STAND_IN(cudnnGetConvolutionBackwardFilterAlgorithm_v7),
                                       TS_STAND_IN(cudnnGetConvolutionBackwardFilterWorkspaceSize),
                                       TS_STAND_IN(cudnnGetConvolutionForwardAlgorithmMaxCount),
                                       TS_STAND_IN(cudnnGetConvolutionForwardAlgorithm_v7),
                                       TS_STAND_IN(cudnnGetConvolutionForwardWorkspaceSize),
                                       TS_STAND_IN(cudnnGetErrorString),
                                       TS_STAND_IN(cudnnGetVersion),
                                       TS_STAND_IN(cudnnSetConvolution2dDescriptor),
                                       TS_STAND_IN(cudnnSetConvolutionGroupCount),
                                       TS_STAND_IN(cudnnSetConvolutionMathType),
                                       TS_STAND_IN(cudnnSetFilter4dDescriptor),
                                       TS_STAND_IN(cudnnSetStream),
                                       TS_STAND_IN(cudnnSetTensor4dDescriptor),
                                   });
}  // namespace
