// Conversion between dtypes and layouts, filling, ranges.
#include "backends/cuda/loop.cuh"

namespace tessera::tensor::cuda {
namespace {

// The widest type through which a conversion loses nothing: integers must not pass through floating point.
template <class Wide>
__global__ void copy_elements(DeviceLoop<2> loop, DType to, DType from) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < loop.numel; i += step) {
    int64_t at[2];
    loop.offsets(i, at);
    store_as(loop.data[0], at[0], to, load_as<Wide>(loop.data[1], at[1], from));
  }
}

void copy(const CopyCall& call) {
  const Loop& loop = call.loop;
  if (loop.numel == 0) return;
  const DType to = loop.dtype[0], from = loop.dtype[1];
  if (is_floating(from))
    copy_elements<double><<<blocks_for(loop.numel), kThreads, 0, stream()>>>(DeviceLoop<2>(loop), to, from);
  else copy_elements<int64_t><<<blocks_for(loop.numel), kThreads, 0, stream()>>>(DeviceLoop<2>(loop), to, from);
  check_launch();
}

template <class Wide>
__global__ void fill_elements(DeviceLoop<1> loop, DType dtype, Wide value) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < loop.numel; i += step) {
    int64_t at[1];
    loop.offsets(i, at);
    store_as(loop.data[0], at[0], dtype, value);
  }
}

void fill(const FillCall& call) {
  const Loop& loop = call.loop;
  if (loop.numel == 0) return;
  if (call.value.is_float())
    fill_elements<double>
        <<<blocks_for(loop.numel), kThreads, 0, stream()>>>(DeviceLoop<1>(loop), loop.dtype[0], call.value.to_double());
  else
    fill_elements<int64_t>
        <<<blocks_for(loop.numel), kThreads, 0, stream()>>>(DeviceLoop<1>(loop), loop.dtype[0], call.value.to_int());
  check_launch();
}

template <class Wide>
__global__ void range_elements(char* out, DType dtype, int64_t n, Wide start, Wide increment) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    store_as(out, i, dtype, start + Wide(i) * increment);
}

void range(const RangeCall& call) {
  if (call.n == 0) return;
  char* out = static_cast<char*>(call.out);
  if (call.start.is_float() || call.step.is_float())
    range_elements<double><<<blocks_for(call.n), kThreads, 0, stream()>>>(
        out, call.dtype, call.n, call.start.to_double(), call.step.to_double());
  else
    range_elements<int64_t><<<blocks_for(call.n), kThreads, 0, stream()>>>(out, call.dtype, call.n, call.start.to_int(),
                                                                           call.step.to_int());
  check_launch();
}

}  // namespace

void fill_copy_slots(const PluginHost& host) {
  host.copy->set(DeviceType::Cuda, copy);
  host.fill->set(DeviceType::Cuda, fill);
  host.range->set(DeviceType::Cuda, range);
}

}  // namespace tessera::tensor::cuda
