// Convolution through cuDNN.
//
// Of its algorithms only those are taken that give the same bits each time and whose workspace is no larger than an eighth of
// the device's memory and 1 GiB. Which one a shape gets is asked once and kept, in each thread: cuDNN's own estimate, or with
// torch.backends.cudnn.benchmark a measurement, which waits for the device and is never made while a graph is captured.
// Halves are added up in float32; float32 is multiplied as TF32 unless torch.backends.cudnn.allow_tf32 forbids it.
//
// The header is part of no distribution's packages: without it, or with that of another major version, this file says so and
// convolve() goes on with kernels of our own.
#include "backends/cuda/cudnn.h"

#include <atomic>
#include <string>

#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif

namespace tessera::tensor::cuda {
namespace {

std::atomic<CudnnSwitches>& switches() {
  static std::atomic<CudnnSwitches> now{CudnnSwitches()};
  return now;
}

}  // namespace

CudnnSwitches cudnn_switches() { return switches().load(std::memory_order_relaxed); }

}  // namespace tessera::tensor::cuda

#if defined(CUDNN_MAJOR) && CUDNN_MAJOR == 9

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/cuda/kept_by_shape.h"
#include "backends/cuda/library.h"
#include "backends/cuda/scratch.h"

namespace tessera::tensor::cuda {
namespace {

struct Dnn {
  Library library{"cuDNN", "libcudnn.so", CUDNN_MAJOR};
  TS_FUNCTION(cudnnConvolutionBackwardData)
  TS_FUNCTION(cudnnConvolutionBackwardFilter)
  TS_FUNCTION(cudnnConvolutionForward)
  TS_FUNCTION(cudnnCreate)
  TS_FUNCTION(cudnnCreateConvolutionDescriptor)
  TS_FUNCTION(cudnnCreateFilterDescriptor)
  TS_FUNCTION(cudnnCreateTensorDescriptor)
  TS_FUNCTION(cudnnDestroyConvolutionDescriptor)
  TS_FUNCTION(cudnnDestroyFilterDescriptor)
  TS_FUNCTION(cudnnDestroyTensorDescriptor)
  TS_FUNCTION(cudnnFindConvolutionBackwardDataAlgorithmEx)
  TS_FUNCTION(cudnnFindConvolutionBackwardFilterAlgorithmEx)
  TS_FUNCTION(cudnnFindConvolutionForwardAlgorithmEx)
  TS_FUNCTION(cudnnGetConvolutionBackwardDataAlgorithmMaxCount)
  TS_FUNCTION(cudnnGetConvolutionBackwardDataAlgorithm_v7)
  TS_FUNCTION(cudnnGetConvolutionBackwardDataWorkspaceSize)
  TS_FUNCTION(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount)
  TS_FUNCTION(cudnnGetConvolutionBackwardFilterAlgorithm_v7)
  TS_FUNCTION(cudnnGetConvolutionBackwardFilterWorkspaceSize)
  TS_FUNCTION(cudnnGetConvolutionForwardAlgorithmMaxCount)
  TS_FUNCTION(cudnnGetConvolutionForwardAlgorithm_v7)
  TS_FUNCTION(cudnnGetConvolutionForwardWorkspaceSize)
  TS_FUNCTION(cudnnGetErrorString)
  TS_FUNCTION(cudnnGetVersion)
  TS_FUNCTION(cudnnSetConvolution2dDescriptor)
  TS_FUNCTION(cudnnSetConvolutionGroupCount)
  TS_FUNCTION(cudnnSetConvolutionMathType)
  TS_FUNCTION(cudnnSetFilter4dDescriptor)
  TS_FUNCTION(cudnnSetStream)
  TS_FUNCTION(cudnnSetTensor4dDescriptor)
};

/// The library, looked for once.
struct Found {
  std::string why_none = Library::why_missing("libcudnn.so", CUDNN_MAJOR);
  std::optional<Dnn> functions;
  Found() {
    if (why_none.empty()) functions.emplace();
  }
};
const Found& found() {
  static const Found library;
  return library;
}
const Dnn& dnn() { return *found().functions; }

bool is_not_supported(cudnnStatus_t status) { return status / 1000 == CUDNN_STATUS_NOT_SUPPORTED / 1000; }

void check_status(cudnnStatus_t status, const char* function) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::string message = std::string("cuDNN error: ") + dnn().cudnnGetErrorString(status);
  if (status == CUDNN_STATUS_NOT_SUPPORTED)
    message += ". This error may appear if you passed in a non-contiguous input.";
  const std::string note =
      std::string("from ") + function + "; torch.backends.cudnn.enabled = False convolves without cuDNN";
  fail_with(TensorErrorKind::Runtime, message.c_str(), note.c_str());
}

/// A library's handle for the device and stream of a call. One call at a time has it; what comes back is given out again.
class Handle {
 public:
  explicit Handle(const Place& place) : index_(index_of(place.device())), made_(take(index_)) {
    const cudnnStatus_t status = dnn().cudnnSetStream(made_, place.stream());
    if (status == CUDNN_STATUS_SUCCESS) return;
    give_back();
    check_status(status, "cudnnSetStream");
  }
  ~Handle() { give_back(); }
  Handle(const Handle&) = delete;
  operator cudnnHandle_t() const { return made_; }

