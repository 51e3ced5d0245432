// The functions of complex numbers that cmath and other modules call. They set errno as CPython's do: EDOM where the result is not
// defined, ERANGE where it is too large; who calls them clears it.
#pragma once

#include <cerrno>
#include <complex>

namespace tessera::stdlib {

std::complex<double> complex_sqrt(std::complex<double> z);
std::complex<double> complex_exp(std::complex<double> z);
std::complex<double> complex_log(std::complex<double> z);
std::complex<double> complex_log10(std::complex<double> z);
std::complex<double> complex_sin(std::complex<double> z);
std::complex<double> complex_cos(std::complex<double> z);
std::complex<double> complex_tan(std::complex<double> z);
std::complex<double> complex_sinh(std::complex<double> z);
std::complex<double> complex_cosh(std::complex<double> z);
std::complex<double> complex_tanh(std::complex<double> z);
std::complex<double> complex_asin(std::complex<double> z);
std::complex<double> complex_acos(std::complex<double> z);
std::complex<double> complex_atan(std::complex<double> z);
std::complex<double> complex_asinh(std::complex<double> z);
std::complex<double> complex_acosh(std::complex<double> z);
std::complex<double> complex_atanh(std::complex<double> z);
std::complex<double> complex_rect(double r, double phi);

}  // namespace tessera::stdlib
