// The gamma function's kin. Boost.Math is the definition of digamma, trigamma and the incomplete gamma functions inside
// their domains; what they are at poles, infinities and NaN is said here.
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cstdint>

#include "backends/cpu/special_math.h"

namespace tessera::tensor::cpu::special {
namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>,
                     policies::rounding_error<policies::ignore_error>, policies::promote_float<false>>;

// (2k)! / B(2k): the divisors of Euler and Maclaurin's corrections.
constexpr double kCorrections[] = {12.0,
                                   -720.0,
                                   30240.0,
                                   -1209600.0,
                                   47900160.0,
                                   -1307674368000.0 / 691.0,
                                   74724249600.0,
                                   -10670622842880000.0 / 3617.0,
                                   5109094217170944000.0 / 43867.0,
                                   -802857662698291200000.0 / 174611.0,
                                   14101100039391805440000.0 / 77683.0,
                                   -1693824136731743669452800000.0 / 236364091.0};

}  // namespace

double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (std::isinf(x)) return x > 0 ? x : kNaN;
  if (std::isnan(x) || (x < 0 && x == std::floor(x))) return kNaN;
  return boost::math::digamma(x, Quiet());
}

// Ten terms and more one by one, then the rest as an integral with corrections.
double zeta(double s, double q) {
  if (s == 1) return kInf;
  if (s < 1) return kNaN;
  if (q <= 0) {
    if (q == std::floor(q)) return kInf;
    if (s != std::floor(s)) return kNaN;  // the power of a negative number
  }
  constexpr double kLeast = 1.1e-16;
  double at = q, term = 0, sum = std::pow(q, -s);
  for (int i = 0; i < 9 || at <= 9; i++) {
    at += 1;
    term = std::pow(at, -s);
    sum += term;
    if (std::fabs(term) < kLeast * std::fabs(sum)) return sum;
  }
  sum += term * at / (s - 1) - 0.5 * term;
  double factor = 1, k = 0;
  for (const double divisor : kCorrections) {
    factor *= s + k++;
    term /= at;
    const double correction = factor * term / divisor;
    sum += correction;
    if (std::fabs(correction) < kLeast * std::fabs(sum)) break;
    factor *= s + k++;
    term /= at;
  }
  return sum;
}

double polygamma(int64_t n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1 && x > 0) return std::isinf(x) ? 0.0 : boost::math::trigamma(x, Quiet());
  const double sign = n % 2 ? 1.0 : -1.0;
  return sign * std::tgamma(double(n) + 1) * zeta(double(n) + 1, x);
}

double gamma_p(double a, double x) {
  if (x < 0 || a < 0) return kNaN;
  if (a == 0) return x > 0 ? 1.0 : kNaN;
  if (x == 0) return 0.0;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : 0.0;
  if (std::isinf(x)) return 1.0;
  if (std::isnan(a) || std::isnan(x)) return kNaN;
  return boost::math::gamma_p(a, x, Quiet());
}
double gamma_q(double a, double x) {
  if (x < 0 || a < 0) return kNaN;
  if (a == 0) return x > 0 ? 0.0 : kNaN;
  if (x == 0) return 1.0;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : 1.0;
  if (std::isinf(x)) return 0.0;
  if (std::isnan(a) || std::isnan(x)) return kNaN;
  return boost::math::gamma_q(a, x, Quiet());
}

}  // namespace tessera::tensor::cpu::special
