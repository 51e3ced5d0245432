// Factorisations and solvers through cuSOLVER, and cuBLAS for triangular systems: one matrix after the other on the call's
// stream, with one workspace for all of them. Nothing is read back: what failed stands in `info`.
//
// The libraries count with 32 bits. cuSOLVER's singular values want at least as many rows as columns, so a wide matrix is
// factored as its adjoint; it has no LDL of hermitian complex matrices and no least squares by anything but QR.
#include <climits>

#include <algorithm>
#include <string>

#include "backends/cuda/lapack_parts.h"
#include "backends/cuda/scratch.h"
#include "backends/cuda/solver.h"
#include "runtime/ops/linalg/lapack_call.h"

namespace tessera::tensor::cuda {

const Blas& blas() {
  static const Blas functions;
  return functions;
}
const SolverCommon& solver_common() {
  static const SolverCommon functions;
  return functions;
}

namespace {

void check_status(cusolverStatus_t status, const char* function) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  const char* const names[] = {"CUSOLVER_STATUS_SUCCESS",
                               "CUSOLVER_STATUS_NOT_INITIALIZED",
                               "CUSOLVER_STATUS_ALLOC_FAILED",
                               "CUSOLVER_STATUS_INVALID_VALUE",
                               "CUSOLVER_STATUS_ARCH_MISMATCH",
                               "CUSOLVER_STATUS_MAPPING_ERROR",
                               "CUSOLVER_STATUS_EXECUTION_FAILED",
                               "CUSOLVER_STATUS_INTERNAL_ERROR",
                               "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                               "CUSOLVER_STATUS_NOT_SUPPORTED"};
  const bool known = int(status) >= 0 && size_t(status) < sizeof names / sizeof *names;
  fail_library(known ? names[int(status)] : "an error of cuSOLVER", function);
}
void check_status(cublasStatus_t status, const char* function) {
  if (status != CUBLAS_STATUS_SUCCESS) fail_library(blas().cublasGetStatusString(status), function);
}

// Handles have a stream, so each thread has its own for each device, made while that is current.
cusolverDnHandle_t solver_handle(const Place& place, Device device) {
  thread_local cusolverDnHandle_t made[kMaxDevices] = {};
  cusolverDnHandle_t& mine = made[index_of(device)];
  if (mine == nullptr) check_status(solver_common().cusolverDnCreate(&mine), "cusolverDnCreate");
  check_status(solver_common().cusolverDnSetStream(mine, place.stream()), "cusolverDnSetStream");
  return mine;
}
cublasHandle_t blas_handle(const Place& place, Device device) {
  thread_local cublasHandle_t made[kMaxDevices] = {};
  cublasHandle_t& mine = made[index_of(device)];
  if (mine == nullptr) check_status(blas().cublasCreate_v2(&mine), "cublasCreate");
  check_status(blas().cublasSetStream_v2(mine, place.stream()), "cublasSetStream");
  return mine;
}

cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,
                    cublasDiagType_t unit, int m, int n, const float* a, int lda, float* b, int ldb) {
  const float one = 1;
  return blas().cublasStrsm_v2(h, side, uplo, op, unit, m, n, &one, a, lda, b, ldb);
}
cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,
                    cublasDiagType_t unit, int m, int n, const double* a, int lda, double* b, int ldb) {
  const double one = 1;
  return blas().cublasDtrsm_v2(h, side, uplo, op, unit, m, n, &one, a, lda, b, ldb);
}
cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,
                    cublasDiagType_t unit, int m, int n, const cuComplex* a, int lda, cuComplex* b, int ldb) {
  const cuComplex one{1, 0};
  return blas().cublasCtrsm_v2(h, side, uplo, op, unit, m, n, &one, a, lda, b, ldb);
}
cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,
                    cublasDiagType_t unit, int m, int n, const cuDoubleComplex* a, int lda, cuDoubleComplex* b,
                    int ldb) {
  const cuDoubleComplex one{1, 0};
  return blas().cublasZtrsm_v2(h, side, uplo, op, unit, m, n, &one, a, lda, b, ldb);
}

template <class T>
class Lapack {
 public:
  using Real = typename Solver<T>::Real;
  static constexpr bool kComplex = sizeof(T) != sizeof(Real);

