#include "runtime/ops/softmax.h"

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"

namespace tessera::tensor {

constinit Kernel<SoftmaxCall> softmax_kernel("softmax");

namespace {

Tensor run(const Tensor& self, int64_t dim, bool logarithm) {
  check(is_floating(self.dtype()), TensorErrorKind::Runtime, '"', logarithm ? "log_softmax" : "softmax",
        "_lastdim_kernel_impl\" not implemented for '", scalar_type_name(self.dtype()), "'");
  const GradMode no_grad(false);
  const Tensor in = contiguous(self), out = Tensor::empty(self.sizes(), self.dtype(), self.device());
  SoftmaxCall call{logarithm, self.dtype(), in.data_ptr(), out.data_ptr(), 1, self.dim() ? self.sizes()[dim] : 1, 1};
  for (int64_t d = 0; d < self.dim(); d++)
    (d < dim ? call.outer : d > dim ? call.inner : call.outer) *= d == dim ? 1 : self.sizes()[d];
  if (out.numel()) softmax_kernel(self.device().type, call);
  return out;
}

Tensor converted(const Tensor& self, std::optional<DType> dtype) {
  return dtype && *dtype != self.dtype() ? to_dtype(self, *dtype) : self;
}

}  // namespace

Tensor softmax(const Tensor& given, int64_t dim_given, std::optional<DType> dtype) {
  const Tensor self = converted(given, dtype);
  const int64_t dim = wrap_dim(dim_given, self.dim());
  Tensor out = run(self, dim, false);
  if (needs_grad(self))
    record(out, "SoftmaxBackward0", {&self}, keep(ResultOf{out}), [dim](Sweep& s) {
      s.give(0, [&] {
        const Tensor y = s.kept(0), gy = s.g() * y;
        return gy - y * sum(gy, Dims{dim}, true);
      });
    });
  return out;
}

Tensor log_softmax(const Tensor& given, int64_t dim_given, std::optional<DType> dtype) {
  const Tensor self = converted(given, dtype);
  const int64_t dim = wrap_dim(dim_given, self.dim());
  Tensor out = run(self, dim, true);
  if (needs_grad(self))
    record(out, "LogSoftmaxBackward0", {&self}, keep(ResultOf{out}),
           [dim](Sweep& s) { s.give(0, [&] { return s.g() - exp(s.kept(0)) * sum(s.g(), Dims{dim}, true); }); });
  return out;
}

namespace {

constexpr uint32_t kFlags = kFunction | kMethod;
TS_OP(softmax, "softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
      "exp(x) / sum(exp(x)) along a dimension.", kFlags, &softmax);
TS_OP(log_softmax, "log_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
      "log(softmax(x)), exact where softmax is near zero.", kFlags, &log_softmax);

}  // namespace
}  // namespace tessera::tensor
