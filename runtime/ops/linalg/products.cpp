// Products of several matrices, powers, and what torch.linalg has of products of vectors.
// compile: small (the factorisation takes longer)
#include "runtime/device/two_devices.h"
#include <climits>

#include "runtime/ops/indexing.h"
#include "runtime/ops/linalg/common.h"
#include "runtime/ops/out_types.h"

namespace tessera::tensor {
namespace {

using namespace linalg;

// ---- chains ----

/// Multiplies factors[first..last] in the order of the fewest multiplications: `split[i][j]` is where i..j is cut.
Tensor multiply(const TensorList& factors, const std::vector<std::vector<size_t>>& split, size_t first, size_t last) {
  if (first == last) return factors[first];
  const size_t cut = split[first][last];
  return matmul(multiply(factors, split, first, cut), multiply(factors, split, cut + 1, last));
}

Tensor chain(const TensorList& factors) {
  const size_t n = factors.size();
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> split(n, std::vector<size_t>(n, 0));
  const auto size = [&](size_t i) { return double(i < n ? factors[i].sizes()[0] : factors[n - 1].sizes()[1]); };
  for (size_t length = 1; length < n; length++)
    for (size_t first = 0; first + length < n; first++) {
      const size_t last = first + length;
      cost[first][last] = HUGE_VAL;
      for (size_t cut = first; cut < last; cut++) {
        const double c = cost[first][cut] + cost[cut + 1][last] + size(first) * size(cut + 1) * size(last + 1);
        if (c < cost[first][last]) cost[first][last] = c, split[first][last] = cut;
      }
    }
  return multiply(factors, split, 0, n - 1);
}

// The first may be a row and the last a column.
Tensor multi_dot(const TensorList& given) {
  const size_t n = given.size();
  check(n >= 2, TensorErrorKind::Runtime, "multi_dot(): expected at least 2 tensors but got ", n);
  const auto check_end = [&](const Tensor& t, const char* which) {
    check(t.dim() == 1 || t.dim() == 2, TensorErrorKind::Runtime, "multi_dot(): the ", which,
          " tensor must be 1D or 2D but got ", t.dim(), 'D');
  };
  check_end(given.front(), "first");
  check_end(given.back(), "last");
  TensorList factors = given;
  if (given.front().dim() == 1) factors.front() = unsqueeze(given.front(), 0);
  if (given.back().dim() == 1) factors.back() = unsqueeze(given.back(), -1);
  for (size_t i = 0; i < n; i++) {
    check(factors[i].dim() == 2, TensorErrorKind::Runtime, "multi_dot(): tensor ", i, " must be 2D but got ",
          factors[i].dim(), 'D');
    check(factors[i].dtype() == factors[0].dtype(), TensorErrorKind::Runtime,
          "multi_dot(): all tensors must have be the same dtype but tensor 0 is ", cpp_name(factors[0].dtype()),
          " and tensor ", i, ' ', cpp_name(factors[i].dtype()));
    if (i > 0)
      check(factors[i - 1].sizes()[1] == factors[i].sizes()[0], TensorErrorKind::Runtime, "multi_dot(): tensors ",
            i - 1, " and ", i, " with shapes ", factors[i - 1].sizes(), " and ", factors[i].sizes(),
            " cannot be multiplied");
  }
  const Tensor out = chain(factors);
  Dims shape;
  if (given.front().dim() == 2) shape.push_back(out.sizes()[0]);
  if (given.back().dim() == 2) shape.push_back(out.sizes()[1]);
  return shape.size() == 2 ? out : view(out, shape);
}

Tensor chain_matmul(const TensorList& matrices) {
  check(!matrices.empty(), TensorErrorKind::Runtime, "chain_matmul(): Expected one or more matrices");
  for (const Tensor& m : matrices)
    check(m.dim() == 2, TensorErrorKind::Runtime, "Tensor dimension is ", m.dim(), ", expected 2 instead.");
  return matrices.size() == 1 ? matrices[0] : multi_dot(matrices);
}

Tensor matrix_power(const Tensor& given, int64_t n) {
  check_square(given, "linalg.matrix_power");
  if (n == 0) {  // whatever it holds counts for nothing, and its gradient is 0
    const Tensor nothing = masked_fill(contiguous(given), ones({}, kBool, given.device()), 0);
    return nothing + eye(rows(given), {}, given.dtype(), given.device());
  }
  const Tensor a = n < 0 ? linalg_inv(given) : given;
  if (n == -1) return a;
  if (n == 1) return a.is_contiguous() ? clone(a) : contiguous(a);
  Tensor result, square = a;
  for (uint64_t left = n < 0 ? 0 - uint64_t(n) : uint64_t(n); left; left >>= 1) {
    if (left & 1) result = result.defined() ? matmul(result, square) : square;
    if (left > 1) square = matmul(square, square);
  }
  return result;
}

// ---- vectors ----

Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  check_floating(x, "linalg.vecdot", true);
  check_same_type(x, y, "linalg.vecdot", "x", "y");
  if (x.dim() == 1 && y.dim() == 1) return dot(conj(x), y);
  return sum(conj(x) * y, Dims{dim});
}

Tensor cross_product(const Tensor& a, const Tensor& b, int64_t dim) {
  check(a.dim() == b.dim(), TensorErrorKind::Runtime, "linalg.cross: inputs must have the same number of dimensions.");
  check(a.dim() > 0, TensorErrorKind::Index, "Dimension specified as ", dim, " but tensor has no dimensions");
  check(a.size(dim) == 3 && b.size(dim) == 3, TensorErrorKind::Runtime, "linalg.cross: inputs dimension ", dim,
        " must have length 3. Got ", a.size(dim), " and ", b.size(dim));
  check(a.dtype() == b.dtype(), TensorErrorKind::Runtime, "expected scalar type ", scalar_type_name(a.dtype()),
        " but found ", scalar_type_name(b.dtype()));
  const Tensor next_a = roll(a, {-1}, {dim}), next_b = roll(b, {-1}, {dim});
  return roll(a * next_b - next_a * b, {-1}, {dim});
}

// The powers 1, x, x^2, ... of each element.
Tensor powers_of(const Tensor& x, int64_t n) {
  const Tensor base = unsqueeze(is_integral(x.dtype()) || is_bool(x.dtype()) ? to_dtype(x, kInt64) : x, -1);
  if (n == 0) return zeros(Dims(x.sizes()) + Ints{0}, base.dtype(), x.device());
  TensorList powers{ones_like(base)};
  for (int64_t i = 1; i < n; i++) powers.push_back(powers.back() * base);
  return cat(powers, -1);
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> n) {
  check(!is_bool(x.dtype()) && !is_half(x.dtype()), TensorErrorKind::NotImplemented,
        "linalg.vander supports floating point, complex, and integer tensors, but got ", scalar_type_name(x.dtype()));
  const int64_t count = n.value_or(x.dim() == 0 ? 1 : x.size(-1));
  check(count > 1, TensorErrorKind::Runtime, "N must be greater than 1.");
  return powers_of(x.dim() == 0 ? unsqueeze(x, 0) : x, count);
}

Tensor vander(const Tensor& x, std::optional<int64_t> n, bool increasing) {
  check(x.dim() == 1, TensorErrorKind::Runtime, "x must be a one-dimensional tensor.");
  const int64_t count = n.value_or(x.sizes()[0]);
  check(count >= 0, TensorErrorKind::Runtime, "N must be non-negative.");
  const Tensor powers = powers_of(x, count);
  return increasing ? powers : flip(powers, {1});
}

Tensor linalg_diagonal(const Tensor& a, int64_t offset, int64_t first, int64_t second) {
  return diagonal(a, offset, first, second);
}

// ---- tensors as matrices ----

Tensor tensorinv(const Tensor& a, int64_t ind) {
  check(ind > 0, TensorErrorKind::Runtime, "Expected a strictly positive integer for 'ind', but got ", ind);
  const size_t cut = size_t(std::min(ind, a.dim()));
  const Ints front = a.sizes().first(cut), back = a.sizes().drop(cut);
  const int64_t size = numel_of(back);
  check(size == numel_of(front), TensorErrorKind::Runtime,
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ", size,
        " != ", numel_of(front));
  return reshape(linalg_inv_named(reshape(a, {size, size}), "inv"), Dims(back) + front);
}

Tensor tensorsolve(const Tensor& given, const Tensor& b, const std::optional<Dims>& dims) {
  check_one_device("wrapper_CUDA__linalg_solve_ex", {{"A", given}, {"B", b}});
  Tensor a = given;
  if (dims) {
    Dims end;
    for (size_t i = 0; i < dims->size(); i++) end.push_back(a.dim() - int64_t(dims->size()) + int64_t(i));
    a = movedim(a, *dims, end);
  }
  const size_t cut = size_t(std::min(b.dim(), a.dim()));
  const Ints back = a.sizes().drop(cut);
  check(
      numel_of(back) == b.numel(), TensorErrorKind::Runtime,
      "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got ",
      numel_of(back), " != ", b.numel());
  const int64_t size = numel_of(back);
  return reshape(linalg_solve(reshape(a, {size, size}), reshape(b, {-1})), back);
}

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(
    linalg_multi_dot, "linalg_multi_dot(Tensor[] tensors) -> Tensor",
    "The product of a chain of matrices, in the best order.", kLinalg | kOut, &multi_dot,
    "(f[2,3], f[3,4], f[4,2])\n(f[3], f[3,2], f[2])\n(f[2,3], f[3])\n(f[2,2], f[2,5], f[5,1], f[1,4])\n"
    "(f[2,2]) -> RuntimeError: multi_dot(): expected at least 2 tensors but got 1\n"
    "(f[2,2], f[3,3]) -> RuntimeError: multi_dot(): tensors 0 and 1 with shapes [2, 2] and [3, 3] cannot be multiplied\n"
    "(f[2,2], f[2], f[2,2]) -> RuntimeError: multi_dot(): tensor 1 must be 2D but got 1D",
    .out = {OutRule::Same, "multi_dot(): expected out tensor to have dtype $r but got $o"}, .autocast = Autocast::Lower,
    .autocast_cuda = Autocast::Lower);
TS_OP(chain_matmul, "chain_matmul(Tensor[] matrices) -> Tensor",
      "The product of a chain of matrices, in the best order.", kFunction | kOut, &chain_matmul,
      "(f[2,3], f[3,4], f[4,2])\n(f[2,3])\n(f[2,2], f[2]) -> RuntimeError: Tensor dimension is 1, expected 2 instead.",
      .gathers = true, .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower);
TS_OP(linalg_matmul, "linalg_matmul(Tensor self, Tensor other) -> Tensor", "The matrix product, batched and broadcast.",
      kLinalg | kOut, &matmul, "f[2,3], f[3,4]\nf[2,2,3], f[3]", .out = kOutStructured, .autocast = Autocast::Lower,
      .autocast_cuda = Autocast::Lower);
TS_OP(linalg_matrix_power, "linalg_matrix_power(Tensor self, int n) -> Tensor",
      "A square matrix times itself, n times; of the inverse for a negative n.", kLinalg | kOut, &matrix_power,
      "f[3,3], 3\nf[3,3], -2\nc[2,2], 2\nf[2,2], 0\nf[2,2], 1\n"
      "f[2,2].z, -1 -> RuntimeError: linalg.inv: The diagonal element 1 is zero\n"
      "f[3], 2 -> RuntimeError: linalg.matrix_power: The input tensor A must have at least 2 dimensions.",
      .out = kOutStructured, .autocast = Autocast::Product, .autocast_cuda = Autocast::Product);
TS_OP(
    matrix_power, "matrix_power(Tensor self, int n) -> Tensor",
    "A square matrix times itself, n times; of the inverse for a negative n.", kBoth | kOut, &matrix_power,
    "f[3,3], 3\nf[2,3,3], 2\ni[2,2]<4, 2\n"
    "f[2,3], 2 -> RuntimeError: linalg.matrix_power: A must be batches of square matrices, but they are 2 by 3 matrices",
    .autocast = Autocast::Product, .autocast_cuda = Autocast::Product);
TS_OP(
    linalg_vecdot, "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    "The dot products of vectors along a dimension; x is conjugated.", kLinalg | kOut, &vecdot,
    "f[2,3], f[2,3]\nf[3,2], f[3,1], dim=0\nc[2,3], c[3]\n"
    "i[2]<3, i[2]<3 -> NotImplementedError: linalg.vecdot: Expected a floating point or complex tensor as input. Got Long",
    .out = {OutRule::Same, "linalg.vecdot: Expected out of dtype$R but found $O"}, .autocast = Autocast::Lower,
    .autocast_cuda = Autocast::Lower);
TS_OP(linalg_cross, "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
      "The cross product of vectors with three numbers.", kLinalg | kOut, &cross_product,
      "f[4,3], f[4,3]\nf[3,2], f[3,1], dim=0\nc[3], c[3]\n"
      "f[2,3], f[3] -> RuntimeError: linalg.cross: inputs must have the same number of dimensions.\n"
      "f[3], f[4] -> RuntimeError: linalg.cross: inputs dimension -1 must have length 3. Got 3 and 4",
      .out = kOutStructured, .one_device = "linalg_cross");
TS_OP(linalg_vander, "linalg_vander(Tensor x, *, int? N=None) -> Tensor",
      "The powers of each element in ascending order.", kLinalg, &linalg_vander,
      "f[3]\nf[2,3]\nf[2], N=4\ni[3]<4\nc[2]\nf[3], N=1 -> RuntimeError: N must be greater than 1.");
TS_OP(vander, "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", "The powers of each element.",
      kFunction, &vander,
      "f[3]\nf[3], 4\nf[3], 2, True\ni[3]<4\nf[2,2] -> RuntimeError: x must be a one-dimensional tensor.");
TS_OP(linalg_diagonal, "linalg_diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
      "The diagonals of matrices, a view.", kLinalg | kView, &linalg_diagonal,
      "f[3,3]\nf[2,3,4]\nf[3,4], offset=1\nf[2,3,4], dim1=0, dim2=1");
TS_OP(
    linalg_tensorinv, "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
    "The inverse of a tensor seen as a matrix of its first and last dimensions.", kLinalg | kOut, &tensorinv,
    "f[3,3], 1\nf[2,1,2], 1\nf[1,2,2]\n"
    "f[2,2], 0 -> RuntimeError: Expected a strictly positive integer for 'ind', but got 0\n"
    "f[3,2], 1 -> RuntimeError: Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got 2 != 3\n"
    "f[2,2].z, 1 -> RuntimeError: inv: The diagonal element 1 is zero",
    .out = {OutRule::Castable,
            "tensorinv: Expected result to be safely castable from $R dtype, but got result with dtype $O"},
    .autocast = Autocast::Float32);
TS_OP(
    linalg_tensorsolve, "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    "X with tensordot(self, X, X.ndim) equal to other.", kLinalg | kOut, &tensorsolve,
    "f[2,1,2], f[2]\nf[1,2,2], f[1,2]\nf[1,2,2], f[2], [0]\n"
    "f[3,3], f[3,2] -> RuntimeError: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got 1 != 6",
    .out = {OutRule::Castable,
            "tensorsolve: Expected result to be safely castable from $R dtype, but got result with dtype $O"},
    .autocast = Autocast::Float32);

}  // namespace
}  // namespace tessera::tensor
