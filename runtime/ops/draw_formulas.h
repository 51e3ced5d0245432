// How numbers of a distribution are made of uniform and normal ones: the same text for the CPU's ops and for kernels of a device.
//
// A source of numbers has `T unit()`, uniform in [0, 1] where at most one end can come, and `T normal()`. T is the type that is
// computed in: double on the CPU.
#pragma once

#include <cmath>
#include <limits>

#include "runtime/device/stream.h"

namespace tessera::tensor::draws {

/// Hoermann (1993), "The transformed rejection method for generating Poisson random variables": PTRS. Below 10 products of
/// uniform numbers.
template <class T, class Source>
TS_ON_BOTH T poisson(Source& source, T rate) {
  using std::exp, std::fabs, std::floor, std::lgamma, std::log, std::sqrt;
  if (rate == 0) return 0;
  if (rate < 10) {
    const T end = exp(-rate);
    T product = 1;
    for (T k = 0;; k++)
      if ((product *= source.unit()) <= end) return k;
  }
  const T root = sqrt(rate), log_rate = log(rate);
  const T b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const T inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const T u = source.unit() - 0.5, v = source.unit(), us = 0.5 - fabs(u);
    const T k = floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= -rate + k * log_rate - lgamma(k + 1)) return k;
  }
}

/// What Stirling's formula for log(k!) lacks.
template <class T>
TS_ON_BOTH T stirling_rest(T k) {
  switch (k <= 9 ? int(k) : 10) {
    case 0: return T(0.0810614667953272);
    case 1: return T(0.0413406959554092);
    case 2: return T(0.0276779256849983);
    case 3: return T(0.02079067210376509);
    case 4: return T(0.0166446911898211);
    case 5: return T(0.0138761288230707);
    case 6: return T(0.0118967099458917);
    case 7: return T(0.0104112652619720);
    case 8: return T(0.00925546218271273);
    case 9: return T(0.00833056343336287);
    default: break;
  }
  const T square = (k + 1) * (k + 1);
  return (T(1.0 / 12) - (T(1.0 / 360) - T(1.0 / 1260) / square) / square) / (k + 1);
}

/// Hoermann (1993), "The generation of binomial random variates": BTRS. Of p up to a half, and ten successes or more.
template <class T, class Source>
TS_ON_BOTH T large_binomial(Source& source, T n, T p) {
  using std::fabs, std::floor, std::log, std::sqrt;
  const T deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation;
  const T a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5, vr = 0.92 - 4.2 / b, r = p / (1 - p);
  const T alpha = (2.83 + 5.1 / b) * deviation, m = floor((n + 1) * p);
  for (;;) {
    const T u = source.unit() - 0.5, v = source.unit(), us = 0.5 - fabs(u);
    const T k = floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= vr) return k;
    if (k < 0 || k > n) continue;
    const T bound = (m + 0.5) * log((m + 1) / (r * (n - m + 1))) + (n + 1) * log((n - m + 1) / (n - k + 1)) +
                    (k + 0.5) * log(r * (n - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(n - m) -
                    stirling_rest(k) - stirling_rest(n - k);
    if (log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}
/// Distances between successes are geometric.
template <class T, class Source>
TS_ON_BOTH T small_binomial(Source& source, T n, T p) {
  using std::ceil, std::log, std::log1p;
  const T log_failure = log1p(-p);
  T tried = 0;
  for (T successes = 0;; successes++)
    if ((tried += ceil(log(source.unit()) / log_failure)) > n) return successes;
}
template <class T, class Source>
TS_ON_BOTH T binomial(Source& source, T n, T p) {
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (!(p <= 0.5 || p > 0.5)) return p;  // NaN
  const T rare = p <= 0.5 ? p : 1 - p;
  const T k = n * rare >= 10 ? large_binomial(source, n, rare) : small_binomial(source, n, rare);
  return p <= 0.5 ? k : n - k;
}

/// Marsaglia and Tsang (2000): a cube of a shifted normal number, seldom refused. Below 1 the draw for alpha + 1 is scaled.
template <class T, class Source>
TS_ON_BOTH T gamma(Source& source, T alpha) {
  using std::log, std::pow, std::sqrt;
  T scale = 1;
  if (alpha < 1) {
    if (alpha == 0) return 0;
    scale = pow(1 - source.unit(), 1 / alpha);
    alpha += 1;
  }
  const T d = alpha - T(1.0 / 3), c = 1 / sqrt(9 * d);
  for (;;) {
    T x, y;
    do {
      x = source.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const T v = y * y * y, u = 1 - source.unit(), xx = x * x;
    if (u < 1 - T(0.0331) * xx * xx || log(u) < T(0.5) * xx + d * (1 - v + log(v))) return scale * d * v;
  }
}

// ---- what a draw moves by when the distribution's parameter does ----

TS_ON_BOTH inline double digamma(double x) {
  using std::log;
  double shift = 0;
  for (; x < 10; x += 1) shift -= 1 / x;
  const double z = 1 / (x * x);
  return shift + log(x) - 0.5 / x -
         z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760))))));
}

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr int kMostTerms = 100000;

