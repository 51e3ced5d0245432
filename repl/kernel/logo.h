// The kernel's picture in a launcher: a T laid of small stones. One table of stones makes both files.
#pragma once

#include <string>

namespace tessera::repl {

std::string logo_svg();
std::string logo_png(int side);

}  // namespace tessera::repl
