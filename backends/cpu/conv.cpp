// Convolution and its two derivatives, each as products over blocks of places of the window; those with steps of one along
// long rows are products over rows of the image (conv_rows.h).
//
// A block is as many columns of the im2col matrix as stay in the second-level cache; it is gathered, multiplied and
// forgotten, so the whole matrix (the image, kernel height * width times) is never written. Threads share out the blocks.
// How they are cut, and what is added up in which order, depends on the sizes alone.
#include <algorithm>
#include <cstring>

#include "backends/cpu/conv_depthwise.h"
#include "backends/cpu/conv_order.h"
#include "backends/cpu/conv_parts.h"
#include "backends/cpu/conv_rows.h"
#include "backends/cpu/conv_tiles.h"
#include "backends/cpu/gemm_direct.h"
#include "backends/cpu/gemm_order.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "runtime/ops/conv.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kBlockElements = int64_t(1) << 15;  // of the gathered matrix
constexpr int64_t kGrain = int64_t(1) << 18;          // multiplications: some microseconds
constexpr int64_t kParts = 8;                         // that a gradient is summed in
constexpr int64_t kPlacesAtOnce = 200;                // of the window, in a panel of the result's gradient

/// f(begin, end) for stretches of the tasks; `work` is the multiplications of one.
template <class F>
void share_out_stretches(int64_t tasks, int64_t work, const F& f) {
  if (tasks == 1) return f(0, 1);
  run_split(tasks, {.grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work)), .tasks = work >= 4 * kGrain},
            RangeBody(f));
}
/// f(task) for each.
template <class F>
void share_out(int64_t tasks, int64_t work, const F& f) {
  share_out_stretches(tasks, work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) f(i);
  });
}

template <class T>
class Convolution {
 public:
  explicit Convolution(const ConvCall& c)
      : c_(c),
        w_(c.window),
        depth_(c.channels / c.groups),
        height_(c.outputs / c.groups),
        taps_(w_.kernel[0] * w_.kernel[1]),
        places_(c.rows * c.columns),
        block_(
            std::min(places_, std::max<int64_t>(64, kBlockElements / std::max<int64_t>(1, depth_ * taps_) / 16 * 16))),
        blocks_((places_ + block_ - 1) / block_),
        identity_(taps_ == 1 && w_.stride[0] == 1 && w_.stride[1] == 1 && w_.padding[0] == 0 && w_.padding[1] == 0) {}

  void forward() const {
    // One small image is a product; where its sums are one part they need not be gathered, which pays for several channels.
    const bool product = identity_ || (is_by_product(c_) && (depth_ == 1 || depth_ * taps_ > kLongestSum));
    if (!product && PartConvolution<T>::suits(shape(), c_.batch))
      return in_parts(PartConvolution<T>(shape(), c_.batch, false), c_.image, c_.result, c_.bias);
    if (!product && TileConvolution<T>::suits(height_, depth_ * taps_)) return forward_in_tiles();
    if (!product && w_.stride[1] == 1 && RowConvolution<T>::suits(c_.columns)) return forward_by_rows();
    const Scratch<T> arranged(product ? 0 : c_.outputs * depth_ * taps_);
    if (!product) order().arrange(weight(0), c_.outputs, arranged.data());
    share_out(c_.batch * c_.groups * blocks_, height_ * depth_ * taps_ * block_, [&](int64_t task) {
      const Block b = block_at(task % blocks_);
      const int64_t group = task / blocks_ % c_.groups, image = task / blocks_ / c_.groups;
      T* out = result(image, group) + b.first;
      if (c_.bias)
        for (int64_t o = 0; o < height_; o++)
          std::fill_n(out + o * places_, b.n, static_cast<const T*>(c_.bias)[group * height_ + o]);
      const Columns seen(*this, plane(image, group), depth_, b, !product && !order().by_channels);
      if (product) {
        return multiply({height_, b.n, depth_ * taps_}, weight(group), depth_ * taps_, false, seen.data, seen.leading,
                        !identity_, c_.bias ? 1 : 0, out, places_);
      }
      for (int64_t i = 0; i < order().blocks(); i++) {
        const int64_t row = order().first_row(i);
        multiply({height_, b.n, order().channels_of(i) * taps_},
                 arranged.data() + group * height_ * depth_ * taps_ + row, depth_ * taps_, false,
                 seen.data + row * seen.leading, seen.leading, true, c_.bias || i > 0 ? 1 : 0, out, places_);
      }
    });
  }

