// A = Q R by Householder reflectors, and the reflectors themselves.
// Derivatives of Q and R: D. Roberts, L. Roberts, "QR and LQ Decomposition Matrix Backpropagation Algorithms for Square, Wide,
// and Deep Matrices" (2020).
// compile: small (the factorisation takes longer)
#include "runtime/ops/linalg/common.h"

namespace tessera::tensor {
namespace {

using namespace linalg;

// ---- raw reflectors ----

struct Geqrf {
  static std::array<Meta, 2> shape(const Tensor& a) {
    check(a.dim() >= 2, TensorErrorKind::Runtime, "torch.geqrf: input must have at least 2 dimensions.");
    check(!is_complex(a.dtype()) || !needs_grad(a), TensorErrorKind::NotImplemented,
          "geqrf does not support automatic differentiation for outputs with complex dtype.");
    check_kernel(a, "geqrf_cpu", true);
    return {column_major(a.sizes(), a.dtype(), a.device()), Meta(batch_of(a) + Ints{least(a)}, a)};
  }
  static void run(const Tensor& qr, const Tensor& tau, const Tensor& a) {
    copy_into(qr, a);
    run_lapack(qr, {.routine = LapackCall::Qr,
                    .dtype = qr.dtype(),
                    .batch = batch_count(qr),
                    .m = rows(qr),
                    .n = columns(qr),
                    .a = qr.data_ptr(),
                    .values = tau.data_ptr()});
  }
  static void grad(Tensor& qr, Tensor& tau, const Tensor& a) {
    record_all({&qr, &tau}, "GeqrfBackward0", {&a}, Kept<0>{},
               [](Sweep&) { fail(TensorErrorKind::NotImplemented, "the derivative for 'geqrf' is not implemented."); });
  }
};

/// Overwrites q (m x n), whose columns start with k reflectors, by the first n columns of their product.
void multiply_out(const Tensor& q, const Tensor& tau) {
  const Tensor factors = contiguous(tau);
  if (tau.numel() == 0) return fill_identity(q);
  run_lapack(q, {.routine = LapackCall::Reflectors,
                 .dtype = q.dtype(),
                 .batch = batch_count(q),
                 .m = rows(q),
                 .n = columns(q),
                 .k = tau.size(-1),
                 .a = q.data_ptr(),
                 .values = factors.data_ptr()});
}

/// Reflector i of a: I - tau_i v v^H with v = (0, ..., 0, 1, what stands below the diagonal).
class ReflectorList {
 public:
  ReflectorList(const Tensor& a, const Tensor& tau)
      : unit_(tril(a, -1) + eye(rows(a), columns(a), a.dtype(), a.device())), tau_(tau) {}
  Tensor v(int64_t i) const { return narrow(unit_, -1, i, 1); }
  Tensor tau(int64_t i) const { return unsqueeze(narrow(tau_, -1, i, 1), -1); }

