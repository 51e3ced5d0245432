// Draws of counts: Poisson and binomial distributions, each element by its own parameters.
// compile: small (draws by rejection spend their time in logarithms and powers)
#include "runtime/ops.h"
#include "runtime/ops/draw_formulas.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/parametric_draws.h"
#include "runtime/ops/random_draws.h"
#include "runtime/ops/random_ops.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {
namespace {

struct HostNumbers {
  Generator& generator;
  double unit() { return generator.unit64(); }
};

double draw_poisson(Generator& g, double rate) {
  check(rate >= 0, TensorErrorKind::Runtime, "invalid Poisson rate, expected rate to be non-negative");
  HostNumbers numbers{g};
  return draws::poisson(numbers, rate);
}
double draw_binomial(Generator& g, double n, double p) {
  HostNumbers numbers{g};
  return draws::binomial(numbers, n, p);
}

// Words of a thread's sequence that PyTorch's kernels count on.
constexpr uint64_t kPoissonWords = 20, kBinomialWords = 42;

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
    if (DeviceGenerator* place = drawing_there(out.device(), generator); place && draws_parametric(out.device()))
      return draw_there(Parametric::Poisson, out, {self}, place->take(kPoissonWords));
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
    if (DeviceGenerator* place = drawing_there(out.device(), generator); place && draws_parametric(out.device()))
      return draw_there(Parametric::Binomial, out, {expand(count, out.sizes()), expand(prob, out.sizes())},
                        place->take(kBinomialWords));
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