  // Each task owns some channels of an image, so that no two add to the same pixel.
  void input_gradient() const {
    if (is_linear()) return linear({c_.batch, c_.channels, c_.outputs}, c_.result, false, c_.weight, c_.image);
    if (is_turnable() && !identity_ && PartConvolution<T>::suits(turned_shape(), c_.batch))
      return in_parts(PartConvolution<T>(turned_shape(), c_.batch, true), c_.result, c_.image, nullptr);
    if (is_turnable() && !identity_ && TileConvolution<T>::suits(depth_, height_ * taps_))
      return input_gradient_in_tiles();
    if (is_turnable() && RowConvolution<T>::suits(c_.width)) return input_gradient_by_rows();
    const int64_t images = c_.batch * c_.groups;
    const int64_t wanted = std::min(depth_, (kParts + images - 1) / images), span = (depth_ + wanted - 1) / wanted;
    const int64_t parts = (depth_ + span - 1) / span;
    share_out(images * parts, height_ * span * taps_ * places_, [&](int64_t task) {
      const int64_t first = task % parts * span, channels = std::min(span, depth_ - first);
      const int64_t group = task / parts % c_.groups, image = task / parts / c_.groups;
      T* to = plane(image, group) + first * c_.height * c_.width;
      std::fill_n(to, channels * c_.height * c_.width, T(0));
      const Scratch<T> columns(channels * taps_ * block_);
      for (int64_t i = 0; i < blocks_; i++) {
        const Block b = block_at(i);
        multiply({channels * taps_, b.n, height_}, weight(group) + first * taps_, depth_ * taps_, true,
                 result(image, group) + b.first, places_, false, 0, columns.data(), b.n);
        walk<false>(to, columns.data(), b.n, channels, b);
      }
    });
  }

  // Parts of the blocks are summed one after the other, each in memory of its own; then the parts.
  void weight_gradient() const {
    if (is_linear()) return linear({c_.outputs, c_.channels, c_.batch}, c_.result, true, c_.image, c_.weight);
    if (!identity_ && height_ >= 8) return weight_gradient_in_tiles();
    const int64_t all = c_.batch * blocks_, parts = std::min(all, kParts), size = c_.outputs * depth_ * taps_;
    const Scratch<T> sums(parts * size);
    share_out(parts * c_.groups, size / c_.groups * block_ * (all / parts), [&](int64_t task) {
      const int64_t part = task / c_.groups, group = task % c_.groups;
      T* sum = sums.data() + part * size + group * height_ * depth_ * taps_;
      const int64_t first = all * part / parts, last = all * (part + 1) / parts;
      for (int64_t i = first; i < last; i++) {
        const Block b = block_at(i % blocks_);
        const Columns seen(*this, plane(i / blocks_, group), depth_, b);
        gemm_kernel(DeviceType::Cpu, GemmCall{dtype_of<T>, height_, depth_ * taps_, b.n, 1.0, i == first ? 0.0 : 1.0,
                                              result(i / blocks_, group) + b.first, places_, 0, false, seen.data,
                                              seen.leading, 0, true, sum, depth_ * taps_, 0, 1});
      }
    });
    T* out = static_cast<T*>(c_.weight);
    parallel_for(size, 16384, [&](int64_t begin, int64_t end) {
      std::copy(sums.data() + begin, sums.data() + end, out + begin);
      for (int64_t part = 1; part < parts; part++)
        for (int64_t i = begin; i < end; i++) out[i] += sums.data()[part * size + i];
    });
  }

 private:
  /// Of a product: [m, k] times [k, n].
  struct Size {
    int64_t m, n, k;
  };
  /// Places [first, first + n) of the window in an image, row after row.
  struct Block {
    int64_t first, n;
  };
  Block block_at(int64_t i) const { return {i * block_, std::min(block_, places_ - i * block_)}; }

  /// Images of one pixel are the rows of a matrix.
  bool is_linear() const { return identity_ && c_.groups == 1 && c_.height * c_.width == 1; }
  static void linear(Size s, const void* a, bool transpose_a, const void* b, void* out) {
    gemm_kernel(DeviceType::Cpu, GemmCall{dtype_of<T>, s.m, s.n, s.k, 1.0, 0.0, a, transpose_a ? s.m : s.k, 0,
                                          transpose_a, b, s.n, 0, false, out, s.n, 0, 1});
  }

