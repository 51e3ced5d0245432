// The largest, the smallest and the log of the sum of exponentials so far, along a dimension.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

Tensor logaddexp(const Operand& x, const Operand& y);  // a row of pointwise.def

constinit Kernel<RunningExtremeCall> running_extreme_kernel("running_extreme");

namespace {

/// Item by item: a new one takes the lead if it is at least as good; NaN beats all.
template <bool kLargest>
struct RunningExtreme {
  static constexpr const char* kName = kLargest ? "cummax" : "cummin";

  static std::array<Meta, 2> shape(const Tensor& self, int64_t dim) {
    check(self.dim() || dim == 0 || dim == -1, TensorErrorKind::Index, kName,
          "(): Expected reduction dim -1 or 0 for scalar but got ", dim);
    wrap_dim(dim, self.dim());
    if (self.dim() && self.numel())
      require_type(kRealTypes | kWideUnsignedTypes, self, kLargest ? "cummax_cpu" : "cummin_cpu");
    return {Meta(self.sizes(), self), Meta(self.sizes(), kInt64, self.device())};
  }
  static void run(const Tensor& values, const Tensor& index, const Tensor& self, int64_t dim_given) {
    if (self.dim() == 0) return copy_into(values, self), fill_into(index, 0);
    if (self.numel() == 0) return;
    const int64_t dim = wrap_dim(dim_given, self.dim());
    const DType type = RunningExtremeCall::kTypes.has(self.dtype()) ? self.dtype()
                       : is_floating(self.dtype())                  ? kFloat32
                                                                    : kInt64;
    const Tensor in = contiguous(to_dtype(self, type)), to = memory_for(values, type),
                 places = memory_for(index, kInt64);
    const int64_t outer = numel_of(self.sizes().first(size_t(dim))), n = self.size(dim);
    running_extreme_kernel(
        self.device(), RunningExtremeCall{kLargest, type, in.data_ptr(), to.data_ptr(), places.data<int64_t>(), outer,
                                          n, self.numel() / (outer * n)});
    if (!to.same(values)) copy_into(values, to);
    if (!places.same(index)) copy_into(index, places);
  }
  static void grad(Tensor& values, Tensor& index, const Tensor& self, int64_t dim) {
    record(values, kLargest ? "CummaxBackward0" : "CumminBackward0", {&self}, keep(index),
           [dim, sizes = Dims(self.sizes())](Sweep& s) {
             s.give(0, [&] { return scatter_add(zeros(sizes, s.g().dtype(), s.g().device()), dim, s.kept(0), s.g()); });
           });
  }

 private:
  static Tensor memory_for(const Tensor& result, DType type) {
    return result.is_contiguous() && result.dtype() == type ? result
                                                            : Tensor::empty(result.sizes(), type, result.device());
  }
};

/// The sum so far is kept as its logarithm, so nothing overflows on the way.
struct LogCumSumExp {
  static constexpr TypeRule types{kFloatTypes | kComplexTypes, {"logcumsumexp_out_cpu", "logcumsumexp_cuda"}};

  static Meta shape(const Tensor& self, int64_t dim) {
    wrap_dim(dim, self.dim());
    return {self.sizes(), self};
  }
  static void run(const Tensor& out, const Tensor& self_given, int64_t dim) {
    if (self_given.dim() == 0) return copy_into(out, self_given);
    const Tensor self = is_half(self_given.dtype()) ? to_dtype(self_given, kFloat32) : self_given;
    Tensor sum;
    for (int64_t i = 0; i < self.size(dim); i++) {
      Context::current().poll();
      const Tensor item = select(self, dim, i);
      sum = sum.defined() ? added(sum, item) : item;
      copy_into(select(out, dim, i), sum);
    }
  }
  static void grad(Tensor& out, const Tensor& self, int64_t dim) {
    record(out, "LogcumsumexpBackward0", {&self}, Kept<2>{{SavedTensor(self), SavedTensor(out, true)}},
           [dim](Sweep& s) { s.give(0, [&] { return derivative(s.g(), s.kept(0), s.kept(1), dim); }); });
  }

 private:
  static Tensor added(const Tensor& a, const Tensor& b) {
    return is_complex(a.dtype()) ? complex_logaddexp(a, b) : logaddexp(a, b);
  }
  // From the end: what the sums from here on ask of this one. Sums only grow, so that no factor is above 1.
  static Tensor derivative(const Tensor& g, const Tensor& x, const Tensor& y, int64_t dim) {
    if (x.dim() == 0 || x.numel() == 0) return g;
    if (is_half(x.dtype())) {  // what is summed on the way is not rounded
      const auto wide = [](const Tensor& t) { return to_dtype(t, kFloat32); };
      return to_dtype(derivative(wide(g), wide(x), wide(y), dim), g.dtype());
    }
    TensorList parts(size_t(x.size(dim)));
    Tensor asked, next;
    for (int64_t i = x.size(dim); i-- > 0;) {
      Context::current().poll();
      const Tensor sum = select(y, dim, i), empty = isneginf(is_complex(sum.dtype()) ? real(sum) : sum);
      const Tensor here = select(g, dim, i);
      asked = asked.defined() ? here + where(empty, 0.0, asked * conj(exp(sum - next))) : here;
      parts[size_t(i)] = where(empty, 0.0, asked * conj(exp(select(x, dim, i) - sum)));
      next = sum;
    }
    return stack(parts, wrap_dim(dim, x.dim()));
  }
};

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(cummax, "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
      "The largest so far, and where it was.", kBoth | kOut, RunningExtreme<true>,
      "f[3,4], 1\n"
      "f[3,4], 0\n"
      "f[3], 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
      .out = kOutScanned);
TS_OP(cummin, "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
      "The smallest so far, and where it was.", kBoth | kOut, RunningExtreme<false>,
      "f[3,4], 1\n"
      "f[3,4], 0",
      .out = kOutScanned);
TS_OP(logcumsumexp, "logcumsumexp(Tensor self, int dim) -> Tensor", "log(cumsum(exp(x))), without overflow.",
      kBoth | kOut, LogCumSumExp,
      "f[3,4], 1\n"
      "c[3,4], 1\n"
      "f[3,4], 0",
      .out = kOutScanned);

}  // namespace
}  // namespace tessera::tensor
