// A Fourier transform by its definition, a factor of the length at a time.
#pragma once

#include <complex>
#include <vector>

namespace tessera_executor {

using Complex = std::complex<double>;
using Line = std::vector<Complex>;

/// The transform of x, with the sign of the exponent.
Line transformed(const Line& x, int sign);

}  // namespace tessera_executor
