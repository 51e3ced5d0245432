// matplotlib._terminal: a picture as a terminal takes it.
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
  Picture picture;
  if (!read_png(png.view(), picture)) return make_str(in, "");
  if (kind == "sixel") return make_str(in, sixel_sequence(picture) + "\n");
  const auto columns = static_cast<size_t>(std::max<int64_t>(1, int_argument(in, args[2])));
  return make_str(
      in, half_blocks(scaled_down(picture, columns, picture.height * columns / picture.width), kind == "truecolor"));
}

}  // namespace

void fill_terminal(Interpreter& in, Module& module) {
  in.def(module, "sequence(png, kind: str, columns)", "What draws the picture at a terminal of that kind.", sequence);
}

}  // namespace tessera::stdlib
