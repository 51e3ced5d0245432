// Pictures for terminals: as the sequences of those that draw pixels, or as half blocks in colour, two pixels in a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::stdlib {

struct Rgb {
  uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

struct Picture {
  size_t width = 0, height = 0;
  std::vector<Rgb> pixels;  // row by row
  Rgb at(size_t x, size_t y) const { return pixels[y * width + x]; }
};

// Of a PNG file's bytes, what is transparent on white. False: it is none, broken, or of a kind that few write (interlaced, 16
// bits), or larger than any screen.
// `on_row` is called before each row of pixels is made, and may throw.
bool read_png(std::string_view png, Picture& out, const std::function<void()>& on_row = {});
// What reading it takes of memory; 0: it is not read.
size_t png_memory(std::string_view png);
std::string write_png(const Picture& picture);
// A file's bytes as terminals and JSON carry them.
std::string base64(std::string_view bytes);
// Each pixel the mean of what it stands for; never larger than it was.
Picture scaled_down(const Picture& picture, size_t width, size_t height);
// The same in its own proportions, not beyond either side.
Picture scaled_within(const Picture& picture, size_t width, size_t height);

// What a terminal that can is sent; no newline at the end.
std::string kitty_sequence(std::string_view png);
std::string iterm_sequence(std::string_view png);
std::string sixel_sequence(const Picture& picture);

// SGR for a colour of the text (38) or what is behind it (48): all colours, or the nearest of 256.
std::string colour_sequence(int which, Rgb colour, bool true_colour);
// A line for two rows of pixels, each ending with a newline; above the last odd row's pixels nothing is drawn.
std::string half_blocks(const Picture& picture, bool true_colour);

}  // namespace tessera::stdlib
