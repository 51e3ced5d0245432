// softmax and log_softmax: one pass kernel over the rows of a dimension.
#pragma once

#include <optional>

#include "runtime/device/backend.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// Lines of `size` elements, `inner` apart, in contiguous memory: [outer, size, inner].
struct SoftmaxCall {
  bool logarithm;
  DType dtype;
  const void* in;
  void* out;
  int64_t outer, size, inner;
  Launch launch{};
};
extern Kernel<SoftmaxCall> softmax_kernel;

/// The gradient at the input, from that at the result and the result itself.
struct SoftmaxGradCall {
  bool logarithm;
  DType dtype;
  const void *g, *y;
  void* out;
  int64_t outer, size, inner;
  Launch launch{};
};
extern Kernel<SoftmaxGradCall> softmax_grad_kernel;

/// log(sum(exp(x))) of lines: [outer, inner] numbers.
struct LogSumExpCall {
  DType dtype;
  const void* in;
  void* out;
  int64_t outer, size, inner;
  Launch launch{};
};
extern Kernel<LogSumExpCall> logsumexp_kernel;

Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});

}  // namespace tessera::tensor
