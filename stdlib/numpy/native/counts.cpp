// Counts: Poisson, binomial and geometric numbers.
// compile: small (draws by rejection spend their time in logarithms and powers)
#include <cmath>

#include "stdlib/numpy/native/draws.h"

namespace tessera::stdlib {
namespace {

// log(gamma(x)) by Stirling's series, the argument moved over seven first.
double log_gamma(double x) {
  constexpr double kTerms[] = {8.333333333333333e-02,  -2.777777777777778e-03, 7.936507936507937e-04,
                               -5.952380952380952e-04, 8.417508417508418e-04,  -1.917526917526918e-03,
                               6.410256410256410e-03,  -2.955065359477124e-02, 1.796443723688307e-01,
                               -1.39243221690590e+00};
  if (x == 1.0 || x == 2.0) return 0.0;
  const int64_t steps = x < 7.0 ? static_cast<int64_t>(7 - x) : 0;
  double moved = x + static_cast<double>(steps);
  const double square = (1.0 / moved) * (1.0 / moved);
  double sum = kTerms[9];
  for (int i = 8; i >= 0; --i) sum = sum * square + kTerms[i];
  constexpr double kLogTwoPi = 1.8378770664093453;
  double result = sum / moved + 0.5 * kLogTwoPi + (moved - 0.5) * std::log(moved) - moved;
  for (int64_t i = 1; i <= steps && x < 7.0; ++i) {
    result -= std::log(moved - 1.0);
    moved -= 1.0;
  }
  return result;
}

}  // namespace

int64_t Draws::poisson(double mean) {
  if (mean >= 10) return poisson_by_rejection(mean);
  return mean == 0 ? 0 : poisson_by_product(mean);
}

int64_t Draws::poisson_by_product(double mean) {
  const double end = std::exp(-mean);
  int64_t count = 0;
  for (double product = real(); product > end; product *= real()) ++count;
  return count;
}

// Hormann's transformed rejection (PTRS).
int64_t Draws::poisson_by_rejection(double mean) {
  const double log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = real() - 0.5, v = real(), us = 0.5 - std::fabs(u);
    const int64_t k = static_cast<int64_t>(std::floor((2 * a / us + b) * u + mean + 0.43));
    if (us >= 0.07 && v <= sure) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -mean + static_cast<double>(k) * log_mean - log_gamma(static_cast<double>(k) + 1))
      return k;
  }
}

int64_t Draws::binomial(int64_t count, double chance) {
  if (!legacy_ && (count == 0 || chance == 0)) return 0;
  const auto draw = [&](double p) {
    return p * static_cast<double>(count) <= 30.0 ? binomial_by_inversion(count, p) : binomial_by_rejection(count, p);
  };
  return chance <= 0.5 ? draw(chance) : count - draw(1.0 - chance);
}

int64_t Draws::binomial_by_inversion(int64_t count, double chance) {
  const double q = 1.0 - chance, n = static_cast<double>(count), mean = n * chance;
  const double none = std::exp(n * (legacy_ ? std::log(q) : std::log1p(-chance)));
  const int64_t bound = static_cast<int64_t>(std::fmin(n, mean + 10.0 * std::sqrt(mean * q + 1)));
  int64_t drawn = 0;
  double term = none, u = real();
  while (u > term) {
    ++drawn;
    if (drawn > bound) {
      drawn = 0;
      term = none;
      u = real();
    } else {
      u -= term;
      term = (static_cast<double>(count - drawn + 1) * chance * term) / (static_cast<double>(drawn) * q);
    }
  }
  return drawn;
}

// Kachitvichyanukul and Schmeiser's BTPE: a triangle, two parallelograms and two tails over the scaled histogram.
int64_t Draws::binomial_by_rejection(int64_t count, double chance) {
  const double n = static_cast<double>(count), r = chance, q = 1.0 - r;
  const double fm = n * r + r;
  const int64_t mode = static_cast<int64_t>(std::floor(fm));
  const double m = static_cast<double>(mode);
  const double p1 = std::floor(2.195 * std::sqrt(n * r * q) - 4.6 * q) + 0.5;
  const double middle = m + 0.5, left = middle - p1, right = middle + p1;
  const double c = 0.134 + 20.5 / (15.3 + m);
  double slope = (fm - left) / (fm - left * r);
  const double left_rate = slope * (1.0 + slope / 2.0);
  slope = (right - fm) / (right * q);
  const double right_rate = slope * (1.0 + slope / 2.0);
  const double p2 = p1 * (1.0 + 2.0 * c), p3 = p2 + c / left_rate, p4 = p3 + c / right_rate;
  const double variance = n * r * q;

  const auto accepted = [&](int64_t y, double v) {
    const double at = static_cast<double>(y);
    const int64_t apart = y > mode ? y - mode : mode - y;
    const double k = static_cast<double>(apart);
    if (!(k > 20 && k < variance / 2.0 - 1)) {
      const double s = r / q, a = s * (n + 1);
      double f = 1.0;
      for (int64_t i = mode + 1; i <= y; ++i) f *= a / static_cast<double>(i) - s;
      for (int64_t i = y + 1; i <= mode; ++i) f /= a / static_cast<double>(i) - s;
      return v <= f;
    }
    const double rho = (k / variance) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / variance + 0.5);
    const double t = -k * k / (2 * variance), logarithm = std::log(v);
    if (logarithm < t - rho) return true;
    if (logarithm > t + rho) return false;
    const double x1 = at + 1, f1 = m + 1, z = n + 1 - m, w = n - at + 1;
    const auto stirling = [](double x) {
      const double x2 = x * x;
      return (13680. - (462. - (132. - (99. - 140. / x2) / x2) / x2) / x2) / x / 166320.;
    };
    return logarithm <= (m + 0.5) * std::log(f1 / x1) + (n - m + 0.5) * std::log(z / w) +
                            (at - m) * std::log(w * r / (x1 * q)) + stirling(f1) + stirling(z) + stirling(x1) +
                            stirling(w);
  };

  for (;;) {
    const double u = real() * p4;
    double v = real();
    int64_t y;
    if (u <= p1) return static_cast<int64_t>(std::floor(middle - p1 * v + u));
    if (u <= p2) {
      const double x = left + (u - p1) / c;
      v = v * c + 1.0 - std::fabs(m - x + 0.5) / p1;
      if (v > 1.0) continue;
      y = static_cast<int64_t>(std::floor(x));
    } else if (u <= p3) {
      if (v == 0.0) continue;
      y = static_cast<int64_t>(std::floor(left + std::log(v) / left_rate));
      if (y < 0) continue;
      v = v * (u - p2) * left_rate;
    } else {
      if (v == 0.0) continue;
      y = static_cast<int64_t>(std::floor(right - std::log(v) / right_rate));
      if (y > count) continue;
      v = v * (u - p3) * right_rate;
    }
    if (accepted(y, v)) return y;
  }
}

int64_t Draws::geometric(double chance) {
  if (chance < 0.333333333333333333333333) {
    const double drawn =
        std::ceil(legacy_ ? std::log(1.0 - real()) / std::log(1 - chance) : -exponential() / std::log1p(-chance));
    return drawn >= 9.2e18 ? INT64_MAX : static_cast<int64_t>(drawn);
  }
  const double q = 1.0 - chance, u = real();
  int64_t drawn = 1;
  double sum = chance, term = chance;
  while (u > sum) {
    term *= q;
    sum += term;
    ++drawn;
  }
  return drawn;
}

}  // namespace tessera::stdlib
