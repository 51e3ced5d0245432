// compile: small (runs in tests)
#include "runtime/autograd/gradcheck.h"

#include <cmath>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/tangents.h"
#include "runtime/ops.h"
#include "runtime/ops/math_bits.h"

namespace tessera::tensor {
namespace {

// A fixed pattern of weights for the results: every element counts differently.
Tensor weights_like(const Tensor& t, size_t which) {
  const Tensor w = Tensor::empty(t.sizes(), kFloat64);
  double* p = w.data<double>();
  for (int64_t i = 0; i < w.numel(); i++) p[i] = std::sin(double(i) * 1.7 + double(which) + 0.3) + 0.1;
  return w;
}

TensorList differentiable(const TensorList& results) {
  TensorList out;
  for (const Tensor& t : results)
    if (t.defined() && t.requires_grad() && t.dtype() == kFloat64) out.push_back(t);
  return out;
}

// The weighted sum of all results, as a number.
double total(const DifferentiableFunction& f, const TensorList& inputs, const std::vector<bool>& counts) {
  const GradMode no_grad(false);
  double all = 0;
  size_t which = 0, position = 0;
  for (const Tensor& t : f(inputs)) {
    if (!counts[position++]) continue;
    const Tensor host = contiguous(resolved(t)), w = weights_like(host, which++);
    for (int64_t i = 0; i < host.numel(); i++) all += host.data<double>()[i] * w.data<double>()[i];
  }
  return all;
}

std::string compare(const DifferentiableFunction& f, const TensorList& inputs, const TensorList& analytic,
                    const std::vector<bool>& counts, const GradcheckOptions& o) {
  for (size_t k = 0; k < inputs.size(); k++) {
    if (!inputs[k].requires_grad()) continue;
    const Tensor given = analytic[k].defined() ? contiguous(detached(analytic[k])) : zeros(inputs[k].sizes(), kFloat64);
    if (given.sizes() != inputs[k].sizes())
      return text("the gradient of input ", k, " has shape ", given.sizes(), " instead of ", inputs[k].sizes());
    double* x = inputs[k].data<double>();
    for (int64_t i = 0; i < inputs[k].numel(); i++) {
      const double kept = x[i];
      x[i] = kept + o.step;
      const double above = total(f, inputs, counts);
      x[i] = kept - o.step;
      const double below = total(f, inputs, counts);
      x[i] = kept;
      const double expected = (above - below) / (2 * o.step), got = given.data<double>()[i];
      if (!(std::fabs(expected - got) <= o.absolute + o.relative * std::fabs(expected)))
        return text("input ", k, " element ", i, ": numerical ", expected, ", analytical ", got);
    }
  }
  return "";
}

double product(const Tensor& a, const Tensor& b) {
  const GradMode off(false);
  const Tensor x = contiguous(resolved(a)), y = contiguous(resolved(b));
  double all = 0;
  for (int64_t i = 0; i < x.numel(); i++) all += x.data<double>()[i] * y.data<double>()[i];
  return all;
}

// Forward mode in one direction has to agree with the gradient: w^T (J t) = (w^T J) t.
std::string compare_forward(const DifferentiableFunction& f, const TensorList& inputs, const TensorList& analytic,
                            const std::vector<bool>& counts, const GradcheckOptions& o) {
  struct Level {
    const uint32_t number = enter_dual_level();
    ~Level() { exit_dual_level(); }
  } level;
  TensorList duals;
  bool is_empty = true;
  double expected = 0, got = 0;
  for (size_t k = 0; k < inputs.size(); k++) {
    duals.push_back(inputs[k]);
    if (!inputs[k].requires_grad()) continue;
    is_empty = is_empty && inputs[k].numel() == 0;
    const Tensor direction = weights_like(inputs[k], k + 7);
    duals[k] = detached(inputs[k]);
    set_requires_grad(duals[k], true);
    set_tangent(duals[k], level.number, direction);
    if (analytic[k].defined()) expected += product(analytic[k], direction);
  }
  size_t which = 0, position = 0;
  for (const Tensor& t : f(duals)) {
    if (!counts[position++]) continue;
    const Tensor tangent = tangent_of(t, level.number), w = weights_like(t, which++);
    if (tangent.defined()) got += product(tangent, w);
  }
  if (is_empty || std::fabs(expected - got) <= o.absolute + o.relative * std::fabs(expected)) return "";
  return text("forward mode: ", got, ", by the gradient: ", expected);
}

}  // namespace

std::string gradcheck(const DifferentiableFunction& f, const TensorList& inputs, const GradcheckOptions& options) {
  const TensorList all = f(inputs), results = differentiable(all);
  if (results.empty()) return "no result requires a gradient";
  std::vector<bool> counts;
  for (const Tensor& t : all) counts.push_back(t.defined() && t.requires_grad() && t.dtype() == kFloat64);
  TensorList wanted, weights;
  for (const Tensor& t : inputs)
    if (t.requires_grad()) wanted.push_back(t);
  for (size_t i = 0; i < results.size(); i++) weights.push_back(weights_like(results[i], i));
  const TensorList found = grad(results, wanted, weights, false, false, true);
  TensorList analytic(inputs.size());
  size_t next = 0;
  for (size_t k = 0; k < inputs.size(); k++)
    if (inputs[k].requires_grad()) analytic[k] = found[next++];
  const std::string wrong = compare(f, inputs, analytic, counts, options);
  return wrong.empty() ? compare_forward(f, inputs, analytic, counts, options) : wrong;
}

std::string gradgradcheck(const DifferentiableFunction& f, const TensorList& inputs, const GradcheckOptions& options) {
  const auto derivative = [&](const TensorList& given) {
    const GradMode recorded(true);
    const TensorList results = differentiable(f(given));
    TensorList wanted, weights;
    for (const Tensor& t : given)
      if (t.requires_grad()) wanted.push_back(t);
    for (size_t i = 0; i < results.size(); i++) weights.push_back(weights_like(results[i], i));
    return grad(results, wanted, weights, true, true, true);
  };
  if (differentiable(derivative(inputs)).empty()) return "";  // linear: the second derivative is zero
  return gradcheck(derivative, inputs, options);
}

}  // namespace tessera::tensor
