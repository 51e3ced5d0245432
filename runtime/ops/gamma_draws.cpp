// Draws of gamma and Dirichlet distributions, and what a draw moves by when the distribution's parameter does.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/random_draws.h"
#include "runtime/ops/random_ops.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

// Marsaglia and Tsang (2000): a cube of a shifted normal number, seldom refused. Below 1 the draw for alpha + 1 is scaled.
double draw_gamma(Generator& g, double alpha) {
  double scale = 1;
  if (alpha < 1) {
    if (alpha == 0) return 0;
    scale = std::pow(1 - g.unit64(), 1 / alpha);
    alpha += 1;
  }
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, y;
    do {
      x = g.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - g.unit64(), xx = x * x;
    if (u < 1 - 0.0331 * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

double digamma_of(double x) {
  double shift = 0;
  for (; x < 10; x += 1) shift -= 1 / x;
  const double z = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x -
         z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760))))));
}

constexpr int kMostTerms = 100000;

// dx / d alpha for a draw x: -(dP / d alpha) / p, P the distribution's function and p its density. Up to the mean from the
// power series of P / p, whose terms u carry their logarithm's derivative; beyond it from the continued fraction of Q / (x p),
// evaluated from its end together with its derivative.
double gamma_slope(double alpha, double x) {
  if (!(alpha > 0) || !(x > 0)) return x == 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  if (x <= alpha + 1) {
    double u = x / alpha, psi = digamma_of(alpha + 1), sum = 0, total = 0;
    const double log_x = std::log(x);
    for (int n = 1; n < kMostTerms; n++) {
      sum += u * (log_x - psi);
      total += u;
      psi += 1 / (alpha + n);
      u *= x / (alpha + n);
      if (u < 1e-17 * total) break;
    }
    return -sum;
  }
  // Q / (x p) = 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))).
  double f = 0, df = 0;
  for (int k = int(std::min(2000.0, 200 + 4 * alpha / (x - alpha) * 10)); k >= 1; k--) {
    const double top = k * (k - alpha), dtop = -k, bottom = x + 2 * k + 1 - alpha - f, dbottom = -1 - df;
    f = top / bottom;
    df = (dtop - f * dbottom) / bottom;
  }
  const double bottom = x + 1 - alpha - f, fraction = 1 / bottom, slope = fraction * fraction * (1 + df);
  return x * (fraction * (std::log(x) - digamma_of(alpha)) + slope);
}

// The same for a Beta(alpha, beta) draw x, by (1 - x): from the power series of the distribution's function in x, or in 1 - x
// beyond its mean.
double beta_slope(double x, double alpha, double total) {
  const double beta = total - alpha, y = 1 - x;
  if (!(x > 0 && x < 1)) return x == 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  const bool near = x * total <= alpha;
  double w = 1, sum = 0, most = 0, psi = digamma_of(total), psi_low = digamma_of(near ? alpha + 1 : alpha);
  const double log_x = std::log(x);
  for (int n = 0; n < kMostTerms; n++) {
    sum += w * (log_x + psi - psi_low);
    most = std::max(most, w);
    psi += 1 / (total + n);
    if (near) psi_low += 1 / (alpha + 1 + n);
    w *= near ? (total + n) / (alpha + 1 + n) * x : (total + n) / (beta + 1 + n) * y;
    if (w < 1e-17 * most) break;
  }
  return near ? -x / alpha * sum : x / beta * sum;
}

// Elements row by row on the host, whatever the device.
template <class F>
void map_on_host(const Tensor& out, const Tensor& x, const Tensor& y, const Tensor& z, const F& f) {
  const auto operand = [&](const Tensor& t) {
    return contiguous(to_dtype(to_device(expand(t, out.sizes()), kCpu), kFloat64));
  };
  const Tensor a = operand(x), b = operand(y), c = operand(z), to = Tensor::empty(out.sizes(), kFloat64);
  const double *pa = a.data<double>(), *pb = b.data<double>(), *pc = c.data<double>();
  double* po = to.data<double>();
  constexpr int64_t kPiece = 1024;
  for (int64_t i = 0; i < to.numel(); i++) {
    if (i % kPiece == 0) Context::current().poll();
    po[i] = f(pa[i], pb[i], pc[i]);
  }
  copy_into(out, to);
}
// The smallest normal number of the dtype: what a draw is not below.
double least_of(DType t) {
  return t == kFloat64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
}

