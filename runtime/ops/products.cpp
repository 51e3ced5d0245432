// Products said with mm, bmm and outer: sentences of other ops, which their derivatives follow.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/checked.h"
#include "runtime/ops.h"
#include "runtime/ops/batching.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/out_types.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {
namespace {

using std::optional;
constexpr uint32_t kBoth = kFunction | kMethod;

Tensor inner(const Tensor& a, const Tensor& b) {
  if (a.dim() == 0 || b.dim() == 0) return a * b;
  check(a.size(-1) == b.size(-1), TensorErrorKind::Runtime,
        "inner() the last dimension must match on both input tensors but got shapes ", a.sizes(), " and ", b.sizes());
  check(a.dtype() == b.dtype(), TensorErrorKind::Runtime, "both inputs should have same dtype");
  Dims shape(a.sizes().first(size_t(a.dim() - 1)));
  const int64_t rows = numel_of(shape), columns = numel_of(b.sizes().first(size_t(b.dim() - 1)));
  for (const int64_t s : b.sizes().first(size_t(b.dim() - 1))) shape.push_back(s);
  return reshape(mm(reshape(a, {rows, a.size(-1)}), t(reshape(b, {columns, b.size(-1)}))), shape);
}
// Where beta is 0, NaN and infinities of self stay out; its gradient is 0.
Tensor scaled_self(const Tensor& self, const Scalar& beta, double nothing = -0.0) {
  if (beta.equals(0)) return masked_fill(self, ones({}, kBool, self.device()), nothing);
  return beta.equals(1) ? self : self * beta;
}
bool is_whole(DType t) { return !is_floating(t) && !is_complex(t); }
// Integers are scaled by integers: a fraction is cut off, as the product of matrices does.
Scalar scale_of(const Tensor& self, const Scalar& s) {
  return is_whole(self.dtype()) && is_floating(s.category(kFloat32)) ? Scalar(int64_t(s.to_double())) : s;
}
int64_t size_of(const Tensor& t, int64_t dim) {
  check(t.dim() > 0, TensorErrorKind::Index, "Dimension specified as ", dim, " but tensor has no dimensions");
  return t.size(dim);
}

Tensor addmv(const Tensor& self, const Tensor& m, const Tensor& v, Scalar beta, Scalar alpha) {
  check(m.dim() == 2 && v.dim() == 1 && self.dim() <= 1, TensorErrorKind::Runtime,
        "vector + matrix @ vector expected, got ", self.dim(), ", ", m.dim(), ", ", v.dim());
  if (m.size(1) != v.size(0) || (self.numel() != m.size(0) && self.numel() != 1))
    fail(TensorErrorKind::Runtime, "size mismatch, got input (", size_of(self, 0), "), mat (", m.size(0), "x",
         m.size(1), "), vec (", v.size(0), ")");
  check(self.dtype() == v.dtype() && m.dtype() == v.dtype(), TensorErrorKind::Runtime,
        "addmv input tensors must have the same dtype, but got ", scalar_type_name(self.dtype()), ", ",
        scalar_type_name(m.dtype()), ", and ", scalar_type_name(v.dtype()));
  const Scalar factor = scale_of(self, alpha);
  Tensor product = mv(m, v);
  // BLAS reads no matrix if alpha is 0, so its NaNs do not reach the result.
  if (alpha.equals(0) && (self.dtype() == kFloat32 || self.dtype() == kFloat64))
    product = masked_fill(product, full({1}, true, kBool, product.device()), 0);
  return scaled_self(expand(self, {m.size(0)}), scale_of(self, beta)) + (factor.equals(1) ? product : product * factor);
}

void check_addr_factor(DType type, const Scalar& s, const char* name) {
  check(!is_bool(s.category(kFloat32)) || is_bool(type), TensorErrorKind::Runtime, "Boolean ", name,
        " only supported for Boolean results.");
  check(!is_whole(type) || is_whole(s.category(kFloat32)), TensorErrorKind::Runtime,
        "For integral input tensors, argument ", name, " must not be a floating point number.");
}
Tensor addr(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  check(a.dim() == 1, TensorErrorKind::Runtime, "addr: Expected 1-D argument vec1, but got ", a.dim(), "-D");
  check(b.dim() == 1, TensorErrorKind::Runtime, "addr: Expected 1-D argument vec2, but got ", b.dim(), "-D");
  const Tensor wide = expand(self, {a.size(0), b.size(0)});
  PromotionState promotion;
  for (const Tensor* t : {&wide, &a, &b}) promotion.add(*t);
  const DType type = promotion.result();
  check_addr_factor(type, beta, "beta");
  check_addr_factor(type, alpha, "alpha");
  if (!is_bool(type) && !is_complex(type)) beta.as(type), alpha.as(type);
  if (is_bool(type)) {
    const Tensor product = alpha.equals(0) ? zeros_like(wide) : unsqueeze(a, 1) & b;
    return beta.equals(0) ? product : wide | product;
  }
  const Tensor column = unsqueeze(to_dtype(a, type), 1);
  return scaled_self(to_dtype(wide, type), beta) + (alpha.equals(1) ? column : column * alpha) * to_dtype(b, type);
}

// One product after the other, each added to what the ones before it gave.
Tensor addbmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  const int64_t rows = size_of(a, 1);
  Tensor sum = expand(self, {rows, size_of(b, 2)});
  check(a.dim() == 3, TensorErrorKind::Runtime, "batch1 must be a 3D tensor");
  check(b.dim() == 3, TensorErrorKind::Runtime, "batch2 must be a 3D tensor");
  check(a.size(0) == b.size(0), TensorErrorKind::Runtime, "batch1 and batch2 must have same number of batches, got ",
        a.size(0), " and ", b.size(0));
  check(a.size(2) == b.size(1), TensorErrorKind::Runtime, "Incompatible matrix sizes for bmm (", rows, "x", a.size(2),
        " and ", b.size(1), "x", b.size(2), ")");
  if (a.size(0) == 0) return contiguous(scaled_self(sum, scale_of(self, beta), 0.0));
  for (int64_t i = 0; i < a.size(0); i++)
    sum = addmm(sum, select(a, 0, i), select(b, 0, i), i ? Scalar(1) : beta, alpha);
  return sum;
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
  check(a.dtype() == b.dtype(), TensorErrorKind::Runtime, "expected scalar type ", scalar_type_name(a.dtype()),
        " but found ", scalar_type_name(b.dtype()));
  const auto part = [&](const Tensor& t, int64_t i) { return select(t, dim, i % 3); };
  TensorList parts;
  for (int64_t i = 0; i < 3; i++) parts.push_back(part(a, i + 1) * part(b, i + 2) - part(a, i + 2) * part(b, i + 1));
  return stack(parts, wrap_dim(dim, a.dim()));
}
Tensor vdot(const Tensor& a, const Tensor& b) { return renamed(dot(conj(a), b), "VdotBackward0"); }
Tensor dist(const Tensor& a, const Tensor& b, Scalar p) {
  const Tensor difference = a - b;
  check(is_floating(difference.dtype()) || is_complex(difference.dtype()), TensorErrorKind::NotImplemented,
        "norm(): input dtype should be either floating point or complex. Got ", scalar_type_name(difference.dtype()),
        " instead.");
  return renamed(norm(difference, p), "DistBackward0");
}

