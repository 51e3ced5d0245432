// The singular value decomposition and what is read from it: pseudo-inverse, rank, polar decomposition.
// Derivatives: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
// J. Townsend, "Differentiating the Singular Value Decomposition" (2016); G. Golub, V. Pereyra, "The Differentiation of
// Pseudo-Inverses and Nonlinear Least Squares Problems Whose Variables Separate" (1973).
// compile: small (the factorisation takes longer)
#include <algorithm>

#include "runtime/ops/linalg/common.h"

namespace tessera::tensor {
namespace {

using namespace linalg;
using MaybeName = std::optional<std::string>;
using MaybeTensor = std::optional<Tensor>;

void check_svd(const Tensor& a, const MaybeName& driver) {
  check_matrix(a, "linalg.svd");
  check_floating(a, "linalg.svd", true);
  check(!driver, TensorErrorKind::Runtime,
        "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  check_kernel(a, {"linalg_svd_cpu", "svd_cuda_gesvdj"});
}

void run_svd(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& a, char job) {
  const Tensor lost = column_major_copy(a), info = Tensor::empty(batch_of(a), kInt32, a.device());
  if (a.numel() == 0 && job == 'A') fill_identity(u), fill_identity(vh);
  run_lapack(lost,
             {.routine = LapackCall::Svd,
              .dtype = a.dtype(),
              .batch = batch_count(a),
              .m = rows(a),
              .n = columns(a),
              .a = lost.data_ptr(),
              .b = job == 'N' ? nullptr : u.data_ptr(),
              .c = job == 'N' ? nullptr : vh.data_ptr(),
              .values = s.data_ptr(),
              .job = job},
             info);
  check_info(info, "linalg.svd", [](int64_t code) {
    if (code < 0)
      return std::string("The algorithm failed to converge because the input matrix contained non-finite values.");
    return text(
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated singular values (error code: ",
        code, ").");
  });
}

Tensor skew(const Tensor& x) { return x - mH(x); }

/// The gradient of A = U S V^H from those of its parts, of which any may be undefined. With P = skew(U^H gU), Q = skew(V^H gV)
/// and E_ij = s_j^2 - s_i^2: gA = U (P/E S + S Q/E + gS) V^H, and what of gU and gV lies outside the ranges of U and V.
Tensor svd_gradient(const Tensor& gu, const Tensor& gs, const Tensor& gvh, const Tensor& u, const Tensor& s,
                    const Tensor& vh) {
  const int64_t m = rows(u), k = s.size(-1), n = columns(vh);
  if (!gu.defined() && !gvh.defined()) return matmul(scale_columns(u, gs), vh);
  const Tensor v = mH(vh), gv = gvh.defined() ? mH(gvh) : Tensor();
  const Tensor p = gu.defined() ? skew(matmul(mH(u), gu)) : Tensor();
  const Tensor q = gv.defined() ? skew(matmul(vh, gv)) : Tensor();
  const Tensor squares = s * s;
  const Tensor e = unsqueeze(squares, -2) - unsqueeze(squares, -1) + eye(k, {}, s.dtype(), s.device());
  if (is_complex(u.dtype()) && u.numel() != 0 && !u.device().is_meta()) {
    const GradMode no_grad(false);
    check(max(abs(imag(diagonal_of(sum_of(p, q))))).item().to_double() <= 1e-2, TensorErrorKind::Runtime,
          "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. The "
          "specified loss function depends on this phase term, making it ill-defined.");
  }
  Tensor inner;
  if (p.defined()) inner = scale_columns(p / e, s);
  if (q.defined()) inner = sum_of(inner, scale_rows(s, q / e));
  // On the diagonal the quotients stand for nothing; of complex vectors half of the phase does.
  inner = inner - inner * eye(k, {}, s.dtype(), s.device());
  if (is_complex(u.dtype()) && p.defined()) inner = inner + diagonal_matrix(diagonal_of(p) / (s * 2.0));
  if (gs.defined()) inner = inner + diagonal_matrix(gs);
  Tensor left = matmul(u, inner);
  if (m > k && gu.defined()) left = left + scale_columns(gu - matmul(u, matmul(mH(u), gu)), 1.0 / s);
  Tensor g = matmul(left, vh);
  if (n > k && gv.defined()) g = g + matmul(scale_columns(u, 1.0 / s), mH(gv - matmul(v, matmul(vh, gv))));
  return g;
}

struct Svd {
  static std::array<Meta, 3> shape(const Tensor& a, bool full, const MaybeName& driver) {
    check_svd(a, driver);
    const Dims batch = batch_of(a);
    const int64_t m = rows(a), n = columns(a), k = std::min(m, n);
    return {column_major(batch + Ints{m, full ? m : k}, a.dtype(), a.device()),
            Meta(batch + Ints{k}, real_type(a.dtype()), a.device()),
            column_major(batch + Ints{full ? n : k, n}, a.dtype(), a.device())};
  }
  static void run(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& a, bool full, const MaybeName&) {
    run_svd(u, s, vh, a, full ? 'A' : 'S');
  }
  static void grad(Tensor& u, Tensor& s, Tensor& vh, const Tensor& a, bool, const MaybeName&) {
    Kept<3> kept{{saved_result(u, 0), saved_result(s, 1), saved_result(vh, 2)}};
    record_all({&u, &s, &vh}, "LinalgSvdBackward0", {&a}, std::move(kept), [](Sweep& sweep) {
      sweep.give(0, [&] {
        const Tensor s = sweep.kept(1), gu = sweep.g(0), gvh = sweep.g(2);
        const int64_t k = s.size(-1);
        // Columns beyond the first min(m, n) are any basis of the rest: what flows there is lost.
        const auto first = [&](const Tensor& t, int64_t dim) { return t.defined() ? narrow(t, dim, 0, k) : t; };
        return svd_gradient(first(gu, -1), sweep.g(1), first(gvh, -2), first(sweep.kept(0), -1), s,
                            first(sweep.kept(2), -2));
      });
    });
  }
};

std::tuple<Tensor, Tensor, Tensor> torch_svd(const Tensor& a, bool some, bool vectors) {
  check(a.dim() >= 2, TensorErrorKind::Runtime, "linalg.svd: input should have at least 2 dimensions, but has ",
        a.dim(), " dimensions instead");
  if (!vectors) {
    const Dims batch = batch_of(a);
    return {zeros(batch + Ints{rows(a), rows(a)}, a.dtype(), a.device()), linalg_svdvals(a),
            mT(zeros(batch + Ints{columns(a), columns(a)}, a.dtype(), a.device()))};
  }
  const auto [u, s, vh] = linalg_svd(a, !some);
  return {u, s, mH(vh)};
}

// ---- tolerances ----

double epsilon(const Tensor& a) {
  return real_type(a.dtype()) == kFloat32 ? 1.1920928955078125e-07 : 2.220446049250313e-16;
}

void refuse_complex(const MaybeTensor& atol, const MaybeTensor& rtol, const char* name) {
  for (const auto& [given, what] : {std::pair(&atol, "atol"), std::pair(&rtol, "rtol")})
    check(!*given || !is_complex((*given)->dtype()), TensorErrorKind::Runtime, name, ": ", what,
          " tensor of complex type is not supported. Got ", *given ? scalar_type_name((*given)->dtype()) : "");
}

struct Tolerances {
  Tensor absolute, relative;

  Tolerances(const Tensor& a, const MaybeTensor& atol, const MaybeTensor& rtol, const char* name) {
    refuse_complex(atol, rtol, name);
    const DType type = real_type(a.dtype());
    absolute = atol ? *atol : zeros({}, type, a.device());
    if (rtol) relative = *rtol;
    else {
      const Tensor usual = full({}, epsilon(a) * double(std::max(rows(a), columns(a))), type, a.device());
      relative = atol ? where(absolute > 0.0, Operand(Scalar(0.0)), Operand(usual)) : usual;
    }
  }
  /// The singular values, descending or not, that count.
  Tensor counting(const Tensor& s) const {
    const Tensor largest = amax(s, Dims{-1}, true);
    return s > maximum(unsqueeze(absolute, -1), unsqueeze(relative, -1) * largest);
  }
};

MaybeTensor as_tensor(const std::optional<double>& x, const Tensor& like) {
  return x ? MaybeTensor(full({}, *x, kFloat64, like.device())) : std::nullopt;
}

// ---- pseudo-inverse ----

struct Pinv {
  static Meta shape(const Tensor& a, const MaybeTensor& atol, const MaybeTensor& rtol, bool hermitian) {
    const DType type = a.dtype();
    refuse_complex(atol, rtol, "torch.linalg.pinv");
    for (const auto& [given, what] : {std::pair(&atol, "atol"), std::pair(&rtol, "rtol")})
      check(!*given || !needs_grad(**given), TensorErrorKind::Runtime,
            "The function 'linalg_pinv' is not differentiable with respect to argument '", what,
            "'. This input cannot have requires_grad True.");
    check(is_differentiable(type) && !is_half(type) && a.dim() >= 2, TensorErrorKind::Runtime, "linalg.pinv(",
          scalar_type_name(type), "{", a.sizes(),
          "}): expected a tensor with 2 or more dimensions of float, double, cfloat "
          "or cdouble types");
    Dims batch = batch_of(a);
    if (a.numel()) {
      if (hermitian) check_square(a, "linalg.eigh");
      for (const MaybeTensor& t : {atol, rtol})
        if (t) batch = broadcast_shapes(batch, t->sizes());
    }
    return {batch + Ints{columns(a), rows(a)}, a};
  }
  static void run(const Tensor& out, const Tensor& a, const MaybeTensor& atol, const MaybeTensor& rtol,
                  bool hermitian) {
    if (a.numel() == 0) return;
    const Tolerances tolerances(a, atol, rtol, "torch.linalg.pinv");
    const auto inverses = [&](const Tensor& s, const Tensor& counts) {
      return to_dtype(where(counts, 1.0 / s, 0.0), real_type(a.dtype()));
    };
    if (hermitian) {
      const auto [l, v] = linalg_eigh(a);
      copy_into(out, matmul(scale_columns(v, inverses(l, tolerances.counting(abs(l)))), mH(v)));
    } else {
      const auto [u, s, vh] = linalg_svd(a, false);
      copy_into(out, matmul(scale_columns(mH(vh), inverses(s, tolerances.counting(s))), mH(u)));
    }
  }
  static void grad(Tensor& out, const Tensor& a, const MaybeTensor&, const MaybeTensor&, bool) {
    record(out, "LinalgPinvBackward0", {&a}, Kept<2>{{SavedTensor(a), SavedTensor(out, true)}}, [](Sweep& sweep) {
      sweep.give(0, [&] { return pseudo_inverse_gradient(sweep.g(), sweep.kept(0), sweep.kept(1)); });
    });
  }
};

}  // namespace

// dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P, by products whose square factors have the shorter side.
Tensor pseudo_inverse_gradient(const Tensor& g, const Tensor& a, const Tensor& p) {
  const Tensor ph = mH(p), gh = mH(g);
  if (rows(a) <= columns(a)) {
    const Tensor k = matmul(gh, p), kph = matmul(k, ph);
    const Tensor second = kph - matmul(matmul(a, p), kph), third = matmul(matmul(ph, p), gh - matmul(k, a));
    return second + third - mH(matmul(p, k));
  }
  const Tensor k = matmul(p, gh), phk = matmul(ph, k);
  const Tensor second = matmul(gh - matmul(a, k), matmul(p, ph)), third = phk - matmul(phk, matmul(p, a));
  return second + third - mH(matmul(k, p));
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& a, bool full, const MaybeName& driver) {
  return apply<Svd>(a, full, driver);
}
Tensor linalg_svdvals(const Tensor& a, const MaybeName& driver) {
  if (needs_grad(a)) return std::get<1>(apply<Svd>(a, false, driver));
  check_svd(a, driver);
  const Tensor s = Tensor::empty(batch_of(a) + Ints{least(a)}, real_type(a.dtype()), a.device());
  if (!a.device().is_meta()) run_svd({}, s, {}, a, 'N');
  return s;
}
Tensor pseudo_inverse(const Tensor& a, const MaybeTensor& atol, const MaybeTensor& rtol, bool hermitian) {
  return apply<Pinv>(a, atol, rtol, hermitian);
}

namespace {

Tensor pinv_numbers(const Tensor& a, const std::optional<double>& atol, const std::optional<double>& rtol,
                    bool hermitian) {
  return pseudo_inverse(a, as_tensor(atol, a), as_tensor(rtol, a), hermitian);
}
// A cut-off alone is relative.
Tensor pinv_rcond(const Tensor& a, double rcond, bool hermitian) { return pinv_numbers(a, 0.0, rcond, hermitian); }
Tensor pinv_rcond_tensor(const Tensor& a, const Tensor& rcond, bool hermitian) {
  check(!is_complex(rcond.dtype()), TensorErrorKind::Runtime,
        "torch.linalg.pinv: rcond tensor of complex type is not supported. Got ", scalar_type_name(rcond.dtype()));
  return pseudo_inverse(a, as_tensor(0.0, a), rcond, hermitian);
}
Tensor pinverse(const Tensor& a, double rcond) { return pinv_rcond(a, rcond, false); }

// ---- rank ----

Tensor rank_of(const Tensor& a, const MaybeTensor& atol, const MaybeTensor& rtol, bool hermitian) {
  check_matrix(a, "torch.linalg.matrix_rank", "input");
  check(is_differentiable(a.dtype()) && (!is_half(a.dtype()) || (a.numel() == 0 && rtol)), TensorErrorKind::Runtime,
        "This function doesn't handle types other than float and double");
  if (a.numel() == 0) {
    refuse_complex(atol, rtol, "torch.linalg.matrix_rank");
    return zeros(batch_of(a), kInt64, a.device());
  }
  const GradMode no_grad(false);
  const Tolerances tolerances(a, atol, rtol, "torch.linalg.matrix_rank");
  const Tensor s = hermitian ? abs(linalg_eigvalsh(a)) : linalg_svdvals(a);
  return sum(tolerances.counting(s), Dims{-1});
}
Tensor rank_numbers(const Tensor& a, const std::optional<double>& atol, const std::optional<double>& rtol,
                    bool hermitian) {
  return rank_of(a, as_tensor(atol, a), as_tensor(rtol, a), hermitian);
}
// A tolerance alone is absolute.
Tensor rank_tol(const Tensor& a, double tol, bool hermitian) { return rank_numbers(a, tol, 0.0, hermitian); }
Tensor rank_tol_tensor(const Tensor& a, const Tensor& tol, bool hermitian) {
  return rank_of(a, tol, as_tensor(0.0, a), hermitian);
}

// ---- polar ----

struct Polar {
  static std::array<Meta, 2> shape(const Tensor& a) {
    check_matrix(a, "linalg.polar");
    check_floating(a, "linalg.polar", true);
    check_kernel(a, {"linalg_svd_cpu", "svd_cuda_gesvdj"});
    check(rows(a) >= columns(a), TensorErrorKind::Runtime,
          "linalg.polar: input must have at least as many rows as columns, but got ", rows(a), " by ", columns(a),
          " matrices");
    return {Meta(a.sizes(), a), Meta(batch_of(a) + Ints{columns(a), columns(a)}, a)};
  }
  static void run(const Tensor& u, const Tensor& h, const Tensor& a) {
    const auto [left, s, vh] = linalg_svd(a, false);
    copy_into(u, matmul(left, vh));
    const Tensor product = matmul(mH(vh), scale_rows(s, vh));
    copy_into(h, (product + mH(product)) * 0.5);
  }
  // W = U^H dU is skew and solves H W + W H = U^H dA - dA^H U; dH = U^H dA - W H; dU = U W + (I - U U^H) dA H^-1.
  static void grad(Tensor& u, Tensor& h, const Tensor& a) {
    record_all({&u, &h}, "LinalgPolarBackward0", {&a}, Kept<2>{{saved_result(u, 0), saved_result(h, 1)}}, [](Sweep& s) {
      s.give(0, [&] {
        const Tensor u = s.kept(0), h = s.kept(1), gu = s.g(0), gh = s.g(1);
        Tensor gw;
        if (gu.defined()) gw = matmul(mH(u), gu);
        if (gh.defined()) gw = sum_of(gw, -matmul(gh, h));
        const Tensor right = symmetric_sylvester(h, gw);
        Tensor g = matmul(u, right - mH(right));
        if (gh.defined()) g = g + matmul(u, gh);
        if (gu.defined() && rows(u) > columns(u)) g = g + linalg_solve(h, gu - matmul(u, matmul(mH(u), gu)), false);
        return g;
      });
    });
  }
};

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(
    linalg_svd, "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    "U, S and Vh with A equal to U @ diag(S) @ Vh.", kLinalg | kOut, Svd,
    "f[3,3]\nf[4,2], False\nf[2,4], False\nf[2,2,3], False\nf[0,3]\nf[2,0,3]\nf[0,0]\n"
    "f[3] -> RuntimeError: linalg.svd: The input tensor A must have at least 2 dimensions.\n"
    "i[2,2]<3 -> NotImplementedError: linalg.svd: Expected a floating point or complex tensor as input. Got Long\n"
    "f[2,2], driver='gesvd' -> RuntimeError: torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.",
    .out = kOutStructured, .autocast = Autocast::Float32, .batching = Batching::Front);
TS_OP(linalg_svdvals, "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", "The singular values, descending.",
      kLinalg | kOut, &linalg_svdvals, "f[3,3]\nf[2,4]\nc[3,2]\nf[2,3,2]\nf[0,3]", .out = kOutStructured,
      .autocast = Autocast::Float32, .batching = Batching::Front);
TS_OP(svd, "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
      "U, S and V with self equal to U @ diag(S) @ V.mH.", kBoth | kOut, &torch_svd,
      "f[3,3]\nf[4,2]\nf[2,3], True, False\n"
      "f[3] -> RuntimeError: linalg.svd: input should have at least 2 dimensions, but has 1 dimensions instead",
      .out = kOutStructured, .autocast = Autocast::Float32);
TS_OP(
    linalg_pinv,
    "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
    "The pseudo-inverse.", kLinalg | kOut, Pinv,
    "f[3,3]\nf[4,2]\nf[2,4]\nc[3,2]\nf[2,3,2]\nf[3,3].s, hermitian=True\nf[3,0]\n"
    "f[3] -> RuntimeError: linalg.pinv(Float{[3]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types\n"
    "f[2,3], hermitian=True -> RuntimeError: linalg.eigh: A must be batches of square matrices, but they are 2 by 3 matrices",
    .out = kOutSafely, .any_device = true, .autocast = Autocast::Product);
TS_OP(linalg_pinv,
      "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
      "The pseudo-inverse.", kLinalg | kOut, &pinv_numbers, "f[3,2], atol=0.1\nf[3,2], rtol=0.01", .out = kOutSafely);
TS_OP(linalg_pinv, "linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor", "The pseudo-inverse.",
      kLinalg | kOut, &pinv_rcond, "f[3,2], 0.001", .out = kOutSafely);
TS_OP(linalg_pinv, "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
      "The pseudo-inverse.", kLinalg | kOut | kNoGrad, &pinv_rcond_tensor, "f[3,2], p[]", .out = kOutSafely);
TS_OP(pinverse, "pinverse(Tensor self, float rcond=1e-15) -> Tensor", "The pseudo-inverse.", kBoth, &pinverse, "f[3,2]",
      .autocast = Autocast::Float32, .batching = Batching::Front);
TS_OP(
    linalg_matrix_rank,
    "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
    "How many singular values are not negligible.", kLinalg | kOut | kNoGrad, &rank_of,
    "f[3,3]\nf[2,4,2]\nc[3,2]\nf[3,3].s, hermitian=True\nf[0,3]\nf[2,0,3]\n"
    "f[3] -> RuntimeError: torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.\n"
    "f[2,2], atol=c[] -> RuntimeError: torch.linalg.matrix_rank: atol tensor of complex type is not supported. Got ComplexFloat",
    .autocast = Autocast::Float32);
TS_OP(
    linalg_matrix_rank,
    "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    "How many singular values are not negligible.", kLinalg | kOut | kNoGrad, &rank_numbers,
    "f[3,3], atol=0.1\nf[3,3], rtol=0.5");
TS_OP(linalg_matrix_rank, "linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
      "How many singular values are not negligible.", kLinalg | kOut | kNoGrad, &rank_tol, "f[3,3], 0.5");
TS_OP(linalg_matrix_rank, "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
      "How many singular values are not negligible.", kLinalg | kOut | kNoGrad, &rank_tol_tensor, "f[2,3,3], p[2]");
TS_OP(linalg_polar, "linalg_polar(Tensor A) -> (Tensor U, Tensor H)",
      "U with orthonormal columns and H Hermitian with A equal to U @ H.", kLinalg | kOut, Polar,
      "f[3,3]\nf[4,2]\nc[2,2]\nc[3,2]\nf[2,3,2]\n"
      "f[2,3] -> RuntimeError: linalg.polar: input must have at least as many rows as columns, but got 2 by 3 matrices",
      .out = kOutStructured);

}  // namespace
}  // namespace tessera::tensor
