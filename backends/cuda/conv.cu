// Convolution and its two derivatives as matrix products: the windows of some images (or of some rows of one) are written out
// as columns, as many as the workspace takes, and cuBLASLt does the rest. Where each channel has its own filters
// (depthwise), a product would have a row or two: conv_depthwise.cu computes those from the image.
//
// Everything has a fixed order: chunks follow each other in the stream, and where windows overlap an image's pixel adds up
// what its windows give. cuDNN is asked first (cudnn.cpp), but for a depthwise convolution of rows, where both are bound by
// memory and its kernels are known to be slow; with channels last they are not, and ours would need copies.
#include <algorithm>

#include "backends/cuda/conv.cuh"
#include "backends/cuda/convert.h"
#include "backends/cuda/cudnn.h"
#include "backends/cuda/gemm.h"
#include "backends/cuda/scratch.h"

namespace tessera::tensor::cuda {
namespace {

constexpr int64_t kWorkspace = int64_t(256) << 20;  // bytes of columns at once

/// Some images, or some rows of results of one image.
struct Chunk {
  int64_t image, images, row, rows;
};

template <class T>
struct Columns {
  Chunk chunk;
  ConvShape shape;
  FastDivide<uint32_t> by_columns, by_places, by_kernel_width, by_kernel_height;

  Columns(const ConvCall& c, const Chunk& chunk)
      : chunk(chunk),
        shape(c),
        by_columns(uint32_t(c.columns)),
        by_places(uint32_t(chunk.rows * c.columns)),
        by_kernel_width(uint32_t(c.window.kernel[1])),
        by_kernel_height(uint32_t(c.window.kernel[0])) {}

  /// Columns of the matrix that the windows become; its rows are the elements of a window.
  __host__ __device__ int64_t width() const { return chunk.images * chunk.rows * shape.columns; }
};

// columns[element of the window][image, row, column] = the pixel there, 0 outside of the image.
template <class T>
__global__ void write_columns(const T* image, T* columns, const __grid_constant__ Columns<T> g) {
  const int64_t width = g.width(), elements = g.shape.channels * g.shape.kernel[0] * g.shape.kernel[1];
  const ConvShape& s = g.shape;
  for (int64_t e = blockIdx.y; e < elements; e += gridDim.y) {
    const auto [above, j] = g.by_kernel_width.divide(uint32_t(e));
    const auto [channel, i] = g.by_kernel_height.divide(above);
    each_in_grid(width, [&](int64_t p) {
      const auto [picture, place] = g.by_places.divide(uint32_t(p));
      const auto [row, column] = g.by_columns.divide(place);
      const int64_t y = (g.chunk.row + row) * s.stride[0] - s.padding[0] + i * s.dilation[0];
      const int64_t x = int64_t(column) * s.stride[1] - s.padding[1] + j * s.dilation[1];
      T value = T(0.0f);
      if (uint64_t(y) < uint64_t(s.height) && uint64_t(x) < uint64_t(s.width))
        value = image[(((g.chunk.image + picture) * s.channels + channel) * s.height + y) * s.width + x];
      columns[e * width + p] = value;
    });
  }
}

// The transpose of that: each pixel of the chunk's images adds up what its windows give, in the order of the window's
// elements. A chunk of rows adds to what the chunks before it left.
template <class T>
__global__ void add_columns(const T* columns, T* image, const __grid_constant__ Columns<T> g,
                            FastDivide<uint32_t> by_width) {
  const ConvShape& s = g.shape;
  const int64_t width = g.width(), plane = s.height * s.width, planes = g.chunk.images * s.channels;
  const bool adds = g.chunk.row > 0;
  for (int64_t q = blockIdx.y; q < planes; q += gridDim.y) {
    const auto at_plane = s.by_channels.divide(uint64_t(q));
    const int64_t picture = int64_t(at_plane.quotient), channel = int64_t(at_plane.rest);
    T* out = image + (g.chunk.image * s.channels + q) * plane;
    each_in_grid(plane, [&](int64_t at) {
      const auto [y, x] = by_width.divide(uint32_t(at));
      Sum<T> total = adds ? as_sum(out[at]) : Sum<T>(0);
      for (int i = 0; i < int(s.kernel[0]); i++) {
        const int64_t row = s.place(0, y, i) - g.chunk.row;
        if (s.place(0, y, i) < 0 || row < 0 || row >= g.chunk.rows) continue;
        for (int j = 0; j < int(s.kernel[1]); j++) {
          const int64_t column = s.place(1, x, j);
          if (column < 0) continue;
          const int64_t e = (channel * s.kernel[0] + i) * s.kernel[1] + j;
          total += as_sum(columns[e * width + (picture * g.chunk.rows + row) * s.columns + column]);
        }
      }
      out[at] = as_element<T>(total);
    });
  }
}

// out[output][image, place] = results[image][output][place], for the chunk.
template <class T>
__global__ void join_images(const T* results, T* out, int64_t outputs, int64_t images, int64_t places, int64_t image,
                            FastDivide<uint32_t> by_places) {
  const int64_t width = images * places;
  for (int64_t o = blockIdx.y; o < outputs; o += gridDim.y)
    each_in_grid(width, [&](int64_t p) {
      const auto [picture, place] = by_places.divide(uint32_t(p));
      out[o * width + p] = results[((image + picture) * outputs + o) * places + place];
    });
}

// results[image][output][...] = bias[output]; products are added to it.
template <class T>
__global__ void start_with_bias(const T* bias, T* results, int64_t planes, FastDivide<uint64_t> by_outputs,
                                int64_t places) {
  for (int64_t q = blockIdx.y; q < planes; q += gridDim.y) {
    const T value = bias[by_outputs.divide(uint64_t(q)).rest];
    each_in_grid(places, [&](int64_t p) { results[q * places + p] = value; });
  }
}

dim3 grid_over(int64_t along, int64_t lines) {
  const int64_t blocks = (along + kThreads - 1) / kThreads;
  return dim3(unsigned(std::clamp<int64_t>(blocks, 1, 1 << 20)), unsigned(std::clamp<int64_t>(lines, 1, 65535)));
}

/// A convolution by products.
template <class T>
class Products {
 public:
  explicit Products(const ConvCall& c)
      : c_(c),
        place_(c.launch),
        channels_(c.channels / c.groups),
        outputs_(c.outputs / c.groups),
        depth_(channels_ * c.window.kernel[0] * c.window.kernel[1]),
        places_(c.rows * c.columns),
        tf32_(cudnn_switches().allow_tf32) {}

