// The functions of complex numbers that devices use, against the standard library's: values, infinities and NaN, and the signs
// of zeros along the branch cuts, but for those that C leaves open.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "backends/complex_functions.h"

using namespace tessera::tensor;

namespace {

template <class T>
std::vector<T> parts() {
  return {T(0),    T(-0.0),  T(1),     T(-1),   T(0.5), T(-0.5), T(2),        T(-2),        T(1.0000001),
          T(0.3),  T(-7),    T(30),    T(-30),  T(100), T(-100), T(1e-20),    T(-1e-20),    T(1e10),
          T(1e30), T(-1e30), T(0.999), T(1e-3), T(-60), T(88.5), T(INFINITY), T(-INFINITY), T(NAN)};
}

// Beside NaN, and where a part is infinite and the other one of no use, C leaves signs open.
template <class T>
bool agrees(T got, T want, T beside, T accuracy) {
  if (std::isnan(want)) return std::isnan(got);
  const bool open = std::isnan(beside);
  if (std::isinf(want)) return open ? std::isinf(got) : got == want;
  if (want == 0 && !open && got == 0) return std::signbit(got) == std::signbit(want);
  const T size = std::isfinite(beside) ? std::max(std::fabs(want), std::fabs(beside)) : std::fabs(want);
  return std::fabs(got - want) <= accuracy * size;
}

template <class T, class F, class G>
void check(const char* name, F ours, G standard) {
  const T accuracy = sizeof(T) == 4 ? T(2e-6) : T(1e-13);
  for (const T x : parts<T>())
    for (const T y : parts<T>()) {
      const std::complex<T> got = ours(Cx<T>(x, y)), want = standard(std::complex<T>(x, y));
      const bool both_infinite = std::isinf(x) && std::isinf(y);  // of tan and tanh a sign of zero stays open there
      INFO(std::string(name), "(", x, ", ", y, ") = (", got.real(), ", ", got.imag(), "), not (", want.real(), ", ",
           want.imag(), ")");
      CHECK((both_infinite && want.real() == 0 ? got.real() == 0
                                               : agrees(got.real(), want.real(), want.imag(), accuracy)));
      CHECK((both_infinite && want.imag() == 0 ? got.imag() == 0
                                               : agrees(got.imag(), want.imag(), want.real(), accuracy)));
    }
}

}  // namespace

#define TS_CHECK(NAME)                                                                                          \
  TEST_CASE("complex " #NAME " on devices") {                                                                   \
    check<float>(#NAME, complex_functions::NAME<float>, [](std::complex<float> z) { return std::NAME(z); });    \
    check<double>(#NAME, complex_functions::NAME<double>, [](std::complex<double> z) { return std::NAME(z); }); \
  }
TS_CHECK(sqrt)
TS_CHECK(exp)
TS_CHECK(log)
TS_CHECK(sin)
TS_CHECK(cos)
TS_CHECK(tan)
TS_CHECK(asin)
TS_CHECK(acos)
TS_CHECK(atan)
TS_CHECK(sinh)
TS_CHECK(cosh)
TS_CHECK(tanh)
TS_CHECK(asinh)
TS_CHECK(acosh)
TS_CHECK(atanh)
#undef TS_CHECK