constexpr OutRule kOutOfTensordot{
    OutRule::Same, "tensordot: Expected the output tensor to have dtype $R, but got an output tensor with dtype $O"};
// PyTorch computes inner() with a single number as a product, whose out= follows the rule of mul.
OutRule out_of_inner(const OpCall& c, const Tensor&) {
  return c.tensor(0).dim() == 0 || c.tensor(1).dim() == 0 ? OutRule{} : kOutOfTensordot;
}
TS_OP(inner, "inner(Tensor self, Tensor other) -> Tensor", "Sums over the last dimensions of both.", kBoth | kOut,
      &inner,
      "f[2,3], f[4,3]\n"
      "f[3], f[3]\n"
      "f[2,3], f[2] -> RuntimeError: inner() the last dimension must match on both input tensors",
      .out = kOutOfTensordot, .out_of_call = out_of_inner, .autocast_cuda = Autocast::Widest);
TS_OP(vdot, "vdot(Tensor self, Tensor other) -> Tensor", "The dot product of vectors; self conjugated.", kBoth | kOut,
      &vdot, "f[3], f[3]\nc[3], c[3]", .out = kOutOfDot, .one_device = "_vdot", .autocast_cuda = Autocast::Widest);
TS_OP(ger, "ger(Tensor self, Tensor vec2) -> Tensor", "The outer product of vectors.", kBoth | kOut, &outer,
      "f[3], f[2]", .batched = batched_outer);