  explicit Lapack(const LapackCall& c)
      : c_(c),
        place_(c.launch),
        handle_(solver_handle(place_, c.launch.device)),
        m_(int(c.m)),
        n_(int(c.n)),
        k_(int(c.k)),
        least_(std::min(m_, n_)),
        uplo_(c.upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER),
        op_(c.op == 'N'   ? CUBLAS_OP_N
            : c.op == 'T' ? CUBLAS_OP_T
                          : CUBLAS_OP_C),
        infos_(c.launch, c.info == nullptr ? size_t(c.batch) * sizeof(int) : 0),
        info_(c.info == nullptr ? static_cast<int*>(infos_.get()) : c.info) {}

  void run() {
    switch (c_.routine) {
      case LapackCall::Cholesky: return cholesky();
      case LapackCall::CholeskySolve: return cholesky_solve();
      case LapackCall::CholeskyInverse: return cholesky_inverse();
      case LapackCall::Lu: return lu();
      case LapackCall::LuSolve: return lu_solve();
      case LapackCall::Order: return parts::order(c_.launch, c_.pivots, c_.order, c_.m, c_.k, c_.batch);
      case LapackCall::TriangularSolve: return triangular_solve();
      case LapackCall::Qr: return qr();
      case LapackCall::Reflectors: return reflectors();
      case LapackCall::Reflect: return reflect();
      case LapackCall::Svd: return svd();
      case LapackCall::Eigh: return eigh();
      case LapackCall::Eig: return eig();
      case LapackCall::Ldl: return ldl();
      case LapackCall::LdlSolve: return ldl_solve();
      case LapackCall::LeastSquares: return least_squares();
    }
  }

 private:
  const Solver<T>& s() const { return solver<T>(); }
  template <class E>
  static E* nth(void* list, int64_t i, int64_t elements) {
    return static_cast<E*>(list) + i * elements;
  }
  T* a(int64_t i, int64_t elements) const { return nth<T>(c_.a, i, elements); }
  T* b(int64_t i, int64_t elements) const { return nth<T>(c_.b, i, elements); }
  static int leading(int64_t rows) { return int(std::max<int64_t>(1, rows)); }
  size_t bytes(int64_t elements) const { return size_t(std::max<int64_t>(elements, 1)) * sizeof(T); }
  static T* as(const Scratch& memory) { return static_cast<T*>(memory.get()); }

  /// f(i) for each matrix.
  template <class F>
  void each(const F& f) const {
    for (int64_t i = 0; i < c_.batch; i++) f(i);
  }

  // ---- triangular factors ----

  void cholesky() {
    int size = 0;
    check_status(s().potrf_size(handle_, uplo_, n_, a(0, 0), leading(n_), &size), "cusolverDnXpotrf_bufferSize");
    const Scratch work(c_.launch, bytes(size));
    each([&](int64_t i) {
      check_status(s().potrf(handle_, uplo_, n_, a(i, c_.n * c_.n), leading(n_), as(work), size, info_ + i),
                   "cusolverDnXpotrf");
    });
    parts::keep_triangle(c_.launch, c_.dtype, c_.a, c_.n, c_.batch, c_.upper);
  }

  void cholesky_solve() {
    each([&](int64_t i) {
      check_status(
          s().potrs(handle_, uplo_, n_, k_, a(i, c_.n * c_.n), leading(n_), b(i, c_.n * c_.k), leading(n_), info_ + i),
          "cusolverDnXpotrs");
    });
  }

  void cholesky_inverse() {
    const int64_t one = c_.n * c_.n;
    const Scratch inverse(c_.launch, bytes(one * c_.batch));
    parts::identity(c_.launch, c_.dtype, inverse.get(), c_.n, c_.batch);
    each([&](int64_t i) {
      check_status(
          s().potrs(handle_, uplo_, n_, n_, a(i, one), leading(n_), as(inverse) + i * one, leading(n_), info_ + i),
          "cusolverDnXpotrs");
    });
    copy(c_.a, inverse.get(), one * c_.batch);
  }

  void lu() {
    int size = 0;
    check_status(s().getrf_size(handle_, m_, n_, a(0, 0), leading(m_), &size), "cusolverDnXgetrf_bufferSize");
    const Scratch work(c_.launch, bytes(size));
    each([&](int64_t i) {
      check_status(
          s().getrf(handle_, m_, n_, a(i, c_.m * c_.n), leading(m_), as(work), c_.pivots + i * least_, info_ + i),
          "cusolverDnXgetrf");
    });
  }

