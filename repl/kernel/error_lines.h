// A traceback as Jupyter carries it: lines, in colours that can be read on a light ground and on a dark one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl {

std::vector<std::string> error_lines(std::string_view text);

}  // namespace tessera::repl