  void forward() {
    if (c_.bias != nullptr)
      launch<start_with_bias<T>>(place_, {grid_over(places_, c_.batch * c_.outputs), kThreads},
                                 static_cast<const T*>(c_.bias), result(), c_.batch * c_.outputs,
                                 FastDivide<uint64_t>(uint64_t(c_.outputs)), places_);
    over_chunks([&](const Chunk& chunk, T* columns) {
      if (!is_plain()) write(chunk, columns);
      each_product(chunk, columns, [&](GemmCall g, const T* matrix) {
        g.a = matrix, g.lda = depth_;
        g.beta = c_.bias == nullptr ? 0 : 1;
        return g;
      });
    });
  }

  void input_gradient() {
    over_chunks([&](const Chunk& chunk, T* columns) {
      each_gradient(chunk, columns);
      if (is_plain()) return;
      const Columns<T> g(c_, chunk);
      launch<add_columns<T>>(place_, {grid_over(c_.height * c_.width, chunk.images * c_.channels), kThreads}, columns,
                             image(), g, FastDivide<uint32_t>(uint32_t(c_.width)));
    });
  }

  void weight_gradient() {
    over_chunks([&](const Chunk& chunk, T* columns) {
      write(chunk, columns);
      const int64_t width = chunk.images * chunk.rows * c_.columns;
      const Scratch joined(c_.launch, chunk.images > 1 ? size_t(c_.outputs * width) * sizeof(T) : 0);
      const T* g = result() + chunk.image * c_.outputs * places_ + chunk.row * c_.columns;
      int64_t step = places_;  // from one output to the next
      if (chunk.images > 1) {
        T* out = static_cast<T*>(joined.get());
        launch<join_images<T>>(place_, {grid_over(width, c_.outputs), kThreads}, result(), out, c_.outputs,
                               chunk.images, places_, chunk.image, FastDivide<uint32_t>(uint32_t(places_)));
        g = out, step = width;
      }
      GemmCall product = blank(outputs_, depth_, width);
      product.a = g, product.lda = step, product.batch_a = outputs_ * step;
      product.b = columns, product.ldb = width, product.batch_b = depth_ * width, product.transpose_b = true;
      product.c = weight(), product.ldc = depth_, product.batch_c = outputs_ * depth_;
      product.batch = c_.groups;
      product.beta = chunk.image == 0 && chunk.row == 0 ? 0 : 1;
      multiply(product);
    });
  }

