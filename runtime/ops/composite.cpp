// Ops that are sentences of other ops: their derivatives come from what they say, so nothing is recorded here.
#include <algorithm>
#include <cmath>

#include "runtime/autograd/record.h"
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

using std::optional;
constexpr uint32_t kBoth = kFunction | kMethod;

// ---- products ----

Tensor inner(const Tensor& a, const Tensor& b) {
  if (a.dim() == 0 || b.dim() == 0) return a * b;
  check(a.size(-1) == b.size(-1), TensorErrorKind::Runtime,
        "inner() the last dimension must match on both input tensors but got shapes ", a.sizes(), " and ", b.sizes());
  Dims shape(a.sizes().first(size_t(a.dim() - 1)));
  for (const int64_t s : b.sizes().first(size_t(b.dim() - 1))) shape.push_back(s);
  return reshape(mm(reshape(a, {-1, a.size(-1)}), t(reshape(b, {-1, b.size(-1)}))), shape);
}
Tensor addmv(const Tensor& self, const Tensor& m, const Tensor& v, Scalar beta, Scalar alpha) {
  return self * beta + mv(m, v) * alpha;
}
Tensor addr(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  return self * beta + outer(a, b) * alpha;
}
Tensor addbmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  check(a.dim() == 3 && b.dim() == 3, TensorErrorKind::Runtime, "batch1 must be a 3D tensor");
  return self * beta + sum(bmm(a, b), Dims{0}) * alpha;
}
Tensor kron(const Tensor& a_given, const Tensor& b_given) {
  Tensor a = a_given, b = b_given;
  while (a.dim() < b.dim()) a = unsqueeze(a, 0);
  while (b.dim() < a.dim()) b = unsqueeze(b, 0);
  Dims left, right, shape;
  for (int64_t d = 0; d < a.dim(); d++) {
    left.push_back(a.sizes()[d]), left.push_back(1);
    right.push_back(1), right.push_back(b.sizes()[d]);
    shape.push_back(checked_mul(a.sizes()[d], b.sizes()[d]));
  }
  return reshape(reshape(a, left) * reshape(b, right), shape);
}
Tensor matrix_power(const Tensor& self, int64_t n) {
  check(self.dim() >= 2 && self.size(-1) == self.size(-2), TensorErrorKind::Runtime,
        "linalg.matrix_power: A must be batches of square matrices, but they are ", self.dim() < 2 ? 0 : self.size(-2),
        " by ", self.dim() < 2 ? 0 : self.size(-1), " matrices");
  check(n >= 0, TensorErrorKind::NotImplemented, "matrix_power of a negative power is not supported yet");
  if (n == 0) return expand(eye(self.size(-1), {}, self.dtype(), self.device()), self.sizes());
  Tensor result, square = self;
  for (; n; n >>= 1) {
    if (n & 1) result = result.defined() ? matmul(result, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  return result;
}
Tensor cross(const Tensor& a, const Tensor& b, optional<int64_t> dim_given) {
  int64_t dim = dim_given.value_or(-1);
  if (!dim_given) {
    for (dim = 0; dim < a.dim() && a.sizes()[dim] != 3;) dim++;
    check(dim < a.dim(), TensorErrorKind::Runtime, "no dimension of size 3 in input");
  }
  check(a.size(dim) == 3 && b.size(dim) == 3, TensorErrorKind::Runtime, "linalg.cross: inputs dimension ", dim,
        " must have length 3. Got ", a.size(dim), " and ", b.size(dim));
  const auto part = [&](const Tensor& t, int64_t i) { return select(t, dim, i % 3); };
  TensorList parts;
  for (int64_t i = 0; i < 3; i++) parts.push_back(part(a, i + 1) * part(b, i + 2) - part(a, i + 2) * part(b, i + 1));
  return stack(parts, wrap_dim(dim, a.dim()));
}
Tensor dist(const Tensor& a, const Tensor& b, Scalar p) { return norm(a - b, p); }
Tensor cdist(const Tensor& a, const Tensor& b, double p, optional<int64_t>) {
  check(a.dim() >= 2 && b.dim() >= 2, TensorErrorKind::Runtime,
        "cdist only supports at least 2D tensors, X1 got: ", a.dim(), "D");
  check(a.size(-1) == b.size(-1), TensorErrorKind::Runtime,
        "X1 and X2 must have the same number of columns. X1: ", a.size(-1), " X2: ", b.size(-1));
  return norm(unsqueeze(a, -2) - unsqueeze(b, -3), p, Dims{-1});
}

TS_OP(inner, "inner(Tensor self, Tensor other) -> Tensor", "Sums over the last dimensions of both.", kBoth, &inner,
      "f[2,3], f[4,3]\n"
      "f[3], f[3]\n"
      "f[2,3], f[2] -> RuntimeError: inner() the last dimension must match on both input tensors");
TS_OP(vdot, "vdot(Tensor self, Tensor other) -> Tensor", "The dot product of vectors.", kBoth, &dot, "f[3], f[3]");
TS_OP(ger, "ger(Tensor self, Tensor vec2) -> Tensor", "The outer product of vectors.", kBoth, &outer, "f[3], f[2]");
TS_OP(addmv, "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * (mat @ vec).", kBoth, &addmv,
      "f[2], f[2,3], f[3], beta=0.5, alpha=2\n"
      "f[], f[2,3], f[3]");
TS_OP(addr, "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * outer(vec1, vec2).", kBoth, &addr, "f[3,2], f[3], f[2], beta=0.5, alpha=2");
TS_OP(addbmm, "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * the sum of batched products.", kBoth, &addbmm,
      "f[2,4], f[3,2,2], f[3,2,4], beta=0.5, alpha=2");
TS_OP(kron, "kron(Tensor self, Tensor other) -> Tensor", "The Kronecker product.", kBoth, &kron, "f[2,3], f[3,2]");
TS_OP(
    matrix_power, "matrix_power(Tensor self, int n) -> Tensor", "A square matrix times itself, n times.",
    kBoth | kLinalg, &matrix_power,
    "f[3,3], 3\n"
    "f[2,3,3], 2\n"
    "f[3,3], 0\n"
    "f[2,3], 2 -> RuntimeError: linalg.matrix_power: A must be batches of square matrices, but they are 2 by 3 matrices");
TS_OP(cross, "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
      "The cross product of vectors with three numbers.", kBoth | kLinalg, &cross,
      "f[4,3], f[4,3], 1\n"
      "f[3,2], f[3,2]");
TS_OP(dist, "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", "The p-norm of the difference.", kBoth, &dist,
      "f[2,3], f[3]\n"
      "f[4], f[4], 3");
TS_OP(cdist, "cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
      "The p-norm between each pair of rows.", kFunction, &cdist,
      "f[3,2], f[4,2]\n"
      "f[2,3,2], f[2,2,2], 1");

// ---- along a dimension ----

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const OptionalTensor& before, const OptionalTensor& after) {
  check(self.dim() > 0, TensorErrorKind::Runtime, "diff expects input to be at least one-dimensional");
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

// The running largest (or smallest) and its last place.
ValuesAndIndices cumulative_extreme(const Tensor& self, int64_t dim_given, bool largest, const char* name) {
  const int64_t dim = wrap_dim(dim_given, self.dim());
  if (self.dim() == 0) return {clone(self), zeros({}, kInt64)};
  Tensor values, index;
  {
    const GradMode no_grad(false);
    TensorList bests, places;
    Tensor best, place;
    for (int64_t i = 0; i < self.sizes()[dim]; i++) {
      const Tensor item = select(self, dim, i), here = full(item.sizes(), i, kInt64, self.device());
      if (!best.defined()) best = item, place = here;
      else {
        const Tensor taken = logical_or(largest ? item >= best : item <= best, isnan(item));
        best = where(taken, Operand(item), Operand(best));
        place = where(taken, Operand(here), Operand(place));
      }
      bests.push_back(best), places.push_back(place);
    }
    values = bests.empty() ? clone(self) : stack(bests, dim),
    index = places.empty() ? zeros(self.sizes(), kInt64) : stack(places, dim);
  }
  if (needs_grad(self))
    record(values, name, {&self}, keep(index), [dim, sizes = Dims(self.sizes())](Sweep& s) {
      s.give(0, [&] { return scatter_add(zeros(sizes, s.g().dtype(), s.g().device()), dim, s.kept(0), s.g()); });
    });
  return {values, index};
}
ValuesAndIndices cummax(const Tensor& self, int64_t dim) {
  return cumulative_extreme(self, dim, true, "CummaxBackward0");
}
ValuesAndIndices cummin(const Tensor& self, int64_t dim) {
  return cumulative_extreme(self, dim, false, "CumminBackward0");
}
Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) return clone(self);
  const Tensor most = amax(self.view_of(self.sizes(), self.strides()), Dims{dim}, true);
  return log(cumsum(exp(self - most), dim)) + most;
}

