// How kernels are launched, and the words of a kernel for which compilers differ. nvcc builds the plugin; g++ and clang
// build the same sources for the host executor (tests/cuda/executor), whose <cuda_runtime.h> stands in for CUDA's.
//
//     template <class T> __global__ void scale(T* x, int64_t n) { TS_SHARED(T, totals, kThreads); ... }
//     launch<scale<float>>(place, {blocks, kThreads}, x, n);
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "backends/cuda/cuda.h"

#ifndef TESSERA_EXECUTOR
/// T name[count] in the memory that the threads of a block share.
#define TS_SHARED(T, NAME, COUNT) __shared__ T NAME[COUNT]
/// The shared memory that the launch asked for (Grid::shared), as T*.
#define TS_SHARED_BYTES(T, NAME)                               \
  extern __shared__ __align__(16) char tessera_launch_bytes[]; \
  T* NAME = reinterpret_cast<T*>(tessera_launch_bytes)
#endif

namespace tessera::tensor::cuda {

struct Grid {
  dim3 blocks, threads;
  size_t shared = 0;  // bytes of TS_SHARED_BYTES, at most 48 kB
};

namespace detail {
// The second argument tells P, so that arguments are converted to the parameters' types here.
template <auto kernel, class... P>
inline void launch_call(const Place& place, const Grid& grid, void (*)(P...), std::type_identity_t<P>... args) {
#ifdef TESSERA_EXECUTOR
  tessera_executor::queue_call<kernel>(place.stream(), grid.blocks, grid.threads, grid.shared, kernel, args...);
#else
  // clang-format off
  kernel<<<grid.blocks, grid.threads, grid.shared, place.stream()>>>(args...);
  // clang-format on
#endif
  check_launch();
}
}  // namespace detail

/// Gives a kernel to the place's stream; throws what the launch itself refuses.
template <auto kernel, class... A>
inline void launch(const Place& place, const Grid& grid, const A&... args) {
  detail::launch_call<kernel>(place, grid, kernel, args...);
}

/// f(i) for 0 <= i < n, over all threads of the grid (kThreads in a block): neighbours by neighbouring threads. The rounds are
/// not unrolled: the compiler would count them first, which takes a division of 64 bits.
template <class F>
__device__ inline void each_in_grid(int64_t n, const F& f) {
  const int64_t step = int64_t(gridDim.x) * kThreads;
#pragma unroll 1
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < n; i += step) f(i);
}

}  // namespace tessera::tensor::cuda