 private:
  T* image() const { return static_cast<T*>(c_.image); }
  T* weight() const { return static_cast<T*>(c_.weight); }
  T* result() const { return static_cast<T*>(c_.result); }

  // A window of one pixel at every pixel: the image is its columns.
  bool is_plain() const {
    const Window& w = c_.window;
    bool plain = true;
    for (int d = 0; d < 2; d++) plain &= w.kernel[d] == 1 && w.stride[d] == 1 && w.padding[d] == 0;
    return plain;
  }

  GemmCall blank(int64_t m, int64_t n, int64_t k) const {
    GemmCall g{};
    g.dtype = c_.dtype;
    g.m = m, g.n = n, g.k = k;
    g.alpha = 1;
    g.batch = 1;
    g.tf32 = tf32_;
    g.launch = c_.launch;
    return g;
  }

  // f(chunk, columns) for all images. Numbers of columns fit 31 bits.
  template <class F>
  void over_chunks(const F& f) const {
    const int64_t bytes = c_.groups * depth_ * int64_t(sizeof(T));  // of one column
    const int64_t most = std::clamp<int64_t>(kWorkspace / bytes, c_.columns, int64_t(1) << 30);
    const bool by_rows = places_ > most;
    const int64_t images = by_rows ? 1 : std::min(c_.batch, most / places_);
    const int64_t rows = by_rows ? std::max<int64_t>(1, most / c_.columns) : c_.rows;
    const bool needs_none = is_plain() && c_.pass != ConvCall::WeightGradient;
    const Scratch columns(c_.launch, needs_none ? 0 : size_t(images * rows * c_.columns * bytes));
    for (int64_t image = 0; image < c_.batch; image += images)
      for (int64_t row = 0; row < c_.rows; row += rows)
        f(Chunk{image, std::min(images, c_.batch - image), row, std::min(rows, c_.rows - row)},
          static_cast<T*>(columns.get()));
  }

  void write(const Chunk& chunk, T* columns) const {
    const Columns<T> g(c_, chunk);
    launch<write_columns<T>>(place_, {grid_over(g.width(), c_.groups * depth_), kThreads}, image(), columns, g);
  }

  // Where a group's columns of a chunk begin, from one row of that matrix to the next, and from one image to the next.
  struct Matrix {
    int64_t begin, ld, step;
  };
  Matrix columns_of(const Chunk& chunk, int64_t group, int64_t picture) const {
    if (is_plain())
      return {((chunk.image + picture) * c_.channels + group * channels_) * places_ + chunk.row * c_.columns, places_,
              c_.channels * places_};
    const int64_t one = chunk.rows * c_.columns, width = chunk.images * one;
    return {group * depth_ * width + picture * one, width, one};
  }
  int64_t result_of(const Chunk& chunk, int64_t group, int64_t picture) const {
    return ((chunk.image + picture) * c_.outputs + group * outputs_) * places_ + chunk.row * c_.columns;
  }

  // result = weight x columns: a product for each image and group, batched over whichever there are more of.
  template <class F>
  void each_product(const Chunk& chunk, T* columns, const F& finish) const {
    T* from = is_plain() ? image() : columns;
    const bool by_image = chunk.images >= c_.groups;
    for (int64_t k = 0; k < (by_image ? c_.groups : chunk.images); k++) {
      const int64_t group = by_image ? k : 0, picture = by_image ? 0 : k;
      const Matrix x = columns_of(chunk, group, picture);
      GemmCall g = blank(outputs_, chunk.rows * c_.columns, depth_);
      g.batch = by_image ? chunk.images : c_.groups;
      g.batch_a = by_image ? 0 : outputs_ * depth_;
      g.b = from + x.begin, g.ldb = x.ld;
      g.batch_b = by_image ? x.step : columns_of(chunk, 1, picture).begin - x.begin;
      g.c = result() + result_of(chunk, group, picture), g.ldc = places_;
      g.batch_c = (by_image ? c_.outputs : outputs_) * places_;
      multiply(finish(g, weight() + group * outputs_ * depth_));
    }
  }

  // columns = weight transposed x result.
  void each_gradient(const Chunk& chunk, T* columns) const {
    T* to = is_plain() ? image() : columns;
    const bool by_image = chunk.images >= c_.groups;
    for (int64_t k = 0; k < (by_image ? c_.groups : chunk.images); k++) {
      const int64_t group = by_image ? k : 0, picture = by_image ? 0 : k;
      const Matrix x = columns_of(chunk, group, picture);
      GemmCall g = blank(depth_, chunk.rows * c_.columns, outputs_);
      g.batch = by_image ? chunk.images : c_.groups;
      g.a = weight() + group * outputs_ * depth_, g.lda = depth_, g.transpose_a = true;
      g.batch_a = by_image ? 0 : outputs_ * depth_;
      g.b = result() + result_of(chunk, group, picture), g.ldb = places_;
      g.batch_b = (by_image ? c_.outputs : outputs_) * places_;
      g.c = to + x.begin, g.ldc = x.ld;
      g.batch_c = by_image ? x.step : columns_of(chunk, 1, picture).begin - x.begin;
      multiply(g);
    }
  }

