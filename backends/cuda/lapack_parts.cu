// The kernels beside cuSOLVER: triangles, adjoints, orders of rows. All of them are small against the factorisations.
#include "backends/cuda/lapack_parts.h"

#include "backends/cuda/launch.cuh"

#include "backends/cuda/errors.cuh"

namespace tessera::tensor::cuda::parts {
namespace {

template <class T>
struct Complex {
  T re, im;
};
template <class T>
__device__ T conjugate(T x) {
  return x;
}
template <class T>
__device__ Complex<T> conjugate(Complex<T> x) {
  return {x.re, -x.im};
}
template <class T>
__device__ T one() {
  if constexpr (std::is_floating_point_v<T>) return T(1);
  else return {1, 0};
}

__device__ inline int64_t first_index() { return int64_t(blockIdx.x) * kThreads + threadIdx.x; }
__device__ inline int64_t all_threads() { return int64_t(gridDim.x) * kThreads; }

template <class T>
__global__ void keep_triangle_of(T* a, int64_t n, int64_t batch, bool upper) {
  for (int64_t i = first_index(); i < n * n * batch; i += all_threads()) {
    const int64_t column = i / n % n, row = i % n;
    if (upper ? row > column : row < column) a[i] = T{};
  }
}
template <class T>
__global__ void identities(T* a, int64_t n, int64_t batch) {
  for (int64_t i = first_index(); i < n * n * batch; i += all_threads()) a[i] = i / n % n == i % n ? one<T>() : T{};
}
template <class T>
__global__ void adjoints(const T* from, T* to, int64_t m, int64_t n, int64_t batch) {
  for (int64_t i = first_index(); i < m * n * batch; i += all_threads()) {
    const int64_t matrix = i / (m * n), column = i % (m * n) / n, row = i % n;  // of the result: n x m
    to[i] = conjugate(from[matrix * m * n + row * m + column]);
  }
}
template <class T>
__global__ void clear_rows_of(T* a, int64_t m, int64_t n, int64_t batch, int64_t first) {
  for (int64_t i = first_index(); i < m * n * batch; i += all_threads())
    if (i % m >= first) a[i] = T{};
}
__global__ void orders(const int32_t* pivots, int64_t* order, int64_t m, int64_t k, int64_t batch, ErrorTarget errors) {
  for (int64_t matrix = first_index(); matrix < batch; matrix += all_threads()) {
    int64_t* rows = order + matrix * m;
    for (int64_t j = 0; j < m; j++) rows[j] = j;
    for (int64_t j = 0; j < k; j++) {
      const int64_t other = int64_t(pivots[matrix * k + j]) - 1;
      if (other < 0 || other >= m) {
        report(errors, ErrorWord::Index, 0, other, m);
        continue;
      }
      const int64_t row = rows[j];
      rows[j] = rows[other];
      rows[other] = row;
    }
  }
}
__global__ void widened(const int32_t* from, int64_t* to, int64_t n) {
  for (int64_t i = first_index(); i < n; i += all_threads()) to[i] = from[i];
}
template <class T>
__global__ void paired(const T* packed, const Complex<T>* values, Complex<T>* vectors, int64_t n) {
  for (int64_t i = first_index(); i < n * n; i += all_threads()) {
    const int64_t column = i / n;
    // A pair has its eigenvalue with positive imaginary part first; LAPACK orders them so.
    const T sign = values[column].im;
    if (sign == 0) vectors[i] = {packed[i], 0};
    else if (sign > 0) vectors[i] = {packed[i], packed[i + n]};
    else vectors[i] = {packed[i - n], -packed[i]};
  }
}

/// f(T*) for the elements' type.
template <class F>
void in_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::Float64: return f(static_cast<double*>(nullptr));
    case DType::Complex64: return f(static_cast<Complex<float>*>(nullptr));
    case DType::Complex128: return f(static_cast<Complex<double>*>(nullptr));
    default: return f(static_cast<float*>(nullptr));
  }
}

}  // namespace

void keep_triangle(const Launch& where, DType dtype, void* a, int64_t n, int64_t batch, bool upper) {
  in_type(dtype, [&]<class T>(T*) {
    launch<keep_triangle_of<T>>(Place(where), {blocks_for(n * n * batch), kThreads}, static_cast<T*>(a), n, batch,
                                upper);
  });
}
void identity(const Launch& where, DType dtype, void* a, int64_t n, int64_t batch) {
  in_type(dtype, [&]<class T>(T*) {
    launch<identities<T>>(Place(where), {blocks_for(n * n * batch), kThreads}, static_cast<T*>(a), n, batch);
  });
}
void adjoint(const Launch& where, DType dtype, const void* from, void* to, int64_t m, int64_t n, int64_t batch) {
  in_type(dtype, [&]<class T>(T*) {
    launch<adjoints<T>>(Place(where), {blocks_for(m * n * batch), kThreads}, static_cast<const T*>(from),
                        static_cast<T*>(to), m, n, batch);
  });
}
void clear_rows(const Launch& where, DType dtype, void* a, int64_t m, int64_t n, int64_t batch, int64_t first) {
  in_type(dtype, [&]<class T>(T*) {
    launch<clear_rows_of<T>>(Place(where), {blocks_for(m * n * batch), kThreads}, static_cast<T*>(a), m, n, batch,
                             first);
  });
}
void order(const Launch& where, const int32_t* pivots, int64_t* order, int64_t m, int64_t k, int64_t batch) {
  launch<orders>(Place(where), {blocks_for(batch, 1), kThreads}, pivots, order, m, k, batch, where.errors);
}
void widen(const Launch& where, const int32_t* from, int64_t* to, int64_t n) {
  launch<widened>(Place(where), {blocks_for(n), kThreads}, from, to, n);
}
void pairs_to_complex(const Launch& where, DType real, const void* packed, const void* values, void* vectors,
                      int64_t n) {
  const auto run = [&]<class T>(T*) {
    launch<paired<T>>(Place(where), {blocks_for(n * n), kThreads}, static_cast<const T*>(packed),
                      static_cast<const Complex<T>*>(values), static_cast<Complex<T>*>(vectors), n);
  };
  if (real == DType::Float64) run(static_cast<double*>(nullptr));
  else run(static_cast<float*>(nullptr));
}

}  // namespace tessera::tensor::cuda::parts