  void lu_solve() {
    each([&](int64_t i) {
      check_status(s().getrs(handle_, op_, n_, k_, a(i, c_.n * c_.n), leading(n_), c_.pivots + i * c_.n,
                             b(i, c_.n * c_.k), leading(n_), info_ + i),
                   "cusolverDnXgetrs");
    });
  }

  void solve_triangle(cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, bool unit, int m, int n,
                      const T* triangle, int ld, T* right, int ld_right) const {
    check_status(trsm(blas_handle(place_, c_.launch.device), side, uplo, op,
                      unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, m, n, triangle, ld, right, ld_right),
                 "cublasXtrsm");
  }

  void triangular_solve() {
    const int64_t order = c_.left ? c_.m : c_.n;
    each([&](int64_t i) {
      solve_triangle(c_.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, uplo_, op_, c_.unit, m_, n_, a(i, order * order),
                     leading(order), b(i, c_.m * c_.n), leading(m_));
    });
  }

  void refuse_hermitian() const {
    if (kComplex && c_.hermitian)
      fail_with(TensorErrorKind::Runtime,
                "torch.linalg.ldl_factor: complex tensors with hermitian=True flag are not supported with cuSOLVER "
                "backend.");
  }

  void ldl() {
    refuse_hermitian();
    int size = 0;
    check_status(s().sytrf_size(handle_, n_, a(0, 0), leading(n_), &size), "cusolverDnXsytrf_bufferSize");
    const Scratch work(c_.launch, bytes(size));
    each([&](int64_t i) {
      check_status(s().sytrf(handle_, uplo_, n_, a(i, c_.n * c_.n), leading(n_), c_.pivots + i * c_.n, as(work), size,
                             info_ + i),
                   "cusolverDnXsytrf");
    });
  }

  void ldl_solve() {
    refuse_hermitian();
    const SolverCommon& common = solver_common();
    const Scratch pivots(c_.launch, size_t(c_.n * c_.batch) * sizeof(int64_t));
    int64_t* wide = static_cast<int64_t*>(pivots.get());
    parts::widen(c_.launch, c_.pivots, wide, c_.n * c_.batch);
    constexpr cudaDataType type = Solver<T>::kData;
    size_t on_device = 0, on_host = 0;
    check_status(common.cusolverDnXsytrs_bufferSize(handle_, uplo_, c_.n, c_.k, type, c_.a, leading(n_), wide, type,
                                                    c_.b, leading(n_), &on_device, &on_host),
                 "cusolverDnXsytrs_bufferSize");
    const Scratch work(c_.launch, on_device);
    std::string host_work(on_host, '\0');
    each([&](int64_t i) {
      check_status(common.cusolverDnXsytrs(handle_, uplo_, c_.n, c_.k, type, a(i, c_.n * c_.n), leading(n_),
                                           wide + i * c_.n, type, b(i, c_.n * c_.k), leading(n_), work.get(), on_device,
                                           host_work.data(), on_host, info_ + i),
                   "cusolverDnXsytrs");
    });
  }

  // ---- reflectors ----

  // R and reflectors of `count` matrices of m x n.
  void factor(T* matrices, int m, int n, T* tau, int64_t count) const {
    int size = 0;
    check_status(s().geqrf_size(handle_, m, n, matrices, leading(m), &size), "cusolverDnXgeqrf_bufferSize");
    const Scratch work(c_.launch, bytes(size));
    for (int64_t i = 0; i < count; i++)
      check_status(s().geqrf(handle_, m, n, matrices + i * m * int64_t(n), leading(m), tau + i * std::min(m, n),
                             as(work), size, info_ + i),
                   "cusolverDnXgeqrf");
  }

  void qr() { factor(a(0, 0), m_, n_, nth<T>(c_.values, 0, 0), c_.batch); }

  void reflectors() {
    int size = 0;
    T* tau = nth<T>(c_.values, 0, 0);
    check_status(s().orgqr_size(handle_, m_, n_, k_, a(0, 0), leading(m_), tau, &size), "cusolverDnXorgqr_bufferSize");
    const Scratch work(c_.launch, bytes(size));
    each([&](int64_t i) {
      check_status(
          s().orgqr(handle_, m_, n_, k_, a(i, c_.m * c_.n), leading(m_), tau + i * c_.k, as(work), size, info_ + i),
          "cusolverDnXorgqr");
    });
  }