  /// f(image, group, band) for all.
  template <class Bands, class F>
  void each_band(const Bands& rows, const F& f) const {
    share_out(c_.batch * c_.groups * rows.bands(), rows.work(), [&](int64_t task) {
      const int64_t plane = task / rows.bands();
      f(plane / c_.groups, plane % c_.groups, task % rows.bands());
    });
  }
  TapOrder order() const { return {depth_, taps_, is_by_product(c_)}; }
  int64_t parts_of_image() const { return (kParts + c_.batch * c_.groups - 1) / (c_.batch * c_.groups); }

  RowShape shape() const {
    return {depth_,
            c_.height,
            c_.width,
            height_,
            c_.rows,
            c_.columns,
            {w_.kernel[0], w_.kernel[1]},
            {w_.padding[0], w_.padding[1]},
            {w_.dilation[0], w_.dilation[1]},
            {w_.stride[0], w_.stride[1]},
            false,
            is_by_product(c_)};
  }
  /// Of the gradient of the input as a convolution of the result's.
  RowShape turned_shape() const {
    const int64_t down = w_.dilation[0] * (w_.kernel[0] - 1), across = w_.dilation[1] * (w_.kernel[1] - 1);
    return {height_,
            c_.rows,
            c_.columns,
            depth_,
            c_.height,
            c_.width,
            {w_.kernel[0], w_.kernel[1]},
            {down - w_.padding[0], across - w_.padding[1]},
            {w_.dilation[0], w_.dilation[1]},
            {1, 1},
            true};
  }

  /// The bias of each group, filled up with zeros to `padded` elements.
  void pad_bias(int64_t padded, T* to) const {
    for (int64_t group = 0; group < c_.groups; group++, to += padded)
      std::fill(std::copy_n(static_cast<const T*>(c_.bias) + group * height_, height_, to), to + padded, T(0));
  }

  /// `from` and `to` are the planes of images; each group has the same number of them.
  void in_parts(const PartConvolution<T>& conv, const void* from, void* to, const void* bias) const {
    const int64_t copy = conv.copy_size(), images = c_.batch, panels = conv.panels();
    const Scratch<T> copies(c_.groups * images * copy), padded(bias ? c_.groups * conv.padded() : 0);
    if (bias) pad_bias(conv.padded(), padded.data());
    share_out(c_.groups * images, copy, [&](int64_t task) {
      const int64_t group = task / images, image = task % images;
      const T* const planes = from == c_.image ? plane(image, group) : result(image, group);
      conv.copy(planes, copies.data() + task * copy);
    });
    const int64_t apart = to == c_.image ? c_.channels * c_.height * c_.width : c_.outputs * places_;
    share_out(c_.groups * panels, conv.work(), [&](int64_t task) {
      const int64_t group = task / panels;
      conv.run(task % panels, copies.data() + group * images * copy, weight(group),
               bias ? padded.data() + group * conv.padded() : nullptr,
               to == c_.image ? plane(0, group) : result(0, group), apart);
    });
  }

