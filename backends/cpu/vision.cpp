// Regions of feature maps and columns of deformable convolutions. Sums have the order of torchvision's kernels for the CPU, so that results are the same to
// the last bit.
// compile: small (code of detectors alone)
#include "runtime/ops/vision.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/row_types.h"
#include "runtime/context.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kFarthest = 1 << 30;    // of a region's corners, so that numbers of elements fit
constexpr double kMostSamples = 1 << 24;  // of one region: they are kept while its channels are read

/// A place of a picture between its elements: four neighbours and what each counts. Those outside count nothing.
template <class T>
struct Neighbours {
  int64_t at[4] = {};
  T weight[4] = {};

  T value(const T* picture) const {
    T sum = weight[0] * picture[at[0]];
    for (int k = 1; k < 4; k++) sum += weight[k] * picture[at[k]];
    return sum;
  }
};

/// Lines at the border go on for one element outside.
template <class T>
Neighbours<T> clamped(T y, T x, int64_t height, int64_t width) {
  Neighbours<T> found;
  if (!(y >= -1 && y <= T(height) && x >= -1 && x <= T(width))) return found;
  const auto split = [](T& v, int64_t size, int64_t& low, int64_t& high) {
    v = std::max(v, T(0));
    low = int64_t(v);
    if (low >= size - 1) v = T(high = low = size - 1);
    else high = low + 1;
    v -= T(low);
  };
  int64_t top, bottom, left, right;
  split(y, height, top, bottom);
  split(x, width, left, right);
  const T above = 1 - y, before = 1 - x;
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right}, {above * before, above * x, y * before, y * x}};
}

template <class T>
struct Regions {
  const RegionCall& c;
  const bool pools = c.kind == RegionKind::Pool || c.kind == RegionKind::SensitivePool, sensitive = c.kind >= RegionKind::SensitiveAlign;
  const int64_t bins = c.high * c.wide, plane = c.height * c.width, out_channels = sensitive ? c.channels / bins : c.channels;
  std::vector<Neighbours<T>> samples{};
  std::vector<int64_t> places{};
  std::vector<int64_t> ends = std::vector<int64_t>(size_t(bins));
  int64_t divisor = 1;

  /// The elements of each bin.
  void find_places(const T* corners) {
    int64_t first[2], side[2];
    for (int d = 0; d < 2; d++) {
      first[d] = int64_t(std::round(corners[d] * T(c.scale)));
      side[d] = std::max<int64_t>(int64_t(std::round(corners[2 + d] * T(c.scale))) - first[d] + !sensitive, 1);
    }
    const auto lines = [&](int d, int64_t bin, int64_t parts, int64_t size, int64_t* range) {
      const T length = T(side[d]) / T(parts);
      const int64_t most = sensitive && !c.backward ? size - 1 : size;  // torchvision goes one line further in its gradient
      range[0] = std::clamp<int64_t>(int64_t(std::floor(T(bin) * length)) + first[d], 0, most);
      range[1] = std::clamp<int64_t>(int64_t(std::ceil(T(bin + 1) * length)) + first[d], 0, most);
    };
    places.clear();
    for (int64_t bin = 0; bin < bins; bin++) {
      int64_t rows[2], columns[2];
      lines(1, bin / c.wide, c.high, c.height, rows);
      lines(0, bin % c.wide, c.wide, c.width, columns);
      for (int64_t y = rows[0]; y < rows[1]; y++)
        for (int64_t x = columns[0]; x < columns[1]; x++) places.push_back(y * c.width + x);
      ends[size_t(bin)] = int64_t(places.size());
    }
  }

  /// Samples of each bin, as many for all.
  void find_samples(const T* corners) {
    const T shift = c.kind == RegionKind::Align ? T(0) : T(0.5);
    T first[2], length[2];
    int64_t number[2];
    for (int d = 0; d < 2; d++) {
      const int64_t parts = d == 0 ? c.wide : c.high;
      first[d] = corners[d] * T(c.scale) - shift;
      T side = corners[2 + d] * T(c.scale) - shift - first[d];
      if (c.kind == RegionKind::Align) side = std::max(side, T(1));
      length[d] = side / T(parts);
      number[d] = c.samples > 0 ? c.samples : int64_t(std::ceil(length[d]));
    }
    divisor = number[0] * number[1];
    if (double(number[0]) * double(number[1]) * double(bins) > kMostSamples) fail(TensorErrorKind::Runtime, "a region has too many samples");
    if (!sensitive) divisor = std::max<int64_t>(divisor, 1);
    const auto at = [&](int d, int64_t bin, int64_t i) {
      return first[d] + T(bin) * length[d] + (T(i) + T(0.5)) * length[d] / T(number[d]);
    };
    samples.clear();
    for (int64_t bin = 0; bin < bins; bin++) {
      for (int64_t i = 0; i < number[1]; i++)
        for (int64_t j = 0; j < number[0]; j++)
          samples.push_back(clamped(at(1, bin / c.wide, i), at(0, bin % c.wide, j), c.height, c.width));
      ends[size_t(bin)] = int64_t(samples.size());
    }
  }

  T mean(const T* picture, int64_t from, int64_t to) const {
    T sum = 0;
    for (int64_t i = from; i < to; i++) sum += pools ? picture[places[size_t(i)]] : samples[size_t(i)].value(picture);
    return pools && from == to ? T(0) : sum / T(pools ? to - from : divisor);
  }

  void spread(T* picture, T g, int64_t from, int64_t to) const {
    for (int64_t i = from; i < to; i++) {
      if (pools) {
        picture[places[size_t(i)]] += g / T(to - from);
        continue;
      }
      const Neighbours<T>& of = samples[size_t(i)];
      for (int k = 0; k < 4; k++) picture[of.at[k]] += g * of.weight[k] / T(divisor);
    }
  }

