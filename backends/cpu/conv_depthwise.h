// Convolution of each channel by itself, and its gradients, with channels along lanes (lane_taps.h): lines of an image are turned to
// [pixel][lane] with zeros at their ends, and so is the result on its way out. A line outside of the image is left out.
//
// The sums go in the order of oneDNN's depthwise kernels: from the bias, or zero, tap by tap.
#pragma once

#include <algorithm>
#include <vector>

#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/lane_taps.h"
#include "backends/cpu/scratch.h"
#include "runtime/context.h"
#include "runtime/ops/conv.h"

namespace tessera::tensor::cpu {

/// The taps of a window that see a pixel along one axis: tap `first + i * tap_step`, for i below `taps`, sees pixel
/// `start + i * move`.
struct TapRange {
  int64_t taps, first, tap_step, start, move;
};

/// How the planes of a convolution's result, or of its input's gradient, are made of those that its taps read.
class DepthwisePlan {
 public:
  /// `lanes`: channels of a block.
  DepthwisePlan(const ConvCall& call, int64_t lanes);

  /// Returns true where each channel has one output, and there are enough channels for a vector.
  static bool suits(const ConvCall& c) { return c.groups >= 8 && c.channels == c.groups && c.outputs == c.groups; }

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

  /// The taps that see a line for place y of a column.
  TapRange lines_seen(int64_t y) const;
  struct Lines {
    int64_t first, last;
  };
  /// The lines that rows [begin, end) see, inside of the image.
  Lines lines_of(int64_t begin, int64_t end) const;
  int64_t channels_of(int64_t block) const { return std::min(lanes, call.channels - block * lanes); }

  const ConvCall& call;
  const bool backward;  // the gradient of the input
  const int64_t lanes, blocks, taps;
  const Plane seen, made;       // the planes that taps read, and those of the result
  const int64_t rows, in_step;  // rows that are made at once; elements from place to place in a line that is seen
  int64_t left = 0, right = 0;  // zeros at the ends of a line
  int64_t lines = 0;            // that so many rows see, at most
  std::vector<Class> classes;

 private:
  TapRange seen_at(int axis, int64_t o) const;
  void plan_lines();
  void list_taps();
};

/// Planes of some channels in lanes: a stretch of their lines, each with zeros around.
template <class T>
class LaneLines {
 public:
  explicit LaneLines(const DepthwisePlan& p)
      : plan_(p),
        line_((p.left + p.seen.width + p.right) * p.lanes),
        lines_(p.lines * line_),
        turned_(p.lines * p.seen.width * p.lanes) {
    std::fill_n(lines_.data(), p.lines * line_, T(0));
  }
  /// Pixel x of line y, which is one of those shown.
  const T* at(int64_t y, int64_t x) const {
    return lines_.data() + (y - shown_.first) * line_ + (x + plan_.left) * plan_.lanes;
  }

  void clear() { shown_ = {0, 0}; }
  /// Lines that lie further below from call to call; those that were shown before are kept.
  void show(const T* planes, int64_t channels, DepthwisePlan::Lines lines) {
    const int64_t lanes = plan_.lanes, width = plan_.seen.width;
    const int64_t kept = std::max<int64_t>(0, shown_.last - lines.first), from = lines.first + kept;
    if (kept > 0) std::copy_n(lines_.data() + (lines.first - shown_.first) * line_, kept * line_, lines_.data());
    shown_ = lines;
    if (from >= lines.last) return;
    pack_panel(
        PanelSource<T>{planes + from * width, plan_.seen.height * width, true, (lines.last - from) * width, channels},
        lanes, turned_.data());
    for (int64_t y = from; y < lines.last; y++)
      std::copy_n(turned_.data() + (y - from) * width * lanes, width * lanes,
                  lines_.data() + (y - lines.first) * line_ + plan_.left * lanes);
  }

 private:
  const DepthwisePlan& plan_;
  const int64_t line_;
  const Scratch<T> lines_, turned_;
  DepthwisePlan::Lines shown_{0, 0};
};

template <class T>
class DepthwiseConvolution {
 public:
  explicit DepthwiseConvolution(const ConvCall& c)
      : plan(c, tile_lanes(T())),
        packed_(c.pass == ConvCall::WeightGradient ? 0 : plan.blocks * weight_sums()),
        bias_(c.bias ? plan.blocks * plan.lanes : 0) {
    if (c.pass == ConvCall::WeightGradient) return;
    for (int64_t b = 0; b < plan.blocks; b++)
      pack_panel(PanelSource<T>{static_cast<const T*>(c.weight) + b * weight_sums(), plan.taps, true, plan.taps,
                                plan.channels_of(b)},
                 plan.lanes, packed_.data() + b * weight_sums());
    if (!c.bias) return;
    T* const end = std::copy_n(static_cast<const T*>(c.bias), c.channels, bias_.data());
    std::fill(end, bias_.data() + plan.blocks * plan.lanes, T(0));
  }

