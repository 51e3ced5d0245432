// compile: small (the drawing takes longer)
#include "stdlib/matplotlib/native/terminal_picture.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tessera::stdlib {
namespace {

using Byte = unsigned char;

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";

uint32_t big_endian(const char* p) {
  const auto* b = reinterpret_cast<const Byte*>(p);
  return static_cast<uint32_t>(b[0]) << 24 | static_cast<uint32_t>(b[1]) << 16 | static_cast<uint32_t>(b[2]) << 8 |
         b[3];
}

void append_big_endian(std::string& out, uint32_t x) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(x >> shift & 0xff);
}

// --- Reading

struct PngHeader {
  uint32_t width = 0, height = 0;
  unsigned depth = 0, kind = 0;     // kinds: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA
  std::string_view palette, alpha;  // of kind 3
  std::string packed;

  size_t channels() const { return kind == 2 ? 3 : kind == 4 ? 2 : kind == 6 ? 4 : 1; }
  size_t row_bytes() const { return (width * channels() * depth + 7) / 8; }
};

constexpr uint32_t kLargestSide = 1 << 15;
constexpr uint64_t kMostPixels = 1 << 23;

bool read_chunks(std::string_view png, PngHeader& h) {
  if (!png.starts_with(kSignature)) return false;
  for (size_t at = kSignature.size(); at + 12 <= png.size();) {
    const size_t size = big_endian(png.data() + at);
    const std::string_view kind = png.substr(at + 4, 4);
    if (size > png.size() - at - 12) return false;
    const std::string_view body = png.substr(at + 8, size);
    if (kind == "IHDR" && size == 13) {
      h.width = big_endian(body.data());
      h.height = big_endian(body.data() + 4);
      h.depth = static_cast<Byte>(body[8]);
      h.kind = static_cast<Byte>(body[9]);
      if (body[12] != 0) return false;
    } else if (kind == "PLTE") h.palette = body;
    else if (kind == "tRNS") h.alpha = body;
    else if (kind == "IDAT") h.packed += body;
    else if (kind == "IEND") break;
    at += 12 + size;
  }
  const bool small = h.kind == 0 || h.kind == 3, known = small || h.kind == 2 || h.kind == 4 || h.kind == 6;
  if (!known || (h.depth != 8 && !(small && (h.depth == 1 || h.depth == 2 || h.depth == 4)))) return false;
  if (h.width == 0 || h.height == 0 || h.width > kLargestSide || h.height > kLargestSide) return false;
  return uint64_t(h.width) * h.height <= kMostPixels;
}

int paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int a = std::abs(guess - left), b = std::abs(guess - up), c = std::abs(guess - corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

// Each row stands behind the number of its filter.
bool unfilter(std::string& rows, size_t row_bytes, size_t height, size_t step) {
  for (size_t y = 0; y < height; ++y) {
    Byte* const row = reinterpret_cast<Byte*>(rows.data()) + y * (row_bytes + 1) + 1;
    const Byte* const above = y == 0 ? nullptr : row - row_bytes - 1;
    const int filter = row[-1];
    if (filter > 4) return false;
    for (size_t i = 0; i < row_bytes; ++i) {
      const int left = i < step ? 0 : row[i - step], up = above == nullptr ? 0 : above[i];
      const int corner = i < step || above == nullptr ? 0 : above[i - step];
      const int guesses[] = {0, left, up, (left + up) / 2, filter == 4 ? paeth(left, up, corner) : 0};
      row[i] = static_cast<Byte>(row[i] + guesses[filter]);
    }
  }
  return true;
}

Rgb on_white(Rgb c, int alpha) {
  const auto mix = [alpha](uint8_t x) { return static_cast<uint8_t>((x * alpha + 255 * (255 - alpha) + 127) / 255); };
  return {mix(c.red), mix(c.green), mix(c.blue)};
}

Rgb pixel(const PngHeader& h, const Byte* row, size_t x) {
  if (h.depth < 8) {
    const size_t bit = x * h.depth;
    const unsigned most = (1u << h.depth) - 1, v = row[bit / 8] >> (8 - h.depth - bit % 8) & most;
    if (h.kind == 0) {
      const auto grey = static_cast<uint8_t>(v * 255 / most);
      return {grey, grey, grey};
    }
    const Byte index = static_cast<Byte>(v);
    PngHeader whole = {h.width, h.height, 8, h.kind, h.palette, h.alpha, {}};
    return pixel(whole, &index, 0);
  }
  const Byte* p = row + x * h.channels();
  switch (h.kind) {
    case 0: return {p[0], p[0], p[0]};
    case 2: return {p[0], p[1], p[2]};
    case 4: return on_white({p[0], p[0], p[0]}, p[1]);
    case 6: return on_white({p[0], p[1], p[2]}, p[3]);
    default: break;
  }
  if (size_t(*p) * 3 + 3 > h.palette.size()) return {};
  const auto* colour = reinterpret_cast<const Byte*>(h.palette.data()) + *p * 3;
  return on_white({colour[0], colour[1], colour[2]}, *p < h.alpha.size() ? static_cast<Byte>(h.alpha[*p]) : 255);
}

// --- Writing

void append_chunk(std::string& out, std::string_view kind, std::string_view body) {
  append_big_endian(out, static_cast<uint32_t>(body.size()));
  const size_t begin = out.size();
  out += kind;
  out += body;
  const auto* checked = reinterpret_cast<const Byte*>(out.data() + begin);
  append_big_endian(out, static_cast<uint32_t>(crc32(0, checked, static_cast<uInt>(out.size() - begin))));
}

// --- Sixel: up to 256 colours, the most frequent ones where there are more.

unsigned coarse(Rgb c) { return unsigned(c.red >> 3) << 10 | unsigned(c.green >> 3) << 5 | unsigned(c.blue >> 3); }

int distance(Rgb a, Rgb b) {
  const int r = a.red - b.red, g = a.green - b.green, l = a.blue - b.blue;
  return 3 * r * r + 4 * g * g + 2 * l * l;
}

struct Palette {
  std::vector<Rgb> colours;
  std::vector<int> of;  // by coarse()

  explicit Palette(const Picture& picture) : of(1u << 15, -1) {
    struct Bin {
      uint64_t count = 0, red = 0, green = 0, blue = 0;
      Rgb mean() const {
        return {static_cast<uint8_t>(red / count), static_cast<uint8_t>(green / count),
                static_cast<uint8_t>(blue / count)};
      }
    };
    std::vector<Bin> bins(1u << 15);
    for (const Rgb c : picture.pixels) {
      Bin& bin = bins[coarse(c)];
      ++bin.count, bin.red += c.red, bin.green += c.green, bin.blue += c.blue;
    }
    std::vector<unsigned> used;
    for (unsigned i = 0; i < bins.size(); ++i)
      if (bins[i].count > 0) used.push_back(i);
    std::stable_sort(used.begin(), used.end(), [&](unsigned a, unsigned b) { return bins[a].count > bins[b].count; });
    for (const unsigned i : used) {
      const Rgb mean = bins[i].mean();
      if (colours.size() < 256) {
        of[i] = static_cast<int>(colours.size());
        colours.push_back(mean);
        continue;
      }
      const auto nearest = std::min_element(colours.begin(), colours.end(),
                                            [mean](Rgb a, Rgb b) { return distance(a, mean) < distance(b, mean); });
      of[i] = static_cast<int>(nearest - colours.begin());
    }
  }
};

void append_run(std::string& out, char sixel, size_t count) {
  if (count > 3) out += "!" + std::to_string(count) + sixel;
  else out.append(count, sixel);
}

// Six rows, one colour after another: each goes back to the line's start ($).
void append_band(std::string& out, const std::vector<int>& index, size_t width, size_t rows, size_t colours) {
  std::vector<bool> used(colours);
  for (size_t i = 0; i < width * rows; ++i) used[static_cast<size_t>(index[i])] = true;
  for (size_t c = 0; c < colours; ++c) {
    if (!used[c]) continue;
    out += "#" + std::to_string(c);
    char last = 0;
    size_t count = 0;
    for (size_t x = 0; x < width; ++x) {
      int bits = 0;
      for (size_t y = 0; y < rows; ++y) bits |= (index[y * width + x] == static_cast<int>(c)) << y;
      const char sixel = static_cast<char>('?' + bits);
      if (sixel != last) {
        append_run(out, last, count);
        last = sixel;
        count = 0;
      }
      ++count;
    }
    if (last != '?') append_run(out, last, count);
    out += '$';
  }
  out += '-';
}

int nearest_of_256(Rgb c) {
  const auto level = [](int x) { return x < 48 ? 0 : x < 115 ? 1 : (x - 35) / 40; };
  const auto value = [](int i) { return static_cast<uint8_t>(i == 0 ? 0 : 55 + 40 * i); };
  const int r = level(c.red), g = level(c.green), b = level(c.blue);
  const int grey = std::clamp((c.red + c.green + c.blue) / 3 - 3, 0, 239) / 10;
  const auto shade = static_cast<uint8_t>(8 + 10 * grey);
  return distance({shade, shade, shade}, c) < distance({value(r), value(g), value(b)}, c) ? 232 + grey
                                                                                          : 16 + 36 * r + 6 * g + b;
}

}  // namespace

