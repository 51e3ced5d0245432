#include "repl/inspector/pictures.h"

#include "repl/inspector/drawing.h"

namespace tessera::repl {

std::string png_text(const std::string& png, const Style& style) {
  if (style.images == Style::Images::kKitty && png.starts_with("\x89PNG")) return stdlib::kitty_sequence(png) + "\n";
  Picture picture;
  if ((!shows_half_blocks(style) && style.images == Style::Images::kNone) || !stdlib::read_png(png, picture)) return "";
  return picture_text(picture, style);
}

}  // namespace tessera::repl
