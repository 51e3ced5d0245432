// The largest element of each window of an image, or the windows' means; and what comes back to a pixel from the windows
// that it is in, in their order. A thread for each element of the result, planes over the grid's second dimension.
#include "backends/cuda/divide.cuh"
#include "backends/cuda/element.cuh"
#include "runtime/ops/conv.h"

namespace tessera::tensor::cuda {
namespace {

/// A call's sizes as a kernel's argument.
struct Pool {
  int64_t planes, height, width, rows, columns;
  Window window;
  FastDivide<uint32_t> by_line;  // columns of the result, or width of the image
  FastDivide<uint32_t> by_stride[2], by_dilation[2];

  template <class Call>
  Pool(const Call& c, int64_t line)
      : planes(c.planes),
        height(c.height),
        width(c.width),
        rows(c.out_height),
        columns(c.out_width),
        window(c.window),
        by_line(uint32_t(line)) {
    // Steps larger than an image with its padding are as good as that: pixels and paddings have 31 bits.
    constexpr int64_t kMost = int64_t(1) << 31;
    const auto by = [](int64_t step) { return FastDivide<uint32_t>(uint32_t(step < kMost ? step : kMost)); };
    for (int d = 0; d < 2; d++) by_stride[d] = by(window.stride[d]), by_dilation[d] = by(window.dilation[d]);
  }

  struct Span {
    int64_t first, last;  // inside of the image, in steps of the dilation
  };
  __device__ Span pixels(int d, int64_t window_at) const {
    const int64_t start = window_at * window.stride[d] - window.padding[d], step = window.dilation[d];
    const int64_t end = start + (window.kernel[d] - 1) * step, size = d == 0 ? height : width;
    return {start < 0 ? start + rounds(by_dilation[d], -start) * step : start, end < size ? end : size - 1};
  }
  /// The windows that a pixel is in, were there no dilation: all that are may be found among them.
  __device__ Span windows(int d, int64_t at) const {
    const int64_t span = (window.kernel[d] - 1) * window.dilation[d], from = at + window.padding[d];
    const int64_t last = by_stride[d].quotient(uint32_t(from)), count = d == 0 ? rows : columns;
    return {from <= span ? 0 : rounds(by_stride[d], from - span), last < count ? last : count - 1};
  }

