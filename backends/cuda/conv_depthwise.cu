// Convolution where each channel has its own filters: sums of a few products for each result, taken from the image itself.
#include "backends/cuda/conv.cuh"

namespace tessera::tensor::cuda {
namespace {

/// Filters of a channel: outputs / channels.
struct Depthwise {
  ConvShape shape;
  int64_t batch, filters;
  FastDivide<uint32_t> by_line;     // columns of results, or width of the image
  FastDivide<uint64_t> by_filters;  // outputs to the channel that they look at
  FastDivide<uint64_t> by_kernel[2];
};

// A thread for each place of a plane; planes go over the grid's second dimension.
template <class T>
__global__ void depthwise_forward(const T* image, const T* weight, const T* bias, T* result,
                                  const __grid_constant__ Depthwise g) {
  const ConvShape& s = g.shape;
  const int64_t places = s.rows * s.columns;
  for (int64_t q = blockIdx.y; q < g.batch * s.outputs; q += gridDim.y) {
    const auto at_plane = s.by_outputs.divide(uint64_t(q));
    const int64_t picture = int64_t(at_plane.quotient), output = int64_t(at_plane.rest);
    const int64_t channel = int64_t(g.by_filters.quotient(at_plane.rest));
    const T* plane = image + (picture * s.channels + channel) * s.height * s.width;
    const T* filter = weight + output * s.kernel[0] * s.kernel[1];
    const Sum<T> start = bias == nullptr ? Sum<T>(0) : as_sum(bias[output]);
    each_in_grid(places, [&](int64_t p) {
      const auto [row, column] = g.by_line.divide(uint32_t(p));
      Sum<T> total = start;
      for (int i = 0; i < int(s.kernel[0]); i++) {
        const int64_t y = row * s.stride[0] - s.padding[0] + i * s.dilation[0];
        if (uint64_t(y) >= uint64_t(s.height)) continue;
        for (int j = 0; j < int(s.kernel[1]); j++) {
          const int64_t x = column * s.stride[1] - s.padding[1] + j * s.dilation[1];
          if (uint64_t(x) < uint64_t(s.width))
            total += as_sum(plane[y * s.width + x]) * as_sum(filter[i * s.kernel[1] + j]);
        }
      }
      result[q * places + p] = as_element<T>(total);
    });
  }
}

template <class T>
__global__ void depthwise_input_gradient(T* image, const T* weight, const T* result,
                                         const __grid_constant__ Depthwise g) {
  const ConvShape& s = g.shape;
  const int64_t places = s.rows * s.columns, plane = s.height * s.width;
  for (int64_t q = blockIdx.y; q < g.batch * s.channels; q += gridDim.y) {
    const auto at_plane = s.by_channels.divide(uint64_t(q));
    const int64_t picture = int64_t(at_plane.quotient), channel = int64_t(at_plane.rest);
    each_in_grid(plane, [&](int64_t at) {
      const auto [y, x] = g.by_line.divide(uint32_t(at));
      Sum<T> total = 0;
      for (int64_t f = 0; f < g.filters; f++) {
        const int64_t output = channel * g.filters + f;
        const T* filter = weight + output * s.kernel[0] * s.kernel[1];
        const T* from = result + (picture * s.outputs + output) * places;
        for (int i = 0; i < int(s.kernel[0]); i++) {
          const int64_t row = s.place(0, y, i);
          if (row < 0) continue;
          for (int j = 0; j < int(s.kernel[1]); j++) {
            const int64_t column = s.place(1, x, j);
            if (column >= 0) total += as_sum(from[row * s.columns + column]) * as_sum(filter[i * s.kernel[1] + j]);
          }
        }
      }
      image[q * plane + at] = as_element<T>(total);
    });
  }
}

// A block for each element of a filter: its threads share all places of all images, then their sums as a tree.
template <class T>
__global__ void depthwise_weight_gradient(const T* image, T* weight, const T* result,
                                          const __grid_constant__ Depthwise g) {
  TS_SHARED(Sum<T>, totals, kThreads);
  const ConvShape& s = g.shape;
  const int64_t places = s.rows * s.columns, window = s.kernel[0] * s.kernel[1];
  for (int64_t e = blockIdx.x; e < s.outputs * window; e += gridDim.x) {
    const auto line = g.by_kernel[1].divide(uint64_t(e)), at_filter = g.by_kernel[0].divide(line.quotient);
    const int64_t output = int64_t(at_filter.quotient), i = int64_t(at_filter.rest), j = int64_t(line.rest);
    const int64_t channel = int64_t(g.by_filters.quotient(at_filter.quotient));
    Sum<T> total = 0;
    for (int64_t picture = 0; picture < g.batch; picture++) {
      const T* plane = image + (picture * s.channels + channel) * s.height * s.width;
      const T* from = result + (picture * s.outputs + output) * places;
      for (int64_t p = threadIdx.x; p < places; p += kThreads) {
        const auto [row, column] = g.by_line.divide(uint32_t(p));
        const int64_t y = row * s.stride[0] - s.padding[0] + i * s.dilation[0];
        const int64_t x = column * s.stride[1] - s.padding[1] + j * s.dilation[1];
        if (uint64_t(y) < uint64_t(s.height) && uint64_t(x) < uint64_t(s.width))
          total += as_sum(plane[y * s.width + x]) * as_sum(from[p]);
      }
    }
    totals[threadIdx.x] = total;
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) totals[threadIdx.x] += totals[threadIdx.x + half];
      __syncthreads();
    }
    if (threadIdx.x == 0) weight[e] = as_element<T>(totals[0]);
    __syncthreads();  // before the next element's sums
  }
}