 private:
  struct Pool {
    std::mutex lock;
    std::vector<cudnnHandle_t> free[kMaxDevices];
  };
  static Pool& pool() {
    static Pool* const kept = new Pool;  // never torn down: the driver may be gone by then
    return *kept;
  }
  static cudnnHandle_t take(int index) {
    {
      const std::lock_guard guard(pool().lock);
      auto& free = pool().free[index];
      if (!free.empty()) {
        const cudnnHandle_t taken = free.back();
        free.pop_back();
        return taken;
      }
    }
    cudnnHandle_t made = nullptr;
    check_status(dnn().cudnnCreate(&made), "cudnnCreate");
    return made;
  }
  void give_back() {
    const std::lock_guard guard(pool().lock);
    pool().free[index_].push_back(made_);
  }

  int index_;
  cudnnHandle_t made_;
};

cudnnDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::Float64: return CUDNN_DATA_DOUBLE;
    case DType::Float16: return CUDNN_DATA_HALF;
    case DType::BFloat16: return CUDNN_DATA_BFLOAT16;
    default: return CUDNN_DATA_FLOAT;
  }
}

/// What an algorithm depends on. All of it is integers, without gaps, so that it is compared and hashed as bytes.
struct Key {
  int64_t batch, channels, height, width, outputs, rows, columns, groups;
  Window window;
  int32_t device, dtype, pass, channels_last, tf32, measured;  // measured: one more than the limit, or 0
};

/// A call's description for the library.
struct Description {
  cudnnTensorDescriptor_t image = nullptr, result = nullptr;
  cudnnFilterDescriptor_t weight = nullptr;
  cudnnConvolutionDescriptor_t how = nullptr;

  Description() = default;
  ~Description() {
    if (image != nullptr) dnn().cudnnDestroyTensorDescriptor(image);
    if (result != nullptr) dnn().cudnnDestroyTensorDescriptor(result);
    if (weight != nullptr) dnn().cudnnDestroyFilterDescriptor(weight);
    if (how != nullptr) dnn().cudnnDestroyConvolutionDescriptor(how);
  }
  Description(const Description&) = delete;

