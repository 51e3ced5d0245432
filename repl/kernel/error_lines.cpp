#include "repl/kernel/error_lines.h"

#include <algorithm>

#include "repl/session/theme.h"

namespace tessera::repl {

std::vector<std::string> error_lines(std::string_view report) {
  std::string text = coloured_error(report, Style::Colours::k16);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace tessera::repl
