// Apart from cufft.cpp, of which each access is looked at: the squares of long prime lengths would take seconds.
#include "fourier.h"

#include <numbers>

namespace tessera_executor {

Line transformed(const Line& x, int sign) {
  const size_t n = x.size();
  if (n == 1) return x;
  size_t factor = 2;
  while (factor * factor <= n && n % factor != 0) factor++;
  if (n % factor != 0) factor = n;
  const size_t rest = n / factor;
  std::vector<Line> parts;
  for (size_t r = 0; r < factor; r++) {
    Line part(rest);
    for (size_t i = 0; i < rest; i++) part[i] = x[i * factor + r];
    parts.push_back(rest == 1 ? part : transformed(part, sign));
  }
  Line turns(n), out(n);
  for (size_t k = 0; k < n; k++) turns[k] = std::polar(1.0, sign * 2 * std::numbers::pi * double(k) / double(n));
  for (size_t k = 0; k < n; k++) {
    double real = 0, imaginary = 0;
    size_t turn = 0;  // r * k % n
    for (size_t r = 0; r < factor; r++) {
      const Complex a = parts[r][k % rest], b = turns[turn];
      real += a.real() * b.real() - a.imag() * b.imag();
      imaginary += a.real() * b.imag() + a.imag() * b.real();
      turn += k;
      if (turn >= n) turn -= n;
    }
    out[k] = {real, imaginary};
  }
  return out;
}

}  // namespace tessera_executor
