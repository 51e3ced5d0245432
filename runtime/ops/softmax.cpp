#include "runtime/ops/softmax.h"

#include "runtime/ops.h"
#include "runtime/ops/entry.h"

namespace tessera::tensor {

constinit Kernel<SoftmaxCall> softmax_kernel("softmax");
constinit Kernel<SoftmaxGradCall> softmax_grad_kernel("softmax_backward");
constinit Kernel<LogSumExpCall> logsumexp_kernel("logsumexp");

namespace {

/// A contiguous tensor seen as outer x size x inner around one dimension.
struct Lines {
  int64_t outer = 1, size, inner = 1;
  Lines(const Tensor& t, int64_t dim) : size(t.dim() ? t.sizes()[size_t(dim)] : 1) {
    for (int64_t d = 0; d < t.dim(); d++)
      if (d != dim) (d < dim ? outer : inner) *= t.sizes()[size_t(d)];
  }
};

/// The gradient at the input from that at the result: one kernel, differentiable again.
template <bool kLog>
struct SoftmaxBackward {
  static Meta shape(const Tensor& g, const Tensor& y, int64_t dim) {
    check(g.sizes() == y.sizes(), TensorErrorKind::Runtime, "grad_output and output must have the same shape, got ",
          g.sizes(), " and ", y.sizes());
    wrap_dim(dim, y.dim());
    return {y.sizes(), y};
  }
  static void run(const Tensor& out, const Tensor& g_given, const Tensor& y_given, int64_t dim) {
    const Tensor g = contiguous(to_dtype(g_given, out.dtype())), y = contiguous(y_given);
    const Lines l(y, wrap_dim(dim, y.dim()));
    if (out.numel())
      softmax_grad_kernel(y.device(),
                          {kLog, y.dtype(), g.data_ptr(), y.data_ptr(), out.data_ptr(), l.outer, l.size, l.inner});
  }
  static void grad(Tensor& out, const Tensor& g_given, const Tensor& y_given, int64_t dim) {
    record(out, kLog ? "LogSoftmaxBackwardDataBackward0" : "SoftmaxBackwardDataBackward0", {&g_given, &y_given},
           keep(g_given, y_given), [dim](Sweep& s) {
             const Tensor h = s.g(), g = s.kept(0), y = s.kept(1);
             const auto total = [&](const Tensor& t) { return sum(t, Dims{dim}, true); };
             if constexpr (kLog) {
               s.give(0, [&] { return h - total(h * exp(y)); });
               s.give(1, [&] { return -h * exp(y) * total(g); });
             } else {
               s.give(0, [&] { return apply<SoftmaxBackward>(h, y, dim); });
               s.give(1, [&] { return h * (g - total(g * y)) - g * total(h * y); });
             }
           });
  }
};

template <bool kLog>
struct Softmax {
  static Meta shape(const Tensor& self, int64_t dim) {
    const int64_t d = wrap_dim(dim, self.dim());
    if (self.numel()) require_type(kFloatTypes, self, kernel_name(d + 1 >= self.dim()));
    check(!is_complex(self.dtype()) || !needs_grad(self), TensorErrorKind::NotImplemented,
          kLog ? "_log_softmax" : "_softmax",
          " does not support automatic differentiation for outputs with complex dtype.");
    return {self.sizes(), self};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t dim) {
    const Tensor in = contiguous(self);
    const Lines l(in, wrap_dim(dim, self.dim()));
    if (out.numel())
      softmax_kernel(self.device(), {kLog, self.dtype(), in.data_ptr(), out.data_ptr(), l.outer, l.size, l.inner});
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim) {
    record(out, kLog ? "LogSoftmaxBackward0" : "SoftmaxBackward0", {&self}, keep(ResultOf{out}),
           [dim](Sweep& s) { s.give(0, [&] { return apply<SoftmaxBackward<kLog>>(s.g(), s.kept(0), dim); }); });
  }

 private:
  static KernelName kernel_name(bool along_last) {
    const char* const cuda = "host_softmax";
    if (kLog) return {along_last ? "log_softmax_lastdim_kernel_impl" : "log_softmax_kernel_impl", cuda};
    return {along_last ? "softmax_lastdim_kernel_impl" : "softmax_kernel_impl", cuda};
  }
};

Tensor converted(const Tensor& self, std::optional<DType> dtype) {
  return dtype && *dtype != self.dtype() ? to_dtype(self, *dtype) : self;
}

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return apply<Softmax<false>>(converted(self, dtype), dim);
}
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return apply<Softmax<true>>(converted(self, dtype), dim);
}

namespace {

constexpr uint32_t kFlags = kFunction | kMethod | kSpecial | kOut;
#define TS_SAMPLES(NAME)                                                                       \
  "f[3,4], 1\nf[3,4], 0\nf[2,3,40], -1\nf[2,33,3], 1\nf[], 0\nf[0,3], 1\ni[3]<4, 0, float32\n" \
  "i[3]<4, 0 -> NotImplementedError: \"" NAME                                                  \
  "_lastdim_kernel_impl\" not implemented for 'Long'\n"                                        \
  "f[3], 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)"
TS_OP(softmax, "softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
      "exp(x) / sum(exp(x)) along a dimension.", kFlags | kOut, &softmax, TS_SAMPLES("softmax"), .out = kOutStructured,
      .out_as_asked = kOutStructured.text, .autocast_cuda = Autocast::Total);
TS_OP(log_softmax, "log_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
      "log(softmax(x)), exact where softmax is near zero.", kFlags | kOut, &log_softmax, TS_SAMPLES("log_softmax"),
      .out = kOutStructured, .out_as_asked = kOutStructured.text, .autocast_cuda = Autocast::Total);
TS_OP(_softmax_backward_data, "_softmax_backward_data(Tensor grad_output, Tensor output, int dim) -> Tensor",
      "The gradient of softmax at its input.", kInternal, SoftmaxBackward<false>,
      "f[3,4], p[3,4], 1\nf[3,4,2], p[3,4,2], 1\nf[3], p[2], 0 -> RuntimeError: grad_output and output must have",
      .one_device = "_softmax_backward_data");
TS_OP(_log_softmax_backward_data, "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim) -> Tensor",
      "The gradient of log_softmax at its input.", kInternal, SoftmaxBackward<true>,
      "f[3,4], f[3,4], 1\nf[3,4,2], f[3,4,2], 1", .one_device = "_log_softmax_backward_data");

}  // namespace
}  // namespace tessera::tensor