Tensor nansum(const Tensor& self, const optional<Dims>& dim, bool keepdim, optional<DType> dtype) {
  return sum(is_floating(self.dtype()) ? where(isnan(self), Operand(0.0), Operand(self)) : self, dim, keepdim, dtype);
}
Tensor nanmean(const Tensor& self, const optional<Dims>& dim, bool keepdim, optional<DType> dtype) {
  return nansum(self, dim, keepdim, dtype) / sum(logical_not(isnan(self)), dim, keepdim);
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const optional<Dims>& dim, bool unbiased, bool keepdim) {
  return {stddev(self, dim, unbiased, keepdim), mean(self, dim, keepdim)};
}
std::tuple<Tensor, Tensor> std_mean_all(const Tensor& self, bool unbiased) {
  return std_mean(self, {}, unbiased, false);
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const optional<Dims>& dim, bool unbiased, bool keepdim) {
  return {var(self, dim, unbiased, keepdim), mean(self, dim, keepdim)};
}
std::tuple<Tensor, Tensor> var_mean_all(const Tensor& self, bool unbiased) {
  return var_mean(self, {}, unbiased, false);
}
std::tuple<Tensor, Tensor> aminmax(const Tensor& self, optional<int64_t> dim, bool keepdim) {
  const optional<Dims> dims = dim ? optional<Dims>(Dims{*dim}) : std::nullopt;
  return {amin(self, dims, keepdim), amax(self, dims, keepdim)};
}

