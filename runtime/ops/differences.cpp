// Neighbours along a dimension: their differences, and integrals by the trapezoidal rule.
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

constexpr uint32_t kBoth = kFunction | kMethod;

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const OptionalTensor& before, const OptionalTensor& after) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "diff expects input to be at least one-dimensional");
  check(n >= 0, TensorErrorKind::Runtime, "order must be non-negative but got ", n);
  if (n == 0) return clone(self);  // without what is put before and behind
  TensorList parts;
  if (before) parts.push_back(*before);
  parts.push_back(self);
  if (after) parts.push_back(*after);
  Tensor out = parts.size() == 1 ? self : cat(parts, dim);
  for (; n > 0 && out.size(dim) > 0; n--) {
    const Tensor high = slice(out, dim, 1, {}), low = slice(out, dim, 0, out.size(dim) - 1);
    out = is_bool(out.dtype()) ? logical_xor(high, low) : high - low;
  }
  return out;
}

// Neighbours' means times the distances between them.
Tensor trapezoids(const Tensor& y, const Tensor& widths, int64_t dim) {
  const Tensor pairs = slice(y, dim, 1, {}) + slice(y, dim, 0, y.size(dim) - 1);
  return pairs * widths / 2.0;
}
Tensor widths_of(const Tensor& x, const Tensor& y, int64_t dim_given) {
  if (x.dim() != 1 || y.dim() == 1) return diff(x, 1, x.dim() == 1 ? 0 : dim_given, {}, {});
  Dims shape(size_t(y.dim()), 1);
  const int64_t dim = wrap_dim(dim_given, y.dim());
  check(x.sizes()[0] == y.sizes()[dim], TensorErrorKind::Runtime,
        "trapezoid: There must be one `x` value for each sample point");
  shape[dim] = x.sizes()[0] - 1;
  return reshape(diff(x, 1, 0, {}, {}), shape);
}
Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  return sum(trapezoids(y, widths_of(x, y, dim), dim), Dims{dim});
}
Tensor trapezoid_dx(const Tensor& y, Scalar dx, int64_t dim) {
  return sum(
      trapezoids(y, full({}, dx, is_floating(y.dtype()) ? y.dtype() : Context::current().default_dtype, y.device()),
                 dim),
      Dims{dim});
}
Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  return cumsum(trapezoids(y, widths_of(x, y, dim), dim), dim);
}
Tensor cumulative_trapezoid_dx(const Tensor& y, Scalar dx, int64_t dim) {
  return cumsum(trapezoids(y, full({}, dx), dim), dim);
}

TS_OP(diff, "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
      "Differences of neighbours.", kBoth | kOut, &diff,
      "f[2,4]\n"
      "f[4], 2\n"
      "f[2,3], prepend=f[2,1], append=f[2,2]");
TS_OP(trapezoid, "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "The integral by the trapezoidal rule.",
      kFunction, &trapezoid_x, "f[2,4], f[4]");
TS_OP(trapezoid, "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
      "The integral by the trapezoidal rule.", kFunction, &trapezoid_dx,
      "f[2,4], dx=0.5\n"
      "f[4,2], dim=0");
TS_OP(trapz, "trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "The integral by the trapezoidal rule.", kFunction,
      &trapezoid_x, "f[2,4], f[4]");
TS_OP(trapz, "trapz.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", "The integral by the trapezoidal rule.",
      kFunction, &trapezoid_dx, "f[2,4], dx=0.5");
TS_OP(cumulative_trapezoid, "cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "Running integrals.",
      kFunction, &cumulative_trapezoid_x, "f[2,4], f[4]");
TS_OP(cumulative_trapezoid, "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
      "Running integrals.", kFunction, &cumulative_trapezoid_dx, "f[2,4], dx=0.5");

}  // namespace
}  // namespace tessera::tensor
