// Norms of vectors and matrices, and condition numbers.
// compile: small (the factorisation takes longer)
#include <cmath>

#include "runtime/ops/linalg/common.h"
#include "runtime/ops/reduce.h"

namespace tessera::tensor {
namespace {

using namespace linalg;
using namespace reduction;

int row_of(double p) {
  if (p == 2.0) return r_norm2;
  if (p == 1.0) return r_norm1;
  if (p == HUGE_VAL) return r_norm_max;
  if (p == -HUGE_VAL) return r_norm_min;
  return p == 0.0 ? r_count_nonzero : r_norm_p;
}

void check_dtype(const Tensor& x, const MaybeType& dtype, const char* name) {
  if (!dtype) return;
  check(is_differentiable(*dtype), TensorErrorKind::Runtime, name,
        ": dtype should be floating point or complex, but got ", scalar_type_name(*dtype));
  check(is_complex(x.dtype()) == is_complex(*dtype), TensorErrorKind::Runtime, name, ": dtype should be ",
        is_complex(x.dtype()) ? "complex" : "real", " for ", is_complex(x.dtype()) ? "complex" : "real",
        " inputs, but got ", scalar_type_name(*dtype));
  check(promote_types(x.dtype(), *dtype) == *dtype, TensorErrorKind::Runtime, name, ": the dtype of the input (",
        scalar_type_name(x.dtype()), ") should be convertible without narrowing to the specified dtype (",
        scalar_type_name(*dtype), ")");
}

// How many are not 0: recorded, but nothing flows back.
Tensor count_with_history(const Tensor& x, const Request& count) {
  Tensor out;
  {
    const GradMode no_grad(false);
    out = reduce(r_count_nonzero, count);
  }
  record(out, "LinalgVectorNormBackward0", {&x}, [](Sweep&) {});
  return out;
}

}  // namespace

Tensor linalg_vector_norm(const Tensor& given, Scalar ord, const MaybeDims& dim, bool keepdim, MaybeType dtype) {
  constexpr const char* name = "linalg.vector_norm";
  check_floating(given, name, true);
  check_dtype(given, dtype, name);
  Tensor x = dtype ? to_dtype(given, *dtype) : given;
  if (is_complex(x.dtype())) x = complex_abs(x);
  const double p = ord.to_double();
  const MaybeDims dims = dim && dim->empty() ? MaybeDims() : dim;
  const uint64_t mask = dim_mask(x, dims);
  if (x.numel() == 0 && (p < 0 || p == HUGE_VAL)) {
    check(bool(dims), TensorErrorKind::Runtime, name, " cannot compute the ", p,
          " norm on an empty tensor because the operation does not have an identity");
    for (int64_t d = 0; d < x.dim(); d++)
      check(!(mask >> d & 1) || x.sizes()[size_t(d)] != 0, TensorErrorKind::Runtime, name, " cannot compute the ", p,
            " norm on the dimension ", d,
            " because this dimension is empty and the operation does not have an identity");
  }
  const int id = row_of(p);
  if (id == r_count_nonzero && needs_grad(x)) return count_with_history(x, {x, mask, keepdim, x.dtype(), p, ""});
  const MaybeType type = id == r_count_nonzero ? MaybeType(x.dtype()) : MaybeType();
  return reduce(id, {x, mask, keepdim, type, p, "LinalgVectorNormBackward0"});
}

namespace {

// The two dimensions of a matrix norm, wrapped and different. Singular values are not had of halves.
Dims matrix_dims(const Tensor& a, Ints dim, bool by_values) {
  constexpr const char* name = "linalg.matrix_norm";
  check_matrix(a, name);
  if (dim.size() != 2) {
    std::string list;
    for (const int64_t d : dim) list += (list.empty() ? "" : " ") + std::to_string(d);
    fail(TensorErrorKind::Runtime, name, ": dim must be a 2-tuple. Got ", list);
  }
  const Dims dims{wrap_dim(dim[0], a.dim()), wrap_dim(dim[1], a.dim())};
  check(dims[0] != dims[1], TensorErrorKind::Runtime, name, ": dims must be different. Got (", dim[0], ", ", dim[1],
        ')');
  check_floating(a, name, !by_values);
  return dims;
}

/// The largest or smallest over a dimension; of nothing 0 is the largest.
Tensor extreme_over(const Tensor& x, int64_t dim, bool keepdim, bool largest) {
  check(largest || x.size(dim) != 0, TensorErrorKind::Index, "amin(): Expected reduction dim ", dim,
        " to have non-zero size.");
  if (x.size(dim) == 0) return sum(x, Dims{dim}, keepdim);
  return largest ? amax(x, Dims{dim}, keepdim) : amin(x, Dims{dim}, keepdim);
}

/// f of the singular values of the matrices in two dimensions.
template <class F>
Tensor of_singular_values(const Tensor& a, const Dims& dims, bool keepdim, const F& f) {
  Tensor out = f(linalg_svdvals(movedim(a, dims, {-2, -1})));
  if (!keepdim) return out;
  return movedim(unsqueeze(unsqueeze(out, -1), -1), {-2, -1}, dims);
}

}  // namespace

Tensor linalg_matrix_norm(const Tensor& given, Scalar ord, Ints dim, bool keepdim, MaybeType dtype) {
  const double p = ord.to_double(), size = std::fabs(p);
  const Dims dims = matrix_dims(given, dim, size == 2);
  check(size == 2 || size == 1 || size == HUGE_VAL, TensorErrorKind::Runtime, "linalg.matrix_norm: Order ", p,
        " not supported.");
  check_dtype(given, dtype, "linalg.matrix_norm");
  const Tensor a = dtype ? to_dtype(given, *dtype) : given;
  if (size == 2)
    return of_singular_values(a, dims, keepdim, [&](const Tensor& s) { return extreme_over(s, -1, false, p > 0); });
  // Sums of columns for 1, of rows for inf; then the largest or smallest of them.
  const int64_t summed = size == 1 ? dims[0] : dims[1];
  int64_t other = size == 1 ? dims[1] : dims[0];
  const Tensor sums = linalg_vector_norm(a, 1, Dims{summed}, keepdim, {});
  if (!keepdim && summed < other) other--;
  return extreme_over(sums, other, keepdim, p > 0);
}

Tensor linalg_matrix_norm(const Tensor& given, const std::string& ord, Ints dim, bool keepdim, MaybeType dtype) {
  const Dims dims = matrix_dims(given, dim, ord == "nuc");
  check(ord == "fro" || ord == "nuc", TensorErrorKind::Runtime, "linalg.matrix_norm: Order ", ord, " not supported.");
  check_dtype(given, dtype, "linalg.matrix_norm");
  if (ord == "fro") return linalg_vector_norm(given, 2, dims, keepdim, dtype);
  const Tensor a = dtype ? to_dtype(given, *dtype) : given;
  return of_singular_values(a, dims, keepdim, [](const Tensor& s) { return sum(s, Dims{-1}); });
}

namespace {

void check_norm_dims(const MaybeDims& dim) {
  if (!dim) return;
  check(dim->size() == 1 || dim->size() == 2, TensorErrorKind::Runtime,
        "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
}

Tensor norm_number(const Tensor& x, const std::optional<Scalar>& ord, const MaybeDims& dim, bool keepdim,
                   MaybeType dtype) {
  check_norm_dims(dim);
  if (!ord) return linalg_vector_norm(x, 2, dim, keepdim, dtype);
  check(dim || x.dim() == 1 || x.dim() == 2, TensorErrorKind::Runtime,
        "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", x.dim(), "D.");
  const Dims dims = dim ? *dim : x.dim() == 1 ? Dims{0} : Dims{0, 1};
  return dims.size() == 2 ? linalg_matrix_norm(x, *ord, dims, keepdim, dtype)
                          : linalg_vector_norm(x, *ord, dims, keepdim, dtype);
}
Tensor norm_name(const Tensor& x, const std::string& ord, const MaybeDims& dim, bool keepdim, MaybeType dtype) {
  check_norm_dims(dim);
  check(dim || x.dim() == 1 || x.dim() == 2, TensorErrorKind::Runtime,
        "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", x.dim(), "D.");
  return linalg_matrix_norm(x, ord, dim ? *dim : Dims{-2, -1}, keepdim, dtype);
}
Tensor matrix_norm_number(const Tensor& a, Scalar ord, Ints dim, bool keepdim, MaybeType dtype) {
  return linalg_matrix_norm(a, ord, dim, keepdim, dtype);
}
Tensor matrix_norm_name(const Tensor& a, const std::string& ord, Ints dim, bool keepdim, MaybeType dtype) {
  return linalg_matrix_norm(a, ord, dim, keepdim, dtype);
}

// ---- condition ----

// |A| |A^-1|; infinite for a singular matrix.
template <class Ord>
Tensor cond_by_inverse(const Tensor& a, const Ord& ord, const std::string& shown) {
  check_square(a, ("linalg.cond(ord=" + shown + ")").c_str());
  const auto [inverse, info] = linalg_inv_ex(a);
  const Tensor product = linalg_matrix_norm(a, ord, Ints{-2, -1}, false, MaybeType()) *
                         linalg_matrix_norm(inverse, ord, Ints{-2, -1}, false, MaybeType());
  return where(info != 0, Operand(Scalar(HUGE_VAL)), Operand(product));
}

Tensor cond_number(const Tensor& a, const std::optional<Scalar>& given) {
  check(a.dim() >= 2, TensorErrorKind::Runtime, "linalg.cond: The input tensor must have at least 2 dimensions.");
  if (a.numel() == 0) return zeros(batch_of(a), real_type(a.dtype()), a.device());
  const Scalar p = given.value_or(2);
  const double size = std::fabs(p.to_double());
  check(size == 2 || size == 1 || size == HUGE_VAL, TensorErrorKind::Value,
        "linalg.cond got an invalid norm type: ", p.to_double());
  if (size != 2) return cond_by_inverse(a, p, text(p.to_double()));
  const Tensor s = linalg_svdvals(a);
  const Tensor first = narrow(s, -1, 0, 1), last = narrow(s, -1, s.size(-1) - 1, 1);
  return squeeze(p.to_double() > 0 ? first / last : last / first, -1);
}
Tensor cond_name(const Tensor& a, const std::string& p) {
  check(a.dim() >= 2, TensorErrorKind::Runtime, "linalg.cond: The input tensor must have at least 2 dimensions.");
  if (a.numel() == 0) return zeros(batch_of(a), real_type(a.dtype()), a.device());
  check(p == "fro" || p == "nuc", TensorErrorKind::Value, "linalg.cond got an invalid norm type: ", p);
  return cond_by_inverse(a, p, p);
}

constexpr uint32_t kNorm = kLinalg | kOut | kLayoutMatters;
TS_OP(
    linalg_vector_norm,
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    "The norm of vectors, of all elements or over dim.", kNorm, &linalg_vector_norm,
    "f[3,4]\nf[3,4], 1, 1\nf[3,4], 3, [0, 1], True\nc[2,3], 2, 1\nf[0]\nf[3], 2, dtype=float64\n"
    "f[0], inf -> RuntimeError: linalg.vector_norm cannot compute the inf norm on an empty tensor because the operation does not have an identity\n"
    "i[3]<4 -> NotImplementedError: linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long",
    .out = kOutStructured, .out_as_asked = kOutStructured.text, .autocast_cuda = Autocast::Total);
TS_OP(
    linalg_matrix_norm,
    "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    "The norm of matrices.", kNorm, &matrix_norm_name,
    "f[3,2]\nf[3,2], 'nuc'\nf[2,3,2], 'nuc', [0, 2], True\nc[2,2], 'nuc'\nc[2,2]\n"
    "f[2,2], 'x' -> RuntimeError: linalg.matrix_norm: Order x not supported.\n"
    "f[3] -> RuntimeError: linalg.matrix_norm: The input tensor A must have at least 2 dimensions.\n"
    "f[2,2], 'fro', [0, 0] -> RuntimeError: linalg.matrix_norm: dims must be different. Got (0, 0)",
    .out = {OutRule::Same, "$n expected out tensor dtype $R but got: $O"}, .autocast_cuda = Autocast::Total);
TS_OP(
    linalg_matrix_norm,
    "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    "The norm of matrices.", kNorm, &matrix_norm_number,
    "f[3,2], 2\nf[3,2], -2\nf[3,2], 1\nf[3,2], -1\nf[3,2], inf\nf[2,3,2], inf, [1, 2], True\nf[2,3,2], 2, [0, 2], True\nc[2,2], 2\n"
    "f[2,2], 3 -> RuntimeError: linalg.matrix_norm: Order 3 not supported.",
    .out = {OutRule::Same, "$n expected out tensor dtype $R but got: $O"});
TS_OP(
    linalg_norm,
    "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    "The norm of a vector or a matrix.", kNorm, &norm_number,
    "f[3,4]\nf[2,3,2]\nf[3], 1\nf[3,2], 2\nf[3,2], 1, 0\nf[3,2], None, [0, 1], True\n"
    "f[2,2,2], 2 -> RuntimeError: linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got 3D.\n"
    "f[2,2,2], 2, [0, 1, 2] -> RuntimeError: linalg.norm: If dim is specified, it must be of length 1 or 2. Got [0, 1, 2]",
    .out = {OutRule::Same, "$n expected out tensor dtype $R but got: $O"}, .autocast_cuda = Autocast::Total);
TS_OP(
    linalg_norm,
    "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    "The norm of a matrix.", kNorm, &norm_name, "f[3,2], 'nuc'\nf[3,2], 'fro'\nf[2,3,2], 'nuc', [0, 1]",
    .out = {OutRule::Same, "$n expected out tensor dtype $R but got: $O"});
TS_OP(
    linalg_cond, "linalg_cond(Tensor self, Scalar? p=None) -> Tensor", "The condition number.",
    kLinalg | kOut | kLayoutMatters, &cond_number,
    "f[3,3]\nf[3,2]\nf[3,2], -2\nf[3,3], 1\nf[3,3], inf\nf[0,0]\nc[2,2]\n"
    "f[3], 2 -> RuntimeError: linalg.cond: The input tensor must have at least 2 dimensions.\n"
    "f[2,2], 3 -> ValueError: linalg.cond got an invalid norm type: 3\n"
    "f[3,2], 1 -> RuntimeError: linalg.cond(ord=1): A must be batches of square matrices, but they are 3 by 2 matrices",
    .out = kOutSafely, .autocast = Autocast::Float32);
TS_OP(linalg_cond, "linalg_cond.p_str(Tensor self, str p) -> Tensor", "The condition number.",
      kLinalg | kOut | kLayoutMatters, &cond_name,
      "f[3,3], 'fro'\nf[2,2], 'nuc'\nf[2,2], 'x' -> ValueError: linalg.cond got an invalid norm type: x",
      .out = kOutSafely);

}  // namespace
}  // namespace tessera::tensor
