// cuSOLVER's and cuBLAS's routines by those of LAPACK that they are named after, from the OpenBLAS that the program opens too.
// Before a routine runs its matrices, its workspace and its info are looked at; the workspace is filled with nonsense.
#include "cusolverDn.h"

#include <dlfcn.h>

#include <complex>
#include <cstring>
#include <vector>

#include "libraries.h"

using namespace tessera_executor;

struct cusolverDnContext {
  int device;
  cudaStream_t stream = nullptr;
};
struct cublasContext {
  int device;
  cudaStream_t stream = nullptr;
};
struct cusolverDnParams {};

namespace {

void* lapack_library() {
  static void* const opened = [] {
    for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
      if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    violation("the stand-in for cuSOLVER needs libopenblas.so.0");
  }();
  return opened;
}

template <class T>
struct Type;
template <>
struct Type<float> {
  using Number = float;
  using Real = float;
  static constexpr char letter = 's';
};
template <>
struct Type<double> {
  using Number = double;
  using Real = double;
  static constexpr char letter = 'd';
};
template <>
struct Type<cuComplex> {
  using Number = std::complex<float>;
  using Real = float;
  static constexpr char letter = 'c';
};
template <>
struct Type<cuDoubleComplex> {
  using Number = std::complex<double>;
  using Real = double;
  static constexpr char letter = 'z';
};
template <class T>
constexpr bool kComplex = !std::is_floating_point_v<T>;

/// A Fortran routine: every argument is an address, lengths of letters follow.
template <class T, class... A>
void call(const char* routine, A... arguments) {
  const std::string name = std::string(1, Type<T>::letter) + routine + "_";
  void* const found = dlsym(lapack_library(), name.c_str());
  if (found == nullptr) violation("the stand-in for cuSOLVER needs OpenBLAS with LAPACK (" + name + ")");
  reinterpret_cast<void (*)(A...)>(found)(arguments...);
}
/// A routine with a workspace of its own choice: run(work, &length).
template <class T, class F>
void with_work(const F& run) {
  T best[1] = {};
  int size = -1;
  run(best, &size);
  typename Type<T>::Real length;
  std::memcpy(&length, best, sizeof length);
  size = std::max(1, int(length) + 1);
  std::vector<T> work(static_cast<size_t>(size));
  run(work.data(), &size);
}
constexpr size_t kLetter = 1;

// ---- what is looked at ----

template <class T>
void check_matrix(const char* name, const T* a, int64_t rows, int64_t columns, int64_t ld, int device) {
  if (ld < std::max<int64_t>(1, rows)) violation(std::string("cuSOLVER: the leading dimension of ") + name);
  if (rows == 0 || columns == 0) return;
  check_block("cuSOLVER", name, a, size_t((columns - 1) * ld + rows) * sizeof(T), device);
  // LAPACK's own accesses are not seen: each matrix counts as written, which most are.
  for (int64_t j = 0; j < columns; j++)
    library_writes(const_cast<std::remove_const_t<T>*>(a) + j * ld, size_t(rows) * sizeof(T));
}
template <class T>
void check_list(const char* name, const T* list, int64_t n, int device) {
  check_block("cuSOLVER", name, list, size_t(n) * sizeof(T), device);
  if (n > 0) library_writes(const_cast<std::remove_const_t<T>*>(list), size_t(n) * sizeof(T));
}
template <class T>
void check_work(T* work, int64_t size, int device) {
  check_list("the workspace", work, size, device);
  if (size > 0) std::memset(static_cast<void*>(work), 0xee, size_t(size) * sizeof(T));
}

/// Work of a stream as a closure; its captures are copied.
template <class F>
cusolverStatus_t queue(cusolverDnHandle_t handle, const char* name, const F& f) {
  if (handle->device != current_device()) violation("cuSOLVER: the handle belongs to another device");
  struct Work {
    F f;
    void run() const { f(); }
  };
  queue_work(name, handle->stream, Work{f});
  return CUSOLVER_STATUS_SUCCESS;
}

const char* uplo_of(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_UPPER ? "U" : "L"; }
const char* op_of(cublasOperation_t op) { return op == CUBLAS_OP_N ? "N" : op == CUBLAS_OP_T ? "T" : "C"; }
int asked_size(int64_t n) { return int(3 * n + 7); }  // any number will do: the routines have their own

cusolverStatus_t size_is(int64_t n, int* size) {
  *size = asked_size(n);
  return CUSOLVER_STATUS_SUCCESS;
}
void check_size(int size, int64_t n) {
  if (size < asked_size(n)) violation("cuSOLVER: the workspace is smaller than was asked for");
}

// ---- routines ----

template <class T>
cusolverStatus_t potrf(cusolverDnHandle_t h, cublasFillMode_t uplo, int n, T* a, int lda, T* work, int size,
                       int* info) {
  return queue(h, "potrf", [=, device = h->device] {
    check_matrix("A", a, n, n, lda, device);
    check_size(size, n), check_work(work, size, device), check_list("info", info, 1, device);
    call<T>("potrf", uplo_of(uplo), &n, a, &lda, info, kLetter);
  });
}
template <class T>
cusolverStatus_t potrs(cusolverDnHandle_t h, cublasFillMode_t uplo, int n, int k, const T* a, int lda, T* b, int ldb,
                       int* info) {
  return queue(h, "potrs", [=, device = h->device] {
    check_matrix("A", a, n, n, lda, device), check_matrix("B", b, n, k, ldb, device);
    check_list("info", info, 1, device);
    call<T>("potrs", uplo_of(uplo), &n, &k, a, &lda, b, &ldb, info, kLetter);
  });
}
template <class T>
cusolverStatus_t getrf(cusolverDnHandle_t h, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {
  return queue(h, "getrf", [=, device = h->device] {
    check_matrix("A", a, m, n, lda, device), check_work(work, asked_size(n), device);
    check_list("pivots", pivots, std::min(m, n), device), check_list("info", info, 1, device);
    call<T>("getrf", &m, &n, a, &lda, pivots, info);
  });
}
template <class T>
cusolverStatus_t getrs(cusolverDnHandle_t h, cublasOperation_t op, int n, int k, const T* a, int lda, const int* pivots,
                       T* b, int ldb, int* info) {
  return queue(h, "getrs", [=, device = h->device] {
    check_matrix("A", a, n, n, lda, device), check_matrix("B", b, n, k, ldb, device);
    check_list("pivots", pivots, n, device), check_list("info", info, 1, device);
    call<T>("getrs", op_of(op), &n, &k, a, &lda, pivots, b, &ldb, info, kLetter);
  });
}
template <class T>
cusolverStatus_t geqrf(cusolverDnHandle_t h, int m, int n, T* a, int lda, T* tau, T* work, int size, int* info) {
  return queue(h, "geqrf", [=, device = h->device] {
    check_matrix("A", a, m, n, lda, device), check_list("tau", tau, std::min(m, n), device);
    check_size(size, n), check_work(work, size, device), check_list("info", info, 1, device);
    with_work<T>([&](T* own, int* length) { call<T>("geqrf", &m, &n, a, &lda, tau, own, length, info); });
  });
}
template <class T>
cusolverStatus_t orgqr(cusolverDnHandle_t h, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size,
                       int* info) {
  if (n > m || k > n) return CUSOLVER_STATUS_INVALID_VALUE;
  return queue(h, "orgqr", [=, device = h->device] {
    check_matrix("A", a, m, n, lda, device), check_list("tau", tau, k, device);
    check_size(size, n), check_work(work, size, device), check_list("info", info, 1, device);
    const char* const name = kComplex<T> ? "ungqr" : "orgqr";
    with_work<T>([&](T* own, int* length) { call<T>(name, &m, &n, &k, a, &lda, tau, own, length, info); });
  });
}
template <class T>
cusolverStatus_t ormqr(cusolverDnHandle_t h, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k,
                       const T* a, int lda, const T* tau, T* c, int ldc, T* work, int size, int* info) {
  if (kComplex<T> && op == CUBLAS_OP_T) return CUSOLVER_STATUS_INVALID_VALUE;
  return queue(h, "ormqr", [=, device = h->device] {
    check_matrix("A", a, side == CUBLAS_SIDE_LEFT ? m : n, k, lda, device), check_matrix("C", c, m, n, ldc, device);
    check_list("tau", tau, k, device), check_size(size, n), check_work(work, size, device);
    check_list("info", info, 1, device);
    const char* const name = kComplex<T> ? "unmqr" : "ormqr";
    const char* const which = side == CUBLAS_SIDE_LEFT ? "L" : "R";
    // "T" and "C" are one and the same of real numbers, and LAPACK knows the first.
    const char* const how = op == CUBLAS_OP_N ? "N" : kComplex<T> ? "C" : "T";
    with_work<T>([&](T* own, int* length) {
      call<T>(name, which, how, &m, &n, &k, a, &lda, tau, c, &ldc, own, length, info, kLetter, kLetter);
    });
  });
}
template <class T, class R>
cusolverStatus_t gesvd(cusolverDnHandle_t h, signed char job_u, signed char job_v, int m, int n, T* a, int lda, R* s,
                       T* u, int ldu, T* v, int ldv, T* work, int size, R* real_work, int* info) {
  if (m < n) return CUSOLVER_STATUS_INVALID_VALUE;
  return queue(h, "gesvd", [=, device = h->device] {
    check_matrix("A", a, m, n, lda, device), check_list("S", s, n, device);
    if (job_u != 'N') check_matrix("U", u, m, job_u == 'A' ? m : n, ldu, device);
    if (job_v != 'N') check_matrix("VT", v, n, n, ldv, device);
    check_size(size, n), check_work(work, size, device), check_work(real_work, std::max(n - 1, 0), device);
    check_list("info", info, 1, device);
    const char left = char(job_u), right = char(job_v);
    std::vector<R> real(size_t(5 * n + 1));
    with_work<T>([&](T* own, int* length) {
      if constexpr (kComplex<T>)
        call<T>("gesvd", &left, &right, &m, &n, a, &lda, s, u, &ldu, v, &ldv, own, length, real.data(), info, kLetter,
                kLetter);
      else call<T>("gesvd", &left, &right, &m, &n, a, &lda, s, u, &ldu, v, &ldv, own, length, info, kLetter, kLetter);
    });
  });
}
template <class T, class R>
cusolverStatus_t syevd(cusolverDnHandle_t h, cusolverEigMode_t job, cublasFillMode_t uplo, int n, T* a, int lda, R* w,
                       T* work, int size, int* info) {
  return queue(h, "syevd", [=, device = h->device] {
    check_matrix("A", a, n, n, lda, device), check_list("W", w, n, device);
    check_size(size, n), check_work(work, size, device), check_list("info", info, 1, device);
    const char* const how = job == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N";
    const int whole_size = 3 + 5 * n, real_size = 1 + 5 * n + 2 * n * n;
    std::vector<int> whole(static_cast<size_t>(whole_size));
    std::vector<R> real(static_cast<size_t>(real_size));
    with_work<T>([&](T* own, int* length) {
      const int asked = *length < 0 ? -1 : whole_size, real_asked = *length < 0 ? -1 : real_size;
      if constexpr (kComplex<T>)
        call<T>("heevd", how, uplo_of(uplo), &n, a, &lda, w, own, length, real.data(), &real_asked, whole.data(),
                &asked, info, kLetter, kLetter);
      else
        call<T>("syevd", how, uplo_of(uplo), &n, a, &lda, w, own, length, whole.data(), &asked, info, kLetter, kLetter);
    });
  });
}
template <class T>
cusolverStatus_t sytrf(cusolverDnHandle_t h, cublasFillMode_t uplo, int n, T* a, int lda, int* pivots, T* work,
                       int size, int* info) {
  return queue(h, "sytrf", [=, device = h->device] {
    check_matrix("A", a, n, n, lda, device), check_list("pivots", pivots, n, device);
    check_size(size, n), check_work(work, size, device), check_list("info", info, 1, device);
    with_work<T>(
        [&](T* own, int* length) { call<T>("sytrf", uplo_of(uplo), &n, a, &lda, pivots, own, length, info, kLetter); });
  });
}
template <class T>
void sytrs(cusolverDnHandle_t h, cublasFillMode_t uplo, int n, int k, const T* a, int lda, const int64_t* pivots, T* b,
           int ldb, char* work, size_t on_device, int* info) {
  queue(h, "sytrs", [=, device = h->device] {
    check_matrix("A", a, n, n, lda, device), check_matrix("B", b, n, k, ldb, device);
    check_list("pivots", pivots, n, device), check_work(work, int64_t(on_device), device);
    check_list("info", info, 1, device);
    const std::vector<int> narrow(pivots, pivots + n);
    call<T>("sytrs", uplo_of(uplo), &n, &k, a, &lda, narrow.data(), b, &ldb, info, kLetter);
  });
}
template <class T>
void geev(cusolverDnHandle_t h, bool vectors, int n, T* a, int lda, void* values, T* right, int ld, char* work,
          size_t on_device, int* info) {
  using R = typename Type<T>::Real;
  using C = std::complex<R>;
  queue(h, "geev", [=, device = h->device] {
    C* const w = static_cast<C*>(values);
    check_matrix("A", a, n, n, lda, device), check_list("W", w, n, device);
    if (vectors) check_matrix("VR", right, n, n, ld, device);
    check_work(work, int64_t(on_device), device), check_list("info", info, 1, device);
    const char* const how = vectors ? "V" : "N";
    const int one = 1;
    T* const none = nullptr;
    if constexpr (kComplex<T>) {
      std::vector<R> real(size_t(2 * n));
      with_work<T>([&](T* own, int* length) {
        call<T>("geev", "N", how, &n, a, &lda, w, none, &one, right, &ld, own, length, real.data(), info, kLetter,
                kLetter);
      });
    } else {
      std::vector<T> re(static_cast<size_t>(n)), im(static_cast<size_t>(n));
      with_work<T>([&](T* own, int* length) {
        call<T>("geev", "N", how, &n, a, &lda, re.data(), im.data(), none, &one, right, &ld, own, length, info, kLetter,
                kLetter);
      });
      for (int i = 0; i < n; i++) w[i] = {re[size_t(i)], im[size_t(i)]};
    }
  });
}
template <class T>
cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,
                    cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int lda, T* b, int ldb) {
  if (h->device != current_device()) violation("cuBLAS: the handle belongs to another device");
  const T factor = *alpha;
  const auto body = [=, device = h->device] {
    const int order = side == CUBLAS_SIDE_LEFT ? m : n;
    check_matrix("A", a, order, order, lda, device), check_matrix("B", b, m, n, ldb, device);
    call<T>("trsm", side == CUBLAS_SIDE_LEFT ? "L" : "R", uplo_of(uplo), op_of(op),
            diagonal == CUBLAS_DIAG_UNIT ? "U" : "N", &m, &n, &factor, a, &lda, b, &ldb, kLetter, kLetter, kLetter,
            kLetter);
  };
  struct Work {
    decltype(body) f;
    void run() const { f(); }
  };
  queue_work("trsm", h->stream, Work{body});
  return CUBLAS_STATUS_SUCCESS;
}

/// f(T*) for a type of the 64-bit functions.
template <class F>
cusolverStatus_t with_type(cudaDataType type, const F& f) {
  switch (type) {
    case CUDA_R_32F: f(static_cast<float*>(nullptr)); break;
    case CUDA_R_64F: f(static_cast<double*>(nullptr)); break;
    case CUDA_C_32F: f(static_cast<cuComplex*>(nullptr)); break;
    case CUDA_C_64F: f(static_cast<cuDoubleComplex*>(nullptr)); break;
    default: return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  return CUSOLVER_STATUS_SUCCESS;
}
constexpr size_t kHostWork = 24;

}  // namespace

#define TS_DEFINE(L, OR, SY, T, R)                                                                                     \
  cusolverStatus_t cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int n, T*, int, int* size) {  \
    return size_is(n, size);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##potrf(cusolverDnHandle_t h, cublasFillMode_t uplo, int n, T* a, int lda, T* work,    \
                                        int size, int* info) {                                                         \
    return potrf(h, uplo, n, a, lda, work, size, info);                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##potrs(cusolverDnHandle_t h, cublasFillMode_t uplo, int n, int k, const T* a,         \
                                        int lda, T* b, int ldb, int* info) {                                           \
    return potrs(h, uplo, n, k, a, lda, b, ldb, info);                                                                 \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t, int, int n, T*, int, int* size) {               \
    return size_is(n, size);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##getrf(cusolverDnHandle_t h, int m, int n, T* a, int lda, T* work, int* pivots,       \
                                        int* info) {                                                                   \
    return getrf(h, m, n, a, lda, work, pivots, info);                                                                 \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##getrs(cusolverDnHandle_t h, cublasOperation_t op, int n, int k, const T* a, int lda, \
                                        const int* pivots, T* b, int ldb, int* info) {                                 \
    return getrs(h, op, n, k, a, lda, pivots, b, ldb, info);                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t, int, int n, T*, int, int* size) {               \
    return size_is(n, size);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##geqrf(cusolverDnHandle_t h, int m, int n, T* a, int lda, T* tau, T* work, int size,  \
                                        int* info) {                                                                   \
    return geqrf(h, m, n, a, lda, tau, work, size, info);                                                              \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##OR##gqr_bufferSize(cusolverDnHandle_t, int, int n, int, const T*, int, const T*,     \
                                                     int* size) {                                                      \
    return size_is(n, size);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##OR##gqr(cusolverDnHandle_t h, int m, int n, int k, T* a, int lda, const T* tau,      \
                                          T* work, int size, int* info) {                                              \
    return orgqr(h, m, n, k, a, lda, tau, work, size, info);                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##OR##mqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int,     \
                                                     int n, int, const T*, int, const T*, const T*, int, int* size) {  \
    return size_is(n, size);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##OR##mqr(cusolverDnHandle_t h, cublasSideMode_t side, cublasOperation_t op, int m,    \
                                          int n, int k, const T* a, int lda, const T* tau, T* c, int ldc, T* work,     \
                                          int size, int* info) {                                                       \
    return ormqr(h, side, op, m, n, k, a, lda, tau, c, ldc, work, size, info);                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t, int m, int n, int* size) {                      \
    return m < n ? CUSOLVER_STATUS_INVALID_VALUE : size_is(n, size);                                                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##gesvd(cusolverDnHandle_t h, signed char job_u, signed char job_v, int m, int n,      \
                                        T* a, int lda, R* s, T* u, int ldu, T* v, int ldv, T* work, int size,          \
                                        R* real_work, int* info) {                                                     \
    return gesvd(h, job_u, job_v, m, n, a, lda, s, u, ldu, v, ldv, work, size, real_work, info);                       \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##SY##evd_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n,   \
                                                     const T*, int, const R*, int* size) {                             \
    return size_is(n, size);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##SY##evd(cusolverDnHandle_t h, cusolverEigMode_t job, cublasFillMode_t uplo, int n,   \
                                          T* a, int lda, R* w, T* work, int size, int* info) {                         \
    return syevd(h, job, uplo, n, a, lda, w, work, size, info);                                                        \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##sytrf_bufferSize(cusolverDnHandle_t, int n, T*, int, int* size) {                    \
    return size_is(n, size);                                                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##sytrf(cusolverDnHandle_t h, cublasFillMode_t uplo, int n, T* a, int lda,             \
                                        int* pivots, T* work, int size, int* info) {                                   \
    return sytrf(h, uplo, n, a, lda, pivots, work, size, info);                                                        \
  }
