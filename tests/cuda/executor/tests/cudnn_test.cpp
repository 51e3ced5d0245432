// cuDNN's stand-in: what it computes, and what it does not take on trust.
#include "cudnn.h"

#include "testing.h"

namespace tessera_executor::testing {
namespace {

void expect(cudnnStatus_t status, cudnnStatus_t wanted = CUDNN_STATUS_SUCCESS) {
  if (status != wanted) violation(std::string("another status: ") + cudnnGetErrorString(status));
}

/// A convolution of one image of 2 x 4 x 4 with 3 filters of 2 x 3 x 3; each test spoils one thing of it.
struct Case {
  cudnnHandle_t handle = nullptr;
  cudnnTensorDescriptor_t image = nullptr, result = nullptr;
  cudnnFilterDescriptor_t weight = nullptr;
  cudnnConvolutionDescriptor_t how = nullptr;
  float *x, *w, *y;
  char* workspace;
  size_t bytes = 0;
  cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  const float one = 1, zero = 0;

  Case()
      : x(device_array<float>(32)),
        w(device_array<float>(54)),
        y(device_array<float>(12, false)),
        workspace(device_array<char>(1000, false)) {
    expect(cudnnCreate(&handle));
    expect(cudnnSetStream(handle, nullptr));
    expect(cudnnCreateTensorDescriptor(&image));
    expect(cudnnCreateTensorDescriptor(&result));
    expect(cudnnCreateFilterDescriptor(&weight));
    expect(cudnnCreateConvolutionDescriptor(&how));
    expect(cudnnSetTensor4dDescriptor(image, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 2, 4, 4));
    expect(cudnnSetTensor4dDescriptor(result, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 2, 2));
    expect(cudnnSetFilter4dDescriptor(weight, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 3, 2, 3, 3));
    expect(cudnnSetConvolution2dDescriptor(how, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  }
  void ask() { expect(cudnnGetConvolutionForwardWorkspaceSize(handle, image, weight, how, result, algorithm, &bytes)); }
  cudnnStatus_t run() {
    return cudnnConvolutionForward(handle, &one, image, x, weight, w, how, algorithm, workspace, bytes, &zero, result,
                                   y);
  }
  cudnnStatus_t guess() {
    cudnnConvolutionFwdAlgoPerf_t results[8];
    int count = 0;
    return cudnnGetConvolutionForwardAlgorithm_v7(handle, image, weight, how, result, 8, &count, results);
  }
};

void right() {
  Case c;
  c.ask();
  expect(c.run());
}

/// The same case with one thing wrong, which ends the process with these words.
void check_fault(const std::string& words, void (*spoil)(Case&)) {
  check_pair(
      words,
      [spoil] {
        Case c;
        c.ask();
        spoil(c);
        c.run();
      },
      right);
}

/// One thing of the description is wrong: that status, from all that take it.
void check_status(cudnnStatus_t wanted, void (*spoil)(Case&)) {
  CHECK(fault_of([=] {
          Case c;
          c.ask();
          spoil(c);
          expect(c.guess(), wanted);
          expect(c.run(), wanted);
          size_t bytes;
          expect(cudnnGetConvolutionForwardWorkspaceSize(c.handle, c.image, c.weight, c.how, c.result, c.algorithm,
                                                         &bytes),
                 wanted);
        }) == "");
}

}  // namespace

TEST_CASE("executor: cuDNN adds up what its windows see, and gives it to what they saw") {
  CHECK(fault_of([] {
          Case c;
          std::vector<float> x(32), w(54);
          for (size_t i = 0; i < x.size(); i++) x[i] = float(i);
          for (size_t i = 0; i < w.size(); i++) w[i] = float(i % 5);
          cudaMemcpy(c.x, x.data(), 128, cudaMemcpyHostToDevice);
          cudaMemcpy(c.w, w.data(), 216, cudaMemcpyHostToDevice);
          c.ask();
          expect(c.run());
          const std::vector<float> y = to_host(c.y, 12);
          for (int k = 0; k < 3; k++)
            for (int place = 0; place < 4; place++) {
              float sum = 0;
              for (int e = 0; e < 18; e++)
                sum += x[size_t(e / 9 * 16 + (place / 2 + e % 9 / 3) * 4 + place % 2 + e % 3)] * w[size_t(k * 18 + e)];
              if (y[size_t(k * 4 + place)] != sum) violation("another sum");
            }
          // The gradients' sums, by the products of both sides: y . (x * w) = (y * w) . x = (x * y) . w.
          double whole = 0, by_image = 0, by_weight = 0;
          for (const float v : y) whole += double(v) * v;
          float *dx = device_array<float>(32, false), *dw = device_array<float>(54, false);
          const cudnnConvolutionBwdDataAlgo_t data = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
          const cudnnConvolutionBwdFilterAlgo_t filter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
          size_t bytes = 0;
          expect(
              cudnnGetConvolutionBackwardDataWorkspaceSize(c.handle, c.weight, c.result, c.how, c.image, data, &bytes));
          expect(cudnnConvolutionBackwardData(c.handle, &c.one, c.weight, c.w, c.result, c.y, c.how, data, c.workspace,
                                              bytes, &c.zero, c.image, dx));
          expect(cudnnGetConvolutionBackwardFilterWorkspaceSize(c.handle, c.image, c.result, c.how, c.weight, filter,
                                                                &bytes));
          expect(cudnnConvolutionBackwardFilter(c.handle, &c.one, c.image, c.x, c.result, c.y, c.how, filter,
                                                c.workspace, bytes, &c.zero, c.weight, dw));
          const std::vector<float> image = to_host(dx, 32), weight = to_host(dw, 54);
          for (size_t i = 0; i < 32; i++) by_image += double(image[i]) * x[i];
          for (size_t i = 0; i < 54; i++) by_weight += double(weight[i]) * w[i];
          if (std::abs(whole - by_image) > 1e-5 * whole || std::abs(whole - by_weight) > 1e-5 * whole)
            violation("other gradients");
        }) == "");
}

TEST_CASE("executor: cuDNN's handle has a stream and is the current device's") {
  check_fault("was given no stream", [](Case& c) { cudnnCreate(&c.handle); });
  check_fault("belongs to another device", [](Case& c) {
    cudaSetDevice(1);
    cudnnCreate(&c.handle);
    cudnnSetStream(c.handle, nullptr);
    cudaSetDevice(0);
  });
}

TEST_CASE("executor: cuDNN's operands are the device's, whole and aligned") {
  check_fault("the filter of 216 bytes reaches", [](Case& c) { c.w = device_array<float>(53); });
  check_fault("the image of 128 bytes is memory of the host", [](Case& c) {
    static float there[32];
    c.x = there;
  });
  check_fault("aligned less", [](Case& c) { c.x = reinterpret_cast<float*>(reinterpret_cast<char*>(c.x) + 2); });
  check_fault("aligned less", [](Case& c) {
    cudnnSetConvolutionMathType(c.how, CUDNN_TENSOR_OP_MATH);
    c.ask();
    c.x += 1;
  });
}

TEST_CASE("executor: cuDNN's workspace has the size that was asked for, since the last change") {
  check_fault("nobody asked", [](Case& c) { cudnnSetConvolutionMathType(c.how, CUDNN_FMA_MATH); });
  check_fault("nobody asked", [](Case& c) { c.algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM; });
  check_fault("smaller than the algorithm's", [](Case& c) { c.bytes = 999; });
  check_fault("the workspace of 1000 bytes reaches", [](Case& c) { c.workspace = device_array<char>(512, false); });
}

TEST_CASE("executor: cuDNN refuses descriptions that do not fit") {
  check_status(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, [](Case& c) { c.image = nullptr; });
  check_status(CUDNN_STATUS_BAD_PARAM, [](Case& c) { cudnnCreateTensorDescriptor(&c.image); });
  check_status(CUDNN_STATUS_BAD_PARAM,
               [](Case& c) { cudnnSetTensor4dDescriptor(c.result, CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, 1, 3, 2, 2); });
  check_status(CUDNN_STATUS_NOT_SUPPORTED, [](Case& c) {
    cudnnSetConvolution2dDescriptor(c.how, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_HALF);
  });
  check_status(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, [](Case& c) { cudnnSetConvolutionGroupCount(c.how, 2); });
  check_status(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
               [](Case& c) { cudnnSetTensor4dDescriptor(c.result, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 2, 3); });
  check_status(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT,
               [](Case& c) { cudnnSetFilter4dDescriptor(c.weight, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, 3, 2, 3, 3); });
  CHECK(fault_of([] {
          Case c;
          expect(cudnnSetTensor4dDescriptor(c.image, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 2, 4, 4),
                 CUDNN_STATUS_BAD_PARAM);
          expect(cudnnSetTensor4dDescriptor(c.image, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1 << 16, 1 << 15, 1, 1),
                 CUDNN_STATUS_NOT_SUPPORTED);
          expect(cudnnSetConvolution2dDescriptor(c.how, 0, 0, 0, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                 CUDNN_STATUS_BAD_PARAM);
          expect(cudnnSetConvolutionGroupCount(c.how, 0), CUDNN_STATUS_BAD_PARAM);
        }) == "");
}

TEST_CASE("executor: cuDNN measures no algorithm while a graph is captured") {
  const auto measure = [](bool captured) {
    Case c;
    const cudaStream_t stream = new_stream();
    cudnnSetStream(c.handle, stream);
    cudaDeviceSynchronize();
    if (captured) cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    cudnnConvolutionFwdAlgoPerf_t results[2];
    int count = 0;
    expect(cudnnFindConvolutionForwardAlgorithmEx(c.handle, c.image, c.x, c.weight, c.w, c.how, c.result, c.y, 2,
                                                  &count, results, c.workspace, 1000));
    if (count != 2) violation("other results");
  };
  check_pair(
      "which a capture forbids", [measure] { measure(true); }, [measure] { measure(false); });
}

}  // namespace tessera_executor::testing