// Linear interpolation between the sorted neighbours of each place.
Tensor quantile(const Tensor& self, const Tensor& q, optional<int64_t> dim_given, bool keepdim,
                const std::string& interpolation) {
  if (q.device().is_cpu())
    check(!any((q < 0.0) | (q > 1.0)).item().to_bool(), TensorErrorKind::Runtime,
          "quantile() q values must be in the range [0, 1]");
  check(is_floating(self.dtype()), TensorErrorKind::Runtime,
        "quantile() input tensor must be either float or double dtype");
  check(q.dtype() == self.dtype(), TensorErrorKind::Runtime,
        "quantile() q tensor must be same dtype as the input tensor");
  const int64_t dim = dim_given ? wrap_dim(*dim_given, self.dim()) : 0;
  const Tensor given = dim_given ? self : reshape(self, {-1});
  const Tensor sorted = transpose(std::get<0>(sort(given, dim)), dim, -1);
  const Tensor place = reshape(q, {-1}) * double(given.size(dim) - 1), low = floor(place), high = ceil(place);
  const Tensor a = index_select(sorted, -1, to_dtype(low, kInt64)),
               b = index_select(sorted, -1, to_dtype(high, kInt64));
  Tensor out = interpolation == "lower"      ? a
               : interpolation == "higher"   ? b
               : interpolation == "midpoint" ? (a + b) / 2.0
               : interpolation == "nearest"  ? index_select(sorted, -1, to_dtype(round(place), kInt64))
                                             : a + (b - a) * (place - low);
  out = movedim(transpose(out, dim, -1), {dim}, {0});
  if (keepdim) out = unsqueeze(out, dim_given ? dim + 1 : 1);
  if (keepdim && !dim_given)
    for (int64_t d = 1; d < self.dim(); d++) out = unsqueeze(out, 1);
  return q.dim() == 0 ? squeeze(out, 0) : out;
}
Tensor quantile_number(const Tensor& self, double q, optional<int64_t> dim, bool keepdim,
                       const std::string& interpolation) {
  check(q >= 0 && q <= 1, TensorErrorKind::Runtime, "quantile() q must be in the range [0, 1] but got ", q);
  return quantile(self, full({}, q, self.dtype(), self.device()), dim, keepdim, interpolation);
}
Tensor histc(const Tensor& self, int64_t bins, Scalar low_given, Scalar high_given) {
  check(bins > 0, TensorErrorKind::Runtime, "bins must be > 0");
  double low = low_given.to_double(), high = high_given.to_double();
  if (self.device().is_meta()) return zeros({bins}, self.dtype(), self.device());
  const GradMode no_grad(false);
  if (low == high && self.numel()) low = min(self).item().to_double(), high = max(self).item().to_double();
  if (low == high) low -= 1, high += 1;
  check(low < high, TensorErrorKind::Runtime, "max must be larger than min");
  const Tensor x = reshape(to_dtype(self, kFloat64), {-1}), inside = index(x, {logical_and(x >= low, x <= high)});
  const Tensor at = clamp_max(to_dtype((inside - low) * (double(bins) / (high - low)), kInt64), bins - 1);
  return index_add(zeros({bins}, self.dtype(), self.device()), 0, at, ones(at.sizes(), self.dtype(), self.device()));
}