#define TS_DEFINE_TRSM(NAME, T)                                                                                      \
  cublasStatus_t NAME(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,     \
                      cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int lda, T* b, int ldb) { \
    return trsm(handle, side, uplo, op, diagonal, m, n, alpha, a, lda, b, ldb);                                      \
  }

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = new cusolverDnContext{current_device()};
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  *params = new cusolverDnParams;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext{current_device()};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t status) { return cublasLtGetStatusString(status); }

TS_DEFINE(S, or, sy, float, float)
TS_DEFINE(D, or, sy, double, double)
TS_DEFINE(C, un, he, cuComplex, float)
TS_DEFINE(Z, un, he, cuDoubleComplex, double)
TS_DEFINE_TRSM(cublasStrsm_v2, float)
TS_DEFINE_TRSM(cublasDtrsm_v2, double)
TS_DEFINE_TRSM(cublasCtrsm_v2, cuComplex)
TS_DEFINE_TRSM(cublasZtrsm_v2, cuDoubleComplex)

cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int64_t n, int64_t, cudaDataType,
                                             const void*, int64_t, const int64_t*, cudaDataType, void*, int64_t,
                                             size_t* on_device, size_t* on_host) {
  *on_device = size_t(asked_size(n)), *on_host = kHostWork;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t h, cublasFillMode_t uplo, int64_t n, int64_t k,
                                  cudaDataType a_type, const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType b_type, void* b, int64_t ldb, void* work, size_t on_device,
                                  void* host_work, size_t on_host, int* info) {
  if (a_type != b_type || on_host < kHostWork || host_work == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  check_size(int(on_device), n);
  return with_type(a_type, [&]<class T>(T*) {
    sytrs(h, uplo, int(n), int(k), static_cast<const T*>(a), int(lda), pivots, static_cast<T*>(b), int(ldb),
          static_cast<char*>(work), on_device, info);
  });
}
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                            cusolverEigMode_t, int64_t n, cudaDataType, const void*, int64_t,
                                            cudaDataType, const void*, cudaDataType, const void*, int64_t, cudaDataType,
                                            const void*, int64_t, cudaDataType, size_t* on_device, size_t* on_host) {
  *on_device = size_t(asked_size(n)), *on_host = kHostWork;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t h, cusolverDnParams_t, cusolverEigMode_t left,
                                 cusolverEigMode_t right, int64_t n, cudaDataType a_type, void* a, int64_t lda,
                                 cudaDataType w_type, void* w, cudaDataType l_type, void*, int64_t, cudaDataType r_type,
                                 void* r, int64_t ldr, cudaDataType compute, void* work, size_t on_device,
                                 void* host_work, size_t on_host, int* info) {
  const bool twice = a_type == CUDA_R_64F || a_type == CUDA_C_64F;
  if (left != CUSOLVER_EIG_MODE_NOVECTOR || on_host < kHostWork || host_work == nullptr)
    return CUSOLVER_STATUS_INVALID_VALUE;
  if (w_type != (twice ? CUDA_C_64F : CUDA_C_32F) || l_type != a_type || r_type != a_type || compute != a_type)
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  check_size(int(on_device), n);
  return with_type(a_type, [&]<class T>(T*) {
    geev(h, right == CUSOLVER_EIG_MODE_VECTOR, int(n), static_cast<T*>(a), int(lda), w, static_cast<T*>(r), int(ldr),
         static_cast<char*>(work), on_device, info);
  });
}

}  // extern "C"

