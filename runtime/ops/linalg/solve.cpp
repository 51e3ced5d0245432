// Linear equations, inverses and determinants. Derivatives: M. Giles, "Collected matrix derivative results for forward and
// reverse mode algorithmic differentiation" (2008).
// compile: small (the factorisation takes longer)
#include "runtime/device/two_devices.h"
#include "runtime/ops/linalg/common.h"

namespace tessera::tensor {
namespace {

using namespace linalg;

// ---- solve ----

/// B is a vector, or a stack of vectors with the batch of A.
bool is_vector(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 || (a.dim() - 1 == b.dim() && b.sizes() == a.sizes().first(size_t(a.dim()) - 1));
}

struct SolveEx {
  // X, LU, pivots, info
  static std::array<Meta, 4> shape(const Tensor& a, const Tensor& b, bool left, bool) {
    check_floating(a, "linalg.solve", true);
    check_same_type(a, b, "linalg.solve");
    const bool vector = a.dim() >= 2 && is_vector(a, b);
    check(left || !vector, TensorErrorKind::Runtime,
          "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
          "linalg.solve is equivalent to B / A.squeeze(-1)");
    check_matrix(a, "linalg.solve");
    const Tensor right = vector ? unsqueeze(b.view_of(b.sizes(), b.strides()), -1) : b;
    check_solvable(a, right, left, "linalg.solve");
    check_kernel(a, {"lu_cpu", "lu_factor_cusolver"});
    const Dims batch = broadcast_shapes(batch_of(right), batch_of(a));
    const Dims sizes = vector ? batch + Ints{rows(right)} : batch + Ints{rows(right), columns(right)};
    return {left ? column_major(sizes, b.dtype(), b.device()) : Meta(sizes, b),
            column_major(a.sizes(), a.dtype(), a.device()), Meta(batch_of(a) + Ints{rows(a)}, kInt32, a.device()),
            Meta(batch_of(a), kInt32, a.device())};
  }
  static void run(const Tensor& x, const Tensor& lu, const Tensor& pivots, const Tensor& info, const Tensor& a,
                  const Tensor& b, bool left, bool) {
    copy_into(lu, a);
    run_lapack(lu,
               {.routine = LapackCall::Lu,
                .dtype = lu.dtype(),
                .batch = batch_count(lu),
                .m = rows(lu),
                .n = rows(lu),
                .a = lu.data_ptr(),
                .pivots = pivots.data<int32_t>()},
               info);
    const bool vector = is_vector(a, b);
    const Dims batch = broadcast_shapes(batch_of(a), batch_of(vector ? as_column(b) : b));
    // A stack of vectors has odd strides in PyTorch, and its elements next to each other only here.
    const Tensor direct = vector && x.dim() > 1 ? Tensor::empty(x.sizes(), x.dtype(), x.device()) : x;
    copy_into(direct, b);
    const bool whole = Ints(batch) == lu.sizes().first(size_t(lu.dim()) - 2);
    const Tensor factors = whole ? lu : as_column_major(expand(lu, batch + Ints{rows(lu), rows(lu)}));
    const Tensor exchanged = whole ? pivots : contiguous(expand(pivots, batch + Ints{rows(lu)}));
    run_lapack(direct, {.routine = LapackCall::LuSolve,
                        .dtype = x.dtype(),
                        .batch = numel_of(batch),
                        .n = rows(lu),
                        .k = vector ? 1
                             : left ? columns(b)
                                    : rows(b),
                        .a = factors.data_ptr(),
                        .b = direct.data_ptr(),
                        .pivots = exchanged.data<int32_t>(),
                        .op = left ? 'N' : 'T'});
    if (!direct.same(x)) copy_into(x, direct);
  }
  static void grad(Tensor& x, Tensor& lu, Tensor& pivots, Tensor&, const Tensor& a, const Tensor& b, bool left, bool) {
    Kept<4> kept{{SavedTensor(a), SavedTensor(x, true), SavedTensor(lu), SavedTensor(pivots)}};
    record(x, "LinalgSolveExBackward0", {&a, &b}, std::move(kept),
           [left, vector = is_vector(a, b), b_sizes = Dims(b.sizes())](Sweep& s) {
             const Tensor a = s.kept(0), column = vector ? as_column(s.kept(1)) : s.kept(1);
             const Tensor g = vector ? as_column(s.g()) : s.g();
             // With a derivative of the derivative in view the way leads through A; else its factors are at hand.
             const Tensor gb = Context::current().records
                                   ? linalg_solve(mH(a), g, left)
                                   : linalg_lu_solve(s.kept(2), s.kept(3), g, left, true);
             s.give(1, [&] { return sum_to_size(vector ? squeeze(gb, -1) : gb, b_sizes); });
             s.give(0, [&] {
               const Tensor product = left ? matmul(gb, mH(column)) : matmul(mH(column), gb);
               return sum_to_size(-product, a.sizes());
             });
           });
  }
};

InfoMessage singular() {
  return [](int64_t) { return std::string("The solver failed because the input matrix is singular."); };
}

std::tuple<Tensor, Tensor> solve_ex(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  const auto [x, lu, pivots, info] = apply<SolveEx>(a, b, left, check_errors);
  if (check_errors) check_info(info, "torch.linalg.solve_ex", singular());
  return {x, info};
}

// ---- inverse ----

struct InvEx {
  static std::array<Meta, 2> shape(const Tensor& a, bool) {
    check_square(a, "linalg.inv");
    check_floating(a, "linalg.inv");
    return {column_major(a.sizes(), a.dtype(), a.device()), Meta(batch_of(a), kInt32, a.device())};
  }
  static void run(const Tensor& inverse, const Tensor& info, const Tensor& a, bool) {
    const Tensor lu = column_major_copy(a);
    const Tensor pivots = Tensor::empty(batch_of(a) + Ints{rows(a)}, kInt32, a.device());
    run_lapack(lu,
               {.routine = LapackCall::Lu,
                .dtype = lu.dtype(),
                .batch = batch_count(lu),
                .m = rows(lu),
                .n = rows(lu),
                .a = lu.data_ptr(),
                .pivots = pivots.data<int32_t>()},
               info);
    fill_identity(inverse);
    run_lapack(inverse, {.routine = LapackCall::LuSolve,
                         .dtype = lu.dtype(),
                         .batch = batch_count(lu),
                         .n = rows(lu),
                         .k = rows(lu),
                         .a = lu.data_ptr(),
                         .b = inverse.data_ptr(),
                         .pivots = pivots.data<int32_t>(),
                         .op = 'N'});
  }
  static void grad(Tensor& inverse, Tensor&, const Tensor& a, bool) {
    record(inverse, "LinalgInvExBackward0", {&a}, keep(ResultOf{inverse}), [](Sweep& s) {
      s.give(0, [&] {
        const Tensor adjoint = mH(s.kept(0));
        return -matmul(adjoint, matmul(s.g(), adjoint));
      });
    });
  }
};

InfoMessage zero_on_diagonal() {
  return [](int64_t i) {
    return text("The diagonal element ", i,
                " is zero, the inversion could not be completed because the input matrix is singular.");
  };
}

std::tuple<Tensor, Tensor> inv_ex(const Tensor& a, bool check_errors) {
  auto [inverse, info] = apply<InvEx>(a, check_errors);
  if (check_errors) check_info(info, "linalg.inv_ex", zero_on_diagonal());
  return {inverse, info};
}

// ---- determinants ----

/// A row-major matrix read by columns is its transpose, which has the same determinant: it need not be turned round.
bool factors_transpose(const Tensor& a) { return a.is_contiguous() && !is_complex(a.dtype()); }

/// The factors of A or its transpose and the sign of the row exchanges.
struct Factors {
  Tensor lu, pivots, sign;
  explicit Factors(const Tensor& a) {
    const GradMode no_grad(false);
    Tensor info;
    std::tie(lu, pivots, info) = linalg_lu_factor_ex(factors_transpose(a) ? mT(a) : a);
    const Tensor own = arange(1, rows(a) + 1, 1, kInt32, a.device());
    const Tensor exchanges = sum(pivots != own, Dims{-1});
    sign = to_dtype(1 - (exchanges & 1) * 2, a.dtype());
  }
};

/// Of the last dimension. Complex numbers have no such reduction: neighbours are multiplied until one is left.
Tensor product_of(const Tensor& x) {
  if (!is_complex(x.dtype())) return prod(x, Dims{-1});
  Tensor left = x;
  for (int64_t n = x.size(-1); n > 1; n = left.size(-1)) {
    const Tensor pairs = narrow(left, -1, 0, n / 2) * narrow(left, -1, n / 2, n / 2);
    left = n % 2 ? cat({pairs, narrow(left, -1, n - 1, 1)}, -1) : pairs;
  }
  return left.size(-1) == 0 ? ones(batch_of(x, 1), x.dtype(), x.device()) : squeeze(left, -1);
}

struct Det {
  static Meta shape(const Tensor& a) {
    check_square(a, "linalg.det");
    check_floating(a, "linalg.det", true);
    check_kernel(a, {"lu_cpu", "lu_factor_cusolver"});
    return {batch_of(a), a};
  }
  static void run(const Tensor& out, const Tensor& a) {
    const Factors f(a);
    copy_into(out, f.sign * product_of(diagonal_of(f.lu)));
  }
  // d det = det tr(A^-1 dA).
  static void grad(Tensor& out, const Tensor& a) {
    record(out, "LinalgDetBackward0", {&a}, Kept<2>{{SavedTensor(a), SavedTensor(out, true)}}, [](Sweep& s) {
      s.give(0, [&] {
        const Tensor a = s.kept(0), factor = unsqueeze(s.g() * conj(s.kept(1)), -1);
        const Tensor scaled = diagonal_matrix(expand(factor, batch_of(a) + Ints{rows(a)}));
        if (Context::current().records) return linalg_solve(mH(a), scaled);
        const Factors f(a);
        // A 0 on the diagonal becomes tiny, so that a singular matrix has a gradient.
        const double tiny = real_type(a.dtype()) == kFloat32 ? 1.1920928955078125e-07 : 2.220446049250313e-16;
        const Tensor d = diagonal_of(f.lu), safe = where(d == 0, tiny, d);
        return linalg_lu_solve(f.lu + diagonal_matrix(safe - d), f.pivots, scaled, true, !factors_transpose(a));
      });
    });
  }
};

/// The product of the signs of diagonal elements.
Tensor sign_of(const Factors& f) { return f.sign * product_of(sgn(diagonal_of(f.lu))); }

struct Slogdet {
  static std::array<Meta, 2> shape(const Tensor& a) {
    check_square(a, "linalg.slogdet");
    check_floating(a, "linalg.slogdet");
    return {Meta(batch_of(a), a), Meta(batch_of(a), real_type(a.dtype()), a.device())};
  }
  static void run(const Tensor& sign, const Tensor& logarithm, const Tensor& a) {
    const Factors f(a);
    copy_into(sign, sign_of(f));
    const Tensor d = diagonal_of(f.lu);
    copy_into(logarithm, sum(log(is_complex(d.dtype()) ? complex_abs(d) : abs(d)), Dims{-1}));
  }
  // With z = tr(A^-1 dA): d log|det| = Re z, d sign = i Im z sign.
  static void grad(Tensor& sign, Tensor& logarithm, const Tensor& a) {
    record_all({is_complex(a.dtype()) ? &sign : nullptr, &logarithm}, "LinalgSlogdetBackward0", {&a},
               Kept<2>{{SavedTensor(a), saved_result(sign, 0)}}, [](Sweep& s) {
                 s.give(0, [&] {
                   const Tensor a = s.kept(0);
                   Tensor factor =
                       s.g(1).defined() ? to_dtype(s.g(1), a.dtype()) : zeros(batch_of(a), a.dtype(), a.device());
                   if (is_complex(a.dtype()) && s.g(0).defined()) {
                     const Tensor turn = imag(conj(s.g(0)) * s.kept(1));
                     factor = factor - complex(zeros_like(turn), turn);
                   }
                   const Tensor scaled = diagonal_matrix(expand(unsqueeze(factor, -1), batch_of(a) + Ints{rows(a)}));
                   return linalg_solve(mH(a), scaled);
                 });
               });
  }
};

Tensor det(const Tensor& a) { return apply<Det>(a); }
std::tuple<Tensor, Tensor> slogdet(const Tensor& a) { return apply<Slogdet>(a); }
Tensor logdet(const Tensor& a) {
  check_floating(a, "logdet");
  check_square(a, "logdet");
  const auto [sign, logarithm] = slogdet(a);
  if (is_complex(a.dtype())) return log(sign) + logarithm;
  return where(sign == -1.0, Operand(Scalar(double(NAN))), Operand(logarithm));
}

// ---- triangular ----

struct SolveTriangular {
  static Meta shape(const Tensor& a, const Tensor& b, bool, bool left, bool) {
    check_solvable(a, b, left, "linalg.solve_triangular");
    check_kernel(a, "triangular_solve_cpu", true);
    const Dims batch = broadcast_shapes(batch_of(b), batch_of(a));
    return column_major(batch + Ints{rows(b), columns(b)}, a.dtype(), b.device());
  }
  static void run(const Tensor& x, const Tensor& a, const Tensor& b, bool upper, bool left, bool unit) {
    copy_into(x, b);
    const Dims all = batch_of(x) + Ints{rows(a), rows(a)};
    // The transpose of a row-major matrix is read as it lies.
    const bool turned = a.is_contiguous() && a.sizes() == Ints(all);
    const Tensor triangle = turned ? a : as_column_major(expand(a, all));
    run_lapack(x, {.routine = LapackCall::TriangularSolve,
                   .dtype = x.dtype(),
                   .batch = batch_count(x),
                   .m = rows(x),
                   .n = columns(x),
                   .a = triangle.data_ptr(),
                   .b = x.data_ptr(),
                   .upper = turned ? !upper : upper,
                   .left = left,
                   .unit = unit,
                   .op = turned ? 'T' : 'N'});
  }
  static void grad(Tensor& x, const Tensor& a, const Tensor& b, bool upper, bool left, bool unit) {
    record(x, "LinalgSolveTriangularBackward0", {&a, &b}, Kept<2>{{SavedTensor(a), SavedTensor(x, true)}},
           [upper, left, unit, b_sizes = Dims(b.sizes()), b_type = b.dtype()](Sweep& s) {
             const Tensor a = s.kept(0), x = s.kept(1);
             const Tensor gb = linalg_solve_triangular(mH(a), s.g(), !upper, left, unit);
             s.give(1, [&] { return to_dtype(sum_to_size(gb, b_sizes), b_type); });
             s.give(0, [&] {
               const Tensor whole = sum_to_size(-(left ? matmul(gb, mH(x)) : matmul(mH(x), gb)), a.sizes());
               return upper ? triu(whole, unit) : tril(whole, -int64_t(unit));
             });
           });
  }
};

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& b, const Tensor& a, bool upper, bool transposed, bool unit) {
  check_one_device("wrapper_CUDA_triangular_solve", {{"self", b}, {"A", a}});
  check(b.dim() >= 2, TensorErrorKind::Runtime,
        "torch.triangular_solve: Expected b to have at least 2 dimensions, but it has ", b.dim(),
        " dimensions instead");
  check(a.dim() >= 2, TensorErrorKind::Runtime,
        "torch.triangular_solve: Expected A to have at least 2 dimensions, but it has ", a.dim(),
        " dimensions instead");
  check(b.dtype() == a.dtype(), TensorErrorKind::Runtime,
        "Expected b and A to have the same dtype, but found b of type ", scalar_type_name(b.dtype()), " and A of type ",
        scalar_type_name(a.dtype()), " instead.");
  check(rows(a) == columns(a), TensorErrorKind::Runtime, "A must be batches of square matrices, but they are ", rows(a),
        " by ", columns(a), " matrices");
  check(rows(a) == rows(b), TensorErrorKind::Runtime,
        "Incompatible matrix sizes for triangular_solve: each A matrix is ", rows(a), " by ", columns(a),
        " but each b matrix is ", rows(b), " by ", columns(b));
  const Tensor x = linalg_solve_triangular(transposed ? mT(a) : a, b, upper != transposed, true, unit);
  const Tensor same = expand(a, batch_of(x) + Ints{rows(a), rows(a)});
  if (same.numel() == 0) return {x, column_major_copy(same)};
  const Tensor turned = mT(same);
  return {x, mT(turned.is_contiguous() ? clone(turned) : contiguous(turned))};
}

}  // namespace

Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left) {
  const auto [x, lu, pivots, info] = apply<SolveEx>(a, b, left, false);
  check_info(info, "torch.linalg.solve", singular());
  return x;
}
Tensor linalg_solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit) {
  return apply<SolveTriangular>(a, b, upper, left, unit);
}
Tensor linalg_inv_named(const Tensor& a, const char* name) {
  auto [inverse, info] = apply<InvEx>(a, false);
  check_info(info, name, zero_on_diagonal());
  return inverse;
}
Tensor linalg_inv(const Tensor& a) { return linalg_inv_named(a, "linalg.inv"); }
std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& a) { return apply<InvEx>(a, false); }