size_t png_memory(std::string_view png) {
  PngHeader h;
  if (!read_chunks(png, h)) return 0;
  return h.packed.size() + (h.row_bytes() + 1) * h.height + sizeof(Rgb) * h.width * h.height;
}

bool read_png(std::string_view png, Picture& out, const std::function<void()>& on_row) {
  PngHeader h;
  if (!read_chunks(png, h)) return false;
  const size_t row_bytes = h.row_bytes();
  std::string rows((row_bytes + 1) * h.height, '\0');
  uLongf size = rows.size();
  const int status = uncompress(reinterpret_cast<Byte*>(rows.data()), &size,
                                reinterpret_cast<const Byte*>(h.packed.data()), h.packed.size());
  if (status != Z_OK || size != rows.size()) return false;
  if (!unfilter(rows, row_bytes, h.height, std::max<size_t>(1, h.channels() * h.depth / 8))) return false;
  out.width = h.width;
  out.height = h.height;
  out.pixels.resize(out.width * out.height);
  for (size_t y = 0; y < out.height; ++y) {
    if (on_row) on_row();
    for (size_t x = 0; x < out.width; ++x)
      out.pixels[y * out.width + x] = pixel(h, reinterpret_cast<const Byte*>(rows.data()) + y * (row_bytes + 1) + 1, x);
  }
  return true;
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t j) { return i + j < bytes.size() ? static_cast<Byte>(bytes[i + j]) : 0u; };
    const unsigned three = byte(0) << 16 | byte(1) << 8 | byte(2);
    out += kDigits[three >> 18];
    out += kDigits[three >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[three >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & 63] : '=';
  }
  return out;
}

std::string write_png(const Picture& picture) {
  std::string head;
  append_big_endian(head, static_cast<uint32_t>(picture.width));
  append_big_endian(head, static_cast<uint32_t>(picture.height));
  head += std::string("\x08\x02\x00\x00\x00", 5);
  std::string rows;
  rows.reserve(picture.height * (picture.width * 3 + 1));
  for (size_t y = 0; y < picture.height; ++y) {
    rows += '\0';
    rows.append(reinterpret_cast<const char*>(picture.pixels.data() + y * picture.width), picture.width * 3);
  }
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Byte*>(packed.data()), &size, reinterpret_cast<const Byte*>(rows.data()), rows.size(), 6);
  packed.resize(size);
  std::string out(kSignature);
  append_chunk(out, "IHDR", head);
  append_chunk(out, "IDAT", packed);
  append_chunk(out, "IEND", "");
  return out;
}