  // right (m x n, with leading dimension ld) <- op(Q) right, or right op(Q).
  void apply(cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const T* q, int ld_q, const T* tau,
             T* right, int ld, int* info) const {
    int size = 0;
    check_status(s().ormqr_size(handle_, side, op, m, n, k, q, ld_q, tau, right, ld, &size),
                 "cusolverDnXormqr_bufferSize");
    const Scratch work(c_.launch, bytes(size));
    check_status(s().ormqr(handle_, side, op, m, n, k, q, ld_q, tau, right, ld, as(work), size, info),
                 "cusolverDnXormqr");
  }

  void reflect() {
    const int64_t order = c_.left ? c_.m : c_.n;
    each([&](int64_t i) {
      apply(c_.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, op_, m_, n_, k_, a(i, order * c_.k), leading(order),
            nth<T>(c_.values, i, c_.k), b(i, c_.m * c_.n), leading(m_), info_ + i);
    });
  }

  // Least squares, or the smallest solution where there are many: by QR of the matrix or of its adjoint.
  void least_squares() {
    if (c_.driver != LapackCall::Gels)
      fail_with(TensorErrorKind::Runtime, "torch.linalg.lstsq: parameter `driver` should be one of (gels)");
    const int64_t rows = std::max(c_.m, c_.n);
    const int ld = leading(rows);
    const Scratch tau(c_.launch, bytes(c_.batch * least_));
    const bool wide = c_.m < c_.n;
    const Scratch turned(c_.launch, wide ? bytes(c_.batch * c_.m * c_.n) : 0);
    if (wide) parts::adjoint(c_.launch, c_.dtype, c_.a, turned.get(), c_.m, c_.n, c_.batch);
    T* matrices = wide ? as(turned) : a(0, 0);
    const int tall = int(rows), narrow = least_;
    factor(matrices, tall, narrow, as(tau), c_.batch);
    const cublasOperation_t adjoint = kComplex ? CUBLAS_OP_C : CUBLAS_OP_T;
    each([&](int64_t i) {
      const T* q = matrices + i * c_.m * c_.n;
      T* right = b(i, rows * c_.k);
      if (!wide) apply(CUBLAS_SIDE_LEFT, adjoint, tall, k_, narrow, q, ld, as(tau) + i * least_, right, ld, info_ + i);
      solve_triangle(CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, wide ? adjoint : CUBLAS_OP_N, false, narrow, k_, q, ld,
                     right, ld);
    });
    if (!wide) return;
    parts::clear_rows(c_.launch, c_.dtype, c_.b, rows, c_.k, c_.batch, c_.m);
    each([&](int64_t i) {
      apply(CUBLAS_SIDE_LEFT, CUBLAS_OP_N, tall, k_, narrow, matrices + i * c_.m * c_.n, ld, as(tau) + i * least_,
            b(i, rows * c_.k), ld, info_ + i);
    });
  }

  // ---- spectra ----

  void svd() {
    const bool wide = c_.m < c_.n, vectors = c_.job != 'N';
    const int tall = std::max(m_, n_);
    const int64_t elements = c_.m * c_.n, left = c_.job == 'A' ? tall : least_, right = least_;
    const Scratch turned(c_.launch, wide ? bytes(c_.batch * elements) : 0);
    if (wide) parts::adjoint(c_.launch, c_.dtype, c_.a, turned.get(), c_.m, c_.n, c_.batch);
    T* matrices = wide ? as(turned) : a(0, 0);
    // Of a tall matrix the rows of V^H are all there are; its own U and V^H are those of the call.
    const Scratch u_turned(c_.launch, wide && vectors ? bytes(c_.batch * tall * left) : 0);
    const Scratch v_turned(c_.launch, wide && vectors ? bytes(c_.batch * right * least_) : 0);
    T* u = wide ? as(u_turned) : nth<T>(c_.b, 0, 0);
    T* vh = wide ? as(v_turned) : nth<T>(c_.c, 0, 0);
    int size = 0;
    check_status(s().gesvd_size(handle_, tall, least_, &size), "cusolverDnXgesvd_bufferSize");
    const Scratch work(c_.launch, bytes(size)), rest(c_.launch, size_t(std::max(1, least_)) * sizeof(Real));
    const auto job = static_cast<signed char>(c_.job);
    const auto job_right = static_cast<signed char>(vectors ? 'A' : 'N');
    each([&](int64_t i) {
      check_status(s().gesvd(handle_, job, job_right, tall, least_, matrices + i * elements, leading(tall),
                             nth<Real>(c_.values, i, least_), vectors ? u + i * tall * left : nullptr, leading(tall),
                             vectors ? vh + i * right * least_ : nullptr, leading(right), as(work), size,
                             static_cast<Real*>(rest.get()), info_ + i),
                   "cusolverDnXgesvd");
    });
    if (!wide || !vectors) return;
    parts::adjoint(c_.launch, c_.dtype, u, c_.c, tall, left, c_.batch);
    parts::adjoint(c_.launch, c_.dtype, vh, c_.b, right, least_, c_.batch);
  }