 private:
  Tensor unit_, tau_;
};

struct ReflectorGradients {
  Tensor a, tau, right;
};

/// Of Y = H_1 ... H_k X, or of H_k^H ... H_1^H X: one reflector after the other, backwards. For Y = (I - t v v^H) X with
/// u = v^H X and w = v^H G: gt = -w u^H, gv = -conj(t) G u^H - t X w^H, gX = G - conj(t) v w.
ReflectorGradients reflector_gradients(const Tensor& a, const Tensor& tau, const Tensor& right, const Tensor& given,
                                       bool adjoint) {
  const int64_t k = tau.size(-1);
  if (k == 0) return {zeros_like(a), zeros_like(tau), given};
  const ReflectorList reflectors(a, tau);
  const auto factor = [&](int64_t i) { return adjoint ? conj(reflectors.tau(i)) : reflectors.tau(i); };
  const auto at = [&](int64_t step) { return adjoint ? step : k - 1 - step; };
  TensorList inputs{right};
  for (int64_t step = 0; step < k; step++) {
    const Tensor v = reflectors.v(at(step)), x = inputs.back();
    inputs.push_back(x - matmul(v * factor(at(step)), matmul(mH(v), x)));
  }
  Tensor g = given;
  TensorList columns_of_a, taus;
  columns_of_a.resize(size_t(k)), taus.resize(size_t(k));
  for (int64_t step = k - 1; step >= 0; step--) {
    const int64_t i = at(step);
    const Tensor v = reflectors.v(i), t = factor(i), x = inputs[size_t(step)];
    const Tensor u = matmul(mH(v), x), w = matmul(mH(v), g);
    const Tensor gt = -matmul(w, mH(u));
    taus[size_t(i)] = squeeze(adjoint ? conj(gt) : gt, -1);
    columns_of_a[size_t(i)] = -matmul(g, mH(u)) * conj(t) - matmul(x, mH(w)) * t;
    g = g - matmul(v * conj(t), w);
  }
  if (columns(a) > k) columns_of_a.push_back(zeros_like(narrow(a, -1, k, columns(a) - k)));
  return {tril(cat(columns_of_a, -1), -1), cat(taus, -1), g};
}

struct HouseholderProduct {
  static Meta shape(const Tensor& a, const Tensor& tau) {
    constexpr const char* name = "torch.linalg.householder_product: ";
    check(a.dim() >= 2, TensorErrorKind::Runtime, name, "input must have at least 2 dimensions.");
    check(rows(a) >= columns(a), TensorErrorKind::Runtime, name,
          "input.shape[-2] must be greater than or equal to input.shape[-1]");
    check(tau.dim() >= 1, TensorErrorKind::Index, "Dimension specified as -1 but tensor has no dimensions");
    check(columns(a) >= tau.size(-1), TensorErrorKind::Runtime, name,
          "input.shape[-1] must be greater than or equal to tau.shape[-1]");
    check(a.dim() - tau.dim() == 1, TensorErrorKind::Runtime, name,
          "Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(),
          " and input.ndim is equal to ", a.dim());
    check(tau.sizes().first(size_t(tau.dim()) - 1) == a.sizes().first(size_t(a.dim()) - 2), TensorErrorKind::Runtime,
          name, "Expected batch dimensions of tau to be equal to input.shape[:-2], but got ",
          tau.sizes().first(size_t(tau.dim()) - 1));
    check(a.dtype() == tau.dtype(), TensorErrorKind::Runtime, name, "tau dtype ", scalar_type_name(tau.dtype()),
          " does not match input dtype ", scalar_type_name(a.dtype()));
    check_kernel(a, "orgqr_cpu", true);
    return column_major(a.sizes(), a.dtype(), a.device());
  }
  static void run(const Tensor& q, const Tensor& a, const Tensor& tau) {
    copy_into(q, a);
    multiply_out(q, tau);
  }
  static void grad(Tensor& q, const Tensor& a, const Tensor& tau) {
    // Of no reflectors there is nothing to know.
    if (tau.numel() == 0) return record(q, "LinalgHouseholderProductBackward0", {&a, &tau}, [](Sweep&) {});
    record(q, "LinalgHouseholderProductBackward0", {&a, &tau}, keep(a, tau), [](Sweep& s) {
      const Tensor a = s.kept(0), tau = s.kept(1);
      const Tensor first = expand(eye(rows(a), columns(a), a.dtype(), a.device()), a.sizes());
      const ReflectorGradients all = reflector_gradients(a, tau, first, s.g(), false);
      s.give(0, [&] { return all.a; });
      s.give(1, [&] { return all.tau; });
    });
  }
};

struct Ormqr {
  static Meta shape(const Tensor& a, const Tensor& tau, const Tensor& c, bool left, bool) {
    constexpr const char* name = "torch.ormqr: ";
    check(a.dim() >= 2, TensorErrorKind::Runtime, name, "input must have at least 2 dimensions.");
    check(c.dim() >= 2, TensorErrorKind::Runtime, name, "other must have at least 2 dimensions.");
    const int64_t d = left ? -2 : -1;
    check(c.size(d) >= tau.size(-1), TensorErrorKind::Runtime, name, "other.shape[", d,
          "] must be greater than or equal to tau.shape[-1]");
    check(c.size(d) == rows(a), TensorErrorKind::Runtime, name, "other.shape[", d,
          "] must be equal to input.shape[-2]");
    check(tau.size(-1) == std::min(c.size(d), columns(a)), TensorErrorKind::Runtime, name,
          "tau.shape[-1] must be equal to min(other.shape[", d, "], input.shape[-1])");
    check(a.dim() - tau.dim() == 1, TensorErrorKind::Runtime, name,
          "Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(),
          " and input.ndim is equal to ", a.dim());
    for (const auto& [t, what] : {std::pair(&tau, "tau"), std::pair(&c, "other")})
      check(t->dtype() == a.dtype(), TensorErrorKind::Runtime, name, "Expected input and ", what,
            " to have the same dtype, but input has dtype", scalar_type_name(a.dtype()), " and ", what, " has dtype ",
            scalar_type_name(t->dtype()));
    check(a.dim() == c.dim(), TensorErrorKind::Runtime, name,
          "Expected other to have the same number of dimensions as input, but got other.ndim equal to ", c.dim(),
          " and input.ndim is equal to ", a.dim());
    check_kernel(a, {"ormqr_cpu", "orgmr_cuda"}, true);
    return column_major(c.sizes(), c.dtype(), c.device());
  }
  static void run(const Tensor& out, const Tensor& a, const Tensor& tau, const Tensor& c, bool left, bool adjoint) {
    copy_into(out, c);
    const int64_t k = tau.size(-1);
    if (k == 0) return;
    const Tensor reflectors = as_column_major(narrow(a, -1, 0, k)), factors = contiguous(tau);
    run_lapack(out, {.routine = LapackCall::Reflect,
                     .dtype = out.dtype(),
                     .batch = batch_count(out),
                     .m = rows(out),
                     .n = columns(out),
                     .k = k,
                     .a = reflectors.data_ptr(),
                     .b = out.data_ptr(),
                     .values = factors.data_ptr(),
                     .left = left,
                     .op = !adjoint                  ? 'N'
                           : is_complex(out.dtype()) ? 'C'
                                                     : 'T'});
  }
  // C Q is (Q^H C^H)^H.
  static void grad(Tensor& out, const Tensor& a, const Tensor& tau, const Tensor& c, bool left, bool adjoint) {
    record(out, "OrmqrBackward0", {&a, &tau, &c}, keep(a, tau, c), [left, adjoint](Sweep& s) {
      const Tensor a = s.kept(0), tau = s.kept(1), c = s.kept(2);
      if (tau.numel() && (s.needs(0) || s.needs(1))) {
        const ReflectorGradients all =
            reflector_gradients(a, tau, left ? c : mH(c), left ? s.g() : mH(s.g()), left ? adjoint : !adjoint);
        s.give(0, [&] { return all.a; });
        s.give(1, [&] { return all.tau; });
      }
      s.give(2, [&] { return apply<Ormqr>(a, tau, s.g(), left, !adjoint); });
    });
  }
};

// ---- Q and R ----

/// X + X^H with half the diagonal, which is real.
Tensor symmetrised(const Tensor& x) {
  const Tensor both = x + mH(x);
  return with_diagonal_scaled(both, 0.5);
}

/// The gradient of A with at least as many rows as columns.
Tensor deep_gradient(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r) {
  Tensor inner;
  if (gr.defined()) inner = matmul(gr, mH(r));
  if (gq.defined()) inner = sum_of(inner, -matmul(mH(q), gq));
  // Of what is Hermitian twice only one triangle may count.
  const Tensor g = sum_of(gq, matmul(q, symmetrised(triu(inner))));
  return linalg_solve_triangular(mH(r), g, false, false);
}

struct Qr {
  static bool is_known(const std::string& mode) { return mode == "reduced" || mode == "complete" || mode == "r"; }
  static std::array<Meta, 2> shape(const Tensor& a, const std::string& mode) {
    check_matrix(a, "linalg.qr");
    check_floating(a, "linalg.qr", true);
    check_kernel(a, "geqrf_cpu", true);
    check(is_known(mode), TensorErrorKind::Runtime, "qr received unrecognized mode '", mode,
          "' but expected one of 'reduced' (default), 'r', or 'complete'");
    const Dims batch = batch_of(a);
    const int64_t inner = mode == "complete" ? rows(a) : least(a);
    return {mode == "r" ? Meta({0}, a) : column_major(batch + Ints{rows(a), inner}, a.dtype(), a.device()),
            column_major(batch + Ints{inner, columns(a)}, a.dtype(), a.device())};
  }
  static void run(const Tensor& q, const Tensor& r, const Tensor& a, const std::string& mode) {
    const auto [qr, tau] = apply<Geqrf>(a);
    copy_into(r, triu(rows(r) == rows(a) ? qr : narrow(qr, -2, 0, rows(r))));
    if (mode == "r" || q.numel() == 0) return;
    const int64_t shared = std::min(columns(q), columns(a));
    copy_into(narrow(q, -1, 0, shared), narrow(qr, -1, 0, shared));
    multiply_out(q, tau);
  }
  static void grad(Tensor& q, Tensor& r, const Tensor& a, const std::string& mode) {
    record_all(
        {mode == "r" ? nullptr : &q, &r}, "LinalgQrBackward0", {&a}, Kept<2>{{saved_result(q, 0), saved_result(r, 1)}},
        [mode](Sweep& s) {
          check(
              mode != "r", TensorErrorKind::Runtime,
              "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
              "mode='reduced') if you are going to differentiate through linalg.qr.");
          const Tensor q = s.kept(0), r = s.kept(1), gq = s.g(0), gr = s.g(1);
          const int64_t m = rows(q), n = columns(r), k = columns(q);
          check(mode != "complete" || m <= n, TensorErrorKind::Runtime,
                "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
          s.give(0, [&] {
            if (m >= n) return deep_gradient(gq, gr, q, r);
            // A = [X Y] = Q [U V]: Y is Q V, so Q hears of it too.
            const Tensor u = narrow(r, -1, 0, k), v = narrow(r, -1, k, n - k);
            if (!gr.defined()) return cat({deep_gradient(gq, gr, q, u), zeros_like(matmul(q, v))}, -1);
            const Tensor gu = narrow(gr, -1, 0, k), gv = narrow(gr, -1, k, n - k);
            const Tensor more = matmul(matmul(q, v), mH(gv));
            return cat({deep_gradient(sum_of(gq, more), gu, q, u), matmul(q, gv)}, -1);
          });
        });
  }
};

constexpr uint32_t kBoth = kFunction | kMethod;
TS_OP(geqrf, "geqrf(Tensor self) -> (Tensor a, Tensor tau)", "R and the reflectors of Q as LAPACK's geqrf leaves them.",
      kBoth | kOut | kNoGrad, Geqrf,
      "f[3,3]\nf[4,2]\nf[2,2,4]\nc[3,2]\nf[3] -> RuntimeError: torch.geqrf: input must have at least 2 dimensions.",
      .out = {OutRule::Castable, "torch.geqrf: Expected a to be safely castable from $R dtype, but got a with dtype $O",
              TensorErrorKind::Runtime, true},
      .autocast = Autocast::Float32);
TS_OP(
    linalg_qr, "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    "Q with orthonormal columns and R upper triangular, with A equal to Q @ R.", kLinalg | kOut, Qr,
    "f[3,3]\nf[4,2]\nf[2,4]\nf[2,3,2]\nf[2,4], 'complete'\nc[2,2]\nc[3,2]\nc[2,3]\nf[3,0]\nf[0,3]\n"
    "f[3] -> RuntimeError: linalg.qr: The input tensor A must have at least 2 dimensions.\n"
    "f[2,2], 'x' -> RuntimeError: qr received unrecognized mode 'x' but expected one of 'reduced' (default), 'r', or 'complete'",
    .out = kOutStructured, .autocast = Autocast::Float32, .batching = Batching::Front);
TS_OP(
    linalg_householder_product, "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    "The first columns of a product of Householder reflectors.", kLinalg | kOut, HouseholderProduct,
    "f[4,3], f[3]\nf[4,3], f[2]\nf[2,3,2], f[2,2]\nc[3,2], c[2]\n"
    "f[3], f[3] -> RuntimeError: torch.linalg.householder_product: input must have at least 2 dimensions.\n"
    "f[2,3], f[3] -> RuntimeError: torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]\n"
    "f[3,2], f[3] -> RuntimeError: torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]",
    .out = {OutRule::Castable,
            "torch.$n: Expected result to be safely castable from $R dtype, but got result with dtype $O",
            TensorErrorKind::Runtime, true},
    .one_device = "_linalg_householder_product", .autocast = Autocast::Float32);
TS_OP(orgqr, "orgqr(Tensor self, Tensor input2) -> Tensor", "", kBoth | kOut,
      HouseholderProduct, "f[3,3], f[3]", .alias_of = "linalg_householder_product", .one_device = "_linalg_householder_product", .autocast = Autocast::Float32);
TS_OP(
    ormqr, "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
    "A matrix multiplied by a product of Householder reflectors.", kBoth | kOut, Ormqr,
    "f[3,2], f[2], f[3,2]\nf[3,2], f[2], f[2,3], False\nf[3,2], f[2], f[3,2], True, True\nc[3,2], c[2], c[2,3], False, True\n"
    "f[3,2], f[2], f[2,2] -> RuntimeError: torch.ormqr: other.shape[-2] must be equal to input.shape[-2]\n"
    "f[3,2], f[2], f[3] -> RuntimeError: torch.ormqr: other must have at least 2 dimensions.",
    .out =
        {OutRule::Same,
         "torch.ormqr: Expected input and result to have the same dtype, but input has dtype$R and result has dtype $O",
         TensorErrorKind::Runtime, true},
    .one_device = "_ormqr", .autocast = Autocast::Float32);

}  // namespace
}  // namespace tessera::tensor