  void forward_in_tiles() const {
    const TileConvolution<T> tiles(shape(), parts_of_image(), places_);
    const int64_t size = tiles.packed_size(), padded = size / (depth_ * taps_);
    const Scratch<T> packed(c_.groups * size), bias(c_.bias ? c_.groups * padded : 0);
    if (c_.bias) pad_bias(padded, bias.data());
    for (int64_t group = 0; group < c_.groups; group++) tiles.pack(weight(group), packed.data() + group * size);
    each_band(tiles, [&](int64_t image, int64_t group, int64_t band) {
      tiles.run(band, plane(image, group), packed.data() + group * size,
                c_.bias ? bias.data() + group * padded : nullptr, result(image, group));
    });
  }
  void input_gradient_in_tiles() const {
    const TileConvolution<T> tiles(turned_shape(), parts_of_image(), c_.height * c_.width);
    const int64_t size = tiles.packed_size();
    const Scratch<T> packed(c_.groups * size);
    for (int64_t group = 0; group < c_.groups; group++)
      tiles.pack_exchanged(weight(group), packed.data() + group * size);
    each_band(tiles, [&](int64_t image, int64_t group, int64_t band) {
      tiles.run(band, result(image, group), packed.data() + group * size, nullptr, plane(image, group));
    });
  }
  // Parts of the images are summed one after the other, each in memory of its own; then the parts.
  void weight_gradient_in_tiles() const {
    const TileConvolution<T> tiles(shape(), 1, kPlacesAtOnce);
    // Panels are shared out first: parts of the images need memory for all sums each.
    const int64_t size = tiles.sums_size(), all = tiles.panels(), shared = c_.groups * all;
    const int64_t parts = std::min(c_.batch, (kParts + shared - 1) / shared);
    const Scratch<T> sums(parts * shared * size);
    const auto of = [&](int64_t part, int64_t group, int64_t panel) {
      return sums.data() + ((part * c_.groups + group) * all + panel) * size;
    };
    share_out(parts * c_.groups * all, size * places_ * (c_.batch / parts), [&](int64_t task) {
      const int64_t panel = task % all, group = task / all % c_.groups, part = task / all / c_.groups;
      const int64_t first = c_.batch * part / parts, last = c_.batch * (part + 1) / parts;
      for (int64_t i = first; i < last; i += tiles.images_at_once())
        tiles.add_weight_gradient(panel,
                                  {plane(i, group), result(i, group), c_.channels * c_.height * c_.width,
                                   c_.outputs * places_, std::min(tiles.images_at_once(), last - i)},
                                  i == first, of(part, group, panel));
    });
    share_out(c_.groups * all, size * parts * 8, [&](int64_t task) {
      T* const total = of(0, task / all, task % all);
      for (int64_t part = 1; part < parts; part++) {
        const T* const more = of(part, task / all, task % all);
        for (int64_t i = 0; i < tiles.panel_sums(task % all); i++) total[i] += more[i];
      }
      tiles.put_weight_gradient(task % all, total, weight(task / all));
    });
  }