dim3 grid_over(int64_t along, int64_t lines) {
  const int64_t blocks = (along + kThreads - 1) / kThreads;
  return dim3(unsigned(blocks < 1 << 20 ? blocks : 1 << 20), unsigned(lines < 65535 ? lines : 65535));
}

template <class T>
void run(const ConvCall& c) {
  const Place place(c.launch);
  const bool over_image = c.pass == ConvCall::InputGradient;
  const Depthwise g{
      ConvShape(c),
      c.batch,
      c.outputs / c.channels,
      FastDivide<uint32_t>(uint32_t(over_image ? c.width : c.columns)),
      FastDivide<uint64_t>(uint64_t(c.outputs / c.channels)),
      {FastDivide<uint64_t>(uint64_t(c.window.kernel[0])), FastDivide<uint64_t>(uint64_t(c.window.kernel[1]))}};
  T *image = static_cast<T*>(c.image), *weight = static_cast<T*>(c.weight), *result = static_cast<T*>(c.result);
  switch (c.pass) {
    case ConvCall::Forward:
      return launch<depthwise_forward<T>>(place, {grid_over(c.rows * c.columns, c.batch * c.outputs), kThreads}, image,
                                          weight, static_cast<const T*>(c.bias), result, g);
    case ConvCall::InputGradient:
      return launch<depthwise_input_gradient<T>>(place, {grid_over(c.height * c.width, c.batch * c.channels), kThreads},
                                                 image, weight, result, g);
    case ConvCall::WeightGradient: {
      const int64_t elements = c.outputs * c.window.kernel[0] * c.window.kernel[1];
      return launch<depthwise_weight_gradient<T>>(place, {unsigned(elements < 65535 ? elements : 65535), kThreads},
                                                  image, weight, result, g);
    }
  }
}

}  // namespace

void convolve_depthwise(const ConvCall& c) {
  switch (c.dtype) {
    case DType::Float64: return run<double>(c);
    case DType::Float16: return run<Float16>(c);
    case DType::BFloat16: return run<Brain16>(c);
    default: return run<float>(c);
  }
}

}  // namespace tessera::tensor::cuda
