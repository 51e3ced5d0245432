// A number for each output of a convolution, added to what stands there: in groups of 16 bytes, however many places an output has.
#include "backends/cuda/conv.cuh"
#include "backends/cuda/pack.cuh"

namespace tessera::tensor::cuda {
namespace {

/// Element i belongs to output (i / run) mod outputs: `run` is the places of an image, or 1 where channels come last.
struct Outputs {
  uint32_t elements, run, outputs;
  FastDivide<uint32_t> by_run, by_outputs;
};

template <class T>
__global__ void __launch_bounds__(kThreads) add_bias(T* result, const T* bias, const __grid_constant__ Outputs g) {
  constexpr int kGroup = 16 / sizeof(T);
  using Group = Vector<T, kGroup>;
  const uint32_t groups = g.elements / kGroup, step = gridDim.x * kThreads;
  for (uint32_t k = blockIdx.x * kThreads + threadIdx.x; k < groups; k += step) {
    Group values = reinterpret_cast<const Group*>(result)[k];
    const auto first = g.by_run.divide(k * kGroup);
    uint32_t place = first.rest, output = g.by_outputs.divide(first.quotient).rest;
    Sum<T> shift = as_sum(bias[output]);
#pragma unroll
    for (int j = 0; j < kGroup; j++) {
      values.v[j] = as_element<T>(as_sum(values.v[j]) + shift);
      if (++place < g.run || j == kGroup - 1) continue;
      place = 0;
      if (++output == g.outputs) output = 0;
      shift = as_sum(bias[output]);
    }
    reinterpret_cast<Group*>(result)[k] = values;
  }
  const uint32_t last = groups * kGroup + threadIdx.x;  // what is less than a group
  if (blockIdx.x == 0 && last < g.elements)
    result[last] =
        as_element<T>(as_sum(result[last]) + as_sum(bias[g.by_outputs.divide(g.by_run.quotient(last)).rest]));
}

template <class T>
void run(const ConvCall& c) {
  const uint32_t places = uint32_t(c.rows * c.columns), outputs = uint32_t(c.outputs);
  const uint32_t elements = uint32_t(c.batch) * outputs * places, run = c.channels_last ? 1 : places;
  const Outputs g{elements, run, outputs, FastDivide<uint32_t>(run), FastDivide<uint32_t>(outputs)};
  const Place place(c.launch);
  launch<add_bias<T>>(place, {blocks_for(elements, 16 / sizeof(T)), kThreads}, static_cast<T*>(c.result),
                      static_cast<const T*>(c.bias), g);
}

}  // namespace

void add_bias_to(const ConvCall& c) {
  switch (c.dtype) {
    case DType::Float64: return run<double>(c);
    case DType::Float16: return run<Float16>(c);
    case DType::BFloat16: return run<Brain16>(c);
    default: return run<float>(c);
  }
}

}  // namespace tessera::tensor::cuda
