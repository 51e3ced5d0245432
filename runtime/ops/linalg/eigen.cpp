// Eigenvalues and eigenvectors, and functions of Hermitian matrices that are made of them.
// Derivatives: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
// M. Seeger et al., "Auto-Differentiating Linear Algebra" (2017); of complex vectors what does not depend on their phase.
// compile: small (the factorisation takes longer)
#include <algorithm>
#include <cctype>

#include "runtime/ops/linalg/common.h"

namespace tessera::tensor {
namespace {

using namespace linalg;

// ---- Hermitian ----

bool upper_triangle(const std::string& uplo) {
  check(uplo.size() == 1 && std::string("LUlu").find(uplo[0]) != std::string::npos, TensorErrorKind::Runtime,
        "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  return std::toupper(static_cast<unsigned char>(uplo[0])) == 'U';
}

void check_hermitian(const Tensor& a) {
  check_square(a, "linalg.eigh");
  check_kernel(a, "linalg_eigh_cpu");
}

void run_eigh(const Tensor& values, const Tensor& vectors, const Tensor& a, bool upper, bool wanted) {
  copy_into(vectors, a);
  const Tensor info = Tensor::empty(batch_of(a), kInt32, a.device());
  run_lapack(vectors,
             {.routine = LapackCall::Eigh,
              .dtype = a.dtype(),
              .batch = batch_count(a),
              .n = rows(a),
              .a = vectors.data_ptr(),
              .values = values.data_ptr(),
              .upper = upper,
              .job = wanted ? 'V' : 'N'},
             info);
  check_info(info, "linalg.eigh", [](int64_t code) {
    return text(
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: ",
        code, ").");
  });
}

/// Differences d_ij = x_j - x_i, with 1 on the diagonal.
Tensor differences(const Tensor& x) {
  return unsqueeze(x, -2) - unsqueeze(x, -1) + eye(x.size(-1), {}, x.dtype(), x.device());
}

/// A gradient of complex vectors may not ask for their phase, which nothing determines.
void check_phase(const Tensor& vhg, const char* message) {
  if (!is_complex(vhg.dtype()) || vhg.numel() == 0 || vhg.device().is_meta()) return;
  const GradMode no_grad(false);
  const Tensor turn = abs(imag(diagonal_of(vhg)));
  check(max(turn).item().to_double() <= 1e-2, TensorErrorKind::Runtime, message);
}

struct Eigh {
  static std::array<Meta, 2> shape(const Tensor& a, const std::string& uplo) {
    check_hermitian(a);
    upper_triangle(uplo);
    return {Meta(batch_of(a) + Ints{rows(a)}, real_type(a.dtype()), a.device()),
            column_major(a.sizes(), a.dtype(), a.device())};
  }
  static void run(const Tensor& values, const Tensor& vectors, const Tensor& a, const std::string& uplo) {
    run_eigh(values, vectors, a, upper_triangle(uplo), true);
  }
  // dL = diag(V^H dA V), dV = V (E o V^H dA V) with E_ij = 1 / (l_j - l_i) and 0 on the diagonal.
  static void grad(Tensor& values, Tensor& vectors, const Tensor& a, const std::string&) {
    record_all({&values, &vectors}, "LinalgEighBackward0", {&a},
               Kept<2>{{saved_result(values, 0), saved_result(vectors, 1)}}, [](Sweep& s) {
                 s.give(0, [&] {
                   const Tensor l = s.kept(0), v = s.kept(1), gl = s.g(0), gv = s.g(1);
                   if (!gv.defined()) return matmul(scale_columns(v, gl), mH(v));
                   const Tensor vhg = matmul(mH(v), gv);
                   check_phase(
                       vhg,
                       "linalg_eigh_backward: The eigenvectors in the complex case are specified up to multiplication "
                       "by e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined.");
                   Tensor inner = (vhg - vhg * eye(rows(v), {}, real_type(v.dtype()), v.device())) / differences(l);
                   if (gl.defined()) inner = inner + diagonal_matrix(gl);
                   return matmul(v, matmul(inner, mH(v)));
                 });
               });
  }
};

// ---- general ----

DType eigen_type(const Tensor& a, const char* name) {
  check(is_differentiable(a.dtype()), TensorErrorKind::Runtime, "Unknown Complex ScalarType for ",
        scalar_type_name(a.dtype()));
  check_square(a, name);
  check_kernel(a, {"linalg_eig_out_cpu", "linalg_eig_cuda"}, true);
  return complex_type(real_type(a.dtype()));
}

void run_eig(const Tensor& values, const Tensor& vectors, const Tensor& a) {
  check(a.numel() == 0 || all(isfinite(is_complex(a.dtype()) ? view_as_real(a) : a)).item().to_bool(),
        TensorErrorKind::Runtime, "torch.linalg.eig: input tensor should not contain infs or NaNs.");
  const Tensor lost = column_major_copy(a), info = Tensor::empty(batch_of(a), kInt32, a.device());
  run_lapack(lost,
             {.routine = LapackCall::Eig,
              .dtype = a.dtype(),
              .batch = batch_count(a),
              .n = rows(a),
              .a = lost.data_ptr(),
              .b = vectors.defined() ? vectors.data_ptr() : nullptr,
              .values = values.data_ptr()},
             info);
  check_info(info, "linalg.eig", [](int64_t code) {
    return text(
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: ",
        code, ").");
  });
}

struct Eig {
  static std::array<Meta, 2> shape(const Tensor& a) {
    const DType type = eigen_type(a, "linalg.eig");
    return {Meta(batch_of(a) + Ints{rows(a)}, type, a.device()), column_major(a.sizes(), type, a.device())};
  }
  static void run(const Tensor& values, const Tensor& vectors, const Tensor& a) { run_eig(values, vectors, a); }
  // With B = V^-1 dA V: dL = diag(B), dV = V (E o B), of which the norm and the phase of each column are kept.
  static void grad(Tensor& values, Tensor& vectors, const Tensor& a) {
    record_all({&values, &vectors}, "LinalgEigBackward0", {&a},
               Kept<2>{{saved_result(values, 0), saved_result(vectors, 1)}}, [type = a.dtype()](Sweep& s) {
                 s.give(0, [&] {
                   const Tensor l = s.kept(0), v = s.kept(1), gl = s.g(0), gv = s.g(1);
                   Tensor inner;
                   if (gv.defined()) {
                     const Tensor vhg = matmul(mH(v), gv), vhv = matmul(mH(v), v);
                     check_phase(
                         vhg,
                         "linalg_eig_backward: The eigenvectors in the complex case are specified up to multiplication "
                         "by e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined.");
                     const Tensor kept = vhg - scale_columns(vhv, real(diagonal_of(vhg)));
                     inner = kept / conj(differences(l));
                     inner = inner - inner * eye(rows(v), {}, real_type(v.dtype()), v.device());
                   }
                   if (gl.defined()) inner = sum_of(inner, diagonal_matrix(gl));
                   const Tensor g = linalg_solve(mH(v), matmul(inner, mH(v)));
                   return is_complex(type) ? g : real(g);
                 });
               });
  }
};

Tensor eigvals(const Tensor& a) {
  if (needs_grad(a)) return std::get<0>(apply<Eig>(a));
  const DType type = eigen_type(a, "linalg.eigvals");
  const Tensor values = Tensor::empty(batch_of(a) + Ints{rows(a)}, type, a.device());
  if (!a.device().is_meta()) run_eig(values, {}, a);
  return values;
}

// ---- X Z + Z X = G, and the square root ----

struct SymmetricSylvester {
  static Meta shape(const Tensor& x, const Tensor& g) { return {g.sizes(), x}; }
  static void run(const Tensor& z, const Tensor& x, const Tensor& g) {
    const auto [l, v] = linalg_eigh(x);
    const Tensor sums = unsqueeze(l, -2) + unsqueeze(l, -1);
    copy_into(z, matmul(v, matmul(matmul(mH(v), matmul(g, v)) / sums, mH(v))));
  }
  // The equation is its own adjoint: gG solves it for gZ, and dX counts on both sides.
  static void grad(Tensor& z, const Tensor& x, const Tensor& g) {
    record(z, "SymmetricSylvesterBackward0", {&x, &g}, Kept<2>{{SavedTensor(x), SavedTensor(z, true)}}, [](Sweep& s) {
      const Tensor x = s.kept(0), z = s.kept(1), gg = symmetric_sylvester(x, s.g());
      s.give(0, [&] { return -(matmul(gg, mH(z)) + matmul(mH(z), gg)); });
      s.give(1, [&] { return gg; });
    });
  }
};

struct MatrixSqrth {
  static Meta shape(const Tensor& a) {
    check_square(a, "linalg.matrix_sqrth");
    check_floating(a, "linalg.matrix_sqrth");
    return {a.sizes(), a.dtype(), a.device(), rows(a) ? contiguous_strides(a.sizes()) : dense_strides(a)};
  }
  static void run(const Tensor& x, const Tensor& a) {
    const auto [l, v] = linalg_eigh(a);
    copy_into(
        x, matmul(scale_columns(v, sqrt(maximum(l, zeros_like(l)))), mH(v)));  // of the nearest matrix that has a root
  }
  // X X = A: X dX + dX X = dA.
  static void grad(Tensor& x, const Tensor& a) {
    record(x, "LinalgMatrixSqrthBackward0", {&a}, keep(ResultOf{x}),
           [](Sweep& s) { s.give(0, [&] { return symmetric_sylvester(s.kept(0), (s.g() + mH(s.g())) * 0.5); }); });
  }
};

}  // namespace

Tensor symmetric_sylvester(const Tensor& x, const Tensor& g) { return apply<SymmetricSylvester>(x, g); }
std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& a, const std::string& uplo) { return apply<Eigh>(a, uplo); }
Tensor linalg_eigvalsh(const Tensor& a, const std::string& uplo) {
  if (needs_grad(a)) return std::get<0>(apply<Eigh>(a, uplo));
  check_hermitian(a);
  const bool upper = upper_triangle(uplo);
  const Tensor values = Tensor::empty(batch_of(a) + Ints{rows(a)}, real_type(a.dtype()), a.device());
  if (!a.device().is_meta())
    run_eigh(values, column_major(a.sizes(), a.dtype(), a.device()).allocate(), a, upper, false);
  return values;
}

namespace {

TS_OP(linalg_eigh, "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
      "The eigenvalues, ascending, and eigenvectors of Hermitian matrices.", kLinalg | kOut, Eigh,
      "f[3,3].s\nf[2,3,3].s, 'U'\nf[0,0]\nf[0,2,2]\n"
      "f[3] -> RuntimeError: linalg.eigh: The input tensor A must have at least 2 dimensions.\n"
      "f[2,3] -> RuntimeError: linalg.eigh: A must be batches of square matrices, but they are 2 by 3 matrices\n"
      "i[2,2]<3 -> NotImplementedError: \"linalg_eigh_cpu\" not implemented for 'Long'\n"
      "f[2,2], 'X' -> RuntimeError: Expected UPLO argument to be 'L' or 'U', but got X",
      .out = {.takes = OutRule::Same, .text = kOutStructured.text, .takes_strides = true, .last_first = true},
      .autocast = Autocast::Float32, .batching = Batching::Front);
TS_OP(linalg_eigvalsh, "linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor",
      "The eigenvalues of Hermitian matrices, ascending.", kLinalg | kOut, &linalg_eigvalsh,
      "f[3,3].s\nc[3,3].s\nf[2,3,3].s, 'U'\nf[0,0]\n"
      "f[2,3] -> RuntimeError: linalg.eigh: A must be batches of square matrices, but they are 2 by 3 matrices",
      .out = kOutStructured, .autocast = Autocast::Float32, .batching = Batching::Front);
TS_OP(linalg_eig, "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
      "The eigenvalues and eigenvectors, complex, of square matrices.", kLinalg | kOut, Eig,
      "f[0,0]\nf[0,2,2]\n"
      "f[3] -> RuntimeError: linalg.eig: The input tensor A must have at least 2 dimensions.\n"
      "f[2,3] -> RuntimeError: linalg.eig: A must be batches of square matrices, but they are 2 by 3 matrices\n"
      "i[2,2]<3 -> RuntimeError: Unknown Complex ScalarType for Long\n"
      "f[2,2]:float16 -> NotImplementedError: \"linalg_eig_out_cpu\" not implemented for 'Half'",
      .out = {OutRule::Castable,
              "torch.$n: Expected eigenvalues to be safely castable from $R dtype, but got eigenvalues with dtype $O"},
      .autocast = Autocast::Float32);
TS_OP(linalg_eigvals, "linalg_eigvals(Tensor self) -> Tensor", "The eigenvalues, complex, of square matrices.",
      kLinalg | kOut, &eigvals,
      "f[3,3]\nf[2,2,2]\nc[3,3]\nf[0,0]\n"
      "f[2,3] -> RuntimeError: linalg.eigvals: A must be batches of square matrices, but they are 2 by 3 matrices",
      .out = {OutRule::Castable,
              "torch.$n: Expected eigenvalues to be safely castable from $R dtype, but got eigenvalues with dtype $O"},
      .autocast = Autocast::Float32);
TS_OP(
    linalg_matrix_sqrth, "linalg_matrix_sqrth(Tensor self) -> Tensor",
    "The positive definite square root of a Hermitian positive definite matrix.", kLinalg, MatrixSqrth,
    "f[3,3].s\nc[2,2].s\nf[2,3,3].s\n"
    "f[2,3] -> RuntimeError: linalg.matrix_sqrth: A must be batches of square matrices, but they are 2 by 3 matrices");

}  // namespace
}  // namespace tessera::tensor
