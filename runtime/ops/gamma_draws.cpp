// Draws of gamma and Dirichlet distributions, and what a draw moves by when the distribution's parameter does.
// compile: small (draws by rejection spend their time in logarithms and powers)
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/ops.h"
#include "runtime/ops/draw_formulas.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/parametric_draws.h"
#include "runtime/ops/random_draws.h"
#include "runtime/ops/random_ops.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

struct HostNumbers {
  Generator& generator;
  double unit() { return generator.unit64(); }
  double normal() { return generator.normal(); }
};
double draw_gamma(Generator& g, double alpha) {
  HostNumbers numbers{g};
  return draws::gamma(numbers, alpha);
}

constexpr uint64_t kGammaWords = 10;  // of a thread's sequence, that PyTorch's kernel counts on

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
    if (draws_parametric(out.device())) return draw_there(Parametric::GammaSlope, out, {self, output}, {});
    map_on_host(out, self, output, output, [](double alpha, double x, double) { return draws::gamma_slope(alpha, x); });
  }
};

struct StandardGamma {
  static constexpr TypeRule types{kSingles, "gamma_cpu"};
  static Meta shape(const Tensor& self, Generator*) { return {self.sizes(), self.dtype(), self.device()}; }
  static void run(const Tensor& out, const Tensor& self, Generator* generator) {
    if (DeviceGenerator* place = drawing_there(out.device(), generator); place && draws_parametric(out.device()))
      return draw_there(Parametric::Gamma, out, {self}, place->take(kGammaWords));
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
    if (draws_parametric(out.device())) return draw_there(Parametric::BetaSlope, out, {x, alpha, total}, {});
    map_on_host(out, x, alpha, total, [](double at, double a, double all) { return draws::beta_slope(at, a, all); });
  }
};

struct SampleDirichlet {
  static constexpr TypeRule types{kSingles, {"dirichlet", "gamma_cuda"}};
  static Meta shape(const Tensor& self, Generator*) { return {self.sizes(), self.dtype(), self.device()}; }
  // Gamma draws of one scale, divided by their sum.
  static void run(const Tensor& out, const Tensor& self, Generator* generator) {
    const double least = least_of(out.dtype());
    const double most = out.dtype() == kFloat64 ? 1 - std::numeric_limits<double>::epsilon()
                                                : 1 - double(std::numeric_limits<float>::epsilon());
    if (DeviceGenerator* place = drawing_there(out.device(), generator); place && draws_parametric(out.device())) {
      draw_there(Parametric::Gamma, out, {self}, place->take(kGammaWords));
      return copy_into(out, clamp(out / sum(out, Dims{-1}, true), Scalar(least), Scalar(most)));
    }
    HostDraws draws(generator, out.device());
    Generator& g = *draws;
    const Tensor alpha = contiguous(to_dtype(to_device(self, kCpu), kFloat64));
    const Tensor drawn = Tensor::empty(alpha.sizes(), kFloat64);
    for (int64_t i = 0; i < alpha.numel(); i++) drawn.data<double>()[i] = draw_gamma(g, alpha.data<double>()[i]);
    const Tensor shares = drawn / sum(drawn, Dims{-1}, true);
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
      "What draws of _standard_gamma move by when self does.", kFunction | kNoGrad, StandardGammaGrad, "p[3,4], g[3,4]",
      .one_device = "__standard_gamma_grad");
TS_OP(_sample_dirichlet, "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
      "Draws of Dirichlet distributions.", kFunction | kRandom | kNoGrad, SampleDirichlet, "p[3,4]");
TS_OP(_dirichlet_grad, "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
      "What a Dirichlet draw moves by when alpha does.", kFunction | kNoGrad, DirichletGrad, "p[3], p[3], g[3]",
      .one_device = "__dirichlet_grad");

}  // namespace
}  // namespace tessera::tensor
