// Replacement templates: `\1`, `\g<name>` and the escapes of letters, taken apart once for all matches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stdlib/python/native/regex/program.h"

namespace tessera::stdlib::regex {

struct TemplatePart {
  std::string literal;  // UTF-8, or the bytes of a bytes template
  int64_t group = -1;   // the group to put here, or -1: the literal
};
using Template = std::vector<TemplatePart>;

// As the position of a SyntaxError: an unknown name, which Python reports as an IndexError.
constexpr int64_t kUnknownGroup = -2;

Template parse_template(std::u32string_view text, const Program& program, std::vector<Warning>& warnings);

}  // namespace tessera::stdlib::regex
