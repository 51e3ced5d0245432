// matplotlib._terminal: a picture as a terminal takes it.
// compile: small (the drawing takes longer)
#include <algorithm>

#include "lang/core/booking.h"
#include "lang/types/bytes.h"
#include "lang/types/str.h"
#include "stdlib/matplotlib/native/canvas.h"
#include "stdlib/matplotlib/native/terminal_picture.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// sequence(png, kind, columns): kind is kitty, iterm, sixel, truecolor or 256. '' where the picture cannot be read.
Value sequence(Interpreter& in, const Args& args) {
  const BytesLike png(in, args[0]);
  const std::string_view kind = text_argument(in, args[1], "kind");
  if (kind == "kitty") return make_str(in, kitty_sequence(png.view()) + "\n");
  if (kind == "iterm") return make_str(in, iterm_sequence(png.view()) + "\n");
  // What is no picture of a screen's size is made smaller first: a small file may hold a large one.
  constexpr int64_t kMostColumns = 1000;
  constexpr size_t kMostPixels = 2048, kMostRows = 2000;
  Booking booked;
  booked.set(in.heap, png_memory(png.view()));
  Picture picture;
  if (!read_png(png.view(), picture, [&in] { in.check_stop(10); })) return make_str(in, "");
  if (kind == "sixel") return make_str(in, sixel_sequence(scaled_within(picture, kMostPixels, kMostPixels)) + "\n");
  const auto columns = static_cast<size_t>(std::clamp<int64_t>(int_argument(in, args[2]), 1, kMostColumns));
  return make_str(in, half_blocks(scaled_within(picture, columns, kMostRows), kind == "truecolor"));
}

}  // namespace

void fill_terminal(Interpreter& in, Module& module) {
  in.def(module, "sequence(png, kind: str, columns)", "What draws the picture at a terminal of that kind.", sequence);
}

}  // namespace tessera::stdlib
