// Convolution of few places by many weights, as the last layers of networks are: each part of the sums packs its weights just before
// they are used, for all images at once. Packing all of them first (conv_tiles.h) would write and read them again in memory,
// which takes longer than the sums themselves.
#pragma once

#include <algorithm>
#include <vector>

#include "backends/cpu/conv_lines.h"
#include "backends/cpu/conv_order.h"
#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/scratch.h"

namespace tessera::tensor::cpu {

template <class T>
class PartConvolution {
 public:
  /// `exchanged`: the weight is [channels, outputs, kernel].
  PartConvolution(const RowShape& s, int64_t images, bool exchanged)
      : s_(s),
        exchanged_(exchanged),
        line_(s.width + 2 * s.padding[1]),
        lines_((s.rows - 1) * s.steps[0] + s.dilation[0] * (s.kernel[0] - 1) + 1),
        sums_(s, line_),
        order_(SumLines::order_of(s)),
        panels_(s.outputs, tile_lanes(T())),
        rows_(seen_rows(sums_, s.rows, s.kernel[0], -s.padding[0], s.steps[0], s.dilation[0], s.height,
                        s.columns % 4 == 0)) {
    for (int64_t i = 0; i < images; i++)
      for (int64_t y = 0; y < s.rows; y++)
        for (int64_t x = 0; x < s.columns; x++)
          places_.push_back(i * copy_size() + y * s.steps[0] * s.channels * line_ + x * s.steps[1]);
  }
  static bool suits(const RowShape& s, int64_t images) {
    const int64_t weights = s.outputs * s.channels * s.kernel[0] * s.kernel[1];
    return s.outputs >= 8 && images * s.rows * s.columns <= kMostPlaces && weights >= kFewestWeights;
  }

  /// Elements of an image's copy, with zeros around.
  int64_t copy_size() const { return s_.channels * lines_ * line_ + kPaddedTo; }
  void copy(const T* image, T* to) const { copy_lines(s_, image, -s_.padding[0], lines_, 1, to); }

  int64_t panels() const { return panels_.count; }
  int64_t padded() const { return panels_.padded(); }
  /// Multiplications of a panel.
  int64_t work() const { return 3 * panels_.width * s_.channels * order_.taps * int64_t(places_.size()); }

  /// The outputs of a panel for all images; `bias`, padded with zeros, or null; results are `apart` from image to image.
  void run(int64_t panel, const T* copies, const T* weight, const T* bias, T* out, int64_t apart) const {
    const int64_t size = panels_.size(panel), first = panels_.first(panel), count = int64_t(places_.size());
    const Scratch<T> packed(order_.channels_of(0) * order_.taps * size), sums(count * size);
    for (int64_t block = 0; block < order_.blocks(); block++) {
      pack(panel, block, weight, packed.data());
      for (const SeenRows& rows : rows_)
        add_part(block, rows, size, copies, packed.data(), bias ? bias + first : nullptr, sums.data());
    }
    const int64_t plane = s_.rows * s_.columns;
    for (int64_t i = 0; i * plane < count; i++)
      put_turned(TurnedSums<T>{sums.data() + i * plane * size, plane, size, panels_.columns(panel),
                               out + i * apart + first * plane, 1, plane, T(1), T(0)});
  }

 private:
  /// A block of channels to the sums of some rows of all images.
  void add_part(int64_t block, const SeenRows& rows, int64_t size, const T* copies, const T* packed, const T* bias,
                T* sums) const {
    const SeenLines& lines = rows.lines;
    const int64_t inner = order_.by_channels ? sums_.inner : order_.channels_of(block), plane = s_.rows * s_.columns;
    std::vector<int64_t> weights(lines.rows.begin() + block * lines.part,
                                 lines.rows.begin() + (block + 1) * lines.part);
    for (int64_t& row : weights) row = (row - order_.first_row(block)) * size;
    for (int64_t first = rows.first * s_.columns; first < int64_t(places_.size()); first += plane)
      compute({.a = copies,
               .offsets = places_.data() + first,
               .lines = lines.part,
               .inner = inner,
               .step = sums_.step,
               .starts = lines.starts.data() + block * lines.part,
               .b = packed,
               .b_step = size,
               .b_starts = weights.data(),
               .out = sums + first * size,
               .out_row = size,
               .beta = T(block > 0 ? 1 : 0),
               .bias = block == 0 ? bias : nullptr},
              rows.count * s_.columns, size, lines.part * inner);
  }

  static constexpr int64_t kMostPlaces = 512;
  static constexpr int64_t kFewestWeights = int64_t(1) << 16;

  /// The weights of a block of channels for a panel, in the order of the sums.
  void pack(int64_t panel, int64_t block, const T* weight, T* to) const {
    const int64_t channel = block * order_.at_once(), channels = order_.channels_of(block), taps = order_.taps;
    std::vector<int64_t> rows;
    for (int64_t c = 0; c < channels; c++)
      for (int64_t t = 0; t < taps; t++) rows.push_back(order_.row(channel + c, t) - order_.first_row(block));
    const int64_t first = panels_.first(panel), columns = panels_.columns(panel), size = panels_.size(panel);
    if (!exchanged_) {
      const int64_t all = s_.channels * taps;
      return pack_panel(
          PanelSource<T>{weight + first * all + channel * taps, all, true, channels * taps, columns, rows.data()}, size,
          to);
    }
    for (int64_t c = 0; c < channels; c++)
      pack_panel(PanelSource<T>{weight + ((channel + c) * s_.outputs + first) * taps, taps, true, taps, columns,
                                rows.data() + c * taps},
                 size, to);
  }
  // In stretches of the places, between which the program can be stopped.
  static void compute(const TileWork<T>& work, int64_t count, int64_t size, int64_t k) {
    Context::current().poll();
    in_pieces(count, places_at_once(size * k), [&](int64_t begin, int64_t end) {
      TileWork<T> some = work;
      some.offsets += begin;
      some.out += begin * size;
      tile_rows(some, end - begin, size, size);
    });
  }

  const RowShape s_;
  const bool exchanged_;
  const int64_t line_, lines_;
  const SumLines sums_;
  const TapOrder order_;
  const Panels panels_;
  std::vector<SeenRows> rows_;   // of an image
  std::vector<int64_t> places_;  // where each place of each image begins to read, in the copies
};

}  // namespace tessera::tensor::cpu
