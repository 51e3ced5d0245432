#include "repl/notebook/json_depth.h"

#include <cstddef>

namespace tessera::repl {

bool nests_deeper(std::string_view json, int levels) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') in_text = !in_text;
    if (in_text && c == '\\') ++i;
    if (in_text) continue;
    if ((c == '[' || c == '{') && ++depth > levels) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

}  // namespace tessera::repl