 private:
  /// Steps until `way` is behind.
  static __device__ int64_t rounds(const FastDivide<uint32_t>& by_step, int64_t way) {
    return int64_t(by_step.quotient(uint32_t(way - 1))) + 1;
  }
};

// Elements are compared in C: float for halves, int64 for integers. NaN is larger than all.
template <class C>
__global__ void max_pool(const char* in, char* out, int64_t* index, DType dtype, const __grid_constant__ Pool g) {
  const int64_t places = g.rows * g.columns;
  for (int64_t q = blockIdx.y; q < g.planes; q += gridDim.y) {
    const int64_t plane = q * g.height * g.width;
    each_in_grid(places, [&](int64_t p) {
      const auto [row, column] = g.by_line.divide(uint32_t(p));
      const auto down = g.pixels(0, row), across = g.pixels(1, column);
      int64_t best = down.first * g.width + across.first;
      C largest = load_as<C>(in, plane + best, dtype);
      for (int64_t y = down.first; y <= down.last; y += g.window.dilation[0])
        for (int64_t x = across.first; x <= across.last; x += g.window.dilation[1]) {
          const C value = load_as<C>(in, plane + y * g.width + x, dtype);
          if (value > largest || value != value) largest = value, best = y * g.width + x;
        }
      store_as<C>(out, q * places + p, dtype, largest);
      index[q * places + p] = best;
    });
  }
}

template <class C>
__global__ void max_pool_gradient(const char* g_out, const int64_t* index, char* dx, DType dtype,
                                  const __grid_constant__ Pool g) {
  const int64_t places = g.rows * g.columns, pixels = g.height * g.width;
  for (int64_t q = blockIdx.y; q < g.planes; q += gridDim.y)
    each_in_grid(pixels, [&](int64_t at) {
      const auto [y, x] = g.by_line.divide(uint32_t(at));
      const auto down = g.windows(0, y), across = g.windows(1, x);
      C total = 0;
      for (int64_t i = down.first; i <= down.last; i++)
        for (int64_t j = across.first; j <= across.last; j++) {
          const int64_t place = q * places + i * g.columns + j;
          if (index[place] == at) total += load_as<C>(g_out, place, dtype);
        }
      store_as<C>(dx, q * pixels + at, dtype, total);
    });
}

template <class C>
__global__ void avg_pool(const char* in, char* out, DType dtype, C divisor, const __grid_constant__ Pool g) {
  const int64_t places = g.rows * g.columns;
  for (int64_t q = blockIdx.y; q < g.planes; q += gridDim.y) {
    const int64_t plane = q * g.height * g.width;
    each_in_grid(places, [&](int64_t p) {
      const auto [row, column] = g.by_line.divide(uint32_t(p));
      const auto down = g.pixels(0, row), across = g.pixels(1, column);
      C sum = 0;
      for (int64_t y = down.first; y <= down.last; y++)
        for (int64_t x = across.first; x <= across.last; x++) sum += load_as<C>(in, plane + y * g.width + x, dtype);
      store_as<C>(out, q * places + p, dtype, sum / divisor);
    });
  }
}

template <class C>
__global__ void avg_pool_gradient(const char* g_out, char* dx, DType dtype, const __grid_constant__ Pool g) {
  const int64_t places = g.rows * g.columns, pixels = g.height * g.width;
  for (int64_t q = blockIdx.y; q < g.planes; q += gridDim.y)
    each_in_grid(pixels, [&](int64_t at) {
      const auto [y, x] = g.by_line.divide(uint32_t(at));
      const auto down = g.windows(0, y), across = g.windows(1, x);
      C total = 0;
      for (int64_t i = down.first; i <= down.last; i++)
        for (int64_t j = across.first; j <= across.last; j++)
          total += load_as<C>(g_out, q * places + i * g.columns + j, dtype);
      store_as<C>(dx, q * pixels + at, dtype, total);
    });
}

template <class Call>
void check_size(const Call& c) {
  constexpr int64_t kMost = int64_t(1) << 31;
  const int64_t down = c.height + c.window.padding[0], across = c.width + c.window.padding[1];
  if (c.height * c.width >= kMost || c.out_height * c.out_width >= kMost || down >= kMost || across >= kMost)
    fail_with(TensorErrorKind::Runtime, "pooling of images of 2^31 pixels or more is not supported on CUDA");
}

dim3 grid_over(int64_t along, int64_t planes) {
  const int64_t blocks = (along + kThreads - 1) / kThreads;
  return dim3(unsigned(blocks < 1 ? 1 : blocks), unsigned(planes < 1 ? 1 : planes < 65535 ? planes : 65535));
}

template <class C>
void run(const MaxPoolCall& c) {
  launch<max_pool<C>>(Place(c.launch), {grid_over(c.out_height * c.out_width, c.planes), kThreads},
                      static_cast<const char*>(c.in), static_cast<char*>(c.out), c.index, c.dtype,
                      Pool(c, c.out_width));
}
template <class C>
void run(const MaxPoolGradCall& c) {
  launch<max_pool_gradient<C>>(Place(c.launch), {grid_over(c.height * c.width, c.planes), kThreads},
                               static_cast<const char*>(c.g), c.index, static_cast<char*>(c.dx), c.dtype,
                               Pool(c, c.width));
}
template <class C>
void run(const AvgPoolCall& c) {
  launch<avg_pool<C>>(Place(c.launch), {grid_over(c.out_height * c.out_width, c.planes), kThreads},
                      static_cast<const char*>(c.in), static_cast<char*>(c.out), c.dtype, C(c.divisor),
                      Pool(c, c.out_width));
}
template <class C>
void run(const AvgPoolGradCall& c) {
  launch<avg_pool_gradient<C>>(Place(c.launch), {grid_over(c.height * c.width, c.planes), kThreads},
                               static_cast<const char*>(c.g), static_cast<char*>(c.dx), c.dtype, Pool(c, c.width));
}

template <class Call>
void in_its_type(const Call& c) {
  check_size(c);
  switch (c.dtype) {
    case DType::Float64: return run<double>(c);
    case DType::Float32:
    case DType::Float16:
    case DType::BFloat16: return run<float>(c);
    default:
      if constexpr (std::is_same_v<Call, MaxPoolCall>) return run<int64_t>(c);
      else fail_with(TensorErrorKind::Runtime, "means and gradients are of floating numbers");
  }
}

const CudaKernel<MaxPoolCall> max_entry("max_pool2d", in_its_type<MaxPoolCall>);
const CudaKernel<MaxPoolGradCall> max_grad_entry("max_pool2d_backward", in_its_type<MaxPoolGradCall>);
const CudaKernel<AvgPoolCall> avg_entry("avg_pool2d", in_its_type<AvgPoolCall>);
const CudaKernel<AvgPoolGradCall> avg_grad_entry("avg_pool2d_backward", in_its_type<AvgPoolGradCall>);

}  // namespace
}  // namespace tessera::tensor::cuda
