// out = mask ? value : self. Where all lie alike and the value is one, a thread moves 16 bytes at a time.
#include "backends/cuda/compact.cuh"
#include "backends/cuda/index_plan.cuh"

namespace tessera::tensor::cuda {
namespace {

struct alignas(16) Number {
  char bytes[16];
};

template <class Count>
struct FillPlan {
  PlaceDims<Count> dims;
  int64_t n;
  int64_t strides[4][kMaxNestDims];
  char* data[4];  // of the value null when it is in `value`
  Number value;

  explicit FillPlan(const Loop& loop) : n(loop.numel) {
    if (loop.ndim > kMaxNestDims)
      fail_with(TensorErrorKind::Runtime,
                "tensors with more than 16 dimensions that do not merge are not supported on CUDA");
    for (int d = 0; d < loop.ndim; d++) {
      dims.push(loop.sizes[d]);
      for (int k = 0; k < 4; k++) strides[k][d] = loop.strides[k][d];
    }
    for (int k = 0; k < 4; k++) data[k] = loop.host_scalars >> k & 1 ? nullptr : loop.data[k];
    __builtin_memcpy(&value, loop.numbers[3], sizeof value);
  }
  template <class Element>
  __device__ Element value_at(int64_t at) const {
    return data[3] ? reinterpret_cast<const Element*>(data[3])[at] : reinterpret_cast<const Element*>(&value)[0];
  }
};

template <class Element, class Count>
__global__ void __launch_bounds__(kThreads) fill_strided(const __grid_constant__ FillPlan<Count> plan) {
  each_in_grid(plan.n, [&](int64_t i) {
    int64_t at[4] = {0, 0, 0, 0};
    plan.dims.each(Count(i), [&](int d, Count coordinate) {
#pragma unroll
      for (int k = 0; k < 4; k++) at[k] += int64_t(coordinate) * plan.strides[k][d];
    });
    const bool set = reinterpret_cast<const bool*>(plan.data[2])[at[2]];
    const Element x =
        set ? plan.template value_at<Element>(at[3]) : reinterpret_cast<const Element*>(plan.data[1])[at[1]];
    reinterpret_cast<Element*>(plan.data[0])[at[0]] = x;
  });
}

template <class Element>
struct alignas(16) Pack {
  Element items[16 / sizeof(Element)];
};

template <class Element>
__global__ void __launch_bounds__(kThreads) fill_dense(const __grid_constant__ FillPlan<uint32_t> plan) {
  constexpr int kItems = int(16 / sizeof(Element));
  struct alignas(kItems) Bits {
    uint8_t items[kItems];
  };
  const Element value = plan.template value_at<Element>(0);
  const int64_t packs = plan.n / kItems, step = int64_t(gridDim.x) * kThreads,
                first = int64_t(blockIdx.x) * kThreads + threadIdx.x;
#pragma unroll 1
  for (int64_t i = first; i < packs; i += step) {
    Pack<Element> x = reinterpret_cast<const Pack<Element>*>(plan.data[1])[i];
    const Bits mask = reinterpret_cast<const Bits*>(plan.data[2])[i];
#pragma unroll
    for (int k = 0; k < kItems; k++)
      if (mask.items[k]) x.items[k] = value;
    reinterpret_cast<Pack<Element>*>(plan.data[0])[i] = x;
  }
#pragma unroll 1
  for (int64_t i = packs * kItems + first; i < plan.n; i += step)
    reinterpret_cast<Element*>(plan.data[0])[i] =
        plan.data[2][i] ? value : reinterpret_cast<const Element*>(plan.data[1])[i];
}

bool is_dense(const Loop& loop) {
  if (loop.ndim != 1 || loop.strides[3][0] != 0) return false;
  const int64_t items = 16 / int64_t(item_size(loop.dtype[0]));
  for (int k = 0; k < 3; k++)
    if (loop.strides[k][0] != 1 || uintptr_t(loop.data[k]) % uint64_t(k == 2 ? items : 16) != 0) return false;
  return true;
}

void masked_fill(const MaskedFillCall& c) {
  const Loop& loop = c.loop;
  if (loop.numel == 0) return;
  const Place place(c.launch);
  with_element(item_size(loop.dtype[0]), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const unsigned blocks = blocks_for(loop.numel, 1);
    if (is_dense(loop))
      launch<fill_dense<Element>>(place, {blocks_for(loop.numel, 16 / sizeof(Element)), kThreads},
                                  FillPlan<uint32_t>(loop));
    else if (loop.numel <= INT32_MAX)
      launch<fill_strided<Element, uint32_t>>(place, {blocks, kThreads}, FillPlan<uint32_t>(loop));
    else launch<fill_strided<Element, uint64_t>>(place, {blocks, kThreads}, FillPlan<uint64_t>(loop));
  });
}

const CudaKernel<MaskedFillCall> entry("masked_fill", masked_fill);

}  // namespace
}  // namespace tessera::tensor::cuda
