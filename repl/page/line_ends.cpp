#include "repl/page/line_ends.h"

#include <utility>

namespace tessera::repl::page {

bool drop_carriage_returns(std::string& text) {
  if (text.find('\r') == text.npos) return false;
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') out += text[i];
    else if (i + 1 >= text.size() || text[i + 1] != '\n') out += '\n';
  }
  text = std::move(out);
  return true;
}

std::string with_carriage_returns(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

}  // namespace tessera::repl::page