  void set(const ConvCall& c) {
    const cudnnTensorFormat_t format = c.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    const cudnnDataType_t type = type_of(c.dtype);
    const Window& w = c.window;
    tensor(image, format, type, c.batch, c.channels, c.height, c.width);
    tensor(result, format, type, c.batch, c.outputs, c.rows, c.columns);
    check_status(dnn().cudnnCreateFilterDescriptor(&weight), "cudnnCreateFilterDescriptor");
    check_status(dnn().cudnnSetFilter4dDescriptor(weight, type, format, int(c.outputs), int(c.channels / c.groups),
                                                  int(w.kernel[0]), int(w.kernel[1])),
                 "cudnnSetFilter4dDescriptor");
    check_status(dnn().cudnnCreateConvolutionDescriptor(&how), "cudnnCreateConvolutionDescriptor");
    check_status(dnn().cudnnSetConvolution2dDescriptor(
                     how, int(w.padding[0]), int(w.padding[1]), int(w.stride[0]), int(w.stride[1]), int(w.dilation[0]),
                     int(w.dilation[1]), CUDNN_CROSS_CORRELATION,
                     type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
                 "cudnnSetConvolution2dDescriptor");
    check_status(dnn().cudnnSetConvolutionGroupCount(how, int(c.groups)), "cudnnSetConvolutionGroupCount");
  }

 private:
  static void tensor(cudnnTensorDescriptor_t& out, cudnnTensorFormat_t format, cudnnDataType_t type, int64_t n,
                     int64_t c, int64_t h, int64_t w) {
    check_status(dnn().cudnnCreateTensorDescriptor(&out), "cudnnCreateTensorDescriptor");
    check_status(dnn().cudnnSetTensor4dDescriptor(out, format, type, int(n), int(c), int(h), int(w)),
                 "cudnnSetTensor4dDescriptor");
  }
};

/// A workspace in use.
struct Workspace {
  void* at;
  size_t bytes;
};

// The three passes: the same five questions, each by functions and types of its own.
struct ForwardPass {
  using Result = cudnnConvolutionFwdAlgoPerf_t;
  using Algorithm = cudnnConvolutionFwdAlgo_t;
  static constexpr const char* kFunction = "cudnnConvolutionForward";
  static cudnnStatus_t count(cudnnHandle_t h, int* most) {
    return dnn().cudnnGetConvolutionForwardAlgorithmMaxCount(h, most);
  }
  static cudnnStatus_t guess(cudnnHandle_t h, const Description& d, int most, int* count, Result* results) {
    return dnn().cudnnGetConvolutionForwardAlgorithm_v7(h, d.image, d.weight, d.how, d.result, most, count, results);
  }
  static cudnnStatus_t measure(cudnnHandle_t h, const Description& d, const ConvCall& c, int most, int* count,
                               Result* results, Workspace w) {
    return dnn().cudnnFindConvolutionForwardAlgorithmEx(h, d.image, c.image, d.weight, c.weight, d.how, d.result,
                                                        c.result, most, count, results, w.at, w.bytes);
  }
  static cudnnStatus_t bytes(cudnnHandle_t h, const Description& d, Algorithm algorithm, size_t* bytes) {
    return dnn().cudnnGetConvolutionForwardWorkspaceSize(h, d.image, d.weight, d.how, d.result, algorithm, bytes);
  }
  static cudnnStatus_t run(cudnnHandle_t h, const Description& d, const ConvCall& c, Algorithm algorithm, Workspace w,
                           const void* one, const void* zero) {
    return dnn().cudnnConvolutionForward(h, one, d.image, c.image, d.weight, c.weight, d.how, algorithm, w.at, w.bytes,
                                         zero, d.result, c.result);
  }
};

struct InputGradientPass {
  using Result = cudnnConvolutionBwdDataAlgoPerf_t;
  using Algorithm = cudnnConvolutionBwdDataAlgo_t;
  static constexpr const char* kFunction = "cudnnConvolutionBackwardData";
  static cudnnStatus_t count(cudnnHandle_t h, int* most) {
    return dnn().cudnnGetConvolutionBackwardDataAlgorithmMaxCount(h, most);
  }
  static cudnnStatus_t guess(cudnnHandle_t h, const Description& d, int most, int* count, Result* results) {
    return dnn().cudnnGetConvolutionBackwardDataAlgorithm_v7(h, d.weight, d.result, d.how, d.image, most, count,
                                                             results);
  }
  static cudnnStatus_t measure(cudnnHandle_t h, const Description& d, const ConvCall& c, int most, int* count,
                               Result* results, Workspace w) {
    return dnn().cudnnFindConvolutionBackwardDataAlgorithmEx(h, d.weight, c.weight, d.result, c.result, d.how, d.image,
                                                             c.image, most, count, results, w.at, w.bytes);
  }
  static cudnnStatus_t bytes(cudnnHandle_t h, const Description& d, Algorithm algorithm, size_t* bytes) {
    return dnn().cudnnGetConvolutionBackwardDataWorkspaceSize(h, d.weight, d.result, d.how, d.image, algorithm, bytes);
  }
  static cudnnStatus_t run(cudnnHandle_t h, const Description& d, const ConvCall& c, Algorithm algorithm, Workspace w,
                           const void* one, const void* zero) {
    return dnn().cudnnConvolutionBackwardData(h, one, d.weight, c.weight, d.result, c.result, d.how, algorithm, w.at,
                                              w.bytes, zero, d.image, c.image);
  }
};

struct WeightGradientPass {
  using Result = cudnnConvolutionBwdFilterAlgoPerf_t;
  using Algorithm = cudnnConvolutionBwdFilterAlgo_t;
  static constexpr const char* kFunction = "cudnnConvolutionBackwardFilter";
  static cudnnStatus_t count(cudnnHandle_t h, int* most) {
    return dnn().cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(h, most);
  }
  static cudnnStatus_t guess(cudnnHandle_t h, const Description& d, int most, int* count, Result* results) {
    return dnn().cudnnGetConvolutionBackwardFilterAlgorithm_v7(h, d.image, d.result, d.how, d.weight, most, count,
                                                               results);
  }
  static cudnnStatus_t measure(cudnnHandle_t h, const Description& d, const ConvCall& c, int most, int* count,
                               Result* results, Workspace w) {
    return dnn().cudnnFindConvolutionBackwardFilterAlgorithmEx(h, d.image, c.image, d.result, c.result, d.how, d.weight,
                                                               c.weight, most, count, results, w.at, w.bytes);
  }
  static cudnnStatus_t bytes(cudnnHandle_t h, const Description& d, Algorithm algorithm, size_t* bytes) {
    return dnn().cudnnGetConvolutionBackwardFilterWorkspaceSize(h, d.image, d.result, d.how, d.weight, algorithm,
                                                                bytes);
  }
  static cudnnStatus_t run(cudnnHandle_t h, const Description& d, const ConvCall& c, Algorithm algorithm, Workspace w,
                           const void* one, const void* zero) {
    return dnn().cudnnConvolutionBackwardFilter(h, one, d.image, c.image, d.result, c.result, d.how, algorithm, w.at,
                                                w.bytes, zero, d.weight, c.weight);
  }
};

/// What a workspace may have at most, on the current device.
size_t most_workspace() {
  size_t free = 0, total = 0;
  check_call(cudaMemGetInfo(&free, &total));
  return std::min(total / 8, size_t(1) << 30);
}

/// A shape's description and its algorithms, the best one first.
class Recipe {
 public:
  virtual ~Recipe() = default;
  /// False when none is left.
  virtual bool run(const ConvCall& c, const Place& place) = 0;
};

template <class Pass>
class RecipeOf final : public Recipe {
 public:
  RecipeOf(const ConvCall& c, const Place& place, const Key& key) : exact_(c.dtype == DType::Float32 && !key.tf32) {
    description_.set(c);
    const Handle handle(place);
    set_math(first_math(c));
    int most = 0;
    check_status(Pass::count(handle, &most), "cudnnGetConvolution...AlgorithmMaxCount");
    std::vector<typename Pass::Result> results(static_cast<size_t>(std::max(most, 1)));
    int count = 0;
    const cudnnStatus_t status = Pass::guess(handle, description_, int(results.size()), &count, results.data());
    if (is_not_supported(status)) return;
    check_status(status, "cudnnGetConvolution...Algorithm_v7");
    results.resize(size_t(count));
    take(handle, results);
    if (key.measured != 0 && !candidates_.empty())
      measure(c, handle, key.measured == 1 ? most : std::min(most, key.measured - 1), first_math(c));
  }

