#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

#include "executor_math.h"

double cyl_bessel_i0(double x) { return boost::math::cyl_bessel_i(0, x); }
double cyl_bessel_i1(double x) { return boost::math::cyl_bessel_i(1, x); }

double erfcx(double x) {
  if (std::isnan(x)) return x;
  if (x < -27) return INFINITY;
  if (x > 100) {
    const double z = 0.5 / x / x;
    return 0.56418958354775628695 / x * (1 + z * (-1 + z * (3 - z * 15)));
  }
  return double(std::exp((long double)x * x) * std::erfc((long double)x));
}

double normcdfinv(double p) { return -1.41421356237309504880 * boost::math::erfc_inv(2 * p); }
