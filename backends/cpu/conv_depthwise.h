// Convolution of each channel by itself, and its gradients, with channels along lanes (lane_taps.h): lines of an image are turned to
// [pixel][lane] with zeros at their ends, and so is the result on its way out. A line outside of the image is left out.
//
// The sums go in the order of oneDNN's depthwise kernels: from the bias, or zero, tap by tap.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/lane_taps.h"
#include "backends/cpu/scratch.h"
#include "runtime/ops/conv.h"
#include "runtime/pieces.h"

namespace tessera::tensor::cpu {

/// Which taps of a window see something along one axis at place o, and where: tap `first + i * tap_step`, for i below `taps`, sees
/// pixel `start + i * move`.
struct TapRange {
  int64_t taps, first, tap_step, start, move;

  /// Of a convolution: kernel, stride, padding and dilation along an axis.
  static TapRange forward(int64_t o, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
    return {kernel, 0, 1, o * stride - padding, dilation};
  }
  /// Of the gradient of its input, whose places are the pixels of the image: every tap that a result saw the pixel by.
  static TapRange backward(int64_t o, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
    const int64_t tap_step = stride / std::gcd(stride, dilation);
    int64_t first = 0;
    while (first < std::min(kernel, tap_step) && (o + padding - first * dilation) % stride != 0) first++;
    if (first >= std::min(kernel, tap_step)) return {0, 0, tap_step, 0, 0};
    return {(kernel - first + tap_step - 1) / tap_step, first, tap_step, (o + padding - first * dilation) / stride,
            -(tap_step * dilation / stride)};
  }
  /// Leaves out the taps that see no pixel of [0, size).
  void cut(int64_t size) {
    int64_t skipped = 0;
    while (skipped < taps && (start + skipped * move < 0 || start + skipped * move >= size)) skipped++;
    taps -= skipped, first += skipped * tap_step, start += skipped * move;
    while (taps > 0 && (start + (taps - 1) * move < 0 || start + (taps - 1) * move >= size)) taps--;
  }
};

/// Planes of some channels in lanes: a stretch of their lines, each with zeros around.
template <class T>
class LaneLines {
 public:
  LaneLines(int64_t height, int64_t width, int64_t left, int64_t right, int64_t most)
      : height_(height),
        width_(width),
        left_(left),
        line_((left + width + right) * tile_lanes(T())),
        lines_(most * line_),
        turned_(std::min(most, height) * width * tile_lanes(T())) {
    std::fill_n(lines_.data(), most * line_, T(0));
  }
  int64_t line() const { return line_; }
  /// Pixel x of line y, which is one of the last `show`.
  const T* at(int64_t y, int64_t x) const {
    return lines_.data() + (y - first_) * line_ + (x + left_) * tile_lanes(T());
  }

  void clear() { first_ = last_ = 0; }
  /// Lines [first, last), inside of the image; those that were shown before are kept.
  void show(const T* planes, int64_t channels, int64_t first, int64_t last) {
    const int64_t lanes = tile_lanes(T()), kept = std::max<int64_t>(0, last_ - std::max(first, first_));
    if (first < first_ || kept == 0) first_ = last_ = first;
    std::copy_n(lines_.data() + (first - first_) * line_, kept * line_, lines_.data());
    first_ = first;
    const int64_t from = first + kept;
    if (from < last) {
      pack_panel(planes + from * width_, height_ * width_, true, (last - from) * width_, channels, lanes,
                 turned_.data());
      for (int64_t y = from; y < last; y++)
        std::copy_n(turned_.data() + (y - from) * width_ * lanes, width_ * lanes,
                    lines_.data() + (y - first) * line_ + left_ * lanes);
    }
    last_ = last;
  }

