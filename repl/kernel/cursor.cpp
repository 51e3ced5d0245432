#include "repl/kernel/cursor.h"

#include <vector>

#include "repl/session/highlight.h"

namespace tessera::repl {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

bool is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || is_digit(byte) || byte == '_' ||
         (static_cast<unsigned char>(byte) & 0x80) != 0;
}

// The dotted name that ends at `end`.
std::string name_before(std::string_view code, size_t end) {
  size_t begin = end;
  while (begin > 0 && (is_name_byte(code[begin - 1]) || code[begin - 1] == '.')) --begin;
  while (begin < end && code[begin] == '.') ++begin;
  return begin < end && !is_digit(code[begin]) && code[end - 1] != '.' ? std::string(code.substr(begin, end - begin))
                                                                       : "";
}

// Brackets that are open before the cursor, without those in texts and comments; whether the cursor stands in one of these.
struct Open {
  std::vector<size_t> brackets;
  bool in_text = false;
};

Open open_at(std::string_view code, size_t cursor) {
  Open open;
  size_t at = 0;
  const auto read_to = [&](size_t end) {
    for (; at < end; ++at) {
      if (std::string_view("([{").find(code[at]) != std::string_view::npos) open.brackets.push_back(at);
      if (std::string_view(")]}").find(code[at]) != std::string_view::npos && !open.brackets.empty())
        open.brackets.pop_back();
    }
  };
  for (const TokenSpan& span : highlight(code)) {
    if (span.begin >= cursor) break;
    const bool is_text =
        span.what == TokenClass::kString || span.what == TokenClass::kOpenString || span.what == TokenClass::kComment;
    if (!is_text) continue;
    read_to(span.begin);
    at = span.end;
    open.in_text = cursor < span.end || (cursor == span.end && span.what != TokenClass::kString);
  }
  read_to(cursor);
  return open;
}

}  // namespace

int64_t characters_before(std::string_view text, size_t byte) {
  int64_t count = 0;
  for (size_t i = 0; i < byte && i < text.size(); ++i) count += begins_character(text[i]) ? 1 : 0;
  return count;
}

size_t byte_of_character(std::string_view text, int64_t character) {
  size_t at = 0;
  for (int64_t count = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && count++ >= character) break;
  return at;
}

NamesAtCursor names_at_cursor(std::string_view code, size_t cursor) {
  const Open open = open_at(code, cursor);
  NamesAtCursor names;
  if (!open.in_text) {
    size_t end = cursor;
    while (end < code.size() && is_name_byte(code[end])) ++end;
    names.name = name_before(code, end);
    // "f(|" and "f|(": the name that was just written, when nothing else is there.
    if (names.name.empty() && cursor > 0 && code[cursor - 1] == '(') names.name = name_before(code, cursor - 1);
  }
  for (size_t i = open.brackets.size(); i-- > 0 && names.called.empty();)
    if (code[open.brackets[i]] == '(') names.called = name_before(code, open.brackets[i]);
  return names;
}

}  // namespace tessera::repl
