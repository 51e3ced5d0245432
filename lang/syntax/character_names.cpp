// One long text of "NAME;code\n" lines (character_names.txt, compressed in the program) that is searched from its beginning:
// names are rare, and a table of pointers would cost every start of the program its relocation.
#include "lang/syntax/character_names.h"

#include <zlib.h>

#include <charconv>
#include <string>

namespace tessera::lang {

namespace {

#include "generated/character_names.inc"

// The text, with a line's end before the first name too. Read again at the first name that anybody asks for.
const std::string& names() {
  static const std::string text = [] {
    std::string out(1 + kPackedTextSize, '\n');
    uLongf size = kPackedTextSize;
    uncompress(reinterpret_cast<Bytef*>(out.data() + 1), &size, reinterpret_cast<const Bytef*>(kPacked), sizeof kPacked - 1);
    return out;
  }();
  return text;
}

constexpr std::string_view kIdeograph = "CJK UNIFIED IDEOGRAPH-";

std::optional<char32_t> code_at(std::string_view text) {
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code, 16);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return static_cast<char32_t>(code);
}

}  // namespace

std::optional<char32_t> character_named(std::string_view name) {
  std::string wanted = "\n";
  for (char c : name) wanted += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  if (wanted.find(';') != std::string::npos || name.find('\n') != std::string_view::npos) return std::nullopt;
  if (std::string_view(wanted).substr(1).starts_with(kIdeograph)) {
    const auto code = code_at(std::string_view(wanted).substr(1 + kIdeograph.size()));
    return code && *code >= 0x4e00 && *code <= 0x9fff ? code : std::nullopt;
  }
  wanted += ';';
  const size_t at = names().find(wanted);
  if (at == std::string::npos) return std::nullopt;
  return code_at(std::string_view(names()).substr(at + wanted.size(), 8));
}

}  // namespace tessera::lang