TS_OP(diff, "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
      "Differences of neighbours.", kBoth, &diff,
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
TS_OP(cummax, "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
      "The largest so far, and where it was.", kBoth, &cummax,
      "f[3,4], 1\n"
      "f[3,4], 0\n"
      "f[3], 1 -> IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
TS_OP(cummin, "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
      "The smallest so far, and where it was.", kBoth, &cummin,
      "f[3,4], 1\n"
      "f[3,4], 0");
TS_OP(logcumsumexp, "logcumsumexp(Tensor self, int dim) -> Tensor", "log(cumsum(exp(x))), without overflow.", kBoth,
      &logcumsumexp,
      "f[3,4], 1\n"
      "f[3,4], 0");
TS_OP(nansum, "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      "The sum; NaN counts as 0.", kBoth, &nansum,
      "f[3,4]\n"
      "f[3,4], 1, True");
TS_OP(nanmean, "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
      "The mean of what is not NaN.", kBoth, &nanmean,
      "f[3,4]\n"
      "f[3,4], [0]");
TS_OP(std_mean, "std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "Standard deviation and mean.",
      kFunction, &std_mean_all,
      "f[3,4]\n"
      "f[4], False");
TS_OP(std_mean, "std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
      "Standard deviation and mean.", kFunction, &std_mean,
      "f[3,4], 1\n"
      "f[3,4], [0], True, True");
TS_OP(var_mean, "var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "Variance and mean.", kFunction,
      &var_mean_all,
      "f[3,4]\n"
      "f[4], False");
TS_OP(var_mean, "var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
      "Variance and mean.", kFunction, &var_mean,
      "f[3,4], 1\n"
      "f[3,4], [0], True, True");
TS_OP(aminmax, "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
      "The smallest and the largest.", kBoth, &aminmax,
      "f[3,4]\n"
      "f[3,4], dim=1, keepdim=True");
TS_OP(quantile,
      "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
      "The q-th quantiles.", kBoth, &quantile,
      "f[3,4], p[2]\n"
      "f[3], g[2] -> RuntimeError: quantile() q values must be in the range [0, 1]\n"
      "f[3,4], p[2], 1, True");
TS_OP(
    quantile,
    "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
    "The q-th quantile.", kBoth, &quantile_number,
    "f[3,4], 0.3\n"
    "f[3,4], 0.6, 0, interpolation='nearest'\n"
    "f[3], 1.5 -> RuntimeError: quantile() q must be in the range [0, 1]");
TS_OP(histc, "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
      "How many elements fall into each of equal bins.", kBoth | kNoGrad, &histc,
      "f[3,4], 5\n"
      "p[9], 4, 0, 1");

// ---- diagonals ----

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t first, int64_t second) {
  const int64_t n = saturated_add(self.size(-1), offset < 0 ? saturated_sub(0, offset) : offset), ndim = self.dim() + 1;
  const int64_t a = wrap_dim(first, ndim), b = wrap_dim(second, ndim);
  check(a != b, TensorErrorKind::Runtime, "diagonal dimensions cannot be identical ", first, ", ", second);
  Dims shape(self.sizes().first(size_t(self.dim() - 1)));
  shape.insert(size_t(std::min(a, b)), n), shape.insert(size_t(std::max(a, b)), n);
  Tensor out = zeros(shape, self.dtype(), self.device());
  copy_into(diagonal(out, offset, a, b), self);
  if (needs_grad(self))
    record(out, "DiagEmbedBackward0", {&self},
           [offset, a, b](Sweep& s) { s.give(0, [&] { return diagonal(s.g(), offset, a, b); }); });
  return out;
}
Tensor diag(const Tensor& self, int64_t offset) {
  check(self.dim() == 1 || self.dim() == 2, TensorErrorKind::Runtime, "matrix or a vector expected");
  return self.dim() == 1 ? diag_embed(self, offset, -2, -1) : clone(diagonal(self, offset));
}
Tensor diagflat(const Tensor& self, int64_t offset) { return diag_embed(reshape(self, {-1}), offset, -2, -1); }
Tensor trace(const Tensor& self) {
  check(self.dim() == 2, TensorErrorKind::Runtime, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return sum(diagonal(self));
}

TS_OP(diag, "diag(Tensor self, int diagonal=0) -> Tensor", "A matrix with that diagonal, or the diagonal of a matrix.",
      kBoth, &diag,
      "f[3]\n"
      "f[3,4]\n"
      "f[3,4], 1");
TS_OP(diag_embed, "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
      "Matrices with self as their diagonals.", kBoth, &diag_embed,
      "f[2,3]\n"
      "f[3], 1");
TS_OP(diagflat, "diagflat(Tensor self, int offset=0) -> Tensor", "A matrix with all elements as its diagonal.", kBoth,
      &diagflat,
      "f[2,2]\n"
      "f[3], -1");
TS_OP(trace, "trace(Tensor self) -> Tensor", "The sum of the diagonal.", kBoth, &trace, "f[3,4]");

// ---- parts and shapes ----

TensorList tensor_split(const Tensor& self, Ints at, int64_t dim) {
  TensorList parts;
  int64_t start = 0;
  for (const int64_t end : at) parts.push_back(slice(self, dim, start, end)), start = end;
  parts.push_back(slice(self, dim, start, {}));
  return parts;
}
TensorList tensor_split_count(const Tensor& self, int64_t sections, int64_t dim) {
  check(sections > 0, TensorErrorKind::Runtime, "number of sections must be larger than 0, got ", sections);
  check_list_length(sections);
  const int64_t size = self.size(dim), small = size / sections, extra = size % sections;
  Dims at;
  for (int64_t i = 1; i < sections; i++) at.push_back(i * small + std::min(i, extra));
  return tensor_split(self, at, dim);
}
// hsplit, vsplit and dsplit name the dimension and demand equal parts.
template <int64_t kDim>
TensorList split_equal(const Tensor& self, int64_t sections) {
  const int64_t dim = kDim == 1 && self.dim() == 1 ? 0 : kDim;
  static constexpr const char* kNames[] = {"vsplit", "hsplit", "dsplit"};
  check(self.dim() > dim && (kDim != 0 || self.dim() >= 2), TensorErrorKind::Runtime, "torch.", kNames[kDim],
        " requires a tensor with at least ",
        kDim == 0   ? 2
        : kDim == 1 ? 1
                    : 3,
        " dimension, but got a tensor with ", self.dim(), " dimensions!");
  check(sections > 0 && self.sizes()[dim] % sections == 0, TensorErrorKind::Runtime, "torch.", kNames[kDim],
        " attempted to split along dimension ", dim, ", but the size of the dimension ", self.sizes()[dim],
        " is not divisible by the split_size ", sections, "!");
  return tensor_split_count(self, sections, dim);
}
template <int64_t kDim>
TensorList split_at(const Tensor& self, Ints at) {
  return tensor_split(self, at, kDim == 1 && self.dim() == 1 ? 0 : kDim);
}
template <int64_t kRank>
Tensor at_least(const Tensor& self) {
  Tensor out = self.dim() == 0 ? reshape(self, {1}) : self;
  if (kRank >= 2 && out.dim() == 1) out = unsqueeze(out, 0);
  if (kRank >= 3 && out.dim() == 2) out = unsqueeze(out, -1);
  return out;
}
template <int64_t kRank>
TensorList all_at_least(const TensorList& tensors) {
  TensorList out;
  for (const Tensor& t : tensors) out.push_back(at_least<kRank>(t));
  return out;
}
Tensor argwhere(const Tensor& self) { return nonzero(self); }
Tensor type_as(const Tensor& self, const Tensor& other) { return to(self, other.dtype(), other.device()); }

#define TS_SPLIT(NAME, DIM, DOC)                                                                                      \
  TS_OP(NAME, #NAME "(Tensor self, int sections) -> Tensor[]", DOC, kBoth | kView, &split_equal<DIM>, "f[2,4,6], 2"); \
  TS_OP(NAME, #NAME ".array(Tensor self, int[] indices) -> Tensor[]", DOC, kBoth | kView, &split_at<DIM>,             \
        "f[3,4,5], [1, 2]")
#define TS_AT_LEAST(NAME, RANK)                                                                                        \
  TS_OP(NAME, #NAME "(Tensor self) -> Tensor", "With dimensions of size 1 added.", kFunction | kView, &at_least<RANK>, \
        "f[3]\nf[]");                                                                                                  \
  TS_OP(NAME, #NAME ".Sequence(Tensor[] tensors) -> Tensor[]", "With dimensions of size 1 added.",                     \
        kFunction | kView | kSizes, &all_at_least<RANK>, "(f[3], f[])")
TS_OP(tensor_split, "tensor_split.sections(Tensor self, int sections, int dim=0) -> Tensor[]",
      "Parts of nearly equal size.", kBoth | kView, &tensor_split_count,
      "f[5,2], 3\n"
      "f[2,5], 2, 1");
TS_OP(tensor_split, "tensor_split.indices(Tensor self, int[] indices, int dim=0) -> Tensor[]", "Parts between places.",
      kBoth | kView, &tensor_split, "f[5,2], [1, 3]");
TS_SPLIT(hsplit, 1, "Equal parts side by side.");
TS_SPLIT(vsplit, 0, "Equal parts one below the other.");
TS_SPLIT(dsplit, 2, "Equal parts along the third dimension.");
TS_AT_LEAST(atleast_1d, 1);
TS_AT_LEAST(atleast_2d, 2);
TS_AT_LEAST(atleast_3d, 3);
#undef TS_SPLIT
#undef TS_AT_LEAST
TS_OP(argwhere, "argwhere(Tensor self) -> Tensor", "The places of nonzero elements, one a row.", kBoth | kDataDependent | kNoGrad,
      &argwhere, "b[3,4]");
TS_OP(type_as, "type_as(Tensor self, Tensor other) -> Tensor", "Converted to other's dtype.", kMethod, &type_as,
      "f[3], i[2]<3");
TS_OP(sum_to_size, "sum_to_size(Tensor self, int[] size) -> Tensor",
      "Summed down to a shape that broadcasts to self's.", kMethod | kSizes, &sum_to_size,
      "f[3,4], [1, 4]\n"
      "f[3,4], [4]");

// ---- copies with a part replaced ----

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  const Tensor out = clone(self);
  copy_(select(out, dim, index), src);
  return out;
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, optional<int64_t> start, optional<int64_t> end,
                     int64_t step) {
  const Tensor out = clone(self);
  copy_(slice(out, dim, start, end, step), src);
  return out;
}
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  const Tensor out = clone(self);
  copy_(diagonal(out, offset, dim1, dim2), src);
  return out;
}
Tensor as_strided_scatter(const Tensor& self, const Tensor& src, Ints size, Ints stride, optional<int64_t> offset) {
  const Tensor out = clone(contiguous(self));
  copy_(as_strided(out, size, stride, offset), src);
  return out;
}
Tensor put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  const Tensor flat = view(self, {-1});
  index_put_(flat, {reshape(index, {-1})}, reshape(source, {-1}), accumulate);
  return self;
}

TS_OP(select_scatter, "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
      "A copy with one item replaced.", kBoth, &select_scatter, "f[3,4], f[4], 0, 1");
TS_OP(slice_scatter,
      "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
      "A copy with a stretch replaced.", kBoth, &slice_scatter, "f[4,3], f[2,3], 0, 1, 3");
TS_OP(diagonal_scatter, "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
      "A copy with the diagonal replaced.", kBoth, &diagonal_scatter, "f[3,3], f[3]");
TS_OP(as_strided_scatter,
      "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
      "A copy with a strided part replaced.", kBoth, &as_strided_scatter, "f[3,3], f[2], [2], [4]");
TS_OP(put_, "put_(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
      "Writes elements to places of the flattened tensor.", kMethod, &put_,
      "f[3,4], i{1,5,2}, f[3]\n"
      "f[3], i{1,1}, f[2], True");

}  // namespace
}  // namespace tessera::tensor