/// dx / d alpha for a draw x: -(dP / d alpha) / p, P the distribution's function and p its density. Up to the mean from the
/// power series of P / p, whose terms u carry their logarithm's derivative; beyond it from the continued fraction of Q / (x p),
/// evaluated from its end together with its derivative.
TS_ON_BOTH inline double gamma_slope(double alpha, double x) {
  using std::log;
  if (!(alpha > 0) || !(x > 0)) return x == 0 ? 0.0 : kNaN;
  if (x <= alpha + 1) {
    double u = x / alpha, psi = digamma(alpha + 1), sum = 0, total = 0;
    const double log_x = log(x);
    for (int n = 1; n < kMostTerms; n++) {
      sum += u * (log_x - psi);
      total += u;
      psi += 1 / (alpha + n);
      u *= x / (alpha + n);
      if (u < 1e-17 * total) break;
    }
    return -sum;
  }
  // Q / (x p) = 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))).
  double f = 0, df = 0;
  const double terms = 200 + 4 * alpha / (x - alpha) * 10;
  for (int k = terms < 2000 ? int(terms) : 2000; k >= 1; k--) {
    const double top = k * (k - alpha), dtop = -k, bottom = x + 2 * k + 1 - alpha - f, dbottom = -1 - df;
    f = top / bottom;
    df = (dtop - f * dbottom) / bottom;
  }
  const double bottom = x + 1 - alpha - f, fraction = 1 / bottom, slope = fraction * fraction * (1 + df);
  return x * (fraction * (log(x) - digamma(alpha)) + slope);
}

/// The same for a Beta(alpha, beta) draw x, by (1 - x): from the power series of the distribution's function in x, or in 1 - x
/// beyond its mean.
TS_ON_BOTH inline double beta_slope(double x, double alpha, double total) {
  using std::log;
  const double beta = total - alpha, y = 1 - x;
  if (!(x > 0 && x < 1)) return x == 0 ? 0.0 : kNaN;
  const bool near = x * total <= alpha;
  double w = 1, sum = 0, most = 0, psi = digamma(total), psi_low = digamma(near ? alpha + 1 : alpha);
  const double log_x = log(x);
  for (int n = 0; n < kMostTerms; n++) {
    sum += w * (log_x + psi - psi_low);
    if (w > most) most = w;
    psi += 1 / (total + n);
    if (near) psi_low += 1 / (alpha + 1 + n);
    w *= near ? (total + n) / (alpha + 1 + n) * x : (total + n) / (beta + 1 + n) * y;
    if (w < 1e-17 * most) break;
  }
  return near ? -x / alpha * sum : x / beta * sum;
}

}  // namespace tessera::tensor::draws