  void forward_by_rows() const {
    const RowConvolution<T> rows(shape(), parts_of_image());
    const Scratch<T> arranged(c_.outputs * depth_ * taps_);
    order().arrange(weight(0), c_.outputs, arranged.data());
    if (c_.bias)
      parallel_for(c_.batch * c_.outputs, std::max<int64_t>(1, 16384 / places_), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++)
          std::fill_n(static_cast<T*>(c_.result) + i * places_, places_,
                      static_cast<const T*>(c_.bias)[i % c_.outputs]);
      });
    each_band(rows, [&](int64_t image, int64_t group, int64_t band) {
      rows.run(band, plane(image, group), arranged.data() + group * height_ * depth_ * taps_, result(image, group),
               c_.bias != nullptr);
    });
  }

  /// Whether the gradient of the input is a convolution of the result's: steps of one, zeros around it and not fewer, and no
  /// pixels at the edge that the window never saw.
  bool is_turnable() const {
    const auto turnable = [&](int d, int64_t image, int64_t result) {
      const int64_t reach = w_.dilation[d] * (w_.kernel[d] - 1);
      return w_.stride[d] == 1 && reach >= w_.padding[d] && image == result + reach - 2 * w_.padding[d];
    };
    return turnable(0, c_.height, c_.rows) && turnable(1, c_.width, c_.columns);
  }
  void input_gradient_by_rows() const {
    const RowConvolution<T> rows(turned_shape(), parts_of_image());
    const int64_t size = height_ * depth_ * taps_;
    const Scratch<T> turned(size), arranged(c_.groups * size);
    for (int64_t group = 0; group < c_.groups; group++) {
      exchange_channels(weight(group), height_, depth_, taps_, turned.data());
      TapOrder{height_, taps_}.arrange(turned.data(), depth_, arranged.data() + group * size);
    }
    each_band(rows, [&](int64_t image, int64_t group, int64_t band) {
      rows.run(band, result(image, group), arranged.data() + group * size, plane(image, group), false);
    });
  }

  static constexpr int64_t kPadded = kPaddedTo / int64_t(sizeof(T));
  /// What a block of the window sees, [channels * taps, n]: gathered, in rows of whole vectors, or the image itself.
  struct Columns {
    Columns(const Convolution& conv, T* image, int64_t channels, Block b, bool arranged = false)
        : leading(conv.identity_ ? conv.places_ : (b.n + kPadded - 1) / kPadded * kPadded),
          gathered(conv.identity_ ? 0 : channels * conv.taps_ * leading),
          data(conv.identity_ ? image + b.first : gathered.data()) {
      if (!conv.identity_) conv.walk<true>(image, gathered.data(), leading, channels, b, arranged);
    }
    int64_t leading;
    Scratch<T> gathered;
    const T* data;
  };

  T* plane(int64_t image, int64_t group) const {
    return static_cast<T*>(c_.image) + (image * c_.channels + group * depth_) * c_.height * c_.width;
  }
  T* weight(int64_t group) const { return static_cast<T*>(c_.weight) + group * height_ * depth_ * taps_; }
  T* result(int64_t image, int64_t group) const {
    return static_cast<T*>(c_.result) + (image * c_.outputs + group * height_) * places_;
  }

  /// Gathers a block of columns from the planes of an image, or adds them back to where they came from. Their rows are channel
  /// by channel, or as TapOrder arranges them.
  template <bool kGather>
  void walk(T* image, T* all, int64_t leading, int64_t channels, Block b, bool arranged = false) const {
    const TapOrder order{channels, taps_};
    for (int64_t channel = 0; channel < channels; channel++, image += c_.height * c_.width)
      for (int64_t y = 0; y < w_.kernel[0]; y++)
        for (int64_t x = 0; x < w_.kernel[1]; x++) {
          const int64_t tap = y * w_.kernel[1] + x;
          T* const columns = all + (arranged ? order.row(channel, tap) : channel * taps_ + tap) * leading;
          const int64_t top = y * w_.dilation[0] - w_.padding[0], left = x * w_.dilation[1] - w_.padding[1];
          int64_t row = b.first / c_.columns, column = b.first % c_.columns;
          for (int64_t done = 0; done < b.n; row++, column = 0) {
            const int64_t n = std::min(b.n - done, c_.columns - column), at = row * w_.stride[0] + top;
            segment<kGather>(at >= 0 && at < c_.height ? image + at * c_.width : nullptr, columns + done, column, n,
                             left);
            done += n;
          }
          if (kGather) std::fill(columns + b.n, columns + leading, T(0));
        }
  }

  // n places of one row of the window, which read line[place * stride + shift], zero outside of the line.
  template <bool kGather>
  void segment(T* line, T* columns, int64_t place, int64_t n, int64_t shift) const {
    const int64_t step = w_.stride[1];
    int64_t begin = shift >= 0 ? 0 : (-shift + step - 1) / step, end = (c_.width - shift + step - 1) / step;
    begin = std::clamp(begin - place, int64_t(0), n), end = std::clamp(end - place, begin, n);
    if (!line) begin = end = n;
    T* from = line ? line + (place + begin) * step + shift : nullptr;
    if constexpr (kGather) {
      std::fill_n(columns, begin, T(0));
      if (step == 1) std::copy_n(from, end - begin, columns + begin);
      else
        for (int64_t i = begin; i < end; i++, from += step) columns[i] = *from;
      std::fill(columns + end, columns + n, T(0));
    } else {
      for (int64_t i = begin; i < end; i++, from += step) *from += columns[i];
    }
  }

  // b is small, in the cache, and used by all rows of a: packing it for the library would cost more than it brings.
  static void multiply(Size s, const T* a, int64_t lda, bool transpose_a, const T* b, int64_t ldb, bool padded,
                       double beta, T* out, int64_t ldc) {
    const GemmCall call{dtype_of<T>, s.m, s.n, s.k, 1.0,   beta, a,   lda, 0,
                        transpose_a, b,   ldb, 0,   false, out,  ldc, 0,   1};
    if (s.k <= kLongestSum && (padded || s.n % kPadded == 0)) direct_product(call);
    else gemm_kernel(DeviceType::Cpu, call);
  }

  const ConvCall& c_;
  const Window& w_;
  const int64_t depth_, height_;  // channels and outputs of a group
  const int64_t taps_, places_;   // of the kernel; of its window
  const int64_t block_, blocks_;
  const bool identity_;  // each place sees one pixel, its own
};

