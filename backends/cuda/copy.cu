// Copies between dtypes and layouts, filling, ranges.
#include "backends/cuda/loop.cuh"

namespace tessera::tensor::cuda {
namespace {

template <class Element>
__global__ void move_elements(const __grid_constant__ DeviceLoop<2> loop) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < loop.numel; i += step) {
    int64_t at[2];
    loop.offsets(i, at);
    reinterpret_cast<Element*>(loop.data[0])[at[0]] = reinterpret_cast<const Element*>(loop.data[1])[at[1]];
  }
}

// Elements of one dtype move as they are.
void move(const Loop& loop, const Place& place) {
  const DeviceLoop<2> given(loop);
  const unsigned blocks = blocks_for(loop.numel);
  switch (item_size(loop.dtype[0])) {
    case 1: launch<move_elements<uint8_t>>(place, {blocks, kThreads}, given); break;
    case 2: launch<move_elements<uint16_t>>(place, {blocks, kThreads}, given); break;
    case 4: launch<move_elements<uint32_t>>(place, {blocks, kThreads}, given); break;
    case 16: launch<move_elements<ulonglong2>>(place, {blocks, kThreads}, given); break;
    default: launch<move_elements<uint64_t>>(place, {blocks, kThreads}, given);
  }
}

void refuse_complex(DType dtype) {
  if (is_complex(dtype)) fail_with(TensorErrorKind::NotImplemented, "complex numbers are not implemented on CUDA");
}

// The widest type through which a conversion loses nothing: integers must not pass through floating point.
template <class Wide>
__global__ void copy_elements(const __grid_constant__ DeviceLoop<2> loop, DType to, DType from) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < loop.numel; i += step) {
    int64_t at[2];
    loop.offsets(i, at);
    store_as(loop.data[0], at[0], to, load_as<Wide>(loop.input(1), at[1], from));
  }
}

void copy(const CopyCall& call) {
  const Loop& loop = call.loop;
  if (loop.numel == 0) return;
  const Place place(call.launch);
  const DType to = loop.dtype[0], from = loop.dtype[1];
  const unsigned blocks = blocks_for(loop.numel);
  if (to == from) {
    move(loop, place);
  } else {
    refuse_complex(to), refuse_complex(from);
    if (is_floating(from)) launch<copy_elements<double>>(place, {blocks, kThreads}, DeviceLoop<2>(loop), to, from);
    else launch<copy_elements<int64_t>>(place, {blocks, kThreads}, DeviceLoop<2>(loop), to, from);
  }
}

template <class Wide>
__global__ void fill_elements(const __grid_constant__ DeviceLoop<1> loop, DType dtype, Wide value) {
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
  const Place place(call.launch);
  const DType dtype = loop.dtype[0];
  refuse_complex(dtype);
  const unsigned blocks = blocks_for(loop.numel);
  const DeviceLoop<1> given(loop);
  if (call.value.is_float())
    launch<fill_elements<double>>(place, {blocks, kThreads}, given, dtype, call.value.to_double());
  else launch<fill_elements<int64_t>>(place, {blocks, kThreads}, given, dtype, call.value.to_int());
}

template <class Wide>
__global__ void range_elements(char* out, DType dtype, int64_t n, Wide start, Wide increment) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    store_as(out, i, dtype, start + Wide(i) * increment);
}

void range(const RangeCall& call) {
  if (call.n == 0) return;
  const Place place(call.launch);
  refuse_complex(call.dtype);
  char* out = static_cast<char*>(call.out);
  const unsigned blocks = blocks_for(call.n);
  if (call.start.is_float() || call.step.is_float())
    launch<range_elements<double>>(place, {blocks, kThreads}, out, call.dtype, call.n, call.start.to_double(),
                                   call.step.to_double());
  else
    launch<range_elements<int64_t>>(place, {blocks, kThreads}, out, call.dtype, call.n, call.start.to_int(),
                                    call.step.to_int());
}

const CudaKernel<CopyCall> copy_entry("copy_", copy);
const CudaKernel<FillCall> fill_entry("fill_", fill);
const CudaKernel<RangeCall> range_entry("arange", range);

}  // namespace
}  // namespace tessera::tensor::cuda
