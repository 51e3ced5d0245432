// Functions of the normal distribution.
#include <boost/math/special_functions/erf.hpp>

#include "backends/special_math.h"

namespace tessera::tensor::cpu::special {
namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::overflow_error<policies::ignore_error>>;

constexpr double kSqrt1_2 = 0.70710678118654752440;
constexpr double kFar = 25.0;  // erfc leaves the doubles soon after

// exp(x^2), with what the square loses put back.
double exp_of_square(double x) {
  const double high = x * x, low = std::fma(x, x, -high);
  return std::exp(high) * (1 + low);
}

}  // namespace

double erfcx(double x) {
  if (std::isnan(x)) return x;
  if (x < -27) return kInf;
  if (x < 0) return 2 * exp_of_square(x) - erfcx(-x);
  if (x < kFar) return exp_of_square(x) * std::erfc(x);
  // 1 / (x sqrt(pi)) (1 - 1/(2x^2) + 3/(2x^2)^2 - 15/(2x^2)^3 ...): each term is below 1/1250 of the one before.
  const double z = 0.5 / x / x;
  return 0.56418958354775628695 / x * (1 + z * (-1 + z * (3 + z * (-15 + z * (105 - z * 945)))));
}

double log_ndtr(double x) {
  const double t = x * kSqrt1_2;
  if (x < -1) return std::log(erfcx(-t) / 2) - t * t;
  return std::log1p(-std::erfc(t) / 2);
}

double ndtri(double p) {
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  if (!(p > 0 && p < 1)) return kNaN;
  if (p == 0.5) return 0.0;
  return -boost::math::erfc_inv(2 * p, Quiet()) / kSqrt1_2;
}

}  // namespace tessera::tensor::cpu::special