/// Each channel by itself. The gradient of the weights is summed in parts of the images, then the parts.
template <class T>
void depthwise(const ConvCall& c) {
  const DepthwiseConvolution<T> conv(c);
  const int64_t blocks = conv.plan.blocks, parts = std::min(c.batch, kParts), size = conv.weight_sums();
  if (c.pass != ConvCall::WeightGradient)
    return share_out_stretches(c.batch * blocks, conv.work(), [&](int64_t begin, int64_t end) {
      typename DepthwiseConvolution<T>::Buffers buffers(conv.plan);
      for (int64_t i = begin; i < end; i++) conv.run(i / blocks, i % blocks, buffers);
    });
  const Scratch<T> sums(parts * blocks * size);
  std::fill_n(sums.data(), parts * blocks * size, T(0));
  share_out_stretches(parts * blocks, conv.work() * (c.batch / parts), [&](int64_t begin, int64_t end) {
    typename DepthwiseConvolution<T>::Buffers buffers(conv.plan);
    for (int64_t i = begin; i < end; i++) {
      const int64_t part = i / blocks, first = c.batch * part / parts, last = c.batch * (part + 1) / parts;
      for (int64_t image = first; image < last; image++)
        conv.add_weight_gradient(image, i % blocks, buffers, sums.data() + i * size);
    }
  });
  for (int64_t block = 0; block < blocks; block++) {
    T* const total = sums.data() + block * size;
    for (int64_t part = 1; part < parts; part++)
      for (int64_t i = 0; i < size; i++) total[i] += sums.data()[(part * blocks + block) * size + i];
    conv.put_weight_gradient(block, total);
  }
}

template <class T>
void run_pass(const ConvCall& c) {
  const Convolution<T> conv(c);
  switch (c.pass) {
    case ConvCall::Forward: return conv.forward();
    case ConvCall::InputGradient: return conv.input_gradient();
    case ConvCall::WeightGradient: return conv.weight_gradient();
  }
}

/// Returns true where a window sees one pixel and leaves out others: the pixels that it sees are an image of their own. (The sums of oneDNN are
/// those of such an image where channels and outputs come in sixteens.)
bool is_thinned(const ConvCall& c) {
  const Window& w = c.window;
  const auto by = [&](int d) { return w.kernel[d] == 1 && w.padding[d] == 0; };
  const bool sixteens = c.channels / c.groups % 16 == 0 && c.outputs / c.groups % 16 == 0;
  return by(0) && by(1) && w.stride[0] * w.stride[1] > 1 && (c.pass != ConvCall::Forward || sixteens);
}
template <class T>
void run_thinned(const ConvCall& c) {
  const int64_t planes = c.batch * c.channels, places = c.rows * c.columns;
  const Scratch<T> seen(planes * places);
  const auto each_plane = [&](const auto& f) {  // f(a row of pixels, the places of a row, steps between the pixels)
    parallel_for(planes, std::max<int64_t>(1, 16384 / places), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * c.rows; i < end * c.rows; i++)
        f(static_cast<T*>(c.image) + (i / c.rows * c.height + i % c.rows * c.window.stride[0]) * c.width,
          seen.data() + i * c.columns, c.window.stride[1]);
    });
  };
  ConvCall thin = c;
  thin.image = seen.data(), thin.height = c.rows, thin.width = c.columns;
  thin.window.stride[0] = thin.window.stride[1] = 1;
  if (c.pass != ConvCall::InputGradient)
    each_plane([&](const T* row, T* to, int64_t step) {
      for (int64_t x = 0; x < c.columns; x++) to[x] = row[x * step];
    });
  run_pass<T>(thin);
  if (c.pass != ConvCall::InputGradient) return;
  parallel_for(planes * c.height * c.width, 16384, [&](int64_t begin, int64_t end) {
    std::fill(static_cast<T*>(c.image) + begin, static_cast<T*>(c.image) + end, T(0));
  });
  each_plane([&](T* row, const T* from, int64_t step) {
    for (int64_t x = 0; x < c.columns; x++) row[x * step] = from[x];
  });
}

template <class T>
void conv_of(const ConvCall& c) {
  if (DepthwisePlan::suits(c)) return depthwise<T>(c);
  is_thinned(c) ? run_thinned<T>(c) : run_pass<T>(c);
}
void conv(const ConvCall& c) { c.dtype == kFloat32 ? conv_of<float>(c) : conv_of<double>(c); }

const KernelRegistration<ConvCall> registration{conv_kernel, DeviceType::Cpu, conv};

}  // namespace
}  // namespace tessera::tensor::cpu