Picture scaled_down(const Picture& picture, size_t width, size_t height) {
  Picture out;
  out.width = std::clamp<size_t>(width, 1, picture.width);
  out.height = std::clamp<size_t>(height, 1, picture.height);
  if (out.width == picture.width && out.height == picture.height) return picture;
  out.pixels.resize(out.width * out.height);
  for (size_t y = 0; y < out.height; ++y) {
    const size_t y0 = y * picture.height / out.height, y1 = (y + 1) * picture.height / out.height;
    for (size_t x = 0; x < out.width; ++x) {
      const size_t x0 = x * picture.width / out.width, x1 = (x + 1) * picture.width / out.width;
      size_t red = 0, green = 0, blue = 0;
      for (size_t j = y0; j < y1; ++j)
        for (size_t i = x0; i < x1; ++i) {
          const Rgb c = picture.at(i, j);
          red += c.red, green += c.green, blue += c.blue;
        }
      const size_t n = (x1 - x0) * (y1 - y0);
      out.pixels[y * out.width + x] = {static_cast<uint8_t>(red / n), static_cast<uint8_t>(green / n),
                                       static_cast<uint8_t>(blue / n)};
    }
  }
  return out;
}

Picture scaled_within(const Picture& picture, size_t width, size_t height) {
  if (picture.width <= width && picture.height <= height) return picture;
  const double scale = std::min(static_cast<double>(width) / static_cast<double>(picture.width),
                                static_cast<double>(height) / static_cast<double>(picture.height));
  return scaled_down(picture, static_cast<size_t>(static_cast<double>(picture.width) * scale),
                     static_cast<size_t>(static_cast<double>(picture.height) * scale));
}

std::string kitty_sequence(std::string_view png) {
  constexpr size_t kPart = 4096;
  const std::string text = base64(png);
  std::string out;
  for (size_t i = 0; i < text.size(); i += kPart) {
    const bool more = i + kPart < text.size();
    out += std::string("\x1b_G") + (i == 0 ? "a=T,f=100," : "") + "m=" + (more ? "1;" : "0;");
    out += text.substr(i, kPart) + "\x1b\\";
  }
  return out;
}

std::string iterm_sequence(std::string_view png) {
  return "\x1b]1337;File=inline=1;size=" + std::to_string(png.size()) + ":" + base64(png) + "\a";
}

std::string sixel_sequence(const Picture& picture) {
  const Palette palette(picture);
  std::string out = "\x1bP0;1q\"1;1;" + std::to_string(picture.width) + ";" + std::to_string(picture.height);
  const auto percent = [](uint8_t x) { return std::to_string((x * 100 + 127) / 255); };
  for (size_t i = 0; i < palette.colours.size(); ++i) {
    const Rgb c = palette.colours[i];
    out += "#" + std::to_string(i) + ";2;" + percent(c.red) + ";" + percent(c.green) + ";" + percent(c.blue);
  }
  std::vector<int> index(picture.width * 6);
  for (size_t y = 0; y < picture.height; y += 6) {
    const size_t rows = std::min<size_t>(6, picture.height - y);
    for (size_t i = 0; i < picture.width * rows; ++i)
      index[i] = palette.of[coarse(picture.pixels[y * picture.width + i])];
    append_band(out, index, picture.width, rows, palette.colours.size());
  }
  return out + "\x1b\\";
}

std::string colour_sequence(int which, Rgb c, bool true_colour) {
  const std::string head = "\x1b[" + std::to_string(which);
  if (!true_colour) return head + ";5;" + std::to_string(nearest_of_256(c)) + "m";
  return head + ";2;" + std::to_string(c.red) + ";" + std::to_string(c.green) + ";" + std::to_string(c.blue) + "m";
}

std::string half_blocks(const Picture& picture, bool true_colour) {
  std::string out;
  for (size_t y = 0; y < picture.height; y += 2) {
    const bool whole = y + 1 < picture.height;
    Rgb above, below;
    for (size_t x = 0; x < picture.width; ++x) {
      const Rgb a = picture.at(x, y), b = whole ? picture.at(x, y + 1) : Rgb{};
      if (x == 0 || a != above) out += colour_sequence(38, a, true_colour);
      if (whole && (x == 0 || b != below)) out += colour_sequence(48, b, true_colour);
      out += "▀";
      above = a, below = b;
    }
    out += "\x1b[0m\n";
  }
  return out;
}

}  // namespace tessera::stdlib