TS_OP(
    addmv, "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    "beta * self + alpha * (mat @ vec).", kBoth | kInplace | kOut, &addmv,
    "f[2], f[2,3], f[3], beta=0.5, alpha=2\n"
    "c[2], c[2,3], c[3], beta=2, alpha=3\n"
    "f[], f[2,3], f[3]\n"
    "f[2], f[2,3], i[3]<4 -> RuntimeError: addmv input tensors must have the same dtype, but got Float, Float, and Long",
    .forms =
        "Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1\n"
        "!Scalar beta, Tensor self, Scalar alpha, Tensor mat, Tensor vec\n"
        "!Scalar beta, Tensor self, Tensor mat, Tensor vec",
    .out = kOutStructured, .check_in_place = check_sum_in_place, .one_device = "addmv",
    .autocast_cuda = Autocast::Lower, .batched = batched_added_product);
void check_outer_in_place(const OpCall&, const Tensor& self, const Meta&) {
  check(self.dim() == 2, TensorErrorKind::Runtime, "2D tensor expected, got ", self.dim(), "D tensor for input");
}
TS_OP(addr, "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * outer(vec1, vec2).", kBoth | kInplace | kOut, &addr,
      "f[3,2], f[3], f[2], beta=0.5, alpha=2\n"
      "f[2], f[3], f[2], beta=0\n"
      "b[3,2], b[3], b[2], beta=3, alpha=2\n"
      "i[2]<4, i[3]<4, i[2]<4, beta=True -> RuntimeError: Boolean beta only supported for Boolean results.\n"
      "f[2], f[3,2], f[2] -> RuntimeError: addr: Expected 1-D argument vec1, but got 2-D",
      .forms =
          "Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1\n"
          "!Scalar beta, Tensor self, Scalar alpha, Tensor vec1, Tensor vec2\n"
          "!Scalar beta, Tensor self, Tensor vec1, Tensor vec2",
      .check_in_place = check_outer_in_place, .one_device = "_addr", .autocast_cuda = Autocast::Lower);
TS_OP(addbmm, "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      "beta * self + alpha * the sum of batched products.", kBoth | kInplace | kOut, &addbmm,
      "f[2,4], f[3,2,2], f[3,2,4], beta=0.5, alpha=2\n"
      "f[4], f[0,2,2], f[0,2,4], beta=0\n"
      "f[2,4], f[3,2,2], f[2,2,4] -> RuntimeError: batch1 and batch2 must have same number of batches, got 3 and 2",
      .forms =
          "Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1\n"
          "!Scalar beta, Tensor self, Scalar alpha, Tensor batch1, Tensor batch2\n"
          "!Scalar beta, Tensor self, Tensor batch1, Tensor batch2",
      .out = {OutRule::Same, "self and mat2 must have the same dtype, but got $O and $R"}, .one_device = "_addbmm",
      .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower);
TS_OP(kron, "kron(Tensor self, Tensor other) -> Tensor", "The Kronecker product.", kBoth | kOut, &kron,
      "f[2,3], f[3,2]");
TS_OP(cross, "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
      "The cross product of vectors with three numbers.", kBoth | kOut, &cross,
      "f[4,3], f[4,3], 1\n"
      "f[3,2], f[3,2]",
      .out = kOutStructured, .one_device = "linalg_cross", .autocast_cuda = Autocast::Widest);
TS_OP(dist, "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", "The p-norm of the difference.", kBoth, &dist,
      "f[2,3], f[3]\n"
      "f[4], f[4], 3",
      .autocast_cuda = Autocast::Float32);

}  // namespace
}  // namespace tessera::tensor
