// compile: small (runs once for a source file)
#include "lang/syntax/source_encoding.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tessera::lang {
namespace {

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.'; }

// Of a comment with "coding:" or "coding=" the name behind it, in lower case and with '-' for '_'; else nothing.
std::string declared_in(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t\f");
  if (start == line.npos || line[start] != '#') return "";
  for (size_t at = line.find("coding", start); at != line.npos; at = line.find("coding", at + 1)) {
    size_t name = at + 6;
    if (name >= line.size() || (line[name] != ':' && line[name] != '=')) continue;
    name = line.find_first_not_of(" \t", name + 1);
    if (name == line.npos) return "";
    const std::string_view rest = line.substr(name);
    std::string found(rest.begin(), std::find_if_not(rest.begin(), rest.end(), is_name_part));
    for (char& c : found) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return found;
  }
  return "";
}

bool is_blank_or_comment(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t\f");
  return start == line.npos || line[start] == '#';
}

// The second line counts only where the first is no code.
std::string declared(std::string_view text) {
  const size_t first = std::min(text.find_first_of("\r\n"), text.size());
  const std::string found = declared_in(text.substr(0, first));
  if (!found.empty() || !is_blank_or_comment(text.substr(0, first))) return found;
  text.remove_prefix(std::min(text.size(), first + 1));
  if (!text.empty() && text[0] == '\n') text.remove_prefix(1);
  return declared_in(text.substr(0, std::min(text.find_first_of("\r\n"), text.size())));
}

bool is_latin_1(std::string_view name) {
  for (const std::string_view known : {"latin-1", "iso-8859-1", "iso-latin-1", "latin1", "iso8859-1", "l1"})
    if (name == known || (name.starts_with(known) && name[known.size()] == '-')) return true;
  return false;
}

}  // namespace

std::string decode_source(std::string bytes) {
  const bool plain = std::all_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  if (plain || !is_latin_1(declared(bytes))) return bytes;
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) text += c;
    else text += {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
  }
  return text;
}

}  // namespace tessera::lang
