// Every derivative of the tables against finite differences, in float64, and once more for the derivative of the
// derivative. Structured ops are added to the list at the end.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "runtime/autograd/engine.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/pointwise_rows.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

using Function = std::function<Tensor(const TensorList&)>;

// A weighted sum, so that every element of the result counts differently.
Tensor weigh(const Tensor& y) {
  if (!y.defined()) return {};
  Tensor w = reshape(linspace(0.3, 1.7, y.numel(), kFloat64), y.sizes());
  return sum(y * w);
}

double value(const Function& f, const TensorList& in) {
  GradMode off(false);
  return weigh(f(in)).item().to_double();
}

TensorList leaves(const TensorList& in) {
  TensorList out;
  for (const Tensor& t : in) {
    Tensor leaf = clone(t);
    set_requires_grad(leaf, true);
    out.push_back(leaf);
  }
  return out;
}

void check_gradient(const std::string& what, const Function& f, const TensorList& in, int order = 2) {
  TensorList x = leaves(in);
  Tensor y = weigh(f(x));
  if (!y.requires_grad()) return;
  TensorList g = grad({y}, x, {}, true, order > 1, true);
  for (size_t k = 0; k < in.size(); k++) {
    Tensor at = clone(in[k]);
    TensorList moved = in;
    for (int64_t i = 0; i < at.numel(); i++) {
      const double h = 1e-6, x0 = at.data<double>()[i];
      Tensor up = clone(at), down = clone(at);
      up.data<double>()[i] = x0 + h;
      down.data<double>()[i] = x0 - h;
      moved[k] = up;
      double high = value(f, moved);
      moved[k] = down;
      double slope = (high - value(f, moved)) / (2 * h);
      double got = g[k].defined() ? contiguous(g[k]).data<double>()[i] : 0.0;
      INFO(what, ": input ", k, " element ", i, " at ", x0, ": formula ", got, ", difference ", slope);
      CHECK(std::fabs(got - slope) <= 1e-5 * (1 + std::fabs(slope)));
    }
  }
  if (order < 2) return;
  Function first = [&](const TensorList& at) {
    GradMode on(true);
    TensorList leaf;
    for (const Tensor& t : at) leaf.push_back(t.requires_grad() ? t : leaves({t})[0]);
    Tensor total = weigh(f(leaf));
    TensorList d = grad({total}, leaf, {}, true, true, true);
    Tensor joined;
    for (const Tensor& t : d)
      if (t.defined()) joined = joined.defined() ? joined + weigh(t) : weigh(t);
    return joined.defined() ? joined : sum(leaf[0] * 0.0);
  };
  check_gradient(what + ", second order", first, in, 1);
}

Tensor run_row(int id, const TensorList& in) {
  Operand ops[3] = {0, 0, 0};
  for (size_t k = 0; k < in.size(); k++) ops[k] = in[k];
  Scalar params[2] = {0.4, 0.9};
  return run_pointwise(id, ops, params);
}

// Whether the op of one operand has a number for all of the range.
bool is_defined_on(int id, double low, double high) {
  return all(isfinite(run_row(id, {linspace(low, high, 6, kFloat64)}))).item().to_bool();
}

// Away from kinks and poles, in the domain.
TensorList operands(const PointwiseRow& row, int id) {
  using namespace pointwise;
  double low = 0.31, high = 1.57;
  if (row.arity == 1 && !is_defined_on(id, low, high)) low = -0.8, high = 0.83;
  if (row.arity == 1 && !is_defined_on(id, low, high)) low = 1.2, high = 3.0;
  if (id == k_tan) low = -0.9, high = 1.1;
  if (id == k_relu6 || id == k_hardtanh || id == k_hardsigmoid || id == k_hardswish) low = -0.93, high = 0.87;
  if (id == k_softshrink || id == k_hardshrink) low = -1.93, high = 1.87;
  if (id == k_remainder || id == k_fmod) low = 2.2, high = 2.9;
  TensorList in;
  for (int k = 0; k < row.arity; k++) {
    Tensor t = linspace(low, high, 6, kFloat64);
    if (k == 1) t = linspace(high * 1.1, low * 0.93, 6, kFloat64);
    if (k == 2) t = linspace(0.55, 0.95, 6, kFloat64);
    if (k == 1 && (id == k_remainder || id == k_fmod)) t = full({6}, 0.7, kFloat64);
    in.push_back(reshape(t, {2, 3}));
  }
  return in;
}

}  // namespace

TEST_CASE("derivatives of pointwise.def") {
  for (int id = 0; id < pointwise::kPointwiseCount; id++) {
    const PointwiseRow& row = kPointwiseRows[id];
    if (id == pointwise::k_where_ || (!row.derivative[0].formula && !row.derivative[1].formula)) continue;
    check_gradient(
        row.name, [id](const TensorList& in) { return run_row(id, in); }, operands(row, id));
  }
}