  bool run(const ConvCall& c, const Place& place) override {
    const double wide[] = {1, 0};
    const float narrow[] = {1, 0};
    const void* const one = c.dtype == DType::Float64 ? static_cast<const void*>(wide) : narrow;
    const void* const zero = c.dtype == DType::Float64 ? static_cast<const void*>(wide + 1) : narrow + 1;
    const Handle handle(place);
    while (!candidates_.empty()) {
      const Candidate& best = candidates_.front();
      set_math(best.math);
      const Scratch workspace(place, best.bytes);
      const cudnnStatus_t status =
          Pass::run(handle, description_, c, best.algorithm, {workspace.get(), best.bytes}, one, zero);
      if (!is_not_supported(status)) {
        check_status(status, Pass::kFunction);
        return true;
      }
      candidates_.erase(candidates_.begin());
    }
    return false;
  }

 private:
  struct Candidate {
    typename Pass::Algorithm algorithm;
    cudnnMathType_t math;
    size_t bytes;
  };

  cudnnMathType_t first_math(const ConvCall& c) const {
    return exact_ ? CUDNN_FMA_MATH : is_half(c.dtype) ? CUDNN_TENSOR_OP_MATH : CUDNN_DEFAULT_MATH;
  }
  void set_math(cudnnMathType_t math) {
    if (math == math_) return;
    check_status(dnn().cudnnSetConvolutionMathType(description_.how, math), "cudnnSetConvolutionMathType");
    math_ = math;
  }