 private:
  const int64_t height_, width_, left_, line_;
  const Scratch<T> lines_, turned_;
  int64_t first_ = 0, last_ = 0;
};

template <class T>
class DepthwiseConvolution {
 public:
  explicit DepthwiseConvolution(const ConvCall& c)
      : c_(c),
        w_(c.window),
        backward_(c.pass == ConvCall::InputGradient),
        lanes_(tile_lanes(T())),
        taps_(w_.kernel[0] * w_.kernel[1]),
        seen_(backward_ ? Plane{c.result, c.rows, c.columns} : Plane{c.image, c.height, c.width}),
        made_(backward_ ? Plane{c.image, c.height, c.width} : Plane{c.result, c.rows, c.columns}),
        rows_(std::clamp<int64_t>(kAtOnce / made_.width, 1, made_.height)),
        in_step_((backward_ ? 1 : w_.stride[1]) * lanes_),
        packed_(c.pass == ConvCall::WeightGradient ? 0 : blocks() * lanes_ * taps_),
        bias_(c.bias ? blocks() * lanes_ : 0) {
    plan_lines();
    list_taps();
    if (c.pass == ConvCall::WeightGradient) return;
    for (int64_t b = 0; b < blocks(); b++)
      pack_panel(static_cast<const T*>(c.weight) + b * lanes_ * taps_, taps_, true, taps_, channels_of(b), lanes_,
                 packed_.data() + b * lanes_ * taps_);
    if (!c.bias) return;
    T* const end = std::copy_n(static_cast<const T*>(c.bias), c.channels, bias_.data());
    std::fill(end, bias_.data() + blocks() * lanes_, T(0));
  }

  /// Whether each channel has one output, and there are enough for a vector.
  static bool suits(const ConvCall& c) { return c.groups >= 8 && c.channels == c.groups && c.outputs == c.groups; }

  int64_t blocks() const { return (c_.channels + lanes_ - 1) / lanes_; }
  /// Multiplications of a block of channels of one image.
  int64_t work() const { return c_.rows * c_.columns * taps_ * lanes_; }
  /// Elements that the gradient of a block's weights is summed in, [tap][lane].
  int64_t weight_sums() const { return taps_ * lanes_; }

  /// Of one thread.
  struct Buffers {
    explicit Buffers(const DepthwiseConvolution& conv)
        : lines(conv.seen_.height, conv.seen_.width, conv.left_, conv.right_, conv.lines_),
          made(conv.rows_ * conv.made_.width * conv.lanes_) {}
    LaneLines<T> lines;
    Scratch<T> made;  // rows of the result, or of its gradient
  };

  /// A block of channels of an image: the result, or the gradient of the input.
  void run(int64_t image, int64_t block, Buffers& buffers) const {
    T* const out = planes(made_, image, block);
    const T* const weights = packed_.data() + block * lanes_ * taps_;
    buffers.lines.clear();
    for (int64_t r = 0; r < made_.height; r += rows_) {
      const int64_t end = std::min(made_.height, r + rows_);
      show(buffers.lines, image, block, r, end);
      for (int64_t y = r; y < end; y++) {
        const TapRange down = lines_seen(y);
        Context::current().poll();
        for (const Class& one : classes_) {
          const T* const from = down.taps > 0 ? buffers.lines.at(down.start, one.across.start) : nullptr;
          sum_taps({from, weights + (down.first * w_.kernel[1] + one.across.first) * lanes_,
                    c_.bias ? bias_.data() + block * lanes_ : nullptr,
                    buffers.made.data() + ((y - r) * made_.width + one.first) * lanes_, one.places, in_step_,
                    one.step * lanes_},
                   one.taps(down.taps));
        }
      }
      put_turned(TurnedSums<T>{buffers.made.data(), (end - r) * made_.width, lanes_, channels_of(block),
                               out + r * made_.width, 1, made_.height * made_.width, T(1), T(0)});
    }
  }
  /// Adds what an image gives to the gradient of a block's weights.
  void add_weight_gradient(int64_t image, int64_t block, Buffers& buffers, T* sums) const {
    buffers.lines.clear();
    for (int64_t r = 0; r < c_.rows; r += rows_) {
      const int64_t end = std::min(c_.rows, r + rows_);
      show(buffers.lines, image, block, r, end);
      pack_panel(planes(made_, image, block) + r * c_.columns, c_.rows * c_.columns, true, (end - r) * c_.columns,
                 channels_of(block), lanes_, buffers.made.data());
      for (int64_t y = r; y < end; y++) {
        const TapRange down = lines_seen(y);
        Context::current().poll();
        if (down.taps > 0)
          add_gradients(
              {buffers.lines.at(down.start, -w_.padding[1]), buffers.made.data() + (y - r) * c_.columns * lanes_,
               sums + down.first * w_.kernel[1] * lanes_, c_.columns, in_step_},
              classes_[0].taps(down.taps));
      }
    }
  }
  void put_weight_gradient(int64_t block, const T* sums) const {
    put_turned(TurnedSums<T>{sums, taps_, lanes_, channels_of(block),
                             static_cast<T*>(c_.weight) + block * lanes_ * taps_, 1, taps_, T(1), T(0)});
  }