TEST_CASE("derivatives sum over broadcast dimensions") {
  Tensor a = reshape(linspace(0.5, 2, 6, kFloat64), {2, 3}), row = linspace(1, 2, 3, kFloat64),
         one = reshape(linspace(1, 2, 2, kFloat64), {2, 1});
  check_gradient("mul row", [](const TensorList& in) { return in[0] * in[1]; }, {a, row});
  check_gradient("div column", [](const TensorList& in) { return in[0] / in[1]; }, {a, one});
  check_gradient("where", [&](const TensorList& in) { return where(a > 1.0, in[0], in[1]); }, {a, row});
  check_gradient("numbers", [](const TensorList& in) { return 2.0 / (1.0 - pow(in[0], 3) * 0.5 + pow(2.5, in[0])); },
                 {a});
}

TEST_CASE("derivatives of reductions") {
  Tensor x = reshape(linspace(-1.3, 2.1, 12, kFloat64), {3, 4});
  using F = std::function<Tensor(const Tensor&)>;
  const std::pair<const char*, F> cases[] = {
      {"sum", [](const Tensor& t) { return sum(t); }},
      {"sum dim", [](const Tensor& t) { return sum(t, Dims{0}); }},
      {"mean", [](const Tensor& t) { return mean(t * t, Dims{1}, true); }},
      {"prod", [](const Tensor& t) { return prod(t, Dims{1}); }},
      {"prod all", [](const Tensor& t) { return prod(t); }},
      {"amax", [](const Tensor& t) { return amax(t, Dims{1}); }},
      {"max dim", [](const Tensor& t) { return std::get<0>(max(t, 1)); }},
      {"min all", [](const Tensor& t) { return min(t); }},
      {"norm 2", [](const Tensor& t) { return norm(t); }},
      {"norm 1", [](const Tensor& t) { return norm(t, 1, Dims{0}); }},
      {"norm 3", [](const Tensor& t) { return norm(t, 3, Dims{1}, true); }},
      {"norm inf", [](const Tensor& t) { return norm(t, HUGE_VAL); }},
      {"var", [](const Tensor& t) { return var(t, Dims{1}); }},
      {"std", [](const Tensor& t) { return stddev(t); }},
      {"logsumexp", [](const Tensor& t) { return logsumexp(t, Dims{1}); }},
      {"cumsum", [](const Tensor& t) { return cumsum(t, 1); }},
      {"cumprod", [](const Tensor& t) { return cumprod(t, 0); }},
  };
  for (const auto& [what, f] : cases) check_gradient(what, [&f = f](const TensorList& in) { return f(in[0]); }, {x});
}

TEST_CASE("derivatives of products") {
  Tensor a = reshape(linspace(-1, 1, 6, kFloat64), {2, 3}), b = reshape(linspace(0.5, 2, 12, kFloat64), {3, 4}),
         v = linspace(1, 2, 3, kFloat64);
  Tensor c = reshape(linspace(-1, 1, 12, kFloat64), {2, 2, 3}), d = reshape(linspace(0, 1, 24, kFloat64), {2, 3, 4}),
         w = reshape(linspace(0.5, 2, 12, kFloat64), {4, 3});
  Tensor bias = linspace(0, 1, 4, kFloat64);
  check_gradient("mm", [](const TensorList& in) { return mm(in[0], in[1]); }, {a, b});
  check_gradient("mv", [](const TensorList& in) { return mv(in[0], in[1]); }, {a, v});
  check_gradient("dot", [](const TensorList& in) { return dot(in[0], in[1]); }, {v, v * 2.0});
  check_gradient("outer", [](const TensorList& in) { return outer(in[0], in[1]); }, {v, bias});
  check_gradient("bmm", [](const TensorList& in) { return bmm(in[0], in[1]); }, {c, d});
  check_gradient("matmul 3 by 2", [](const TensorList& in) { return matmul(in[0], in[1]); }, {c, b});
  check_gradient("matmul 1 by 3", [](const TensorList& in) { return matmul(in[0], in[1]); }, {v, d});
  check_gradient("matmul 2 by 3", [](const TensorList& in) { return matmul(in[0], in[1]); }, {a, d});
  check_gradient("addmm", [](const TensorList& in) { return addmm(in[0], in[1], in[2], 0.5, 2.0); }, {bias, a, b});
  check_gradient("linear", [](const TensorList& in) { return linear(in[0], in[1], in[2]); }, {a, w, bias});
  check_gradient("linear 3", [](const TensorList& in) { return linear(in[0], in[1], in[2]); }, {c, w, bias});
  check_gradient("transposed", [](const TensorList& in) { return mm(transpose(in[0], 0, 1), transpose(in[1], 0, 1)); },
                 {a, reshape(b, {6, 2})});
}

TEST_CASE("in-place writes are recorded") {
  Tensor x = leaves({linspace(0.5, 2, 4, kFloat64)})[0];
  Tensor y = x * 2.0;
  Operand mul_in[] = {y, x};
  run_pointwise_inplace(pointwise::k_mul, mul_in);  // y = 2 x^2
  Operand exp_in[] = {y};
  run_pointwise_inplace(pointwise::k_exp, exp_in);
  TensorList g = grad({sum(y)}, {x}, {}, false, false, false);
  for (int i = 0; i < 4; i++) {
    double v = x.data<double>()[i];
    CHECK(g[0].data<double>()[i] == doctest::Approx(std::exp(2 * v * v) * 4 * v));
  }
}
