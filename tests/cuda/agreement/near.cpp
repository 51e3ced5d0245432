#include "tests/cuda/agreement/near.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/math_bits.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/views.h"

namespace tessera::agreement {
namespace {

// Of the greatest element: sums are added up in another order, functions come from another library.
double tolerance(DType type) {
  switch (type) {
    case kFloat16: return 4e-3;
    case kBFloat16: return 3e-2;
    case kFloat64:
    case kComplex128: return 1e-10;
    default: return 2e-5;
  }
}
double last_bit(DType type) {
  switch (type) {
    case kFloat16: return 0x1p-10;
    case kBFloat16: return 0x1p-7;
    case kFloat64:
    case kComplex128: return 0x1p-52;
    default: return 0x1p-23;
  }
}
// Beyond it an overflow may come a little earlier or later.
double huge(DType type) {
  switch (type) {
    case kFloat16: return 1e4;
    case kFloat64:
    case kComplex128: return 1e300;
    default: return 1e30;
  }
}
constexpr double kRoundings = 16;  // of operands, as many as a call may be worse than one

constexpr double kArbitrary = 1e4;

// Complex ones as pairs.
Tensor as_doubles(const Tensor& t) {
  return contiguous(to_dtype(is_complex(t.dtype()) ? view_as_real(contiguous(t)) : t, kFloat64));
}

// Those that follow the operands' last bits may be others.
std::string whole_numbers_differ(const Tensor& expected, const Tensor& got, const std::function<TensorList()>& nearby) {
  Tensor other = ne(expected, got);
  if (!any(other).item().to_bool()) return {};
  for (const Tensor& t : nearby())
    if (t.sizes() == expected.sizes()) other = logical_and(other, eq(expected, t));
  if (!any(other).item().to_bool()) return {};
  const int64_t at = argmax(to_dtype(reshape(other, {-1}), kInt64)).item().to<int64_t>();
  const auto number = [&](const Tensor& t) { return text(select(reshape(t, {-1}), 0, at).item().to<int64_t>()); };
  return "element " + std::to_string(at) + " is " + number(got) + ", on the CPU " + number(expected);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// How far elements move when the operands do, at most; infinite for those that cease to be numbers or become ones.
std::vector<double> reach(const Tensor& expected, const TensorList& nearby) {
  std::vector<double> far(size_t(expected.numel()));
  const double* u = expected.data<double>();
  double farthest = 0;
  for (const Tensor& t : nearby) {
    const Tensor moved = as_doubles(t);
    if (moved.numel() != expected.numel()) continue;
    const double* v = moved.data<double>();
    for (size_t k = 0; k < far.size(); k++) {
      if (same(u[k], v[k])) continue;
      const double step = std::fabs(u[k] - v[k]);
      far[k] = std::isfinite(step) ? std::max(far[k], step) : INFINITY;
      if (std::isfinite(step)) farthest = std::max(farthest, step);
    }
  }
  for (double& step : far) step = std::max(step, farthest);
  return far;
}

}  // namespace

std::string elements_differ(const Tensor& expected, const Tensor& got, const std::function<TensorList()>& nearby,
                            double wider) {
  if (expected.numel() == 0) return {};
  if (!is_differentiable(expected.dtype())) return whole_numbers_differ(expected, got, nearby);
  const Tensor p = as_doubles(expected), q = as_doubles(got);
  const double *u = p.data<double>(), *v = q.data<double>();
  double scale = 0;
  for (int64_t k = 0; k < p.numel(); k++)
    if (std::isfinite(u[k])) scale = std::max(scale, std::fabs(u[k]));
  const double allowed = std::max(tolerance(expected.dtype()), wider);
  std::vector<double> far;
  for (int64_t k = 0; k < p.numel(); k++) {
    if (same(u[k], v[k]) || std::fabs(u[k] - v[k]) <= allowed * (std::fabs(u[k]) + scale)) continue;
    if (far.empty()) far = reach(p, nearby());
    if (std::isinf(v[k]) && std::fabs(u[k]) > huge(expected.dtype())) continue;
    // Where the last bits decide about all of it, as for a matrix that is singular but for them, only its size is compared.
    const bool arbitrary = kRoundings * far[size_t(k)] >= scale;
    if (arbitrary && (!std::isfinite(v[k]) || std::fabs(v[k]) <= kArbitrary * scale)) continue;
    if (std::isinf(far[size_t(k)]) || std::fabs(u[k] - v[k]) <= kRoundings * far[size_t(k)]) continue;
    return text("element ", k, " of ", p.numel(), " is ", v[k], ", on the CPU ", u[k]);
  }
  return {};
}

Tensor last_bits_changed(const Tensor& t, int trial) {
  if (!t.defined() || t.is_wrapped_number() || !is_differentiable(t.dtype())) return t;
  const Tensor wide = to_dtype(contiguous(resolved(t)), is_complex(t.dtype()) ? kComplex128 : kFloat64);
  const Tensor step = sin(arange(0, t.numel(), 1, kFloat64) * double(3 + trial)) * (1.5 * last_bit(t.dtype())) + 1.0;
  return to_dtype(wide * reshape(step, t.sizes()), t.dtype());
}

bool errors_differ(const std::string& cpu, const std::string& cuda) {
  static const std::regex type("torch\\.cuda\\."), other_type("CUDA(?=[A-Za-z0-9]+Type)"),
      index("index -?[0-9]+ (is out|on a tensor)|Target -?[0-9]+ is out");
  const auto plain = [](const std::string& error) {
    const std::string named = std::regex_replace(std::regex_replace(error, type, "torch."), other_type, "CPU");
    return std::regex_replace(named, index, "that is out");
  };
  return plain(cpu) != plain(cuda);
}

}  // namespace tessera::agreement