 private:
  struct Plane {
    void* data;
    int64_t height, width;
  };
  /// Places along a line that are `step` apart and see the same taps: all of them, or those of one remainder by the stride.
  struct Class {
    int64_t first, step, places;
    TapRange across;
    std::vector<int64_t> pixels, weights;  // of the taps, line by line: of fewer lines they are the first ones

    LaneTaps taps(int64_t lines) const { return {pixels.data(), weights.data(), lines * across.taps}; }
  };

  int64_t channels_of(int64_t block) const { return std::min(lanes_, c_.channels - block * lanes_); }
  T* planes(const Plane& of, int64_t image, int64_t block) const {
    return static_cast<T*>(of.data) + (image * c_.channels + block * lanes_) * of.height * of.width;
  }
  TapRange seen(int d, int64_t o) const {
    const auto range = backward_ ? TapRange::backward : TapRange::forward;
    return range(o, w_.kernel[d], w_.stride[d], w_.padding[d], w_.dilation[d]);
  }
  TapRange lines_seen(int64_t y) const {
    TapRange range = seen(0, y);
    range.cut(seen_.height);
    return range;
  }

  void plan_lines() {
    const int64_t apart = backward_ ? w_.stride[1] : 1;
    for (int64_t i = 0; i < std::min(apart, made_.width); i++) {
      const TapRange across = seen(1, i);
      const int64_t places = (made_.width - i + apart - 1) / apart;
      classes_.push_back({i, apart, places, across, {}, {}});
      if (across.taps == 0) continue;
      const int64_t reach = (across.taps - 1) * across.move, last = across.start + (places - 1) * (in_step_ / lanes_);
      left_ = std::max(left_, -(across.start + std::min<int64_t>(0, reach)));
      right_ = std::max(right_, last + std::max<int64_t>(0, reach) - (seen_.width - 1));
    }
    const int64_t reach = w_.dilation[0] * (w_.kernel[0] - 1);
    lines_ = std::min(seen_.height,
                      backward_ ? (rows_ - 1 + reach) / w_.stride[0] + 2 : (rows_ - 1) * w_.stride[0] + reach + 1);
  }
  // Every place takes the same steps from tap to tap, so one list serves all rows.
  void list_taps() {
    const int64_t apart = backward_ ? w_.stride[0] / std::gcd(w_.stride[0], w_.dilation[0]) : 1;
    const int64_t move = backward_ ? -(apart * w_.dilation[0] / w_.stride[0]) : w_.dilation[0];
    const int64_t line = (left_ + seen_.width + right_) * lanes_;
    for (Class& one : classes_)
      for (int64_t y = 0; y * apart < w_.kernel[0]; y++)
        for (int64_t x = 0; x < one.across.taps; x++) {
          one.pixels.push_back(y * move * line + x * one.across.move * lanes_);
          one.weights.push_back((y * apart * w_.kernel[1] + x * one.across.tap_step) * lanes_);
        }
  }

  /// The lines that rows [begin, end) see.
  void show(LaneLines<T>& lines, int64_t image, int64_t block, int64_t begin, int64_t end) const {
    int64_t first = seen_.height, last = 0;
    for (int64_t y = begin; y < end; y++) {
      const TapRange down = lines_seen(y);
      if (down.taps == 0) continue;
      const int64_t other = down.start + (down.taps - 1) * down.move;
      first = std::min({first, down.start, other}), last = std::max({last, down.start + 1, other + 1});
    }
    if (first < last) lines.show(planes(seen_, image, block), channels_of(block), first, last);
  }

  static constexpr int64_t kAtOnce = 512;  // places of the result: 32 KiB of AVX-512's lanes

  const ConvCall& c_;
  const Window& w_;
  const bool backward_;
  const int64_t lanes_, taps_;
  const Plane seen_, made_;       // the planes that taps read, and those of the result
  const int64_t rows_, in_step_;  // rows that are made at once; elements from place to place in a line that is seen
  int64_t left_ = 0, right_ = 0;  // zeros at the ends of a line
  int64_t lines_ = 0;             // that rows_ rows see, at most
  std::vector<Class> classes_;
  const Scratch<T> packed_, bias_;  // [block][tap][lane], [block][lane]
};

}  // namespace tessera::tensor::cpu