  T largest(const T* picture, int64_t from, int64_t to, int32_t& place) const {
    place = -1;
    T most = from == to ? T(0) : std::numeric_limits<T>::lowest();
    for (int64_t i = from; i < to; i++)
      if (picture[places[size_t(i)]] > most) most = picture[places[size_t(i)]], place = int32_t(places[size_t(i)]);
    return most;
  }

  void run_region(int64_t region) {
    const T* const row = static_cast<const T*>(c.regions) + region * 5;
    if (!(row[0] >= 0 && row[0] < T(c.images))) fail(TensorErrorKind::Index, "a region names image ", row[0], " of ", c.images);
    for (int k = 1; k < 5; k++)
      if (!(std::abs(row[k] * T(c.scale)) < T(kFarthest))) fail(TensorErrorKind::Runtime, "a region lies too far away");
    pools ? find_places(row + 1) : find_samples(row + 1);
    for (int64_t channel = 0; channel < out_channels; channel++) {
      int64_t from = 0;
      for (int64_t bin = 0; bin < bins; bin++) {
        const int64_t to = ends[size_t(bin)], element = (region * out_channels + channel) * bins + bin, source = sensitive ? channel * bins + bin : channel;
        T* const picture = static_cast<T*>(c.input) + (int64_t(row[0]) * c.channels + source) * plane;
        T& result = static_cast<T*>(c.out)[element];
        if (c.kind == RegionKind::Pool) {
          if (!c.backward) result = largest(picture, from, to, c.places[element]);
          else if (c.places[element] >= 0) picture[c.places[element]] += result;
        } else {
          if (!c.backward && c.places) c.places[element] = int32_t(source);
          if (c.backward) spread(picture, result, from, to);
          else result = mean(picture, from, to);
        }
        from = to;
      }
    }
  }

  void run() {
    for (int64_t region = 0; region < c.count; region++) {
      Context::current().poll();
      run_region(region);
    }
  }
};

/// Outside of the picture there are zeros. `slope`: derivatives of the value by y and by x.
template <class T>
Neighbours<T> zero_padded(T y, T x, int64_t height, int64_t width, const T* picture, T* slope) {
  Neighbours<T> found;
  if (!(y > -1 && y < T(height) && x > -1 && x < T(width))) return found;
  const T top = std::floor(y), left = std::floor(x), down = y - top, right = x - left;
  for (int k = 0; k < 4; k++) {
    const int64_t row = int64_t(top) + k / 2, column = int64_t(left) + k % 2;
    if (row < 0 || row >= height || column < 0 || column >= width) continue;
    const T by_row = k / 2 ? down : 1 - down, by_column = k % 2 ? right : 1 - right;
    found.at[k] = row * width + column;
    found.weight[k] = by_row * by_column;
    if (!slope) continue;
    slope[0] += (k / 2 ? by_column : -by_column) * picture[found.at[k]];
    slope[1] += (k % 2 ? by_row : -by_row) * picture[found.at[k]];
  }
  return found;
}

template <class T>
void run_deform(const DeformCall& c) {
  const int64_t taps = c.kernel[0] * c.kernel[1], plane = c.sides[0] * c.sides[1], places = c.out[0] * c.out[1];
  const auto at = [](auto* data, int64_t element) { return static_cast<T*>(const_cast<void*>(static_cast<const void*>(data))) + element; };
  for (int64_t line = 0; line < c.images * c.channels * taps; line++) {
    Context::current().poll();
    const int64_t tap = line % taps, channel = line / taps % c.channels, image = line / taps / c.channels;
    const int64_t moved = (image * c.groups + channel / (c.channels / c.groups)) * taps + tap, source = line / taps * plane;
    const T* const picture = at(c.input, source);
    for (int64_t place = 0; place < places; place++) {
      T where[2], slope[2] = {};
      for (int d = 0; d < 2; d++) {
        const int64_t base = (d == 0 ? place / c.out[1] : place % c.out[1]) * c.stride[d] - c.padding[d] +
                             (d == 0 ? tap / c.kernel[1] : tap % c.kernel[1]) * c.dilation[d];
        where[d] = T(base) + *at(c.offset, (2 * moved + d) * places + place);
      }
      const T mask = c.mask ? *at(c.mask, moved * places + place) : T(1);
      const auto of = zero_padded<T>(where[0], where[1], c.sides[0], c.sides[1], picture, c.grad_input ? slope : nullptr);
      T& column = *at(c.columns, line * places + place);
      if (!c.grad_input) {
        column = mask * of.value(picture);
        continue;
      }
      for (int k = 0; k < 4; k++) *at(c.grad_input, source + of.at[k]) += mask * of.weight[k] * column;
      for (int d = 0; d < 2; d++) *at(c.grad_offset, (2 * moved + d) * places + place) += mask * slope[d] * column;
      if (c.mask) *at(c.grad_mask, moved * places + place) += column * of.value(picture);
    }
  }
}

void run_regions(const RegionCall& c) {
  with_arithmetic_type(c.dtype, [&](auto type) { Regions<decltype(type)>{c}.run(); });
}
void run_deform_any(const DeformCall& c) {
  with_arithmetic_type(c.dtype, [&](auto type) { run_deform<decltype(type)>(c); });
}

const KernelRegistration<RegionCall> regions_on_cpu(region_kernel, DeviceType::Cpu, run_regions);
const KernelRegistration<DeformCall> deform_on_cpu(deform_kernel, DeviceType::Cpu, run_deform_any);

}  // namespace
}  // namespace tessera::tensor::cpu
