// Neighbours along a dimension: their differences, and integrals by the trapezoidal rule.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

constexpr uint32_t kBoth = kFunction | kMethod;

void check_fits(const Tensor& self, const Tensor& other, int64_t dim) {
  check(other.dim() == self.dim(), TensorErrorKind::Runtime,
        "diff expects prepend or append to be the same dimension as input");
  for (int64_t d = 0; d < self.dim(); d++)
    check(d == dim || other.size(d) == self.size(d), TensorErrorKind::Runtime,
          "diff expects the shape of tensor to prepend or append to match that of input except along the differencing "
          "dimension; input.size(",
          d, ") = ", self.size(d), ", but got tensor.size(", d, ") = ", other.size(d));
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const OptionalTensor& before, const OptionalTensor& after) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "diff expects input to be at least one-dimensional");
  check(n >= 0, TensorErrorKind::Runtime, "order must be non-negative but got ", n);
  for (const OptionalTensor* each : {&before, &after})
    if (*each) check_fits(self, **each, wrap_dim(dim, self.dim()));
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

// ---- integrals ----

/// What the four forms have in common: y is checked, and along a dimension without samples the integral is 0.
int64_t checked_dim(const char* name, const Tensor& y, const Tensor* x, int64_t dim_given) {
  const int64_t dim = x ? wrap_dim(dim_given, y.dim()) : dim_given;
  check(y.dim() > 0, TensorErrorKind::Index, "Dimension specified as ", dim, " but tensor has no dimensions");
  const bool any_bool = is_bool(y.dtype()) || (x && is_bool(x->dtype()));
  check(!any_bool, TensorErrorKind::NotImplemented, name, ": received a bool input for `", x ? "x` or `y" : "y",
        "`, but bool is not supported");
  return wrap_dim(dim, y.dim());
}
void check_step(const char* name, const Scalar& dx) {
  check(!dx.is_complex() && !dx.is_bool(), TensorErrorKind::Runtime, name,
        ": Currently, we only support dx as a real number.");
}

Tensor without_first(const Tensor& t, int64_t dim) { return slice(t, dim, 1, {}); }
Tensor without_last(const Tensor& t, int64_t dim) { return slice(t, dim, 0, -1); }
Tensor pairs(const Tensor& y, int64_t dim) { return without_last(y, dim) + without_first(y, dim); }

/// The distances between the places x, a vector or of dimensions that are y's last ones.
Tensor widths_of(const char* name, const Tensor& x, const Tensor& y, int64_t dim) {
  Dims shape(size_t(std::max(x.dim(), y.dim())), 1);
  if (x.dim() == 1) {
    check(x.sizes()[0] == y.sizes()[size_t(dim)], TensorErrorKind::Runtime, name,
          ": There must be one `x` value for each sample point");
    shape[size_t(dim)] = x.sizes()[0];
  } else {
    for (size_t d = 0; d < x.sizes().size(); d++) shape[shape.size() - x.sizes().size() + d] = x.sizes()[d];
  }
  const Tensor places = reshape(x, shape);
  return without_first(places, dim) - without_last(places, dim);
}

Tensor nothing(const Tensor& y, int64_t dim) {
  Dims sizes(y.sizes());
  sizes.erase(size_t(dim));
  return zeros(sizes, y.dtype(), y.device());
}
Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim_given) {
  const int64_t dim = checked_dim("trapezoid", y, &x, dim_given);
  if (y.size(dim) == 0) return nothing(y, dim);
  return sum(pairs(y, dim) * widths_of("trapezoid", x, y, dim), Dims{dim}) / 2.0;
}
Tensor trapezoid_dx(const Tensor& y, Scalar dx, int64_t dim_given) {
  const int64_t dim = checked_dim("trapezoid", y, nullptr, dim_given);
  if (y.size(dim) == 0) return nothing(y, dim);
  check_step("trapezoid", dx);
  return (sum(y, Dims{dim}) - (select(y, dim, 0) + select(y, dim, -1)) * 0.5) * dx.to_double();
}
Tensor trapz_dx(const Tensor& y, double dx, int64_t dim) { return trapezoid_dx(y, dx, dim); }
Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim_given) {
  const int64_t dim = checked_dim("cumulative_trapezoid", y, &x, dim_given);
  return cumsum(pairs(y, dim) * widths_of("cumulative_trapezoid", x, y, dim), dim) / 2.0;
}
Tensor cumulative_trapezoid_dx(const Tensor& y, Scalar dx, int64_t dim_given) {
  const int64_t dim = checked_dim("cumulative_trapezoid", y, nullptr, dim_given);
  check_step("cumulative_trapezoid", dx);
  return cumsum(pairs(y, dim) * (dx.to_double() / 2.0), dim);
}

TS_OP(diff, "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
      "Differences of neighbours.", kBoth | kOut, &diff,
      "f[2,4]\n"
      "f[4], 2\n"
      "f[2,3], prepend=f[2,1], append=f[2,2]",
      .out = {OutRule::CastableOrTruth, "result type $R can't be cast to the desired output type $O"});
TS_OP(trapezoid, "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "The integral by the trapezoidal rule.",
      kFunction, &trapezoid_x,
      "f[2,4], f[4]\n"
      "f[3,2,4], f[2,4], dim=1\n"
      "f[2,0], f[2,3], dim=1\n"
      "f[2,4], f[3] -> RuntimeError: trapezoid: There must be one `x` value for each sample point",
      .autocast_cuda = Autocast::Float32);
TS_OP(trapezoid, "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
      "The integral by the trapezoidal rule.", kFunction, &trapezoid_dx,
      "f[2,4], dx=0.5\n"
      "f[4,2], dim=0\n"
      "f[] -> IndexError: Dimension specified as -1 but tensor has no dimensions\n"
      "b[3] -> NotImplementedError: trapezoid: received a bool input for `y`, but bool is not supported");
TS_OP(trapz, "trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "The integral by the trapezoidal rule.", kFunction,
      &trapezoid_x, "f[2,4], f[4]", .autocast_cuda = Autocast::Float32);
TS_OP(trapz, "trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor", "The integral by the trapezoidal rule.",
      kFunction, &trapz_dx, "f[2,4], dx=0.5");
TS_OP(cumulative_trapezoid, "cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "Running integrals.",
      kFunction, &cumulative_trapezoid_x, "f[2,4], f[4]", .autocast_cuda = Autocast::Float32);
TS_OP(cumulative_trapezoid, "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
      "Running integrals.", kFunction, &cumulative_trapezoid_dx, "f[2,4], dx=0.5");

}  // namespace
}  // namespace tessera::tensor
