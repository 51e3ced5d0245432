// Derivatives in one pass over lanes against the same formula as ops on tensors (which backward takes as soon as it is
// recorded itself): every row, dense, broadcast, with numbers and with operands of another dtype.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/autograd/engine.h"
#include "runtime/ops.h"
#include "runtime/ops/pointwise_grad.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/views.h"

using namespace tessera::tensor;

namespace {

using namespace pointwise;

Tensor leaf(double low, double high, Ints sizes, DType dtype) {
  int64_t count = 1;
  for (int64_t n : sizes) count *= n;
  Tensor t = reshape(linspace(low, high, count, dtype), sizes);
  if (is_floating(dtype)) set_requires_grad(t, true);
  return t;
}

// Gradients of a sum with weights, taken through the fused kernel or (recorded) through the tensor formula.
TensorList gradients(int id, const TensorList& in, bool recorded) {
  Operand operands[3] = {0, 0, 0};
  TensorList wanted;
  for (size_t k = 0; k < in.size(); k++) {
    operands[k] = in[k];
    if (in[k].requires_grad()) wanted.push_back(in[k]);
  }
  const Scalar params[2] = {0.4, 0.9};
  const Tensor y = run_pointwise(id, operands, params);
  if (!y.requires_grad()) return {};
  const Tensor weights = reshape(linspace(0.3, 1.7, y.numel(), y.dtype()), y.sizes());
  return grad({sum(y * weights)}, wanted, {}, false, recorded, true);
}

void check_same(int id, const TensorList& in) {
  const TensorList fused = gradients(id, in, false), formula = gradients(id, in, true);
  for (size_t k = 0; k < fused.size(); k++) {
    REQUIRE(fused[k].defined() == formula[k].defined());
    if (!fused[k].defined()) continue;
    const Tensor a = contiguous(to_dtype(fused[k], kFloat64)), b = contiguous(to_dtype(detached(formula[k]), kFloat64));
    REQUIRE(a.sizes() == b.sizes());
    CHECK(fused[k].dtype() == formula[k].dtype());
    // The sums over broadcast dimensions add in the same order: a few units in the last place are those of the formula, and
    // where its terms cancel those of the terms.
    const double unit = fused[k].dtype() == kFloat64 ? 0x1p-50 : 0x1p-21;
    for (int64_t i = 0; i < a.numel(); i++) {
      const double x = a.data<double>()[i], y = b.data<double>()[i];
      INFO(std::string(kPointwiseRows[id].name), ": derivative ", k, " element ", i, ": fused ", x, ", formula ", y);
      CHECK((x == y || std::fabs(x - y) <= unit * std::max(std::fabs(y), 0.25) || (std::isnan(x) && std::isnan(y))));
    }
  }
}

}  // namespace

TEST_CASE("fused derivatives agree with the formulas on tensors") {
  for (int id = 0; id < kPointwiseCount; id++) {
    const PointwiseRow& row = kPointwiseRows[id];
    bool any = false;
    for (const auto& d : row.derivative) any |= d.formula != nullptr;
    if (!any) continue;
    const bool unit_interval = id == k_asin || id == k_acos || id == k_atanh;
    const double low = id == k_acosh ? 1.2 : unit_interval ? -0.9 : -2.3, high = unit_interval ? 0.85 : 3.1;
    for (const DType dtype : {kFloat32, kFloat64})
      for (const Dims& other : {Dims{3, 37}, Dims{37}, Dims{3, 1}, Dims{}}) {
        TensorList in;
        for (int k = 0; k < row.arity; k++) {
          Tensor t = leaf(k == 1 ? 2.9 : low, k == 1 ? 0.3 : high, k == 0 ? Dims{3, 37} : other, dtype);
          if (id == k_where_ && k == 0) t = t > 0.5;
          in.push_back(t);
        }
        check_same(id, in);
        if (row.arity == 1) break;
      }
  }
}

TEST_CASE("fused derivatives: other dtypes, layouts and numbers") {
  const Tensor x = leaf(-1.5, 2.5, {5, 40}, kFloat32), y = leaf(0.5, 2.0, {5, 40}, kFloat64);
  const Tensor whole = reshape(arange(Scalar(0), Scalar(200), Scalar(1), kInt64), {5, 40});
  check_same(k_mul, {x, y});                                               // float32 grows to float64 and back
  check_same(k_mul, {x, whole});                                           // converted in blocks
  check_same(k_div, {x, whole + 1.0});                                     //
  check_same(k_mul, {leaf(0, 1, {40, 5}, kFloat32), transpose(x, 0, 1)});  // strided: the tensor formula
  for (const double exponent : {0.0, 1.0, 2.0, 3.0, 0.5, -1.5})
    check_same(k_pow, {leaf(0.5, 3.0, {7}, kFloat64), Tensor::wrapped_number(exponent)});
  check_same(k_div, {Tensor::wrapped_number(2.0), y});
  check_same(k_tanh, {leaf(-3.0, 3.0, {70000}, kFloat32)});  // in several pieces
}

TEST_CASE("what is computed in one pass, and what is handed on") {
  const Tensor g = linspace(1, 2, 9, kFloat32), x = linspace(-1, 1, 9, kFloat32), y = linspace(2, 3, 9, kFloat32);
  const Scalar params[2] = {1, 1};
  const GradArgs args{g, x, y, {}, x, params};
  Tensor out[3];
  CHECK(fused_gradients(k_mul, kPointwiseRows[k_mul], args, 3, out) == 3);
  CHECK(out[0].data<float>()[8] == 6);
  CHECK(out[1].data<float>()[8] == 2);
  CHECK(fused_gradients(k_sub, kPointwiseRows[k_sub], args, 3, out) == 2);  // the first is g itself
  CHECK(fused_gradients(k_add, kPointwiseRows[k_add], args, 3, out) == 0);
  const Tensor half = to_dtype(g, kFloat16);
  CHECK(fused_gradients(k_mul, kPointwiseRows[k_mul], {half, x, y, {}, x, params}, 3, out) == 0);
}
