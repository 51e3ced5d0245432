// Filling, and ranges.
#include "backends/cuda/raw_body.cuh"

namespace tessera::tensor::cuda {
namespace {

// The bytes of the number as an element; here, because a plugin has none of the runtime's functions.
void put_element(void* to, const Scalar& value, DType type) {
  const auto put = [&](auto element) { __builtin_memcpy(to, &element, sizeof element); };
  switch (type) {
#define DTYPE(NAME, TYPE, ...) \
  case DType::NAME: return put(value.to<TYPE>());
#define PACKED_DTYPE(NAME, ...) \
  case DType::NAME: return;
#include "runtime/dtypes.def"
  }
}

void fill(const FillCall& call) {
  const Loop& loop = call.loop;
  if (loop.numel == 0) return;
  const Place place(call.launch);
  with_raw_type(loop.dtype[0], [&](auto tag) {
    using Body = RawBody<typename decltype(tag)::type>;
    Operands<Body> operands{};
    operands.out[0] = loop.data[0];
    put_element(&operands.number[0], call.value, loop.dtype[0]);
    const Body body{};
    run_elementwise(place, loop, kKernels<Body>, &body, operands, {{-1}});
  });
}

template <class Wide>
__global__ void range_elements(char* out, DType dtype, int64_t n, Wide start, Wide increment) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
#pragma unroll 1  // unrolled, it would begin with a division of 64 bits to count its rounds
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    if constexpr (std::is_same_v<Wide, uint64_t>) store_as(out, i, dtype, int64_t(start + uint64_t(i) * increment));
    else store_as(out, i, dtype, start + Wide(i) * increment);
  }
}

void range(const RangeCall& call) {
  if (call.n == 0) return;
  const Place place(call.launch);
  char* out = static_cast<char*>(call.out);
  const Grid grid{blocks_for(call.n), kThreads};
  if (is_floating(call.dtype))
    launch<range_elements<double>>(place, grid, out, call.dtype, call.n, call.start.to_double(), call.step.to_double());
  else
    launch<range_elements<uint64_t>>(place, grid, out, call.dtype, call.n, uint64_t(call.start.to_int()),
                                     uint64_t(call.step.to_int()));
}

const CudaKernel<FillCall> fill_entry("fill_", fill);
const CudaKernel<RangeCall> range_entry("arange", range);

}  // namespace
}  // namespace tessera::tensor::cuda
