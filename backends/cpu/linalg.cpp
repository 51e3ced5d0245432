// Factorisations and solvers on the CPU: LAPACK, one matrix at a time. A batch is shared out over the pool; a matrix is
// computed by one thread, so that its bits depend on nothing but itself. Between matrices the cancel flag is polled; a large one
// is computed where a program that is to stop can leave it (linalg_detached.h).
// compile: small (LAPACK takes longer)
#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <complex>
#include <numeric>

#include "backends/cpu/blas.h"
#include "backends/cpu/lapack.h"
#include "backends/cpu/linalg_detached.h"
#include "backends/cpu/linalg_small.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "runtime/ops/linalg/lapack_call.h"

namespace tessera::tensor::cpu {
namespace {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
constexpr bool kIsReal = std::is_floating_point_v<T>;

template <class T>
T* nth(void* list, int64_t index, int64_t elements) {
  return static_cast<T*>(list) + index * elements;
}
int leading(int64_t rows) { return int(std::max<int64_t>(1, rows)); }

/// Runs f(work, &length) with the workspace that f asks for when length is -1. `length` is kept from matrix to matrix.
template <class T, class F>
void with_workspace(int& length, const F& f) {
  if (length < 0) {
    T best{};
    int ask = -1;
    f(&best, &ask);
    // A float32 may have rounded the number down.
    length = std::max(1, int(std::ceil(double(std::real(best)) * (1 + 1.2e-7))));
  }
  const Scratch<T> work(length);
  f(work.data(), &length);
}

/// Sizes of a call as Fortran reads them.
struct Sizes {
  int m, n, k, least;
  explicit Sizes(const LapackCall& c) : m(int(c.m)), n(int(c.n)), k(int(c.k)), least(std::min(m, n)) {}
};

// ---- triangular factors ----

template <class T>
void cholesky(const LapackCall& c, int64_t i, int&) {
  const Sizes s(c);
  const char uplo = c.upper ? 'U' : 'L';
  T* a = nth<T>(c.a, i, c.n * c.n);
  int info = 0;
  if (!c.upper && c.n <= small::kLargest) info = small::cholesky(c.n, a);
  else call<T>(Routine::potrf, &uplo, &s.n, a, &s.n, &info, kLetter);
  for (int64_t j = 0; j < c.n; j++) {
    T* column = a + j * c.n;
    if (c.upper) std::fill(column + j + 1, column + c.n, T(0));
    else std::fill(column, column + j, T(0));
  }
  c.info[i] = info;
}

template <class T>
void cholesky_solve(const LapackCall& c, int64_t i, int&) {
  const Sizes s(c);
  const char uplo = c.upper ? 'U' : 'L';
  int info = 0;
  call<T>(Routine::potrs, &uplo, &s.n, &s.k, nth<T>(c.a, i, c.n * c.n), &s.n, nth<T>(c.b, i, c.n * c.k), &s.n, &info,
          kLetter);
}

template <class T>
void cholesky_inverse(const LapackCall& c, int64_t i, int&) {
  const Sizes s(c);
  const char uplo = c.upper ? 'U' : 'L';
  T* a = nth<T>(c.a, i, c.n * c.n);
  int info = 0;
  call<T>(Routine::potri, &uplo, &s.n, a, &s.n, &info, kLetter);
  c.info[i] = info;
  for (int64_t j = 0; j < c.n; j++)
    for (int64_t r = j + 1; r < c.n; r++) {
      T &below = a[j * c.n + r], &above = a[r * c.n + j];
      T& fresh = c.upper ? below : above;
      const T& known = c.upper ? above : below;
      if constexpr (kIsReal<T>) fresh = known;
      else fresh = std::conj(known);
    }
}

template <class T>
void lu(const LapackCall& c, int64_t i, int&) {
  const Sizes s(c);
  T* a = nth<T>(c.a, i, c.m * c.n);
  int32_t* pivots = c.pivots + i * s.least;
  int info = 0;
  if (std::max(c.m, c.n) <= small::kLargestLu) info = small::lu(c.m, c.n, a, pivots);
  else call<T>(Routine::getrf, &s.m, &s.n, a, &s.m, pivots, &info);
  c.info[i] = info;
}

template <class T>
void lu_solve(const LapackCall& c, int64_t i, int&) {
  const Sizes s(c);
  T *a = nth<T>(c.a, i, c.n * c.n), *b = nth<T>(c.b, i, c.n * c.k);
  int32_t* pivots = c.pivots + i * c.n;
  int info = 0;
  if (c.n > (c.k == 1 ? small::kLargestSolve : small::kLargestLu))
    return call<T>(Routine::getrs, &c.op, &s.n, &s.k, a, &s.n, pivots, b, &s.n, &info, kLetter);
  for (int64_t column = 0; column < c.k; column++, b += c.n)
    if (c.op == 'N') small::lu_solve(c.n, a, pivots, b);
    else small::lu_solve_transposed(c.n, a, pivots, b, c.op == 'C');
}

template <class T>
void order(const LapackCall& c, int64_t i, int&) {
  int64_t* rows = c.order + i * c.m;
  std::iota(rows, rows + c.m, int64_t(0));
  for (int64_t j = 0; j < c.k; j++) {
    const int32_t other = c.pivots[i * c.k + j];
    check(other >= 1 && other <= c.m, TensorErrorKind::Runtime,
          "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
          "Did you properly pass the result of lu_factor?");
    std::swap(rows[j], rows[other - 1]);
  }
}

template <class T>
void triangular_solve(const LapackCall& c, int64_t i, int&) {
  const Sizes s(c);
  const char side = c.left ? 'L' : 'R', uplo = c.upper ? 'U' : 'L', diagonal = c.unit ? 'U' : 'N';
  const int order = c.left ? s.m : s.n;
  const T one(1);
  call<T>(Routine::trsm, &side, &uplo, &c.op, &diagonal, &s.m, &s.n, &one, nth<T>(c.a, i, int64_t(order) * order),
          &order, nth<T>(c.b, i, c.m * c.n), &s.m, kLetter, kLetter, kLetter, kLetter);
}

template <class T>
void ldl(const LapackCall& c, int64_t i, int& length) {
  const Sizes s(c);
  const char uplo = c.upper ? 'U' : 'L';
  const Routine routine = !kIsReal<T> && c.hermitian ? Routine::hetrf : Routine::sytrf;
  int info = 0;
  with_workspace<T>(length, [&](T* work, int* size) {
    call<T>(routine, &uplo, &s.n, nth<T>(c.a, i, c.n * c.n), &s.n, c.pivots + i * c.n, work, size, &info, kLetter);
  });
  c.info[i] = info;
}

template <class T>
void ldl_solve(const LapackCall& c, int64_t i, int&) {
  const Sizes s(c);
  const char uplo = c.upper ? 'U' : 'L';
  const Routine routine = !kIsReal<T> && c.hermitian ? Routine::hetrs : Routine::sytrs;
  int info = 0;
  call<T>(routine, &uplo, &s.n, &s.k, nth<T>(c.a, i, c.n * c.n), &s.n, c.pivots + i * c.n, nth<T>(c.b, i, c.n * c.k),
          &s.n, &info, kLetter);
}

// ---- reflectors ----

template <class T>
void qr(const LapackCall& c, int64_t i, int& length) {
  const Sizes s(c);
  T *a = nth<T>(c.a, i, c.m * c.n), *tau = nth<T>(c.values, i, s.least);
  if (std::max(c.m, c.n) <= small::kLargest && small::is_moderate(c.m * c.n, a)) return small::qr(c.m, c.n, a, tau);
  int info = 0;
  with_workspace<T>(length,
                    [&](T* work, int* size) { call<T>(Routine::geqrf, &s.m, &s.n, a, &s.m, tau, work, size, &info); });
}

template <class T>
void reflectors(const LapackCall& c, int64_t i, int& length) {
  const Sizes s(c);
  T *a = nth<T>(c.a, i, c.m * c.n), *tau = nth<T>(c.values, i, c.k);
  if (c.m <= small::kLargest) return small::reflectors(c.m, c.n, c.k, a, tau);
  int info = 0;
  with_workspace<T>(
      length, [&](T* work, int* size) { call<T>(Routine::orgqr, &s.m, &s.n, &s.k, a, &s.m, tau, work, size, &info); });
}

template <class T>
void reflect(const LapackCall& c, int64_t i, int& length) {
  const Sizes s(c);
  const char side = c.left ? 'L' : 'R';
  const int order = c.left ? s.m : s.n;
  int info = 0;
  with_workspace<T>(length, [&](T* work, int* size) {
    call<T>(Routine::ormqr, &side, &c.op, &s.m, &s.n, &s.k, nth<T>(c.a, i, int64_t(order) * c.k), &order,
            nth<T>(c.values, i, c.k), nth<T>(c.b, i, c.m * c.n), &s.m, work, size, &info, kLetter, kLetter);
  });
}

// ---- spectra ----

enum class Numbers { Finite, Infinite, NaN };
template <class T>
Numbers numbers_of(const T* x, int64_t n) {
  Numbers found = Numbers::Finite;
  const Real<T>* const parts = reinterpret_cast<const Real<T>*>(x);
  for (int64_t k = 0; k < n * int64_t(sizeof(T) / sizeof(Real<T>)); k++) {
    if (std::isnan(parts[k])) return Numbers::NaN;
    if (std::isinf(parts[k])) found = Numbers::Infinite;
  }
  return found;
}

template <class T>
void svd(const LapackCall& c, int64_t i, int& length) {
  const Sizes s(c);
  const int64_t least = s.least, most = std::max(s.m, s.n);
  const int64_t left = c.job == 'A' ? c.m : least, right = c.job == 'A' ? c.n : least;
  const int ld_right = leading(right);
  T* u = c.job == 'N' ? nullptr : nth<T>(c.b, i, c.m * left);
  T* vh = c.job == 'N' ? nullptr : nth<T>(c.c, i, right * c.n);
  // Of infinities OpenBLAS's routine may never find an end.
  const Numbers kind = numbers_of(nth<T>(c.a, i, c.m * c.n), c.m * c.n);
  if (kind != Numbers::Finite) {
    const Real<T> nothing = std::numeric_limits<Real<T>>::quiet_NaN();
    std::fill_n(nth<Real<T>>(c.values, i, least), least, nothing);
    if (u) std::fill_n(u, c.m * left, T(nothing)), std::fill_n(vh, right * c.n, T(nothing));
    c.info[i] = kind == Numbers::NaN ? -4 : 0;
    return;
  }
  const Scratch<int> whole(8 * least);
  const Scratch<Real<T>> real(kIsReal<T>     ? 0
                              : c.job == 'N' ? 7 * least
                                             : least * std::max(5 * least + 7, 2 * most + 2 * least + 1));
  int info = 0;
  with_workspace<T>(length, [&](T* work, int* size) {
    const auto run = [&](auto... real_work) {
      call<T>(Routine::gesdd, &c.job, &s.m, &s.n, nth<T>(c.a, i, c.m * c.n), &s.m, nth<Real<T>>(c.values, i, least), u,
              &s.m, vh, &ld_right, work, size, real_work..., whole.data(), &info, kLetter);
    };
    if constexpr (kIsReal<T>) run();
    else run(real.data());
  });
  c.info[i] = info;
}

template <class T>
void eigh(const LapackCall& c, int64_t i, int& length) {
  const Sizes s(c);
  const char uplo = c.upper ? 'U' : 'L';
  const bool vectors = c.job == 'V';
  const int64_t n = c.n;
  const int whole_length = vectors ? int(3 + 5 * n) : 1,
            real_length = vectors ? int(1 + 5 * n + 2 * n * n) : leading(n);
  const Scratch<int> whole(whole_length);
  const Scratch<Real<T>> real(kIsReal<T> ? 0 : real_length);
  int info = 0;
  with_workspace<T>(length, [&](T* work, int* size) {
    const bool asks = *size < 0;
    const int real_size = asks ? -1 : real_length, whole_size = asks ? -1 : whole_length;
    const auto run = [&](auto... real_work) {
      call<T>(Routine::syevd, &c.job, &uplo, &s.n, nth<T>(c.a, i, n * n), &s.n, nth<Real<T>>(c.values, i, n), work,
              size, real_work..., whole.data(), &whole_size, &info, kLetter, kLetter);
    };
    if constexpr (kIsReal<T>) run();
    else run(real.data(), &real_size);
  });
  c.info[i] = info;
}

// Of real matrices LAPACK gives conjugate pairs as real and imaginary part, in neighbouring columns.
template <class T>
void pairs_to_complex(int64_t n, const T* parts, const T* imaginary, std::complex<T>* out) {
  for (int64_t j = 0; j < n; j++) {
    const T *re = parts + j * n, *im = re + n;
    for (int64_t r = 0; r < n; r++)
      if (imaginary[j] == 0) out[j * n + r] = re[r];
      else out[j * n + r] = {re[r], im[r]}, out[(j + 1) * n + r] = {re[r], -im[r]};
    if (imaginary[j] != 0) j++;
  }
}

template <class T>
void eig(const LapackCall& c, int64_t i, int& length) {
  using Complex = std::complex<Real<T>>;
  const Sizes s(c);
  const char none = 'N', wanted = c.b == nullptr ? 'N' : 'V';
  const int64_t n = c.n;
  const int one = 1;
  Complex* values = nth<Complex>(c.values, i, n);
  Complex* vectors = c.b == nullptr ? nullptr : nth<Complex>(c.b, i, n * n);
  int info = 0;
  if constexpr (kIsReal<T>) {
    const Scratch<T> re(n), im(n), parts(vectors == nullptr ? 0 : n * n);
    with_workspace<T>(length, [&](T* work, int* size) {
      call<T>(Routine::geev, &none, &wanted, &s.n, nth<T>(c.a, i, n * n), &s.n, re.data(), im.data(),
              static_cast<T*>(nullptr), &one, parts.data(), &s.n, work, size, &info, kLetter, kLetter);
    });
    for (int64_t j = 0; j < n; j++) values[j] = {re.data()[j], im.data()[j]};
    if (vectors != nullptr) pairs_to_complex(n, parts.data(), im.data(), vectors);
  } else {
    const Scratch<Real<T>> real(2 * n);
    with_workspace<T>(length, [&](T* work, int* size) {
      call<T>(Routine::geev, &none, &wanted, &s.n, nth<T>(c.a, i, n * n), &s.n, values, static_cast<T*>(nullptr), &one,
              vectors, &s.n, work, size, real.data(), &info, kLetter, kLetter);
    });
  }
  c.info[i] = info;
}

// ---- least squares ----

template <class T>
void least_squares(const LapackCall& c, int64_t i, int& length) {
  const Sizes s(c);
  const int64_t rows = std::max(c.m, c.n);
  const int ld = leading(rows);
  const char none = 'N';
  const Real<T> rcond = Real<T>(c.rcond);
  T *a = nth<T>(c.a, i, c.m * c.n), *b = nth<T>(c.b, i, rows * c.k);
  Real<T>* values = c.values == nullptr ? nullptr : nth<Real<T>>(c.values, i, s.least);
  const Scratch<int> columns(c.driver == LapackCall::Gelsy ? c.n : 0);
  std::fill_n(columns.data(), c.driver == LapackCall::Gelsy ? c.n : 0, 0);
  // The longest that gelsd may ask for: LAPACK's formula with its smallest block of 25 or more.
  const int64_t levels = std::max<int64_t>(0, int64_t(std::log2(double(std::max(s.least, 1)))) + 1);
  const Scratch<int> whole(c.driver == LapackCall::Gelsd ? 3 * s.least * levels + 11 * s.least + 1 : 0);
  const int64_t block = 32, real_length = 10 * rows + 2 * rows * block + 8 * rows * levels + 3 * block * c.k +
                                          std::max((block + 1) * (block + 1), rows * (1 + c.k) + 2 * c.k) + 1;
  const Scratch<Real<T>> real(kIsReal<T> ? 0 : real_length);
  int info = 0, rank = 0;
  if (numbers_of(a, c.m * c.n) != Numbers::Finite || numbers_of(b, rows * c.k) != Numbers::Finite) {
    const Real<T> nothing = std::numeric_limits<Real<T>>::quiet_NaN();
    std::fill_n(b, rows * c.k, T(nothing));
    if (values) std::fill_n(values, s.least, nothing);
    if (c.rank != nullptr) c.rank[i] = s.least;
    c.info[i] = 0;
    return;
  }
  with_workspace<T>(length, [&](T* work, int* size) {
    if (c.driver == LapackCall::Gels)
      return call<T>(Routine::gels, &none, &s.m, &s.n, &s.k, a, &s.m, b, &ld, work, size, &info, kLetter);
    const auto run = [&](auto... more) {
      if (c.driver == LapackCall::Gelsy)
        call<T>(Routine::gelsy, &s.m, &s.n, &s.k, a, &s.m, b, &ld, columns.data(), &rcond, &rank, work, size, more...,
                &info);
      else if (c.driver == LapackCall::Gelsd)
        call<T>(Routine::gelsd, &s.m, &s.n, &s.k, a, &s.m, b, &ld, values, &rcond, &rank, work, size, more...,
                whole.data(), &info);
      else
        call<T>(Routine::gelss, &s.m, &s.n, &s.k, a, &s.m, b, &ld, values, &rcond, &rank, work, size, more..., &info);
    };
    if constexpr (kIsReal<T>) run();
    else run(real.data());
  });
  if (c.rank != nullptr) c.rank[i] = rank;
  c.info[i] = info;
}

// ---- batches ----

template <class T>
OneMatrix function_of(LapackCall::Routine routine) {
  switch (routine) {
    case LapackCall::Cholesky: return cholesky<T>;
    case LapackCall::CholeskySolve: return cholesky_solve<T>;
    case LapackCall::CholeskyInverse: return cholesky_inverse<T>;
    case LapackCall::Lu: return lu<T>;
    case LapackCall::LuSolve: return lu_solve<T>;
    case LapackCall::Order: return order<T>;
    case LapackCall::TriangularSolve: return triangular_solve<T>;
    case LapackCall::Qr: return qr<T>;
    case LapackCall::Reflectors: return reflectors<T>;
    case LapackCall::Reflect: return reflect<T>;
    case LapackCall::Svd: return svd<T>;
    case LapackCall::Eigh: return eigh<T>;
    case LapackCall::Eig: return eig<T>;
    case LapackCall::Ldl: return ldl<T>;
    case LapackCall::LdlSolve: return ldl_solve<T>;
    case LapackCall::LeastSquares: return least_squares<T>;
  }
  return nullptr;
}

}  // namespace

OneMatrix matrix_function(const LapackCall& c) {
  switch (c.dtype) {
    case DType::Float32: return function_of<float>(c.routine);
    case DType::Float64: return function_of<double>(c.routine);
    case DType::Complex64: return function_of<std::complex<float>>(c.routine);
    case DType::Complex128: return function_of<std::complex<double>>(c.routine);
    default: fail(TensorErrorKind::NotImplemented, "\"linalg\" not implemented for '", scalar_type_name(c.dtype), "'");
  }
}

namespace {

constexpr int64_t kSmallWork = int64_t(1) << 16;  // multiplications: some ten microseconds of a factorisation
constexpr int kWorkShift = 15;                    // of a microsecond, as a power of two, of the countdown

void lapack(const LapackCall& c) {
  check(std::max({c.m, c.n, c.k}) <= INT_MAX, TensorErrorKind::Runtime, "LAPACK takes sizes up to ", INT_MAX);
  const OneMatrix one = matrix_function(c);
  const int64_t side = std::max<int64_t>({c.m, c.n, c.k, 1}), work = side * side * side;
  const int64_t operations = operations_of(c);
  count_work(uint64_t(c.batch * operations) >> kWorkShift);
  const bool detached = operations >= kWorthAThread && blas().has_room;
  const auto body = [&](int64_t begin, int64_t end) {
    int workspace = -1;
    for (int64_t i = begin; i < end; i++)
      if (detached) run_detached(c, i, one);
      else one(c, i, workspace);
  };
  if (c.batch == 1) return body(0, 1);
  run_split(c.batch, {std::max<int64_t>(1, kSmallWork / work), work >= kSmallWork, blas().most_threads},
            RangeBody(body));
}

const KernelRegistration<LapackCall> registration(lapack_kernel, DeviceType::Cpu, lapack);

}  // namespace
}  // namespace tessera::tensor::cpu
