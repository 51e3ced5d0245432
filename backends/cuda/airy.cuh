// Airy's function Ai of doubles: by Taylor's series of y'' = x y about the nearest integer, by the modified Bessel function of order
// 1/3 for what is larger, by the expansions in x ** -1.5 far out (Abramowitz and Stegun 10.4).
#pragma once

#include "backends/special_math.h"
#include "backends/cuda/launch.cuh"

namespace tessera::tensor::cuda::special {

namespace airy {

constexpr double kRootPi = 1.77245385090551602730;

// From an integer between -9 and 1, at most 0.5 away.
__device__ inline double near_integer(double x) {
  const double known[][2] = {
      // Ai and its derivative at -9, -8, ...
      {-0.0221337215473414037, -0.975663980926331595}, {-0.0527050503563862026, 0.935560938198306551},
      {0.184280835250505637, -0.771008168410126548},   {-0.329145173629823105, 0.345935487281342895},
      {0.35076100902411432, 0.327192818554443137},     {-0.0702655329492895151, -0.79062857536858138},
      {-0.378814293677658074, 0.314583769216598814},   {0.227407428201685576, 0.618259020741691041},
      {0.535560883292352119, -0.0101605671166452094},  {0.355028053887817239, -0.258819403792806798},
      {0.135292416312881416, -0.159147441296793213}};
  const double centre = rint(x), h = x - centre;
  const int at = int(centre) + 9;
  double before = 0, a = known[at][0], next = known[at][1], sum = a, power = 1;
  for (int n = 0; n < 28; n++) {  // a, next: the coefficients of h ** n and of the power behind
    power *= h;
    sum += next * power;
    const double behind = (centre * a + before) / ((n + 1) * (n + 2));
    before = a, a = next, next = behind;
  }
  return sum;
}

// The coefficients of both expansions, one from the one before.
__device__ inline double ratio(int k) { return (6.0 * k + 1) * (6.0 * k + 5) / (72.0 * (k + 1)); }

__device__ inline double far_above(double x, double angle) {
  double term = 1, sum = 1;
  for (int k = 0; k < 40 && fabs(term) > 1e-17; k++) sum += term *= -ratio(k) / angle;
  return exp(-angle) * sum / (2 * kRootPi * sqrt(sqrt(x)));
}
__device__ inline double far_below(double x, double angle) {  // Ai(-x)
  double term = 1, parts[2] = {1, 0};
  for (int k = 0; k < 40 && fabs(term) > 1e-17; k++) {
    term *= ratio(k) / angle;
    const double signed_term = (k + 1) & 2 ? -term : term;
    (k & 1 ? parts[0] : parts[1]) += signed_term;
  }
  const double turned = angle + 0.78539816339744830962;
  return (sin(turned) * parts[0] - cos(turned) * parts[1]) / (kRootPi * sqrt(sqrt(x)));
}

// sqrt(x / 3) / pi times K of order 1/3: the trapezoid rule on its integral of exp(-angle cosh t) cosh(t / 3).
__device__ inline double between(double x, double angle) {
  constexpr double kStep = 1.0 / 8, kPi = 3.14159265358979323846;
  double sum = 0.5, term = 1;
  for (int i = 1; term > 1e-18; i++) {
    const double s = sinh(i * kStep / 2);
    term = exp(-2 * angle * s * s) * cosh(i * kStep / 3);
    sum += term;
  }
  return sqrt(x / 3) / kPi * exp(-angle) * sum * kStep;
}

}  // namespace airy

__device__ inline double airy_ai(double x) {
  if (!isfinite(x)) return cpu::special::kNaN;
  if (x > 103.892) return 0.0;  // below the doubles
  if (x > -9.5 && x < 1.5) return airy::near_integer(x);
  const double far = fabs(x), angle = far * sqrt(far) * (2.0 / 3);
  if (x < 0) return airy::far_below(far, angle);
  return angle > 30 ? airy::far_above(far, angle) : airy::between(far, angle);
}

}  // namespace tessera::tensor::cuda::special
