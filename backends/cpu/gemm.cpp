// Matrix products on the CPU: OpenBLAS for float and double, halves through float, a blocked loop for integers (and for
// machines without OpenBLAS).
#include <algorithm>
#include <vector>

#include "runtime/device/backend.h"
#include "backends/cpu/blas.h"
#include "runtime/context.h"

namespace tessera::tensor {
namespace {

using cpu::blas;

// Below this many multiplications a second thread costs more than it brings (measured: docs/performance.md).
constexpr int64_t kThreadedWork = int64_t(1) << 20;

void set_threads(const GemmCall& call) {
  if (blas().set_threads == nullptr) return;
  const int wanted = call.m * call.n * call.k < kThreadedWork ? 1 : Context::current().threads;
  // A library that is used from several interpreters: the number is a hint, so a race over it is harmless.
  static std::atomic<int> now{0};
  if (now.exchange(wanted, std::memory_order_relaxed) != wanted) blas().set_threads(wanted);
}

void library_gemm(const GemmCall& c, const float* a, const float* b, float* out) {
  const int ta = c.transpose_a ? cpu::kTranspose : cpu::kNoTranspose,
            tb = c.transpose_b ? cpu::kTranspose : cpu::kNoTranspose;
  // One column: a matrix times a vector, which has a kernel of its own.
  if (c.n == 1 && c.ldc == 1)
    return blas().sgemv(cpu::kRowMajor, ta, int(c.transpose_a ? c.k : c.m), int(c.transpose_a ? c.m : c.k),
                        float(c.alpha), a, int(c.lda), b, int(c.transpose_b ? 1 : c.ldb), float(c.beta), out, 1);
  blas().sgemm(cpu::kRowMajor, ta, tb, int(c.m), int(c.n), int(c.k), float(c.alpha), a, int(c.lda), b, int(c.ldb),
               float(c.beta), out, int(c.ldc));
}

void library_gemm(const GemmCall& c, const double* a, const double* b, double* out) {
  const int ta = c.transpose_a ? cpu::kTranspose : cpu::kNoTranspose,
            tb = c.transpose_b ? cpu::kTranspose : cpu::kNoTranspose;
  if (c.n == 1 && c.ldc == 1)
    return blas().dgemv(cpu::kRowMajor, ta, int(c.transpose_a ? c.k : c.m), int(c.transpose_a ? c.m : c.k), c.alpha, a,
                        int(c.lda), b, int(c.transpose_b ? 1 : c.ldb), c.beta, out, 1);
  blas().dgemm(cpu::kRowMajor, ta, tb, int(c.m), int(c.n), int(c.k), c.alpha, a, int(c.lda), b, int(c.ldb), c.beta, out,
               int(c.ldc));
}

// Rows of the result one after the other; the inner loop runs along a row of b, so it vectorises.
template <class T>
void loop_gemm(const GemmCall& c, const T* a, const T* b, T* out) {
  for (int64_t i = 0; i < c.m; i++) {
    T* row = out + i * c.ldc;
    for (int64_t j = 0; j < c.n; j++) row[j] = c.beta == 0 ? T(0) : T(row[j] * T(c.beta));
    for (int64_t p = 0; p < c.k; p++) {
      const T factor = T(T(c.alpha) * (c.transpose_a ? a[p * c.lda + i] : a[i * c.lda + p]));
      for (int64_t j = 0; j < c.n; j++)
        row[j] = T(row[j] + factor * (c.transpose_b ? b[j * c.ldb + p] : b[p * c.ldb + j]));
    }
    if (i % 64 == 0) Context::current().poll();
  }
}

template <class T>
void each_matrix(const GemmCall& c) {
  const bool library = (std::is_same_v<T, float> || std::is_same_v<T, double>)&&blas().sgemm != nullptr;
  if (library) set_threads(c);
  for (int64_t i = 0; i < c.batch; i++) {
    const T* a = static_cast<const T*>(c.a) + i * c.batch_a;
    const T* b = static_cast<const T*>(c.b) + i * c.batch_b;
    T* out = static_cast<T*>(c.c) + i * c.batch_c;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      if (library) {
        library_gemm(c, a, b, out);
        continue;
      }
    }
    loop_gemm(c, a, b, out);
  }
}

template <class Half>
std::vector<float> widened(const void* data, int64_t rows, int64_t columns, int64_t leading) {
  std::vector<float> wide(size_t(rows * columns));
  const Half* from = static_cast<const Half*>(data);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) wide[size_t(i * columns + j)] = float(from[i * leading + j]);
  return wide;
}

// Halves are multiplied and summed in float, and rounded once.
template <class Half>
void half_gemm(const GemmCall& c) {
  for (int64_t i = 0; i < c.batch; i++) {
    const int64_t rows_a = c.transpose_a ? c.k : c.m, columns_a = c.transpose_a ? c.m : c.k;
    const int64_t rows_b = c.transpose_b ? c.n : c.k, columns_b = c.transpose_b ? c.k : c.n;
    Half* out = static_cast<Half*>(c.c) + i * c.batch_c;
    const auto a = widened<Half>(static_cast<const Half*>(c.a) + i * c.batch_a, rows_a, columns_a, c.lda);
    const auto b = widened<Half>(static_cast<const Half*>(c.b) + i * c.batch_b, rows_b, columns_b, c.ldb);
    auto wide = widened<Half>(out, c.m, c.n, c.ldc);
    GemmCall one = c;
    one.dtype = DType::Float32;
    one.batch = 1;
    one.a = a.data(), one.lda = std::max<int64_t>(columns_a, 1);
    one.b = b.data(), one.ldb = std::max<int64_t>(columns_b, 1);
    one.c = wide.data(), one.ldc = std::max<int64_t>(c.n, 1);
    each_matrix<float>(one);
    for (int64_t r = 0; r < c.m; r++)
      for (int64_t j = 0; j < c.n; j++) out[r * c.ldc + j] = Half(wide[size_t(r * c.n + j)]);
  }
}

void gemm(const GemmCall& c) {
  if (c.m == 0 || c.n == 0 || c.batch == 0) return;
  switch (c.dtype) {
    case DType::Float32: return each_matrix<float>(c);
    case DType::Float64: return each_matrix<double>(c);
    case DType::Float16: return half_gemm<Half>(c);
    case DType::BFloat16: return half_gemm<BFloat16>(c);
    case DType::UInt8: return each_matrix<uint8_t>(c);
    case DType::Int8: return each_matrix<int8_t>(c);
    case DType::Int16: return each_matrix<int16_t>(c);
    case DType::Int32: return each_matrix<int32_t>(c);
    case DType::Int64: return each_matrix<int64_t>(c);
    default:
      fail(TensorErrorKind::Runtime, "\"addmm_impl_cpu_\" not implemented for '", scalar_type_name(c.dtype), "'");
  }
}

const KernelRegistration<GemmCall> registration(gemm_kernel, DeviceType::Cpu, gemm);

}  // namespace
}  // namespace tessera::tensor