constexpr DTypeSet kSingles = DTypeSet(kFloat32) | kFloat64;

struct StandardGammaGrad {
  static constexpr TypeRule types{kSingles, "_standard_gamma_grad_cpu"};
  static Meta shape(const Tensor& self, const Tensor& output) {
    return {broadcast_shapes(self.sizes(), output.sizes()), self.dtype(), self.device()};
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& output) {
    map_on_host(out, self, output, output, [](double alpha, double x, double) { return gamma_slope(alpha, x); });
  }
};

struct StandardGamma {
  static constexpr TypeRule types{kSingles, "gamma_cpu"};
  static Meta shape(const Tensor& self, Generator*) { return {self.sizes(), self.dtype(), self.device()}; }
  static void run(const Tensor& out, const Tensor& self, Generator* generator) {
    HostDraws draws(generator, out.device());
    Generator& g = *draws;
    const double least = least_of(out.dtype());
    const bool narrow = out.dtype() != kFloat64;
    map_on_host(out, self, self, self, [&](double alpha, double, double) {
      const double x = draw_gamma(g, alpha);
      return std::max(least, narrow ? double(float(x)) : x);
    });
  }
  static void grad(Tensor& out, const Tensor& self, Generator*) {
    record(out, "StandardGammaBackward0", {&self}, Kept<2>{{SavedTensor(self), SavedTensor(out, true)}},
           [](Sweep& s) { s.give(0, [&] { return s.g() * apply<StandardGammaGrad>(s.kept(0), s.kept(1)); }); });
  }
};

struct DirichletGrad {
  static constexpr TypeRule types{kSingles, "_dirichlet_grad_cpu"};
  static Meta shape(const Tensor& x, const Tensor& alpha, const Tensor& total) {
    return {broadcast_shapes(broadcast_shapes(x.sizes(), alpha.sizes()), total.sizes()), x.dtype(), x.device()};
  }
  static void run(const Tensor& out, const Tensor& x, const Tensor& alpha, const Tensor& total) {
    map_on_host(out, x, alpha, total, [](double at, double a, double all) { return beta_slope(at, a, all); });
  }
};

struct SampleDirichlet {
  static constexpr TypeRule types{kSingles, "dirichlet"};
  static Meta shape(const Tensor& self, Generator*) { return {self.sizes(), self.dtype(), self.device()}; }
  // Gamma draws of one scale, divided by their sum.
  static void run(const Tensor& out, const Tensor& self, Generator* generator) {
    HostDraws draws(generator, out.device());
    Generator& g = *draws;
    const Tensor alpha = contiguous(to_dtype(to_device(self, kCpu), kFloat64));
    const Tensor drawn = Tensor::empty(alpha.sizes(), kFloat64);
    for (int64_t i = 0; i < alpha.numel(); i++) drawn.data<double>()[i] = draw_gamma(g, alpha.data<double>()[i]);
    const Tensor shares = drawn / sum(drawn, Dims{-1}, true);
    const double least = least_of(out.dtype());
    const double most = out.dtype() == kFloat64 ? 1 - std::numeric_limits<double>::epsilon()
                                                : 1 - double(std::numeric_limits<float>::epsilon());
    map_on_host(out, shares, shares, shares, [&](double x, double, double) { return std::clamp(x, least, most); });
  }
  static void grad(Tensor& out, const Tensor& self, Generator*) {
    record(out, "NotImplemented", {&self},
           [](Sweep&) { fail(TensorErrorKind::Runtime, "derivative for aten::_sample_dirichlet is not implemented"); });
  }
};

TS_OP(_standard_gamma, "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
      "Draws of gamma distributions of scale 1.", kFunction | kRandom, StandardGamma,
      "p[3,4]\ni[2]<3 -> NotImplementedError: \"gamma_cpu\" not implemented for 'Long'");
TS_OP(_standard_gamma_grad, "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
      "What draws of _standard_gamma move by when self does.", kFunction | kNoGrad, StandardGammaGrad,
      "p[3,4], g[3,4]");
TS_OP(_sample_dirichlet, "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
      "Draws of Dirichlet distributions.", kFunction | kRandom | kNoGrad, SampleDirichlet, "p[3,4]");
TS_OP(_dirichlet_grad, "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
      "What a Dirichlet draw moves by when alpha does.", kFunction | kNoGrad, DirichletGrad, "p[3], p[3], g[3]");

}  // namespace
}  // namespace tessera::tensor
