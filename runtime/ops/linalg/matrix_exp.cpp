// The exponential of matrices: a Taylor polynomial of the scaled matrix, squared as often as it was halved.
// N. Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited" (2005); the polynomial by M. Paterson,
// L. Stockmeyer, "On the number of nonscalar multiplications necessary to evaluate polynomials" (1973).
// compile: small (the factorisation takes longer)
#include <algorithm>
#include <cmath>

#include "runtime/ops/linalg/common.h"

namespace tessera::tensor {
namespace {

using namespace linalg;

constexpr int kDegree = 16, kBlock = 4;
constexpr double kLargestNorm = 0.7;  // below it what the polynomial leaves out is less than the rounding of float64

double inverse_factorial(int n) { return 1.0 / std::tgamma(n + 1.0); }

/// sum of x^i / i! for i up to 16, by powers of x^4.
Tensor taylor(const Tensor& x) {
  const Tensor one = eye(rows(x), {}, x.dtype(), x.device());
  const Tensor x2 = matmul(x, x), powers[] = {one, x, x2, matmul(x2, x)}, x4 = matmul(x2, x2);
  const auto block = [&](int first) {
    Tensor out = powers[0] * inverse_factorial(first);
    for (int i = 1; i < kBlock; i++) out = out + powers[i] * inverse_factorial(first + i);
    return out;
  };
  Tensor out = block(kDegree - kBlock) + x4 * inverse_factorial(kDegree);
  for (int first = kDegree - 2 * kBlock; first >= 0; first -= kBlock) out = block(first) + matmul(x4, out);
  return out;
}

struct MatrixExp {
  static Meta shape(const Tensor& a) {
    check_square(a, "linalg.matrix_exp");
    check_floating(a, "linalg.matrix_exp");
    return {a.sizes(), a};
  }
  static void run(const Tensor& out, const Tensor& a) {
    if (a.numel() == 0) return;
    // Each matrix is halved as often as its own norm asks for: what stands beside it in a batch changes nothing.
    const Tensor norm = amax(sum(is_complex(a.dtype()) ? complex_abs(a) : abs(a), Dims{-2}), Dims{-1});
    const Tensor asked = clamp_min(ceil(log(norm / kLargestNorm) / std::log(2.0)), 0);
    const Tensor halvings = where(isfinite(asked), Operand(asked), Operand(0.0));
    const int most = int(max(halvings).item().to_double());
    const Tensor each = unsqueeze(unsqueeze(halvings, -1), -1);
    Tensor x = taylor(a * exp(each * -std::log(2.0)));
    for (int i = 0; i < most; i++) {
      Context::current().poll();
      x = where(each > double(i), Operand(matmul(x, x)), Operand(x));
    }
    copy_into(out, x);
  }
  // R. Mathias, "A chain rule for matrix functions and applications" (1996): the derivative in direction G is the corner of
  // the exponential of [[A, G], [0, A]]; its adjoint the same with A^H.
  static void grad(Tensor& out, const Tensor& a) {
    record(out, "LinalgMatrixExpBackward0", {&a}, keep(a), [](Sweep& s) {
      s.give(0, [&] {
        const Tensor adjoint = mH(s.kept(0));
        const int64_t n = rows(adjoint);
        const Tensor above = cat({adjoint, s.g()}, -1), below = cat({zeros_like(adjoint), adjoint}, -1);
        return narrow(narrow(apply<MatrixExp>(cat({above, below}, -2)), -2, 0, n), -1, n, n);
      });
    });
  }
};

TS_OP(
    linalg_matrix_exp, "linalg_matrix_exp(Tensor self) -> Tensor", "The matrix exponential.", kLinalg | kOut, MatrixExp,
    "f[3,3]\nf[2,3,3]\nc[2,2]\nf[1,1]\nf[2,2].z\nf[0,0]\n"
    "f[3] -> RuntimeError: linalg.matrix_exp: The input tensor A must have at least 2 dimensions.\n"
    "f[2,3] -> RuntimeError: linalg.matrix_exp: A must be batches of square matrices, but they are 2 by 3 matrices\n"
    "i[2,2]<3 -> NotImplementedError: linalg.matrix_exp: Expected a floating point or complex tensor as input. Got Long",
    .batching = Batching::Front);
TS_OP(matrix_exp, "matrix_exp(Tensor self) -> Tensor", "The matrix exponential.", kFunction | kMethod, MatrixExp,
      "f[3,3]", .batching = Batching::Front);

}  // namespace
}  // namespace tessera::tensor
