// CPython's words for text that makes no token.
// compile: small (runs after a syntax error)
#include "lang/syntax/lexer_faults.h"

#include <cstdio>
#include <vector>

#include "lang/syntax/lexer.h"

namespace tessera::lang {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

char at(std::string_view text, std::size_t index) { return index < text.size() ? text[index] : '\0'; }

// Length of the well-formed UTF-8 sequence at the front of `text`, or 0 (then `bad` is how CPython words the reason).
std::uint32_t sequence_length(std::string_view text, const char*& bad) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at(text, i)); };
  auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  bad = "invalid start byte";
  if (lead < 0xc2 || lead > 0xf4) return 0;
  std::uint32_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  bad = "invalid continuation byte";
  unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (text.size() > 1 && (byte(1) < low || byte(1) > high)) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size()) bad = "unexpected end of data";
    if (!continues(i)) return 0;
  }
  return length;
}

Fault undecodable(std::size_t offset, unsigned char byte, const char* reason) {
  char message[128];
  std::snprintf(message, sizeof message, "(unicode error) 'utf-8' codec can't decode byte 0x%02x in position %zu: %s",
                byte, offset, reason);
  auto begin = static_cast<std::uint32_t>(offset);
  return {message, {begin, begin + 1}};
}

// `1if x else y` is legal: a number may be followed by these keywords at once.
bool keyword_may_follow(std::string_view rest) {
  for (std::string_view keyword : {"and", "else", "for", "if", "in", "is", "not", "or"}) {
    if (rest.substr(0, keyword.size()) == keyword) return true;
  }
  return false;
}

struct Radix {
  const char* name;
  int base;  // 0 for the "imaginary" ending
};

Radix radix_of(std::string_view number, char next) {
  char mark = number.size() > 1 && number[0] == '0' ? number[1] : number == "0" ? next : '\0';
  if (mark == 'x' || mark == 'X') return {"hexadecimal", 16};
  if (mark == 'o' || mark == 'O') return {"octal", 8};
  if (mark == 'b' || mark == 'B') return {"binary", 2};
  char last = number.back();
  if (last == 'j' || last == 'J') return {"imaginary", 0};
  return {"decimal", 10};
}

std::optional<Fault> leading_zero_fault(std::string_view number, std::uint32_t begin) {
  if (number.size() < 2 || number[0] != '0') return std::nullopt;
  std::size_t zeros = number.find_first_not_of("0_");
  if (zeros == std::string_view::npos || number.find_first_not_of("0123456789_") != std::string_view::npos) {
    return std::nullopt;
  }
  return Fault{"leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers",
               {begin, begin + static_cast<std::uint32_t>(zeros)}};
}

bool is_printable(char32_t c) {
  if (c < 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad || c == 0x1680 || c == 0x3000 || c == 0xfeff) return false;
  if ((c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) || (c >= 0x205f && c <= 0x206f)) return false;
  return !(c >= 0xd800 && c <= 0xf8ff) && c < 0xe0000;
}

Fault invalid_character(char32_t c, Span span) {
  char code[16];
  std::snprintf(code, sizeof code, "U+%04X", static_cast<unsigned>(c));
  if (!is_printable(c)) return {std::string("invalid non-printable character ") + code, span};
  std::string shown;
  append_utf8(shown, c);
  return {"invalid character '" + shown + "' (" + code + ")", span};
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t index) {
  auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(at(text, index + i))); };
  char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xe0) return {(lead & 0x1f) << 6 | (byte(1) & 0x3f), 2};
  if (lead < 0xf0) return {(lead & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f), 4};
}

void append_utf8(std::string& out, char32_t c) {
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    tail(12), tail(6), tail(0);
  }
}

std::optional<Fault> encoding_fault(const Source& source) {
  std::string_view text = source.text();
  for (std::size_t i = 0; i < text.size();) {
    auto byte = static_cast<unsigned char>(text[i]);
    auto begin = static_cast<std::uint32_t>(i);
    if (byte == 0) return Fault{"source code cannot contain null bytes", {begin, begin + 1}};
    if (byte < 0x80) {
      ++i;
      continue;
    }
    const char* reason = nullptr;
    std::uint32_t length = sequence_length(text.substr(i), reason);
    if (length == 0) return undecodable(i, byte, reason);
    i += length;
  }
  return std::nullopt;
}