  // Those that will do, in the order in which they came.
  void take(cudnnHandle_t handle, const std::vector<typename Pass::Result>& results) {
    candidates_.clear();
    const size_t most = most_workspace();
    for (const auto& result : results) {
      if (result.status != CUDNN_STATUS_SUCCESS || result.determinism != CUDNN_DETERMINISTIC) continue;
      if (result.mathType == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION) continue;  // to halves
      Candidate candidate{result.algo, exact_ ? CUDNN_FMA_MATH : result.mathType, 0};
      set_math(candidate.math);
      if (Pass::bytes(handle, description_, candidate.algorithm, &candidate.bytes) != CUDNN_STATUS_SUCCESS) continue;
      if (candidate.bytes <= most) candidates_.push_back(candidate);
    }
  }

  // The results are written over by what is measured; the call itself comes afterwards.
  void measure(const ConvCall& c, cudnnHandle_t handle, int limit, cudnnMathType_t math) {
    size_t bytes = 0;
    for (const Candidate& candidate : candidates_) bytes = std::max(bytes, candidate.bytes);
    const Scratch workspace(c.launch, bytes);
    std::vector<typename Pass::Result> results(static_cast<size_t>(limit));
    int count = 0;
    set_math(math);
    check_status(Pass::measure(handle, description_, c, limit, &count, results.data(), {workspace.get(), bytes}),
                 "cudnnFindConvolution...AlgorithmEx");
    results.resize(size_t(count));
    const std::vector<Candidate> guessed = candidates_;
    take(handle, results);
    if (candidates_.empty()) candidates_ = guessed;  // none of the few that were measured will do
  }

