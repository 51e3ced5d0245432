// Products said with mm, bmm and outer: sentences of other ops, which their derivatives follow.
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

using std::optional;
constexpr uint32_t kBoth = kFunction | kMethod;

Tensor inner(const Tensor& a, const Tensor& b) {
  if (a.dim() == 0 || b.dim() == 0) return a * b;
  check(a.size(-1) == b.size(-1), TensorErrorKind::Runtime,
        "inner() the last dimension must match on both input tensors but got shapes ", a.sizes(), " and ", b.sizes());
  Dims shape(a.sizes().first(size_t(a.dim() - 1)));
  for (const int64_t s : b.sizes().first(size_t(b.dim() - 1))) shape.push_back(s);
  return reshape(mm(reshape(a, {-1, a.size(-1)}), t(reshape(b, {-1, b.size(-1)}))), shape);
}
// Where beta is 0, NaN and infinities of self stay out.
Tensor scaled_sum(const Tensor& self, const Scalar& beta, const Tensor& product, const Scalar& alpha) {
  const Tensor part = alpha.to_double() == 1.0 ? product : product * alpha;
  if (is_bool(self.dtype())) return beta.to_double() == 0.0 ? part : self | part;
  if (beta.to_double() == 1.0) return self + part;
  return (beta.to_double() == 0.0 ? zeros_like(self) : self * beta) + part;
}
bool is_whole(const Tensor& t) { return !is_floating(t.dtype()) && !is_complex(t.dtype()); }
// Integers are scaled by integers: a fraction is cut off, as the product of matrices does.
Scalar scale_of(const Tensor& self, const Scalar& s) {
  return is_whole(self) && is_floating(s.category(kFloat32)) ? Scalar(int64_t(s.to_double())) : s;
}
void check_whole(const Tensor& self, const Scalar& beta, const Scalar& alpha) {
  const bool whole = is_whole(self);
  check(!whole || !is_floating(beta.category(kFloat32)), TensorErrorKind::Runtime,
        "For integral input tensors, argument beta must not be a floating point number.");
  check(!whole || !is_floating(alpha.category(kFloat32)), TensorErrorKind::Runtime,
        "For integral input tensors, argument alpha must not be a floating point number.");
}
Tensor addmv(const Tensor& self, const Tensor& m, const Tensor& v, Scalar beta, Scalar alpha) {
  check(m.dim() == 2 && v.dim() == 1 && self.dim() <= 1, TensorErrorKind::Runtime,
        "vector + matrix @ vector expected, got ", self.dim(), ", ", m.dim(), ", ", v.dim());
  check(m.size(1) == v.size(0) && (self.numel() == m.size(0) || self.numel() == 1), TensorErrorKind::Runtime,
        "size mismatch, got input (", self.dim() ? self.size(0) : 1, "), mat (", m.size(0), "x", m.size(1), "), vec (",
        v.size(0), ")");
  return scaled_sum(self, scale_of(self, beta), mv(m, v), scale_of(self, alpha));
}
Tensor addr(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  check_whole(self, beta, alpha);
  return scaled_sum(self, beta, outer(a, b), alpha);
}
Tensor addbmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  check(a.dim() == 3 && b.dim() == 3, TensorErrorKind::Runtime, "batch1 must be a 3D tensor");
  return scaled_sum(self, scale_of(self, beta), sum(bmm(a, b), Dims{0}), scale_of(self, alpha));
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
Tensor cross(const Tensor& a, const Tensor& b, optional<int64_t> dim_given) {
  check(a.dim() == b.dim(), TensorErrorKind::Runtime, "linalg.cross: inputs must have the same number of dimensions.");
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
Tensor vdot(const Tensor& a, const Tensor& b) { return dot(conj(a), b); }
Tensor dist(const Tensor& a, const Tensor& b, Scalar p) { return norm(a - b, p); }

TS_OP(inner, "inner(Tensor self, Tensor other) -> Tensor", "Sums over the last dimensions of both.", kBoth | kOut,
      &inner,
      "f[2,3], f[4,3]\n"
      "f[3], f[3]\n"
      "f[2,3], f[2] -> RuntimeError: inner() the last dimension must match on both input tensors");
TS_OP(vdot, "vdot(Tensor self, Tensor other) -> Tensor", "The dot product of vectors; self conjugated.", kBoth | kOut,
      &vdot, "f[3], f[3]\nc[3], c[3]");
TS_OP(ger, "ger(Tensor self, Tensor vec2) -> Tensor", "The outer product of vectors.", kBoth | kOut, &outer,
      "f[3], f[2]");
TS_OP(addmv, "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * (mat @ vec).", kBoth | kInplace | kOut, &addmv,
      "f[2], f[2,3], f[3], beta=0.5, alpha=2\n"
      "f[], f[2,3], f[3]");
TS_OP(addr, "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * outer(vec1, vec2).", kBoth | kInplace | kOut, &addr,
      "f[3,2], f[3], f[2], beta=0.5, alpha=2");
TS_OP(addbmm, "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * the sum of batched products.", kBoth | kInplace | kOut, &addbmm,
      "f[2,4], f[3,2,2], f[3,2,4], beta=0.5, alpha=2");
TS_OP(kron, "kron(Tensor self, Tensor other) -> Tensor", "The Kronecker product.", kBoth | kOut, &kron,
      "f[2,3], f[3,2]");
TS_OP(cross, "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
      "The cross product of vectors with three numbers.", kBoth | kOut, &cross,
      "f[4,3], f[4,3], 1\n"
      "f[3,2], f[3,2]");
TS_OP(dist, "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", "The p-norm of the difference.", kBoth, &dist,
      "f[2,3], f[3]\n"
      "f[4], f[4], 3");

}  // namespace
}  // namespace tessera::tensor