std::optional<Fault> number_fault(std::string_view text, std::uint32_t begin, std::uint32_t end) {
  std::string_view number = text.substr(begin, end - begin);
  char next = at(text, end);
  Radix radix = radix_of(number, next);
  std::string invalid = std::string("invalid ") + radix.name + " literal";
  if (radix.base != 10 && radix.base != 0 && number == "0") {  // 0x, 0o or 0b without a digit
    std::uint32_t digit = end + 1 + (at(text, end + 1) == '_');
    if (radix.base < 10 && is_digit(at(text, digit))) {
      return Fault{std::string("invalid digit '") + text[digit] + "' in " + radix.name + " literal",
                   {digit, digit + 1}};
    }
    return Fault{invalid, {digit - 1, digit}};
  }
  if (next == '_') {
    char after = at(text, end + 1);
    if (radix.base < 10 && radix.base > 0 && is_digit(after)) {
      return Fault{std::string("invalid digit '") + after + "' in " + radix.name + " literal", {end + 1, end + 2}};
    }
    // Behind the point of `1._` CPython has not yet begun to read digits, whose separator the underscore could be.
    return Fault{invalid, radix.base == 0 || number.back() == '.' ? Span{end - 1, end} : Span{end, end + 1}};
  }
  if (is_digit(next) && radix.base > 0 && radix.base < 10) {
    return Fault{std::string("invalid digit '") + next + "' in " + radix.name + " literal", {end, end + 1}};
  }
  if ((next == 'e' || next == 'E') && (at(text, end + 1) == '+' || at(text, end + 1) == '-')) {
    return Fault{invalid, {end + 1, end + 2}};
  }
  const std::optional<Fault> zeros = leading_zero_fault(number, begin);
  if (zeros && next != 'e' && next != 'E') return zeros;
  bool goes_on = static_cast<unsigned char>(next) >= 0x80 || is_identifier_part(static_cast<unsigned char>(next));
  if (goes_on && !keyword_may_follow(text.substr(end))) return Fault{invalid, {end - 1, end}};
  return zeros;
}

std::optional<Fault> name_fault(std::string_view text, Span name) {
  for (std::uint32_t i = name.begin; i < name.end;) {
    CodePoint c = decode_utf8(text, i);
    bool fits = i == name.begin ? is_identifier_start(c.value) : is_identifier_part(c.value);
    if (!fits) return invalid_character(c.value, {i, i + c.length});
    i += c.length;
  }
  return std::nullopt;
}

std::string foreign_character(char32_t c) { return is_printable(c) ? std::string() : invalid_character(c, {}).message; }

// The scanner that CPython 3.11 has for fields: it knows brackets and string quotes and nothing else.
std::uint32_t find_field_end(std::string_view text, Span body, std::uint32_t begin, std::optional<Fault>& fault) {
  std::string open;
  char quote = 0;
  std::size_t quote_length = 0;
  auto fail = [&](std::string message, std::uint32_t where) {
    fault = Fault{"f-string" + std::move(message), {where, where + 1}};
    return where;
  };
  for (std::uint32_t i = begin; i < body.end; ++i) {
    char c = text[i];
    if (c == '\\') return fail(" expression part cannot include a backslash", i);
    if (quote != 0) {
      bool closes = c == quote && (quote_length == 1 || text.substr(i, 3) == std::string(3, quote));
      if (closes) i += static_cast<std::uint32_t>(quote_length) - 1, quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') {
      quote = c;
      quote_length = i + 2 < body.end && text.substr(i, 3) == std::string(3, c) ? 3 : 1;
      i += static_cast<std::uint32_t>(quote_length) - 1;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') {
      if (open.size() >= 200) return fail(": too many nested parenthesis", i);
      open += c;
      continue;
    }
    if (c == '#') return fail(" expression part cannot include '#'", i);
    if (open.empty() && (c == '!' || c == ':' || c == '}' || c == '=' || c == '<' || c == '>')) {
      char after = i + 1 < body.end ? text[i + 1] : '\0';
      if (after == '=' && (c == '!' || c == '=' || c == '<' || c == '>')) {
        ++i;  // a comparison
        continue;
      }
      if (c == '<' || c == '>') continue;
      return i;
    }
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) return fail(std::string(": unmatched '") + c + "'", i);
      char expected = open.back() == '(' ? ')' : open.back() == '[' ? ']' : '}';
      if (c != expected) {
        return fail(
            std::string(": closing parenthesis '") + c + "' does not match opening parenthesis '" + open.back() + "'",
            i);
      }
      open.pop_back();
    }
  }
  if (quote != 0) return fail(": unterminated string", begin);
  if (!open.empty()) return fail(std::string(": unmatched '") + open.back() + "'", begin);
  return body.end;
}

}  // namespace tessera::lang
