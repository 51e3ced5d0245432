// Draws of counts: Poisson and binomial distributions, each element by its own parameters.
#include <cmath>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/random_draws.h"
#include "runtime/ops/random_ops.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {
namespace {

// Hoermann (1993), "The transformed rejection method for generating Poisson random variables": PTRS.
double draw_large_poisson(Generator& g, double rate) {
  const double root = std::sqrt(rate), log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = g.unit64() - 0.5, v = g.unit64(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -rate + k * log_rate - std::lgamma(k + 1))
      return k;
  }
}
double draw_poisson(Generator& g, double rate) {
  check(rate >= 0, TensorErrorKind::Runtime, "invalid Poisson rate, expected rate to be non-negative");
  if (rate >= 10) return draw_large_poisson(g, rate);
  if (rate == 0) return 0;
  const double end = std::exp(-rate);
  double product = 1;
  for (double k = 0;; k++)
    if ((product *= g.unit64()) <= end) return k;
}

// What Stirling's formula for log(k!) lacks.
double stirling_rest(double k) {
  static constexpr double kSmall[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                      0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kSmall[int(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Hoermann (1993), "The generation of binomial random variates": BTRS.
double draw_large_binomial(Generator& g, double n, double p) {
  const double deviation = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5, vr = 0.92 - 4.2 / b, r = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((n + 1) * p);
  for (;;) {
    const double u = g.unit64() - 0.5, v = g.unit64(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || k > n) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (n - m + 1))) +
                         (n + 1) * std::log((n - m + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(r * (n - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(n - m) -
                         stirling_rest(k) - stirling_rest(n - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}
// Distances between successes are geometric.
double draw_small_binomial(Generator& g, double n, double p) {
  const double log_failure = std::log1p(-p);
  double tried = 0;
  for (double successes = 0;; successes++)
    if ((tried += std::ceil(std::log(g.unit64()) / log_failure)) > n) return successes;
}
double draw_likely(Generator& g, double n, double p) {
  return n * p >= 10 ? draw_large_binomial(g, n, p) : draw_small_binomial(g, n, p);
}
double draw_binomial(Generator& g, double n, double p) {
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (p <= 0.5) return draw_likely(g, n, p);
  if (p > 0.5) return n - draw_likely(g, n, 1 - p);
  return p;  // NaN
}

Tensor on_host(const Tensor& t, Ints sizes) {
  return contiguous(expand(to_dtype(to_device(t, kCpu), kFloat64), sizes));
}
void record_nothing(Tensor& out, const char* name, const Tensor& input) {
  record(out, name, {&input}, [](Sweep& s) { s.give(0, [&] { return zeros_like(s.g()); }); });
}

constexpr int64_t kPiece = 1024;  // draws between two looks at whether the program is to stop

struct Poisson {
  static constexpr TypeRule types{kFloatTypes, "poisson_cpu"};
  static Meta shape(const Tensor& self, Generator*) { return {self.sizes(), self.dtype(), self.device()}; }
  static void run(const Tensor& out, const Tensor& self, Generator* generator) {
    HostDraws draws(generator, out.device());
    Generator& g = *draws;
    const Tensor rates = on_host(self, self.sizes()), drawn = Tensor::empty(self.sizes(), kFloat64);
    for (int64_t i = 0; i < rates.numel(); i++) {
      if (i % kPiece == 0) Context::current().poll();
      drawn.data<double>()[i] = draw_poisson(g, rates.data<double>()[i]);
    }
    copy_into(out, drawn);
  }
  static void grad(Tensor& out, const Tensor& self, Generator*) { record_nothing(out, "PoissonBackward0", self); }
};

struct Binomial {
  static Meta shape(const Tensor& count, const Tensor& prob, Generator*) {
    check(is_floating(count.dtype()), TensorErrorKind::Value,
          "binomial only supports floating-point dtypes for count, got: ", scalar_type_name(count.dtype()));
    check(is_floating(prob.dtype()), TensorErrorKind::Value,
          "binomial only supports floating-point dtypes for prob, got: ", scalar_type_name(prob.dtype()));
    check(prob.dtype() == count.dtype(), TensorErrorKind::Runtime, "Found dtype ", scalar_type_name(prob.dtype()),
          " but expected ", scalar_type_name(count.dtype()));
    const Tensor* inputs[] = {&count, &prob};
    return {broadcast_all(inputs, 2), count.dtype(), count.device()};
  }
  static void run(const Tensor& out, const Tensor& count, const Tensor& prob, Generator* generator) {
    HostDraws draws(generator, out.device());
    Generator& g = *draws;
    const Tensor n = on_host(count, out.sizes()), p = on_host(prob, out.sizes()),
                 drawn = Tensor::empty(out.sizes(), kFloat64);
    for (int64_t i = 0; i < n.numel(); i++) {
      if (i % kPiece == 0) Context::current().poll();
      drawn.data<double>()[i] = draw_binomial(g, n.data<double>()[i], p.data<double>()[i]);
    }
    copy_into(out, drawn);
  }
  static void grad(Tensor& out, const Tensor& count, const Tensor& prob, Generator*) {
    record(out, "NotImplemented", {&count, &prob},
           [](Sweep&) { fail(TensorErrorKind::Runtime, "derivative for aten::binomial is not implemented"); });
  }
};

TS_OP(poisson, "poisson(Tensor self, Generator? generator=None) -> Tensor", "Poisson numbers, each with its own rate.",
      kFunction | kRandom, Poisson,
      "p[3,4]\nf{-1} -> RuntimeError: invalid Poisson rate, expected rate to be non-negative\n"
      "i[2]<3 -> NotImplementedError: \"poisson_cpu\" not implemented for 'Long'");
TS_OP(binomial, "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
      "Numbers of successes among count trials.", kFunction | kRandom | kNoGrad, Binomial,
      "f{5,20}, p[2]\nf{5,20}, p[3,2]\n"
      "i[2]<3, p[2] -> ValueError: binomial only supports floating-point dtypes for count, got: Long\n"
      "f{1}, p[1]:float64 -> RuntimeError: Found dtype Double but expected Float");

}  // namespace
}  // namespace tessera::tensor
