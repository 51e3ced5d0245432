// _statistics: the inverse of the normal distribution's cumulative function, by Wichura's algorithm AS 241 (1988).
// compile: small (seldom in an inner loop)
#include <cmath>

#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// The coefficients of a quotient of polynomials, from the highest power down.
struct Quotient {
  double top[8], bottom[8];
};
constexpr Quotient kCentral = {
    {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
     1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
    {5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
     687.1870074920579083, 42.313330701600911252, 1.0}};
constexpr Quotient kMiddle = {
    {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258, 3.64784832476320460504,
     5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734},
    {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459, 0.68976733498510000455,
     1.6763848301838038494, 2.05319162663775882187, 1.0}};
constexpr Quotient kFar = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093, 0.29656057182850489123,
     1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772},
    {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4, 0.0148753612908506148525,
     0.13692988092273580531, 0.59983220655588793769, 1.0}};

double horner(const double (&coefficients)[8], double x) {
  double value = 0.0;
  for (const double each : coefficients) value = value * x + each;
  return value;
}

Value inverse_normal(Interpreter& in, const Args& args) {
  const double p = real_argument(in, args[0]), mu = real_argument(in, args[1]), sigma = real_argument(in, args[2]);
  if (!(p > 0.0 && p < 1.0 && sigma > 0.0)) throw Error(ErrorKind::ValueError, "inv_cdf undefined for these parameters");
  const double q = p - 0.5;
  double x;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    x = horner(kCentral.top, r) * q / horner(kCentral.bottom, r);
  } else {
    double r = std::sqrt(-std::log(q <= 0.0 ? p : 1.0 - p));
    const bool near = r <= 5.0;
    const Quotient& quotient = near ? kMiddle : kFar;
    r -= near ? 1.6 : 5.0;
    x = horner(quotient.top, r) / horner(quotient.bottom, r);
    if (q < 0.0) x = -x;
  }
  return Value::real(mu + x * sigma);
}

}  // namespace

void fill_statistics(Interpreter& in, Module& module) {
  in.def(module, "_normal_dist_inv_cdf(p, mu, sigma, /)", "The place below which a normal variable is with probability p.", inverse_normal);
}

}  // namespace tessera::stdlib
