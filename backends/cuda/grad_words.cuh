// The words of derivatives (grad_words.inc) for one element.
#pragma once

#include "backends/number.h"

namespace tessera::tensor::cuda::formulas {

namespace m = number_math;
template <class T>
using Lane = Num<T>;
template <class T>
using LaneMask = bool;

#define TS_WORD TS_NUMBER
#include "backends/grad_words.inc"
#undef TS_WORD

/// By steps of one to 10 and beyond, where few terms of the asymptotic series do; below zero by reflection.
template <class T>
TS_NUMBER Num<T> digamma(Num<T> given) {
  constexpr double kPi = 3.14159265358979323846;
  double x = double(given.v), total = 0;
  if (x == 0) return Num<T>(words::copysign(words::infinity<double>(), -x));
  if (x < 0) {
    const double rest = x - words::floor(x);
    if (rest == 0 || words::is_inf(x)) return Num<T>(words::infinity<double>() - words::infinity<double>());
    total = -kPi / words::tan(kPi * rest);
    x = 1 - x;
  }
  for (; x < 10; x += 1) total -= 1 / x;
  const Num<double> y(1 / (x * x));
  const Num<double> series =
      m::horner(y, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12);
  return Num<T>(total + words::log(x) - 0.5 / x - (y * series).v);
}

}  // namespace tessera::tensor::cuda::formulas
