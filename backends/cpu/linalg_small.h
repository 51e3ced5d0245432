// Factors of matrices so small that LAPACK's calls cost more than their work: the textbook's loops, column by column, with
// LAPACK's choice of pivots and its info. A batch of 4 x 4 matrices takes a third of the time.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

namespace tessera::tensor::cpu::small {

inline constexpr int64_t kLargest = 12;
/// Up to these orders the loops of L and U, and of one right hand side, have the bits of PyTorch's library.
inline constexpr int64_t kLargestLu = 16, kLargestSolve = 32;

/// By what LAPACK compares pivots: of complex numbers the sum of both parts.
template <class T>
T magnitude(T x) {
  return std::fabs(x);
}
template <class T>
T magnitude(const std::complex<T>& x) {
  return std::fabs(x.real()) + std::fabs(x.imag());
}
template <class T>
T adjoint(T x) {
  return x;
}
template <class T>
std::complex<T> adjoint(const std::complex<T>& x) {
  return std::conj(x);
}

/// x * y and x - y * z without the checks for infinities that complex numbers have in C++.
template <class T>
T times(T x, T y) {
  return x * y;
}
template <class T>
std::complex<T> times(const std::complex<T>& x, const std::complex<T>& y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// a (m x n, column-major) <- L and U; pivots count from 1. The answer is 0, or the place of the first pivot that is 0.
template <class T>
int lu(int64_t m, int64_t n, T* a, int32_t* pivots) {
  int info = 0;
  for (int64_t j = 0; j < std::min(m, n); j++) {
    T* column = a + j * m;
    int64_t best = j;
    for (int64_t r = j + 1; r < m; r++)
      if (magnitude(column[r]) > magnitude(column[best])) best = r;
    pivots[j] = int32_t(best + 1);
    if (column[best] == T(0)) {
      if (info == 0) info = int(j + 1);
      continue;
    }
    if (best != j)
      for (int64_t c = 0; c < n; c++) std::swap(a[c * m + j], a[c * m + best]);
    // As LAPACK does: one division for the column, unless its inverse overflows.
    const T inverse = T(1) / column[j];
    if (m == 2 || magnitude(column[j]) < std::numeric_limits<decltype(magnitude(inverse))>::min())
      for (int64_t r = j + 1; r < m; r++) column[r] /= column[j];
    else
      for (int64_t r = j + 1; r < m; r++) column[r] = times(column[r], inverse);
    for (int64_t c = j + 1; c < n; c++) {
      T* other = a + c * m;
      for (int64_t r = j + 1; r < m; r++) other[r] -= times(column[r], other[j]);
    }
  }
  return info;
}

/// The vector x <- A^-1 x, A (n x n) as lu leaves it.
template <class T>
void lu_solve(int64_t n, const T* a, const int32_t* pivots, T* x) {
  for (int64_t j = 0; j < n; j++)
    if (pivots[j] != j + 1) std::swap(x[j], x[pivots[j] - 1]);
  for (int64_t j = 0; j < n; j++)
    for (int64_t r = j + 1; r < n; r++) x[r] -= times(a[j * n + r], x[j]);
  // The smallest are multiplied by inverses, as in the library that PyTorch's results come from.
  const auto divide = [n](T& value, const T& by) { value = n <= 4 ? times(value, T(1) / by) : value / by; };
  for (int64_t j = n - 1; j >= 0; j--) {
    divide(x[j], a[j * n + j]);
    for (int64_t r = 0; r < j; r++) x[r] -= times(a[j * n + r], x[j]);
  }
}

/// x <- A^-T x, or A^-H x when `conjugate`.
template <class T>
void lu_solve_transposed(int64_t n, const T* a, const int32_t* pivots, T* x, bool conjugate) {
  const auto at = [&](int64_t r, int64_t c) { return conjugate ? adjoint(a[c * n + r]) : a[c * n + r]; };
  for (int64_t j = 0; j < n; j++) {
    for (int64_t r = 0; r < j; r++) x[j] -= times(at(r, j), x[r]);
    x[j] /= at(j, j);
  }
  for (int64_t j = n - 1; j >= 0; j--)
    for (int64_t r = j + 1; r < n; r++) x[j] -= times(at(r, j), x[r]);
  for (int64_t j = n - 1; j >= 0; j--)
    if (pivots[j] != j + 1) std::swap(x[j], x[pivots[j] - 1]);
}

/// The lower triangle of a (n x n) <- L. The answer is 0, or the order of the minor that is not positive; then columns from
/// there on are left as they are.
template <class T>
int cholesky(int64_t n, T* a) {
  for (int64_t j = 0; j < n; j++) {
    T* column = a + j * n;
    auto rest = std::real(column[j]);
    for (int64_t c = 0; c < j; c++) rest -= std::real(times(a[c * n + j], adjoint(a[c * n + j])));
    if (!(rest > 0)) {
      column[j] = rest;
      return int(j + 1);
    }
    const auto root = std::sqrt(rest);
    column[j] = root;
    for (int64_t c = 0; c < j; c++) {
      const T factor = adjoint(a[c * n + j]);
      for (int64_t r = j + 1; r < n; r++) column[r] -= times(a[c * n + r], factor);
    }
    for (int64_t r = j + 1; r < n; r++) column[r] /= root;
  }
  return 0;
}

// ---- reflectors ----

/// Whether sums of squares neither overflow nor vanish: else LAPACK, which scales.
template <class T>
bool is_moderate(int64_t count, const T* a) {
  double largest = 0;
  for (int64_t i = 0; i < count; i++) {
    const double size = double(magnitude(a[i]));
    if (!(size < 1e100)) return false;
    largest = std::max(largest, size);
  }
  return largest == 0 || largest > 1e-100;
}

/// Rows from..m of a column <- (I - tau v v^H) of it, v the column `reflector` with 1 at `from`.
template <class T>
void apply_reflector(int64_t from, int64_t m, const T* v, T tau, T* column) {
  T along = column[from];
  for (int64_t r = from + 1; r < m; r++) along += times(adjoint(v[r]), column[r]);
  along = times(along, tau);
  column[from] -= along;
  for (int64_t r = from + 1; r < m; r++) column[r] -= times(v[r], along);
}

/// a (m x n) <- R above, reflectors below the diagonal; tau their factors.
template <class T>
void qr(int64_t m, int64_t n, T* a, T* tau) {
  using Real = decltype(std::real(T()));
  for (int64_t j = 0; j < std::min(m, n); j++) {
    T* column = a + j * m;
    const double re = double(std::real(column[j])), im = double(std::imag(column[j]));
    double below = im * im;
    for (int64_t r = j + 1; r < m; r++) below += double(std::norm(std::complex<double>(column[r])));
    tau[j] = 0;
    if (below == 0) continue;
    const double beta = -std::copysign(std::sqrt(re * re + below), re);
    const std::complex<double> factor((beta - re) / beta, -im / beta),
        scale = 1.0 / std::complex<double>(re - beta, im);
    if constexpr (std::is_floating_point_v<T>) {
      tau[j] = T(factor.real());
      for (int64_t r = j + 1; r < m; r++) column[r] *= T(scale.real());
    } else {
      tau[j] = T(factor);
      for (int64_t r = j + 1; r < m; r++) column[r] = times(column[r], T(scale));
    }
    for (int64_t c = j + 1; c < n; c++) apply_reflector(j, m, column, adjoint(tau[j]), a + c * m);
    column[j] = Real(beta);
  }
}

/// a (m x n), of which k columns start with reflectors, <- the first n columns of their product.
template <class T>
void reflectors(int64_t m, int64_t n, int64_t k, T* a, const T* tau) {
  for (int64_t c = k; c < n; c++) {
    std::fill(a + c * m, a + (c + 1) * m, T(0));
    a[c * m + c] = 1;
  }
  for (int64_t j = k - 1; j >= 0; j--) {
    T* column = a + j * m;
    for (int64_t c = j + 1; c < n; c++) apply_reflector(j, m, column, tau[j], a + c * m);
    for (int64_t r = j + 1; r < m; r++) column[r] = -times(column[r], tau[j]);
    column[j] = T(1) - tau[j];
    std::fill(column, column + j, T(0));
  }
}

}  // namespace tessera::tensor::cpu::small