namespace {

constexpr uint32_t kBoth = kFunction | kMethod;
#define TS_SQUARE_ERRORS(NAME)                                             \
  "f[3] -> RuntimeError: " NAME                                            \
  ": The input tensor A must have at least 2 dimensions.\n"                \
  "f[2,3] -> RuntimeError: " NAME                                          \
  ": A must be batches of square matrices, but they are 2 by 3 matrices\n" \
  "i[2,2]<3 -> NotImplementedError: " NAME ": Expected a floating point or complex tensor as input. Got Long"

TS_OP(
    linalg_solve_ex,
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
    "X with A @ X equal to B, and 0 or the place of a 0 on U's diagonal.", kLinalg | kOut, &solve_ex,
    "f[3,3], f[3,2]\n"
    "f[2,2].z, f[2,2], check_errors=True -> RuntimeError: torch.linalg.solve_ex: The solver failed because the input matrix is singular.",
    .out = kOutStructured, .one_device = "_linalg_solve_ex");
TS_OP(
    linalg_solve, "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    "X with A @ X equal to B, or X @ A unless left.", kLinalg | kOut, &linalg_solve,
    "f[3,3], f[3,2]\nf[3,3], f[3]\nf[2,3,3], f[2,3]\nf[2,3,3], f[3,1]\nf[3,3], f[2,3,1]\nf[3,3], f[2,3], left=False\n"
    "f[3,3].t, f[3,2]\nc[2,2], c[2,1]\nc[2,2], c[1,2], left=False\nf[0,0], f[0,2]\nf[0,3,3], f[0,3,1]\n"
    "f[2,2].z, f[2,2] -> RuntimeError: torch.linalg.solve: The solver failed because the input matrix is singular.\n"
    "f[2,2,2].z, f[2,2] -> RuntimeError: torch.linalg.solve: (Batch element 0): The solver failed because\n"
    "f[2,2], f[3,2] -> RuntimeError: linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x2)\n"
    "f[2,2], f[2,3], left=False -> RuntimeError: linalg.solve: Incompatible shapes of A and B for the equation XA = B (2x2 and 2x3)\n"
    "f[2,2], i[2,2]<3 -> RuntimeError: linalg.solve: Expected A and B to have the same dtype, but found A of type Float and B of type Long instead",
    .out = kOutStructured, .one_device = "_linalg_solve_ex", .autocast = Autocast::Float32,
    .batching = Batching::Front);
TS_OP(
    linalg_inv_ex, "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    "The inverse, and 0 or the place of a 0 on U's diagonal.", kLinalg | kOut, &inv_ex,
    "f[3,3]\n"
    "f[2,2].z, check_errors=True -> RuntimeError: linalg.inv_ex: The diagonal element 1 is zero, the inversion could not be",
    .out = kOutStructured, .autocast = Autocast::Float32);
TS_OP(
    linalg_inv, "linalg_inv(Tensor A) -> Tensor", "The inverse of square matrices.", kLinalg | kOut, &linalg_inv,
    "f[3,3]\nf[2,3,3]\nf[3,3].t\nc[2,2]\nf[0,0]\nf[0,3,3]\n"
    "f[2,2].z -> RuntimeError: linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input matrix is singular.\n"
    "f[2,2,2].z -> RuntimeError: linalg.inv: (Batch element 0): The diagonal element 1 is zero\n" TS_SQUARE_ERRORS(
        "linalg.inv"),
    .out = kOutStructured, .autocast = Autocast::Float32, .batching = Batching::Front);
TS_OP(inverse, "inverse(Tensor self) -> Tensor", "The inverse of square matrices.", kBoth | kOut, &linalg_inv, "f[3,3]",
      .out = kOutStructured, .autocast = Autocast::Float32, .batching = Batching::Front);
TS_OP(linalg_det, "linalg_det(Tensor A) -> Tensor", "The determinant.", kLinalg | kOut, Det,
      "f[3,3]\nf[2,3,3]\nf[3,3].t\nc[2,2]\nf[0,0]\nf[0,2,2]\n" TS_SQUARE_ERRORS("linalg.det"), .out = kOutStructured,
      .batching = Batching::Front);
TS_OP(det, "det(Tensor self) -> Tensor", "The determinant.", kBoth, &det, "f[3,3]", .out = kOutStructured,
      .batching = Batching::Front);
TS_OP(linalg_slogdet, "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
      "The sign of the determinant and the logarithm of its absolute value.", kLinalg | kOut, Slogdet,
      "f[3,3]\nf[2,3,3]\nc[2,2]\nf[0,0]\n" TS_SQUARE_ERRORS("linalg.slogdet"), .out = kOutStructured,
      .batching = Batching::Front);
TS_OP(slogdet, "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
      "The sign of the determinant and the logarithm of its absolute value.", kBoth | kOut, &slogdet, "f[3,3]",
      .out = kOutStructured, .batching = Batching::Front);
TS_OP(logdet, "logdet(Tensor self) -> Tensor", "The logarithm of the determinant; NaN where that is negative.", kBoth,
      &logdet, "f[3,3].s\nc[2,2]\nf[2,3,3].s\n" TS_SQUARE_ERRORS("logdet"), .batching = Batching::Front);
TS_OP(
    linalg_solve_triangular,
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    "X with A @ X equal to B (X @ A unless left), A triangular.", kLinalg | kOut, SolveTriangular,
    "f[3,3], f[3,2], upper=True\nf[3,3], f[3,2], upper=False, unitriangular=True\nf[3,3].t, f[2,3], upper=True, left=False\n"
    "f[2,3,3], f[3,1], upper=False\nf[3,3], f[2,3,1], upper=True\nc[2,2], c[2,1], upper=True\nf[0,0], f[0,2], upper=True\n"
    "f[3,3], f[3], upper=True -> RuntimeError: linalg.solve_triangular: The input tensor B must have at least 2 dimensions.\n"
    "f[3,3], f[2,2], upper=True -> RuntimeError: linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x2)",
    .out = {OutRule::Same, kOutOfScalarType.text, TensorErrorKind::Runtime, true},
    .one_device = "_linalg_solve_triangular");
TS_OP(
    triangular_solve,
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    "X with A @ X equal to self, A triangular; and A.", kBoth | kOut, &triangular_solve,
    "f[3,2], f[3,3]\nf[3,2], f[3,3], False, True\n"
    "f[3], f[3,3] -> RuntimeError: torch.triangular_solve: Expected b to have at least 2 dimensions, but it has 1 dimensions instead\n"
    "f[2,2], f[3,3] -> RuntimeError: Incompatible matrix sizes for triangular_solve: each A matrix is 3 by 3 but each b matrix is 2 by 2",
    .out = kOutStructured, .one_device = "triangular_solve", .autocast = Autocast::Float32);
#undef TS_SQUARE_ERRORS

}  // namespace
}  // namespace tessera::tensor
