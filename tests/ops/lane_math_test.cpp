// The vector functions against libm in more precision, over all magnitudes: how many units in the last place they are
// off, and what they make of NaN, infinities and signed zeros.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "runtime/ops/pointwise_functions.h"

using namespace tessera::tensor;

namespace {

// Units in the last place between a result and the exact value; denormals have the unit of the smallest normal number.
template <class T>
double ulps(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  const T rounded = static_cast<T>(want);
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : 1e30;
  if (std::isinf(got) || std::isinf(rounded)) return 1e30;
  const int exponent = std::max(std::ilogb(want), std::numeric_limits<T>::min_exponent - 1);
  return double(std::fabs(static_cast<long double>(got) - want) /
                std::ldexp(1.0L, exponent + 1 - std::numeric_limits<T>::digits));
}

// Numbers of every sign and magnitude, and many where the functions do something.
template <class T>
std::vector<T> everywhere() {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<T> x = {T(0), T(-0.0), T(INFINITY), T(-INFINITY), T(NAN), T(1), T(-1)};
  const Bits step = static_cast<Bits>(~Bits(0)) / 40000;
  for (int i = 0; i < 40000; i++) x.push_back(std::bit_cast<T>(static_cast<Bits>(step * Bits(i) + 77)));
  for (int i = 0; i < 60000; i++) x.push_back(T((i - 30000) * 0.00034172));
  for (int i = 0; i < 20000; i++) x.push_back(T((i - 10000) * (sizeof(T) == 4 ? 0.01043 : 0.0751)));
  return x;
}

template <class T>
void check_function(const char* name, Tensor (*f)(const Tensor&), long double (*exact)(long double), double allowed) {
  const std::vector<T> x = everywhere<T>();
  const Tensor in = Tensor::from_values(x, Dims{int64_t(x.size())});
  const Tensor out = f(in);
  const T* y = out.data<T>();
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); i++)
    if (const double u = ulps(y[i], exact(x[i])); u > worst) worst = u, where = i;
  INFO(std::string(name), " of ", x[where], " is ", y[where], ", not ", double(exact(x[where])), ": ", worst, " ULP");
  CHECK(worst <= allowed);
}

long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

// By Newton's steps from below, where they do not overshoot.
long double exact_erfinv(long double x) {
  const long double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? std::copysign((long double)HUGE_VAL, x) : NAN;
  long double y = 0, step = 1;
  for (int i = 0; i < 100 && std::fabs(step) > 1e-19L * y; i++) {
    const long double error = a < 0.5L ? a - std::erf(y) : std::erfc(y) - (1 - a);
    y += step = error * std::exp(y * y) * 0.88622692545275801364908374167L;
  }
  return std::copysign(y, x);
}

// Where exp(-x) has left the type, so may the quotient: PyTorch's is 0 there as well.
template <class T>
Tensor sigmoid_in_range(const Tensor& x) {
  return where(x < -double(std::log(std::numeric_limits<T>::max())), 0.0, sigmoid(x));
}
template <class T>
long double exact_sigmoid_in_range(long double x) {
  return x < -std::log((long double)std::numeric_limits<T>::max()) ? 0 : exact_sigmoid(x);
}

}  // namespace

TEST_CASE("vector functions are within 3 units in the last place") {
  using F = long double (*)(long double);
  check_function<float>("exp", exp, F(std::exp), 1.2);
  check_function<float>("expm1", expm1, F(std::expm1), 2.0);
  check_function<float>("tanh", tanh, F(std::tanh), 2.1);
  check_function<float>("erf", erf, F(std::erf), 2.0);
  check_function<float>("erfc", erfc, F(std::erfc), 1.0);
  check_function<float>("lgamma", lgamma, F(std::lgamma), 1.0);
  check_function<float>("log", log, F(std::log), 2.0);
  check_function<float>("exp2", exp2, F(std::exp2), 1.2);
  check_function<float>("log2", log2, F(std::log2), 2.4);
  check_function<float>("sinh", sinh, F(std::sinh), 2.4);
  check_function<float>("cosh", cosh, F(std::cosh), 2.0);
  check_function<float>("sin", sin, F(std::sin), 2.0);
  check_function<float>("cos", cos, F(std::cos), 2.0);
  check_function<float>("log1p", log1p, F(std::log1p), 2.0);
  check_function<float>("log10", log10, F(std::log10), 1.0);
  check_function<float>("tan", tan, F(std::tan), 2.8);
  check_function<float>("asin", asin, F(std::asin), 2.4);
  check_function<float>("acos", acos, F(std::acos), 2.4);
  check_function<float>("atan", atan, F(std::atan), 2.0);
  check_function<float>("erfinv", erfinv, exact_erfinv, 2.0);
  check_function<float>("sigmoid", sigmoid_in_range<float>, exact_sigmoid_in_range<float>, 2.4);
  check_function<double>("exp", exp, F(std::exp), 1.2);
  check_function<double>("expm1", expm1, F(std::expm1), 2.0);
  check_function<double>("tanh", tanh, F(std::tanh), 2.1);
  check_function<double>("erf", erf, F(std::erf), 2.0);
  check_function<double>("log", log, F(std::log), 2.0);
  check_function<double>("exp2", exp2, F(std::exp2), 1.2);
  check_function<double>("log2", log2, F(std::log2), 2.4);
  check_function<double>("sinh", sinh, F(std::sinh), 2.4);
  check_function<double>("cosh", cosh, F(std::cosh), 2.0);
  check_function<double>("sin", sin, F(std::sin), 2.0);
  check_function<double>("cos", cos, F(std::cos), 2.0);
  check_function<double>("log1p", log1p, F(std::log1p), 2.0);
  check_function<double>("log10", log10, F(std::log10), 2.0);
  check_function<double>("tan", tan, F(std::tan), 2.8);
  check_function<double>("asin", asin, F(std::asin), 2.4);
  check_function<double>("acos", acos, F(std::acos), 2.4);
  check_function<double>("atan", atan, F(std::atan), 2.0);
  check_function<double>("erfinv", erfinv, exact_erfinv, 2.0);
  check_function<double>("sigmoid", sigmoid_in_range<double>, exact_sigmoid_in_range<double>, 2.4);
}