  /// Multiplications of a block of channels of one image.
  int64_t work() const { return plan.call.rows * plan.call.columns * weight_sums(); }
  /// Elements that the gradient of a block's weights is summed in, [tap][lane].
  int64_t weight_sums() const { return plan.taps * plan.lanes; }

  /// Of one thread.
  struct Buffers {
    explicit Buffers(const DepthwisePlan& plan) : lines(plan), made(plan.rows * plan.made.width * plan.lanes) {}
    LaneLines<T> lines;
    Scratch<T> made;  // rows of the result, or of its gradient
  };

  /// A block of channels of an image: the result, or the gradient of the input.
  void run(int64_t image, int64_t block, Buffers& buffers) const {
    T* const out = planes(plan.made, image, block);
    buffers.lines.clear();
    for (int64_t r = 0; r < plan.made.height; r += plan.rows) {
      const int64_t end = std::min(plan.made.height, r + plan.rows);
      show(image, block, r, end, buffers);
      for (int64_t y = r; y < end; y++)
        make_row(y, block, buffers, buffers.made.data() + (y - r) * plan.made.width * plan.lanes);
      put_turned(TurnedSums<T>{buffers.made.data(), (end - r) * plan.made.width, plan.lanes, plan.channels_of(block),
                               out + r * plan.made.width, 1, plan.made.height * plan.made.width, T(1), T(0)});
    }
  }
  /// Adds what an image gives to the gradient of a block's weights.
  void add_weight_gradient(int64_t image, int64_t block, Buffers& buffers, T* sums) const {
    const int64_t width = plan.made.width, kernel_width = plan.call.window.kernel[1];
    buffers.lines.clear();
    for (int64_t r = 0; r < plan.made.height; r += plan.rows) {
      const int64_t end = std::min(plan.made.height, r + plan.rows);
      show(image, block, r, end, buffers);
      pack_panel(PanelSource<T>{planes(plan.made, image, block) + r * width, plan.made.height * width, true,
                                (end - r) * width, plan.channels_of(block)},
                 plan.lanes, buffers.made.data());
      for (int64_t y = r; y < end; y++) {
        const TapRange down = plan.lines_seen(y);
        Context::current().poll();
        if (down.taps == 0) continue;
        add_gradients({buffers.lines.at(down.start, plan.classes[0].across.start),
                       buffers.made.data() + (y - r) * width * plan.lanes,
                       sums + down.first * kernel_width * plan.lanes, width, plan.in_step},
                      plan.classes[0].taps(down.taps));
      }
    }
  }
  void put_weight_gradient(int64_t block, const T* sums) const {
    put_turned(TurnedSums<T>{sums, plan.taps, plan.lanes, plan.channels_of(block),
                             static_cast<T*>(plan.call.weight) + block * weight_sums(), 1, plan.taps, T(1), T(0)});
  }

  const DepthwisePlan plan;

 private:
  T* planes(const DepthwisePlan::Plane& of, int64_t image, int64_t block) const {
    return static_cast<T*>(of.data) + (image * plan.call.channels + block * plan.lanes) * of.height * of.width;
  }
  void show(int64_t image, int64_t block, int64_t begin, int64_t end, Buffers& buffers) const {
    const DepthwisePlan::Lines seen = plan.lines_of(begin, end);
    if (seen.first < seen.last) buffers.lines.show(planes(plan.seen, image, block), plan.channels_of(block), seen);
  }
  void make_row(int64_t y, int64_t block, const Buffers& buffers, T* to) const {
    const TapRange down = plan.lines_seen(y);
    const T* const weights = packed_.data() + block * weight_sums();
    const T* const bias = plan.call.bias ? bias_.data() + block * plan.lanes : nullptr;
    Context::current().poll();
    for (const DepthwisePlan::Class& one : plan.classes) {
      const T* const from = down.taps > 0 ? buffers.lines.at(down.start, one.across.start) : nullptr;
      const int64_t tap = down.first * plan.call.window.kernel[1] + one.across.first;
      sum_taps({from, weights + tap * plan.lanes, bias, to + one.first * plan.lanes, one.places, plan.in_step,
                one.step * plan.lanes},
               one.taps(down.taps));
    }
  }

  const Scratch<T> packed_, bias_;  // [block][tap][lane], [block][lane]
};

}  // namespace tessera::tensor::cpu
