// What a block shows as a picture, for a terminal.
#pragma once

#include <string>

#include "repl/session/client.h"

namespace tessera::repl {

// A PNG file's bytes as the style's terminal draws them: its own sequence for pixels, coloured half blocks, greys. Ends with
// a newline. Empty: the style shows no pictures worth looking at, or these are no bytes of one; then the text is what there is.
std::string png_text(const std::string& png, const Style& style);

}  // namespace tessera::repl