#define TS_LIST(L, OR, SY)                                                                                            \
  TS_STAND_IN(cusolverDn##L##potrf), TS_STAND_IN(cusolverDn##L##potrf_bufferSize), TS_STAND_IN(cusolverDn##L##potrs), \
      TS_STAND_IN(cusolverDn##L##getrf), TS_STAND_IN(cusolverDn##L##getrf_bufferSize),                                \
      TS_STAND_IN(cusolverDn##L##getrs), TS_STAND_IN(cusolverDn##L##geqrf),                                           \
      TS_STAND_IN(cusolverDn##L##geqrf_bufferSize), TS_STAND_IN(cusolverDn##L##OR##gqr),                              \
      TS_STAND_IN(cusolverDn##L##OR##gqr_bufferSize), TS_STAND_IN(cusolverDn##L##OR##mqr),                            \
      TS_STAND_IN(cusolverDn##L##OR##mqr_bufferSize), TS_STAND_IN(cusolverDn##L##gesvd),                              \
      TS_STAND_IN(cusolverDn##L##gesvd_bufferSize), TS_STAND_IN(cusolverDn##L##SY##evd),                              \
      TS_STAND_IN(cusolverDn##L##SY##evd_bufferSize), TS_STAND_IN(cusolverDn##L##sytrf),                              \
      TS_STAND_IN(cusolverDn##L##sytrf_bufferSize)

namespace {
const StandIn cublas("libcublas.so",
                     {TS_STAND_IN(cublasCreate_v2), TS_STAND_IN(cublasGetStatusString), TS_STAND_IN(cublasSetStream_v2),
                      TS_STAND_IN(cublasStrsm_v2), TS_STAND_IN(cublasDtrsm_v2), TS_STAND_IN(cublasCtrsm_v2),
                      TS_STAND_IN(cublasZtrsm_v2)});
const StandIn cusolver("libcusolver.so", {TS_STAND_IN(cusolverDnCreate), TS_STAND_IN(cusolverDnCreateParams),
                                          TS_STAND_IN(cusolverDnSetStream), TS_STAND_IN(cusolverDnXsytrs),
                                          TS_STAND_IN(cusolverDnXsytrs_bufferSize), TS_STAND_IN(cusolverDnXgeev),
                                          TS_STAND_IN(cusolverDnXgeev_bufferSize), TS_LIST(S, or, sy),
                                          TS_LIST(D, or, sy), TS_LIST(C, un, he), TS_LIST(Z, un, he)});
}  // namespace
