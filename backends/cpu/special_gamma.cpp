// The gamma function's kin. Boost.Math is the definition of digamma, trigamma and the incomplete gamma functions inside
// their domains; what they are at poles, infinities and NaN is said here.
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cstdint>

#include "backends/special_math.h"

namespace tessera::tensor::cpu::special {
namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>,
                     policies::rounding_error<policies::ignore_error>, policies::promote_float<false>>;

}  // namespace

double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (std::isinf(x)) return x > 0 ? x : kNaN;
  if (std::isnan(x) || (x < 0 && x == std::floor(x))) return kNaN;
  return boost::math::digamma(x, Quiet());
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
