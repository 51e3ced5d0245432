// compile: small (runs in tests)
#include "runtime/autograd/gradcheck.h"

#include <cmath>

#include "runtime/autograd/engine.h"
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
  return compare(f, inputs, analytic, counts, options);
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