  void eigh() {
    const cusolverEigMode_t job = c_.job == 'V' ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    int size = 0;
    check_status(s().syevd_size(handle_, job, uplo_, n_, a(0, 0), leading(n_), nth<Real>(c_.values, 0, 0), &size),
                 "cusolverDnXsyevd_bufferSize");
    const Scratch work(c_.launch, bytes(size));
    each([&](int64_t i) {
      check_status(s().syevd(handle_, job, uplo_, n_, a(i, c_.n * c_.n), leading(n_), nth<Real>(c_.values, i, c_.n),
                             as(work), size, info_ + i),
                   "cusolverDnXsyevd");
    });
  }

  // Eigenvalues are complex; of a real matrix the vectors come packed.
  void eig() {
    const SolverCommon& common = solver_common();
    constexpr cudaDataType type = Solver<T>::kData, complex = sizeof(Real) == 8 ? CUDA_C_64F : CUDA_C_32F;
    static cusolverDnParams_t params = [&] {
      cusolverDnParams_t made = nullptr;
      check_status(common.cusolverDnCreateParams(&made), "cusolverDnCreateParams");
      return made;
    }();
    const bool vectors = c_.b != nullptr;
    const auto wanted = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    const Scratch packed(c_.launch, vectors && !kComplex ? bytes(c_.n * c_.n) : 0);
    const auto values = [&](int64_t i) { return nth<Real>(c_.values, i, 2 * c_.n); };
    const auto made = [&](int64_t i) -> void* {
      return !vectors ? nullptr : kComplex ? static_cast<void*>(b(i, c_.n * c_.n)) : packed.get();
    };
    size_t on_device = 0, on_host = 0;
    check_status(common.cusolverDnXgeev_bufferSize(handle_, params, CUSOLVER_EIG_MODE_NOVECTOR, wanted, c_.n, type,
                                                   c_.a, leading(n_), complex, values(0), type, nullptr, leading(n_),
                                                   type, made(0), leading(n_), type, &on_device, &on_host),
                 "cusolverDnXgeev_bufferSize");
    const Scratch work(c_.launch, on_device);
    std::string host_work(on_host, '\0');
    each([&](int64_t i) {
      check_status(
          common.cusolverDnXgeev(handle_, params, CUSOLVER_EIG_MODE_NOVECTOR, wanted, c_.n, type, a(i, c_.n * c_.n),
                                 leading(n_), complex, values(i), type, nullptr, leading(n_), type, made(i),
                                 leading(n_), type, work.get(), on_device, host_work.data(), on_host, info_ + i),
          "cusolverDnXgeev");
      if (vectors && !kComplex)
        parts::pairs_to_complex(c_.launch, c_.dtype, packed.get(), values(i), nth<Real>(c_.b, i, 2 * c_.n * c_.n),
                                c_.n);
    });
  }

  void copy(void* to, const void* from, int64_t elements) const {
    check_call(cudaMemcpyAsync(to, from, size_t(elements) * sizeof(T), cudaMemcpyDeviceToDevice, place_.stream()));
  }

  const LapackCall& c_;
  const Place place_;
  const cusolverDnHandle_t handle_;
  const int m_, n_, k_, least_;
  const cublasFillMode_t uplo_;
  const cublasOperation_t op_;
  const Scratch infos_;
  int* const info_;
};

void lapack(const LapackCall& c) {
  if (std::max({c.m, c.n, c.k}) > INT_MAX)
    fail_with(TensorErrorKind::Runtime, "linear algebra on CUDA takes sizes up to 2147483647");
  switch (c.dtype) {
    case DType::Float64: return Lapack<double>(c).run();
    case DType::Complex64: return Lapack<cuComplex>(c).run();
    case DType::Complex128: return Lapack<cuDoubleComplex>(c).run();
    default: return Lapack<float>(c).run();
  }
}

const CudaKernel<LapackCall> entry("lapack", lapack);

}  // namespace
}  // namespace tessera::tensor::cuda