  const ConvCall& c_;
  const Place place_;
  const int64_t channels_, outputs_;  // of a group
  const int64_t depth_;               // elements of a window in a group
  const int64_t places_;
  const bool tf32_;
};

template <class T>
void by_products(const ConvCall& c) {
  Products<T> products(c);
  switch (c.pass) {
    case ConvCall::Forward: return products.forward();
    case ConvCall::InputGradient: return products.input_gradient();
    case ConvCall::WeightGradient: return products.weight_gradient();
  }
}

void convolve_rows(const ConvCall& c) {
  if (c.height * c.width >= int64_t(1) << 31 || c.columns >= int64_t(1) << 30)
    fail_with(TensorErrorKind::Runtime, "convolution over images of 2^31 pixels or more is not supported on CUDA");
  if (is_depthwise(c)) return convolve_depthwise(c);
  switch (c.dtype) {
    case DType::Float64: return by_products<double>(c);
    case DType::Float16: return by_products<Float16>(c);
    case DType::BFloat16: return by_products<Brain16>(c);
    default: return by_products<float>(c);
  }
}

// to[n][c][place] = from[n][place][c], or the other way round.
void turn(const Place& place, DType dtype, void* to, const void* from, int64_t n, int64_t channels, int64_t places,
          bool to_rows) {
  Loop loop;
  loop.operands = 2, loop.ndim = 3, loop.numel = n * channels * places;
  loop.data[0] = static_cast<char*>(to), loop.data[1] = static_cast<char*>(const_cast<void*>(from));
  loop.dtype[0] = loop.dtype[1] = dtype;
  const int64_t inner = to_rows ? places : channels, outer = to_rows ? channels : places;
  const int64_t sizes[] = {inner, outer, n};
  const int64_t steps[2][3] = {{1, inner, inner * outer}, {outer, 1, inner * outer}};
  for (int d = 0; d < 3; d++) {
    loop.sizes[d] = sizes[d];
    for (int k = 0; k < 2; k++) loop.strides[k][d] = steps[k][d];
  }
  copy_elements(loop, place);
}

// Channels come last and cuDNN has nothing for them: by copies that lie in rows.
void convolve_turned(const ConvCall& c) {
  struct Operand {
    void* ConvCall::*at;
    ConvCall::Pass written;  // the pass that writes it
    int64_t n, channels, places;
  } const operands[] = {{&ConvCall::image, ConvCall::InputGradient, c.batch, c.channels, c.height * c.width},
                        {&ConvCall::weight, ConvCall::WeightGradient, c.outputs, c.channels / c.groups,
                         c.window.kernel[0] * c.window.kernel[1]},
                        {&ConvCall::result, ConvCall::Forward, c.batch, c.outputs, c.rows * c.columns}};
  const Place place(c.launch);
  const auto bytes = [&](const Operand& o) { return size_t(o.n * o.channels * o.places) * item_size(c.dtype); };
  const Scratch copies[] = {Scratch(place, bytes(operands[0])), Scratch(place, bytes(operands[1])),
                            Scratch(place, bytes(operands[2]))};
  ConvCall rows = c;
  rows.channels_last = false;
  for (int k = 0; k < 3; k++) {
    const Operand& o = operands[k];
    rows.*o.at = copies[k].get();
    if (o.written != c.pass) turn(place, c.dtype, rows.*o.at, c.*o.at, o.n, o.channels, o.places, true);
  }
  convolve_rows(rows);
  for (const Operand& o : operands)
    if (o.written == c.pass) turn(place, c.dtype, c.*o.at, rows.*o.at, o.n, o.channels, o.places, false);
}

void convolve(const ConvCall& c) {
  const bool ours = is_depthwise(c) && !c.channels_last;
  if (ours || !convolve_by_cudnn(c)) return c.channels_last ? convolve_turned(c) : convolve_rows(c);
  if (c.bias != nullptr) add_bias_to(c);
}

const CudaKernel<ConvCall> entry("convolution", convolve);

}  // namespace
}  // namespace tessera::tensor::cuda
