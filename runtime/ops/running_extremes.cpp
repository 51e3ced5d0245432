// The largest, the smallest and the log of the sum of exponentials so far, along a dimension.
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

/// Item by item: a new one takes the lead if it is at least as good; NaN beats all.
template <bool kLargest>
struct RunningExtreme {
  static constexpr TypeRule types{kRealTypes | kWideUnsignedTypes, kLargest ? "cummax_cpu" : "cummin_cpu"};

  static std::array<Meta, 2> shape(const Tensor& self, int64_t dim) {
    wrap_dim(dim, self.dim());
    return {Meta(self.sizes(), self), Meta(self.sizes(), kInt64, self.device())};
  }
  static void run(const Tensor& values, const Tensor& index, const Tensor& self, int64_t dim_given) {
    if (self.dim() == 0) return copy_into(values, self), fill_into(index, 0);
    const int64_t dim = wrap_dim(dim_given, self.dim());
    Tensor best, place;
    for (int64_t i = 0; i < self.sizes()[dim]; i++) {
      const Tensor item = select(self, dim, i), here = full({}, i, kInt64, self.device());
      if (!best.defined()) {
        best = item, place = expand(here, item.sizes());
      } else {
        const Tensor taken = logical_or(kLargest ? item >= best : item <= best, isnan(item));
        best = where(taken, Operand(item), Operand(best));
        place = where(taken, Operand(here), Operand(place));
      }
      copy_into(select(values, dim, i), best), copy_into(select(index, dim, i), place);
    }
  }
  static void grad(Tensor& values, Tensor& index, const Tensor& self, int64_t dim) {
    record(values, kLargest ? "CummaxBackward0" : "CumminBackward0", {&self}, keep(index),
           [dim, sizes = Dims(self.sizes())](Sweep& s) {
             s.give(0, [&] { return scatter_add(zeros(sizes, s.g().dtype(), s.g().device()), dim, s.kept(0), s.g()); });
           });
  }
};

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) return clone(self);
  const Tensor most = amax(self.view_of(self.sizes(), self.strides()), Dims{dim}, true);
  return log(cumsum(exp(self - most), dim)) + most;
}

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(cummax, "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
      "The largest so far, and where it was.", kBoth, RunningExtreme<true>,
      "f[3,4], 1\n"
      "f[3,4], 0\n"
      "f[3], 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
TS_OP(cummin, "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
      "The smallest so far, and where it was.", kBoth, RunningExtreme<false>,
      "f[3,4], 1\n"
      "f[3,4], 0");
TS_OP(logcumsumexp, "logcumsumexp(Tensor self, int dim) -> Tensor", "log(cumsum(exp(x))), without overflow.", kBoth,
      &logcumsumexp,
      "f[3,4], 1\n"
      "f[3,4], 0");

}  // namespace
}  // namespace tessera::tensor
