// A = L L^H of positive definite matrices, and what such factors solve.
// Derivatives: I. Murray, "Differentiation of the Cholesky decomposition" (2016); M. Giles, "Collected matrix derivative
// results for forward and reverse mode algorithmic differentiation" (2008).
// compile: small (the factorisation takes longer)
#include "runtime/ops/linalg/common.h"

namespace tessera::tensor {
namespace {

using namespace linalg;

struct CholeskyEx {
  static std::array<Meta, 2> shape(const Tensor& a, bool, bool) {
    check_square(a, "linalg.cholesky");
    check_floating(a, "linalg.cholesky", true);
    check_kernel(a, {"cholesky_cpu", "cholesky_cusolver"});
    return {column_major(a.sizes(), a.dtype(), a.device()), Meta(batch_of(a), kInt32, a.device())};
  }
  static void run(const Tensor& l, const Tensor& info, const Tensor& a, bool upper, bool) {
    copy_into(l, a);
    run_lapack(l,
               {.routine = LapackCall::Cholesky,
                .dtype = l.dtype(),
                .batch = batch_count(l),
                .n = rows(l),
                .a = l.data_ptr(),
                .upper = upper},
               info);
  }
  // With L^-1 dL = tril(L^-1 dA L^-H), the diagonal halved.
  static void grad(Tensor& l, Tensor&, const Tensor& a, bool upper, bool) {
    record(l, "LinalgCholeskyExBackward0", {&a}, keep(ResultOf{l}), [upper](Sweep& s) {
      s.give(0, [&] {
        const Tensor factor = upper ? mH(s.kept(0)) : s.kept(0), g = upper ? mH(s.g()) : s.g();
        const Tensor lower = tril(matmul(mH(factor), g));
        const Tensor inner = (lower + mH(tril(lower, -1))) * 0.5;  // complex diagonals stay as they are
        return linalg_solve_triangular(factor, linalg_solve_triangular(mH(factor), inner, true), false, false);
      });
    });
  }
};

InfoMessage not_positive() {
  return [](int64_t order) {
    return text(
        "The factorization could not be completed because the input is not positive-definite (the leading minor of order ",
        order, " is not positive-definite).");
  };
}

std::tuple<Tensor, Tensor> cholesky_ex(const Tensor& a, bool upper, bool check_errors) {
  auto [l, info] = apply<CholeskyEx>(a, upper, check_errors);
  if (check_errors) check_info(info, "linalg.cholesky_ex", not_positive());
  return {l, info};
}

Tensor cholesky(const Tensor& a, bool upper) {
  auto [l, info] = apply<CholeskyEx>(a, upper, false);
  check_info(info, "linalg.cholesky", not_positive());
  return l;
}

// ---- with a factor ----

struct CholeskySolve {
  static Dims batch(const Tensor& b, const Tensor& l) { return broadcast_shapes(batch_of(b), batch_of(l)); }
  static Meta shape(const Tensor& b, const Tensor& l, bool) {
    check(b.dim() >= 2, TensorErrorKind::Runtime, "b should have at least 2 dimensions, but has ", b.dim(),
          " dimensions instead");
    check(l.dim() >= 2, TensorErrorKind::Runtime, "u should have at least 2 dimensions, but has ", l.dim(),
          " dimensions instead");
    check(b.device() == l.device(), TensorErrorKind::Runtime,
          "Expected b and A to be on the same device, but found b on ", b.device().str(), " and A on ",
          l.device().str(), " instead.");
    check(b.dtype() == l.dtype(), TensorErrorKind::Runtime,
          "Expected b and A to have the same dtype, but found b of type ", scalar_type_name(b.dtype()),
          " and A of type ", scalar_type_name(l.dtype()), " instead.");
    check(rows(l) == columns(l), TensorErrorKind::Runtime, "A must be batches of square matrices, but they are ",
          rows(l), " by ", columns(l), " matrices");
    check(rows(l) == rows(b), TensorErrorKind::Runtime,
          "Incompatible matrix sizes for cholesky_solve: each A matrix is ", rows(l), " by ", columns(l),
          " but each b matrix is ", rows(b), " by ", columns(b));
    check_kernel(b, {"cholesky_solve_cpu", "cholesky_cuda_potrs"}, true);
    return column_major(batch(b, l) + Ints{rows(b), columns(b)}, b.dtype(), b.device());
  }
  static void run(const Tensor& x, const Tensor& b, const Tensor& l, bool upper) {
    copy_into(x, b);
    const Tensor factor = as_column_major(expand(l, batch(b, l) + Ints{rows(l), rows(l)}));
    run_lapack(x, {.routine = LapackCall::CholeskySolve,
                   .dtype = x.dtype(),
                   .batch = batch_count(x),
                   .n = rows(x),
                   .k = columns(x),
                   .a = factor.data_ptr(),
                   .b = x.data_ptr(),
                   .upper = upper});
  }
  // A X = B with A = L L^H: dX = A^-1 (dB - dA X), dA = dL L^H + L dL^H. Both triangles of l get a gradient, as in PyTorch.
  static void grad(Tensor& x, const Tensor& b, const Tensor& l, bool upper) {
    record(x, "CholeskySolveBackward0", {&b, &l}, Kept<2>{{SavedTensor(l), SavedTensor(x, true)}},
           [upper, b_sizes = Dims(b.sizes())](Sweep& s) {
             const Tensor factor = s.kept(0);
             const Tensor gb = apply<CholeskySolve>(s.g(), factor, upper);
             s.give(0, [&] { return sum_to_size(gb, b_sizes); });
             s.give(1, [&] {
               const Tensor ga = matmul(gb, mH(s.kept(1))), both = ga + mH(ga);
               return sum_to_size(-(upper ? matmul(factor, both) : matmul(both, factor)), factor.sizes());
             });
           });
  }
};

struct CholeskyInverse {
  static Meta shape(const Tensor& l, bool) {
    check_square(l, "cholesky_inverse");
    check_kernel(l, {"cholesky_inverse_out_cpu", "cholesky_cuda_potri"}, true);
    return column_major(l.sizes(), l.dtype(), l.device());
  }
  static void run(const Tensor& out, const Tensor& l, bool upper) {
    copy_into(out, l);
    const Tensor info = Tensor::empty(batch_of(l), kInt32, l.device());
    run_lapack(out,
               {.routine = LapackCall::CholeskyInverse,
                .dtype = out.dtype(),
                .batch = batch_count(out),
                .n = rows(out),
                .a = out.data_ptr(),
                .upper = upper},
               info);
    check_info(info, "cholesky_inverse", [](int64_t i) {
      return text("The diagonal element ", i,
                  " is zero, the inversion could not be completed because the input matrix is singular.");
    });
  }
  static void grad(Tensor& out, const Tensor& l, bool upper) {
    record(out, "CholeskyInverseBackward0", {&l}, Kept<2>{{SavedTensor(l), SavedTensor(out, true)}}, [upper](Sweep& s) {
      s.give(0, [&] {
        const Tensor factor = s.kept(0), inverse = s.kept(1);
        const Tensor both = matmul(matmul(inverse, s.g() + mH(s.g())), inverse);
        return -(upper ? matmul(factor, both) : matmul(both, factor));
      });
    });
  }
};

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(
    linalg_cholesky_ex,
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    "The Cholesky factor, and 0 or the order of the minor that is not positive.", kLinalg | kOut, &cholesky_ex,
    "f[3,3].s\nf[2,3,3].s, upper=True\nc[2,2].s\nf{1,1} -> RuntimeError: linalg.cholesky: The input tensor A must have\n"
    "f[2,2].z, check_errors=True -> RuntimeError: linalg.cholesky_ex: The factorization could not be",
    .out = kOutStructured, .autocast = Autocast::Float32);
TS_OP(
    linalg_cholesky, "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    "The lower triangular L with L @ L.mH equal to a positive definite matrix.", kLinalg | kOut, &cholesky,
    "f[3,3].s\nc[3,3].s\nc[2,2].s, upper=True\nf[2,3,3].s, upper=True\nf[0,0]\nf[0,3,3]\n"
    "f[2,3] -> RuntimeError: linalg.cholesky: A must be batches of square matrices, but they are 2 by 3 matrices\n"
    "i[2,2]<3 -> NotImplementedError: linalg.cholesky: Expected a floating point or complex tensor as input. Got Long\n"
    "f[2,2]:float16 -> NotImplementedError: \"cholesky_cpu\" not implemented for 'Half'\n"
    "f[2,2].z -> RuntimeError: linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the leading minor of order 1 is not positive-definite).\n"
    "f[2,2,2].z -> RuntimeError: linalg.cholesky: (Batch element 0): The factorization could not be",
    .out = kOutStructured, .autocast = Autocast::Float32, .batching = Batching::Front);
TS_OP(
    cholesky_solve, "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    "X with (L @ L.mH) @ X equal to self, L a Cholesky factor.", kBoth | kOut, CholeskySolve,
    "f[3,2], f[3,3].l\nf[3,2], f[3,3].u, True\nf[2,3,1], f[3,3].l\nc[2,1], c[2,2].l\n"
    "f[3], f[3,3] -> RuntimeError: b should have at least 2 dimensions, but has 1 dimensions instead\n"
    "f[2,2], f[3,3] -> RuntimeError: Incompatible matrix sizes for cholesky_solve: each A matrix is 3 by 3 but each b matrix is 2 by 2",
    .out = kOutSafely, .any_device = true, .autocast = Autocast::Float32);
TS_OP(
    cholesky_inverse, "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    "The inverse of L @ L.mH, L a Cholesky factor.", kBoth | kOut, CholeskyInverse,
    "f[3,3].l\nf[2,3,3].u, True\n"
    "f[2,2].z -> RuntimeError: cholesky_inverse: The diagonal element 1 is zero, the inversion could not be completed\n"
    "f[2,3] -> RuntimeError: cholesky_inverse: A must be batches of square matrices, but they are 2 by 3 matrices",
    .out = {OutRule::Castable, kOutSafely.text, TensorErrorKind::Runtime, true}, .autocast = Autocast::Float32);

}  // namespace
}  // namespace tessera::tensor
