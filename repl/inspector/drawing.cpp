// compile: small (once for a look of a person)
#include "repl/inspector/drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::repl {
using tensor::Tensor;

namespace {

Rgb mixed(Rgb a, Rgb b, double t) {
  const auto mix = [t](uint8_t x, uint8_t y) { return static_cast<uint8_t>(std::lround(x + (y - x) * t)); };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

// From 0 to 1 along stations.
template <size_t N>
Rgb along(const Rgb (&stations)[N], double t) {
  const double at = std::clamp(t, 0.0, 1.0) * (N - 1);
  const size_t i = std::min(N - 2, static_cast<size_t>(at));
  return mixed(stations[i], stations[i + 1], at - static_cast<double>(i));
}

constexpr Rgb kNanColour{255, 0, 255};
constexpr Rgb kBothSigns[] = {{59, 76, 192}, {141, 176, 254}, {221, 221, 221}, {244, 154, 123}, {180, 4, 38}};
constexpr Rgb kOneSign[] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};

bool both_signs(const Range& range) { return range.low < 0 && range.high > 0; }

double share(double x, const Range& range) {
  return range.high > range.low ? (x - range.low) / (range.high - range.low) : 0.5;
}

std::vector<std::string> shades(const Style& style) {
  if (style.unicode) return {" ", "░", "▒", "▓", "█"};
  return {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
}

std::string shade_of(double x, const Range& range, const std::vector<std::string>& shades) {
  if (std::isnan(x)) return "?";
  const double at = std::clamp(share(x, range), 0.0, 1.0) * static_cast<double>(shades.size());
  return shades[std::min(shades.size() - 1, static_cast<size_t>(at))];
}

Lines split_lines(const std::string& text) {
  Lines lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// --- Sizes: of the matrix that is shown, and how large its cells are drawn.
constexpr size_t kWide = 64, kHigh = 40;  // pixels of a heat map

struct Matrix {
  int64_t rows = 1, columns = 1, row_stride = 0, column_stride = 0;
  explicit Matrix(const Tensor& t) {
    const size_t n = t.sizes().size();
    if (n >= 1) columns = t.sizes()[n - 1], column_stride = t.strides()[n - 1];
    if (n >= 2) rows = t.sizes()[n - 2], row_stride = t.strides()[n - 2];
  }
};

// The mean of a part, of at most 8 x 8 of its elements.
double mean_of(const ElementReader& read, const Matrix& m, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  constexpr int64_t kMost = 8;
  const int64_t rows = std::min(kMost, r1 - r0), columns = std::min(kMost, c1 - c0);
  double sum = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      sum += read[(r0 + i * (r1 - r0) / rows) * m.row_stride + (c0 + j * (c1 - c0) / columns) * m.column_stride];
  return sum / static_cast<double>(rows * columns);
}

Lines heat_in_colours(const Grid& grid, const Range& range, size_t columns, const Style& style) {
  const size_t cell = std::clamp<size_t>(std::min(columns, kWide) / grid.columns, 1,
                                         std::max<size_t>(1, std::min<size_t>(4, kHigh / grid.rows)));
  Picture picture;
  picture.width = grid.columns * cell;
  picture.height = grid.rows * cell;
  for (size_t y = 0; y < picture.height; ++y)
    for (size_t x = 0; x < picture.width; ++x) picture.pixels.push_back(colour_of(grid.at(y / cell, x / cell), range));
  return split_lines(stdlib::half_blocks(picture, style.colours == Style::Colours::kTrue));
}

Lines heat_in_greys(const Grid& grid, const Range& range, size_t columns, const Style& style) {
  const std::vector<std::string> signs = shades(style);
  const size_t cell = std::clamp<size_t>(columns / grid.columns, 1, 2);
  Lines lines;
  for (size_t r = 0; r < grid.rows; ++r) {
    std::string line;
    for (size_t c = 0; c < grid.columns; ++c)
      for (size_t k = 0; k < cell; ++k) line += shade_of(grid.at(r, c), range, signs);
    lines.push_back(line);
  }
  return lines;
}

constexpr size_t kBarHeight = 6;

// A bar of `eighths` of a line, in the line that begins at `from`.
std::string bar_part(double eighths, size_t from, bool unicode) {
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double part = eighths - static_cast<double>(from);
  if (!unicode) return part >= 4 ? "#" : " ";
  // What is there at all shows.
  const double seen = from == 0 && eighths > 0 ? std::max(part, 1.0) : part;
  return kBlocks[static_cast<size_t>(std::clamp(std::lround(seen), 0L, 8L))];
}

double luminance(Rgb c) { return (0.299 * c.red + 0.587 * c.green + 0.114 * c.blue) / 255; }

}  // namespace

Rgb colour_of(double x, const Range& range) {
  if (std::isnan(x)) return kNanColour;
  return both_signs(range) ? along(kBothSigns, share(x, range)) : along(kOneSign, share(x, range));
}

bool shows_half_blocks(const Style& style) {
  return style.unicode && (style.colours == Style::Colours::k256 || style.colours == Style::Colours::kTrue);
}

Grid averaged(const Tensor& host, size_t most_rows, size_t most_columns) {
  const Matrix m(host);
  Grid grid;
  if (host.numel() == 0) return grid;
  grid.rows = static_cast<size_t>(std::min<int64_t>(m.rows, static_cast<int64_t>(most_rows)));
  grid.columns = static_cast<size_t>(std::min<int64_t>(m.columns, static_cast<int64_t>(most_columns)));
  const ElementReader read(host);
  const auto rows = static_cast<int64_t>(grid.rows), columns = static_cast<int64_t>(grid.columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      grid.values.push_back(mean_of(read, m, r * m.rows / rows, (r + 1) * m.rows / rows, c * m.columns / columns,
                                    (c + 1) * m.columns / columns));
  return grid;
}

Range colour_range(const Statistics& s) {
  if (std::isnan(s.least)) return {0, 1};
  if (s.least >= 0 || s.largest <= 0) return {s.least, s.largest};
  const double most = std::max(-s.least, s.largest);
  return {-most, most};
}

Lines heat_map(const Tensor& host, const Range& range, size_t columns, const Style& style) {
  const bool colours = shows_half_blocks(style);
  const Grid grid = averaged(host, colours ? kHigh : kHigh / 2, std::min(columns, kWide));
  if (grid.values.empty()) return {};
  return colours ? heat_in_colours(grid, range, columns, style) : heat_in_greys(grid, range, columns, style);
}

std::string legend(const Range& range, const Style& style) {
  const std::string low = number_text(range.low), high = number_text(range.high);
  if (!shows_half_blocks(style)) {
    const std::vector<std::string> signs = shades(style);
    return low + " '" + signs.front() + "' to " + high + " '" + signs.back() + "'";
  }
  const Paint paint(style);
  const auto sample = [&](double x) {
    const Rgb c = colour_of(x, range);
    return paint.background({c.red, c.green, c.blue}) + "  " + paint.end();
  };
  if (both_signs(range))
    return low + " " + sample(range.low) + " 0 " + sample(0) + " " + sample(range.high) + " " + high;
  return low + " " + sample(range.low) + sample((range.low + range.high) / 2) + sample(range.high) + " " + high;
}

Histogram histogram_of(const Tensor& host, const Statistics& s, size_t most_bins, const Stopping& stopping) {
  Histogram out{s.least, s.largest, {}};
  if (std::isnan(s.least) || s.least == s.largest) return out;
  const bool whole = !tensor::is_floating(host.dtype()) && !tensor::is_complex(host.dtype());
  const auto for_size = static_cast<size_t>(4 * std::sqrt(static_cast<double>(host.numel())));
  size_t count = std::clamp<size_t>(for_size, 4, most_bins);
  if (whole && out.high - out.low < static_cast<double>(most_bins)) {
    count = static_cast<size_t>(out.high - out.low) + 1;
    out.low -= 0.5;
    out.high += 0.5;
  }
  out.counts = count_in_bins(host, out.low, out.high, count, int64_t(1) << 24, stopping);
  return out;
}

Lines histogram(const Tensor& host, const Statistics& s, size_t columns, const Style& style, const Stopping& stopping) {
  if (std::isnan(s.least)) return {};
  if (s.least == s.largest) return {"all " + number_text(s.least)};
  const size_t most_bins = std::clamp<size_t>(columns, 4, 48);
  const std::vector<int64_t> counts = histogram_of(host, s, most_bins, stopping).counts;
  const size_t width = std::clamp<size_t>(most_bins / counts.size(), 1, 6);  // columns of a bar
  const int64_t most = std::max<int64_t>(1, *std::max_element(counts.begin(), counts.end()));
  const Paint paint(style);
  Lines lines;
  for (size_t row = kBarHeight; row-- > 0;) {
    std::string line;
    for (const int64_t count : counts) {
      const double eighths = static_cast<double>(count) * 8 * kBarHeight / static_cast<double>(most);
      for (size_t i = 0; i < width; ++i) line += bar_part(eighths, row * 8, style.unicode);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(paint(line, Paint::kName));
  }
  const std::string low = number_text(s.least), high = number_text(s.largest);
  const size_t room = std::max(counts.size() * width, low.size() + high.size() + 1);
  lines.push_back(low + padded(high, room - low.size(), true));
  lines.push_back(paint("the highest bar: " + count_text(most), Paint::kFaint));
  return lines;
}

Picture picture_of(const Tensor& host, const Statistics& s) {
  const size_t n = host.sizes().size();
  const bool bytes = host.dtype() == tensor::kUInt8;
  if (n != 3 || (!bytes && !tensor::is_floating(host.dtype()))) return {};
  if (!bytes && !(s.least >= 0 && s.largest <= 1 && s.nans == 0 && s.infinities == 0)) return {};
  const auto is_channels = [](int64_t size) { return size == 1 || size == 3 || size == 4; };
  const bool first = is_channels(host.size(0)) && host.size(1) >= 8 && host.size(2) >= 8;
  const bool last = !first && is_channels(host.size(2)) && host.size(0) >= 8 && host.size(1) >= 8;
  if ((!first && !last) || host.numel() > (int64_t(1) << 24)) return {};
  const int64_t c = first ? 0 : 2, y = first ? 1 : 0, x = first ? 2 : 1;
  const ElementReader read(host);
  const int64_t green = host.size(c) >= 3 ? host.stride(c) : 0;
  Picture picture;
  picture.height = static_cast<size_t>(host.size(y));
  picture.width = static_cast<size_t>(host.size(x));
  picture.pixels.reserve(picture.width * picture.height);
  const auto byte = [&](int64_t at) { return static_cast<uint8_t>(std::lround(bytes ? read[at] : read[at] * 255)); };
  for (int64_t j = 0; j < host.size(y); ++j)
    for (int64_t i = 0; i < host.size(x); ++i) {
      const int64_t at = j * host.stride(y) + i * host.stride(x);
      picture.pixels.push_back({byte(at), byte(at + green), byte(at + 2 * green)});
    }
  return picture;
}

std::string picture_text(const Picture& picture, const Style& style) {
  if (picture.pixels.empty()) return "";
  constexpr size_t kMostPixels = 1024;  // of a side, on a terminal that draws them
  if (style.images == Style::Images::kKitty)
    return stdlib::kitty_sequence(stdlib::write_png(stdlib::scaled_within(picture, kMostPixels, kMostPixels))) + "\n";
  if (style.images == Style::Images::kSixel)
    return stdlib::sixel_sequence(stdlib::scaled_within(picture, kMostPixels, kMostPixels)) + "\n";
  if (shows_half_blocks(style))
    return stdlib::half_blocks(stdlib::scaled_within(picture, style.columns, 2 * 40),
                               style.colours == Style::Colours::kTrue);
  // A character is twice as high as it is wide.
  const size_t width = std::min<size_t>(std::min<size_t>(style.columns, kWide), picture.width * 2);
  const Picture small =
      stdlib::scaled_down(picture, width, std::max<size_t>(1, picture.height * width / picture.width / 2));
  const std::vector<std::string> signs = shades(style);
  std::string out;
  for (size_t y = 0; y < small.height; ++y) {
    for (size_t x = 0; x < small.width; ++x) out += shade_of(luminance(small.at(x, y)), {0, 1}, signs);
    out += '\n';
  }
  return out;
}

Lines beside(const Lines& left, const Lines& right, size_t at) {
  Lines out;
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string line = i < left.size() ? left[i] : "";
    if (i < right.size() && !right[i].empty()) line = padded(line, at) + right[i];
    out.push_back(line);
  }
  return out;
}

}  // namespace tessera::repl
