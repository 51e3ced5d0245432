// Dropout in one pass: draw, compare, scale; the mask is kept. And its gradient, which reads the mask.
#include "backends/cuda/half.cuh"
#include "backends/cuda/philox.cuh"
#include "runtime/ops/random_draws.h"

namespace tessera::tensor::cuda {
namespace {

template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T x[kWidth];
};
template <class T>
struct ComputeType {
  using type = float;
};
template <>
struct ComputeType<double> {
  using type = double;
};
template <class T>
using Compute = typename ComputeType<T>::type;

/// kWidth elements next to each other for each thread; draws of four of which a width of two leaves two.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads, 4) drop_wide(DropoutCall c, Compute<T> scale) {
  constexpr int kDraws = (kWidth + 3) / 4, kOfEach = kWidth < 4 ? kWidth : 4;
  const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, step = int64_t(gridDim.x) * blockDim.x;
  const Philox philox(c.grid.state, uint64_t(thread));
  const auto* x = static_cast<const Pack<T, kWidth>*>(c.x);
  auto* out = static_cast<Pack<T, kWidth>*>(c.out);
  auto* mask = reinterpret_cast<Pack<bool, kWidth>*>(c.mask);
  const Compute<T> keep = Compute<T>(c.keep);
  const int64_t n = c.n / kWidth;
  uint64_t draw = 0;
  for (int64_t i = thread; i < n; i += step) {
    const Pack<T, kWidth> given = x[i];
    Pack<T, kWidth> result;
    Pack<bool, kWidth> kept;
    for (int d = 0; d < kDraws; d++) {
      float u[4];
      uniform(philox(draw++), u);
      for (int j = 0; j < kOfEach; j++) {
        const bool stays = Compute<T>(u[j]) < keep;
        kept.x[d * 4 + j] = stays;
        result.x[d * 4 + j] = T(Compute<T>(given.x[d * 4 + j]) * Compute<T>(stays) * scale);
      }
    }
    out[i] = result;
    mask[i] = kept;
  }
}

/// Element by element, those of a thread a whole grid apart.
template <class T>
__global__ void __launch_bounds__(kThreads, 4) drop_single(DropoutCall c, Compute<T> scale) {
  const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, step = int64_t(gridDim.x) * blockDim.x;
  const Philox philox(c.grid.state, uint64_t(thread));
  const Compute<T> keep = Compute<T>(c.keep);
  uint64_t draw = 0;
  for (int64_t first = thread; first < c.n; first += step * 4) {
    float u[4];
    uniform(philox(draw++), u);
    for (int j = 0; j < 4; j++) {
      const int64_t i = first + j * step;
      if (i >= c.n) continue;
      const bool stays = Compute<T>(u[j]) < keep;
      static_cast<T*>(c.out)[i] = T(Compute<T>(static_cast<const T*>(c.x)[i]) * Compute<T>(stays) * scale);
      c.mask[i] = stays;
    }
  }
}

/// With a mask that is there already.
template <class T, int kWidth>
__global__ void drop_again(DropoutCall c, Compute<T> scale) {
  const int64_t n = c.n / kWidth;
  const auto* x = static_cast<const Pack<T, kWidth>*>(c.x);
  auto* out = static_cast<Pack<T, kWidth>*>(c.out);
  const auto* mask = reinterpret_cast<const Pack<bool, kWidth>*>(c.mask);
  each_in_grid(n, [&](int64_t i) {
    const Pack<T, kWidth> given = x[i];
    const Pack<bool, kWidth> kept = mask[i];
    Pack<T, kWidth> result;
    for (int j = 0; j < kWidth; j++) result.x[j] = T(Compute<T>(given.x[j]) * Compute<T>(kept.x[j]) * scale);
    out[i] = result;
  });
}

bool is_aligned(const void* p, size_t bytes) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; }

template <class T>
void run(const DropoutCall& c, const Place& place) {
  using C = Compute<T>;
  constexpr int kMost = 16 / int(sizeof(T));
  if (c.width == 0) {
    const C scale = C(1 / c.keep);
    const bool wide = c.n % kMost == 0 && is_aligned(c.x, 16) && is_aligned(c.out, 16) && is_aligned(c.mask, kMost);
    if (wide) launch<drop_again<T, kMost>>(place, {blocks_for(c.n, kMost), kThreads}, c, scale);
    else launch<drop_again<T, 1>>(place, {blocks_for(c.n), kThreads}, c, scale);
    return;
  }
  const C scale = C(1.0 / C(c.keep));
  const Grid grid{c.grid.blocks, kThreads};
  if constexpr (kMost >= 8)
    if (c.width == 8) return launch<drop_wide<T, 8>>(place, grid, c, scale);
  if constexpr (kMost >= 4)
    if (c.width == 4) return launch<drop_wide<T, 4>>(place, grid, c, scale);
  if (c.width == 2) return launch<drop_wide<T, 2>>(place, grid, c, scale);
  launch<drop_single<T>>(place, grid, c, scale);
}

void dropout(const DropoutCall& c) {
  if (c.n == 0) return;
  const Place place(c.launch);
  switch (c.dtype) {
    case DType::Float64: return run<double>(c, place);
    case DType::Float16: return run<Float16>(c, place);
    case DType::BFloat16: return run<Brain16>(c, place);
    default: return run<float>(c, place);
  }
}

const CudaKernel<DropoutCall> entry("dropout", dropout);

}  // namespace
}  // namespace tessera::tensor::cuda