  const bool exact_;
  Description description_;
  cudnnMathType_t math_ = CUDNN_DEFAULT_MATH;
  std::vector<Candidate> candidates_;
};

std::unique_ptr<Recipe> make_recipe(const ConvCall& c, const Place& place, const Key& key) {
  switch (c.pass) {
    case ConvCall::Forward: return std::make_unique<RecipeOf<ForwardPass>>(c, place, key);
    case ConvCall::InputGradient: return std::make_unique<RecipeOf<InputGradientPass>>(c, place, key);
    default: return std::make_unique<RecipeOf<WeightGradientPass>>(c, place, key);
  }
}

bool is_captured(const Place& place) {
  if (place.stream() == nullptr) return false;  // the legacy stream is never captured
  cudaStreamCaptureStatus status;
  check_call(cudaStreamIsCapturing(place.stream(), &status));
  return status != cudaStreamCaptureStatusNone;
}

Recipe& recipe_for(const ConvCall& c, const Place& place, const CudnnSwitches& set) {
  thread_local KeptByShape<Key, Recipe> kept(4096);
  Key key = {
      c.batch,          c.channels, c.height,        c.width,        c.outputs,
      c.rows,           c.columns,  c.groups,        c.window,       index_of(c.launch.device),
      int32_t(c.dtype), c.pass,     c.channels_last, set.allow_tf32, set.benchmark ? set.benchmark_limit + 1 : 0};
  Recipe* known = kept.find(key);
  if (known == nullptr && key.measured != 0 && is_captured(place)) {
    key.measured = 0;  // not now
    known = kept.find(key);
  }
  return known != nullptr ? *known : kept.keep(key, make_recipe(c, place, key));
}

// Sizes have 32 bits there, addresses are multiples of 16 bytes, and as many windows as fit are looked through: an output
// padding of a stride and more has more of them.
bool is_for_cudnn(const ConvCall& c) {
  const Window& w = c.window;
  const int64_t image[] = {c.height, c.width}, result[] = {c.rows, c.columns};
  for (int d = 0; d < 2; d++) {
    for (const int64_t number : {w.kernel[d], w.stride[d], w.padding[d], w.dilation[d], image[d], result[d]})
      if (number > INT_MAX / 4) return false;
    const int64_t rest = image[d] + 2 * w.padding[d] - (w.dilation[d] * (w.kernel[d] - 1) + 1);
    if (rest < 0 || rest / w.stride[d] + 1 != result[d]) return false;
  }
  const int64_t most = INT_MAX, places = c.rows * c.columns, pixels = c.height * c.width;
  if (pixels > most / c.channels / c.batch || places > most / c.outputs / c.batch ||
      w.kernel[0] * w.kernel[1] > most / c.outputs / (c.channels / c.groups))
    return false;
  for (const void* operand : {c.image, c.weight, c.result})
    if (reinterpret_cast<uintptr_t>(operand) % 16 != 0) return false;
  return true;
}

void answer(const CudnnCall& call) {
  if (call.set != nullptr) switches().store(*call.set, std::memory_order_relaxed);
  const Found& library = found();
  *call.version = library.functions ? int(dnn().cudnnGetVersion()) : 0;
  *call.why_none = library.why_none.c_str();
}

}  // namespace

bool convolve_by_cudnn(const ConvCall& c) {
  const CudnnSwitches set = cudnn_switches();
  if (!set.enabled || !found().functions || !is_for_cudnn(c)) return false;
  const Place place(c.launch);
  return recipe_for(c, place, set).run(c, place);
}

#else

namespace tessera::tensor::cuda {
namespace {

void answer(const CudnnCall& call) {
  if (call.set != nullptr) switches().store(*call.set, std::memory_order_relaxed);
  *call.version = 0;
  *call.why_none = "the CUDA plugin was built without cuDNN's header, cudnn.h of version 9";
}

}  // namespace

bool convolve_by_cudnn(const ConvCall&) { return false; }

#endif

namespace {

const CudaKernel<CudnnCall> entry("cudnn", answer);

}  // namespace
}  // namespace tessera::tensor::cuda
