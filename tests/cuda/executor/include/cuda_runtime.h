// What nvcc adds to C++ when it compiles a kernel, for g++ and clang: words that mean nothing on the host, the numbers of a
// thread, barriers, exchanges within a warp, atomics, intrinsics. TESSERA_EXECUTOR tells the sources that they run here.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "cuda_runtime_api.h"
#include "executor_thread.h"

#define TESSERA_EXECUTOR 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) longlong2 {
  long long x, y;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};

#define threadIdx (::tessera_executor::thread_index())
#define blockIdx (::tessera_executor::block_index())
#define blockDim (::tessera_executor::block_size())
#define gridDim (::tessera_executor::grid_size())
#define warpSize 32

/// Memory of a block, by the place in the source that names it.
#define TS_SHARED(T, NAME, COUNT)                                                                        \
  T(&NAME)                                                                                               \
  [COUNT] = *[]() -> T(*)[COUNT] {                                                                       \
    static char place;                                                                                   \
    return static_cast<T(*)[COUNT]>(::tessera_executor::shared_memory(&place, #NAME, sizeof(T[COUNT]))); \
  }()
/// What the launch asked for beside that.
#define TS_SHARED_BYTES(T, NAME) T* NAME = static_cast<T*>(::tessera_executor::launch_shared_memory())

#define __syncthreads() ::tessera_executor::block_barrier()
#define __syncthreads_count(condition) ::tessera_executor::block_count(!!(condition))
#define __syncthreads_or(condition) int(::tessera_executor::block_count(!!(condition)) != 0)
#define __syncthreads_and(condition) int(::tessera_executor::block_count(!(condition)) == 0)
inline void __syncwarp(unsigned mask = 0xffffffffu) { tessera_executor::warp_barrier(mask); }
inline void __threadfence() { tessera_executor::pass_fence(); }
inline void __threadfence_block() {}
inline void __nanosleep(unsigned) {}
inline long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// ---- exchanges within a warp ----

template <class T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  const int mine = tessera_executor::lane(), first = mine & ~(width - 1);
  return tessera_executor::exchange(mask, value, first + (lane & (width - 1)));
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  const int mine = tessera_executor::lane(), from = mine ^ lanes;
  return tessera_executor::exchange(mask, value, (from & ~(width - 1)) > (mine & ~(width - 1)) ? mine : from);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = 32) {
  const int mine = tessera_executor::lane(), at = mine & (width - 1);
  return tessera_executor::exchange(mask, value, at + int(lanes) < width ? mine + int(lanes) : mine);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = 32) {
  const int mine = tessera_executor::lane(), at = mine & (width - 1);
  return tessera_executor::exchange(mask, value, at >= int(lanes) ? mine - int(lanes) : mine);
}
inline unsigned __ballot_sync(unsigned mask, int condition) { return tessera_executor::ballot(mask, condition != 0); }
inline int __any_sync(unsigned mask, int condition) { return __ballot_sync(mask, condition) != 0; }
inline int __all_sync(unsigned mask, int condition) { return __ballot_sync(mask, !condition) == 0; }
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value) {
  unsigned found = 0;
  for (int lane = 0; lane < 32; lane++)
    if (mask >> lane & 1 && tessera_executor::exchange(mask, value, lane) == value) found |= 1u << lane;
  return found;
}

// ---- atomics: threads of the executor take turns, so that a plain read and write is one step ----

namespace tessera_executor {
template <class T, class F>
TS_EXECUTOR_UNSEEN inline T atomically(T* at, F change) {
  note_atomic(at, sizeof(T));
  const T before = *at;
  *at = change(before);
  return before;
}
}  // namespace tessera_executor
template <class T>
inline T atomicAdd(T* at, std::type_identity_t<T> value) {
  return tessera_executor::atomically(at, [=](T x) { return T(x + value); });
}
template <class T>
inline T atomicMin(T* at, std::type_identity_t<T> value) {
  return tessera_executor::atomically(at, [=](T x) { return value < x ? value : x; });
}
template <class T>
inline T atomicMax(T* at, std::type_identity_t<T> value) {
  return tessera_executor::atomically(at, [=](T x) { return x < value ? value : x; });
}
template <class T>
inline T atomicExch(T* at, std::type_identity_t<T> value) {
  return tessera_executor::atomically(at, [=](T) { return value; });
}
template <class T>
inline T atomicOr(T* at, std::type_identity_t<T> value) {
  return tessera_executor::atomically(at, [=](T x) { return T(x | value); });
}
template <class T>
inline T atomicAnd(T* at, std::type_identity_t<T> value) {
  return tessera_executor::atomically(at, [=](T x) { return T(x & value); });
}
template <class T>
inline T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return tessera_executor::atomically(at, [=](T x) { return x == expected ? value : x; });
}

// ---- intrinsics ----

template <class T>
inline T __ldg(const T* at) {
  return *at;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(unsigned(x)); }
inline int __clzll(long long x) { return std::countl_zero((unsigned long long)x); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(unsigned(x)) + 1; }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __tanf(float x) { return std::tan(x); }
inline void __sincosf(float x, float* sine, float* cosine) { *sine = std::sin(x), *cosine = std::cos(x); }
inline void sincospi(double x, double* sine, double* cosine) {
  const double turn = std::fmod(x, 2.0) * 3.14159265358979323846;
  *sine = std::sin(turn), *cosine = std::cos(turn);
}
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float normcdff(float x) { return float(0.5 * std::erfc(-double(x) * 0.70710678118654752440)); }
inline double normcdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

// Names that CUDA has outside of std.
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

// ---- launches ----

namespace tessera_executor {

/// The kernel's name with its template arguments, as the compiler writes it.
template <auto kernel>
constexpr const char* name_of() {
  return __PRETTY_FUNCTION__;
}

template <auto kernel, class... P>
struct Work {
  std::tuple<P...> params;
  // Unseen: copying the parameters is the launch's work, not the kernel's.
  TS_EXECUTOR_UNSEEN static void run(const void* work) {
    const auto& params = static_cast<const Work*>(work)->params;
    std::apply([](const P&... p) TS_EXECUTOR_UNSEEN { kernel(p...); }, params);
  }
};

template <auto kernel, class... P>
inline void queue_call(cudaStream_t stream, dim3 blocks, dim3 threads, size_t shared, void (*)(P...),
                       std::type_identity_t<P>... args) {
  static_assert((std::is_trivially_copyable_v<P> && ...), "parameters of a kernel are bytes");
  static_assert((sizeof(P) + ... + 0) <= 4096, "parameters of a kernel have 4 kB");
  using Mine = Work<kernel, P...>;
  const Mine work{{args...}};
  queue_kernel(
      {name_of<kernel>(), Mine::run, {blocks.x, blocks.y, blocks.z}, {threads.x, threads.y, threads.z}, shared}, stream,
      &work, sizeof work);
}

}  // namespace tessera_executor
