// Bessel functions of orders 0 and 1, and Airy's Ai. Boost.Math is the definition of J, Y, Ai, and of K near zero; the scaled
// ones are sums of their own, since I and K leave the doubles where the scaled functions do not.
// compile: small (Boost.Math takes longer)
#include <boost/math/special_functions/airy.hpp>
#include <boost/math/special_functions/bessel.hpp>

#include "backends/special_math.h"

namespace tessera::tensor::cpu::special {
namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>,
                     policies::rounding_error<policies::ignore_error>, policies::promote_float<false>>;

constexpr double kPi = 3.14159265358979323846;
constexpr double kFar = 30.0;  // from here on the expansion in 1 / x has terms below the last bit before they grow

// The power series of I(order, x) for x >= 0: all terms are positive, and there are up to a hundred of them.
double near_series(int order, double x) {
  const long double quarter = (long double)x * x * 0.25L;
  long double term = order ? x * 0.5L : 1.0L, sum = term;
  for (int k = 1; term > 1e-18L * sum; k++) {
    term *= quarter / ((long double)k * (k + order));
    sum += term;
  }
  return double(sum);
}
double scaled_i(int order, double x) {
  if (std::isinf(x)) return 0.0;
  if (x < kFar) return near_series(order, x) * std::exp(-x);
  return far_series(order, x, -1.0) / std::sqrt(2 * kPi * x);
}
double plain_i(int order, double x) {
  if (std::isinf(x)) return kNaN;
  if (x < kFar) return near_series(order, x);
  const double half = std::exp(x * 0.5);  // the exponential may leave the doubles where I does not
  return half * (far_series(order, x, -1.0) / std::sqrt(2 * kPi * x)) * half;
}
double scaled_k(int order, double x) {
  if (std::isnan(x) || x < 0) return kNaN;
  if (x == 0) return kInf;
  if (std::isinf(x)) return 0.0;
  if (x < kFar) return boost::math::cyl_bessel_k(order, x, Quiet()) * std::exp(x);
  return far_series(order, x, 1.0) * std::sqrt(kPi / (2 * x));
}
double plain_k(int order, double x) {
  if (std::isnan(x) || x < 0) return kNaN;
  if (x == 0) return kInf;
  if (std::isinf(x)) return 0.0;
  return boost::math::cyl_bessel_k(order, x, Quiet());
}

}  // namespace

double bessel_j0(double x) { return std::isfinite(x) ? boost::math::cyl_bessel_j(0, std::fabs(x), Quiet()) : kNaN; }
double bessel_j1(double x) {
  return std::isfinite(x) ? std::copysign(1.0, x) * boost::math::cyl_bessel_j(1, std::fabs(x), Quiet()) : kNaN;
}
double bessel_y0(double x) {
  if (x == 0) return -kInf;
  return x > 0 && std::isfinite(x) ? boost::math::cyl_neumann(0, x, Quiet()) : kNaN;
}
double bessel_y1(double x) {
  if (x == 0) return -kInf;
  return x > 0 && std::isfinite(x) ? boost::math::cyl_neumann(1, x, Quiet()) : kNaN;
}

double bessel_i0(double x) { return std::isnan(x) ? x : plain_i(0, std::fabs(x)); }
double bessel_i0e(double x) { return std::isnan(x) ? x : scaled_i(0, std::fabs(x)); }
double bessel_i1(double x) {
  const double y = std::isnan(x) ? x : plain_i(1, std::fabs(x));
  return x < 0 ? -y : y;
}
double bessel_i1e(double x) {
  const double y = std::isnan(x) ? x : scaled_i(1, std::fabs(x));
  return x < 0 ? -y : y;
}
double bessel_k0(double x) { return plain_k(0, x); }
double bessel_k0e(double x) { return scaled_k(0, x); }
double bessel_k1(double x) { return plain_k(1, x); }
double bessel_k1e(double x) { return scaled_k(1, x); }

double spherical_j0(double x) {
  if (std::isinf(x)) return 0.0;
  return x == 0 ? 1.0 : std::sin(x) / x;
}

double airy_ai(double x) {
  if (!std::isfinite(x)) return kNaN;
  if (x > 103.892) return 0.0;
  if (std::fabs(x) < 1e-5)  // where Boost.Math takes the value at 0
    return 0.355028053887817239 * (1 + x * x * x / 6) - 0.258819403792806798 * x;
  return boost::math::airy_ai(x, Quiet());
}

}  // namespace tessera::tensor::cpu::special
