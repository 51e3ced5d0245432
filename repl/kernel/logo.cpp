#include "repl/kernel/logo.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "stdlib/matplotlib/native/terminal_picture.h"

namespace tessera::repl {
namespace {

// Five rows of five stones on a field of 64 by 64: letters are colours of the T, a dot is a stone around it.
constexpr const char* kStones[5] = {"abcba", "..d..", "..c..", "..b..", "..a.."};
constexpr double kSide = 64, kMargin = 3, kStep = 11.6, kStone = 10.6, kRound = 2;

uint32_t colour_of(char stone) {
  switch (stone) {
    case 'a': return 0x0f766e;
    case 'b': return 0x14908a;
    case 'c': return 0x0e7490;
    case 'd': return 0x155e9c;
    default: return 0xd9e2e4;
  }
}

double corner_of(int index) { return kMargin + kStep * index; }

// How far the point lies outside of the stone at this corner; negative: inside.
double outside(double x, double y, double left, double top) {
  const double half = kStone / 2 - kRound;
  const double dx = std::max(std::abs(x - left - kStone / 2) - half, 0.0),
               dy = std::max(std::abs(y - top - kStone / 2) - half, 0.0);
  return std::hypot(dx, dy) - kRound;
}

}  // namespace

std::string logo_svg() {
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\" width=\"64\" height=\"64\">\n";
  for (int row = 0; row < 5; ++row)
    for (int column = 0; column < 5; ++column) {
      char stone[160];
      std::snprintf(stone, sizeof stone,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.0f\" fill=\"#%06x\"/>\n",
                    corner_of(column), corner_of(row), kStone, kStone, kRound, colour_of(kStones[row][column]));
      svg += stone;
    }
  return svg + "</svg>\n";
}

// On white: an old notebook's page is that. Each pixel has as much of a stone's colour as the stone covers.
std::string logo_png(int side) {
  stdlib::Picture picture;
  picture.width = picture.height = static_cast<size_t>(side);
  const double scale = kSide / side;
  for (int row = 0; row < side; ++row)
    for (int column = 0; column < side; ++column) {
      const double x = (column + 0.5) * scale, y = (row + 0.5) * scale;
      const auto nearest = [](double at) { return std::clamp(static_cast<int>((at - kMargin) / kStep), 0, 4); };
      const int i = nearest(y), j = nearest(x);
      const double cover = std::clamp(0.5 - outside(x, y, corner_of(j), corner_of(i)) / scale, 0.0, 1.0);
      const uint32_t colour = colour_of(kStones[i][j]);
      const auto mixed = [&](int shift) {
        return static_cast<uint8_t>(std::lround(255 + cover * (static_cast<int>(colour >> shift & 255) - 255)));
      };
      picture.pixels.push_back({mixed(16), mixed(8), mixed(0)});
    }
  return stdlib::write_png(picture);
}

}  // namespace tessera::repl
