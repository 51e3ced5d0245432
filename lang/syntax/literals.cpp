// Reading numbers and escapes.
// compile: few-inlines (runs once for a program's text)
#include "lang/syntax/literals.h"

#include <charconv>
#include <cstdlib>

#include "lang/syntax/character_names.h"
#include "lang/syntax/lexer_faults.h"

namespace tessera::lang {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

NumberValue parse_integer(std::string_view digits, unsigned base) {
  unsigned __int128 value = 0;
  for (char c : digits) {
    value = value * base + static_cast<unsigned>(digit_value(c));
    if (value >= std::uint64_t{1} << 63) return {NumberValue::Kind::kBigInt};
  }
  return {NumberValue::Kind::kInt, static_cast<std::uint64_t>(value)};
}

double parse_double(const std::string& text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  (void)end;
  if (error == std::errc::result_out_of_range) return std::strtod(text.c_str(), nullptr);  // 0 or infinity
  return value;
}

// Reads one escape after another. CPython re-encodes a literal before it decodes it, so that a character outside ASCII
// counts as ten bytes in the positions that its messages give.
class EscapeReader {
 public:
  EscapeReader(std::string_view body, std::string& out, bool bytes, Growth* growth = nullptr)
      : body_(body), out_(out), bytes_(bytes), growth_(growth) {}

  std::optional<std::string> run() {
    constexpr std::size_t kPiece = 4096;
    for (std::size_t n = 1; at_ < body_.size() && message_.empty(); ++n) {
      if (growth_ != nullptr && n % kPiece == 0) growth_->grew(0);  // it may want to stop
      std::size_t stop = std::min(body_.find('\\', at_), body_.size());
      copy(stop);
      if (at_ < body_.size()) escape();
    }
    if (message_.empty()) return std::nullopt;
    return message_;
  }

 private:
  static constexpr std::uint32_t kReencodedLength = 10;

  void copy(std::size_t stop) {
    for (std::size_t i = at_; i < stop; ++i) {
      auto byte = static_cast<unsigned char>(body_[i]);
      if ((byte & 0xc0) != 0x80) position_ += byte < 0x80 ? 1 : kReencodedLength;
    }
    out_ += body_.substr(at_, stop - at_);
    at_ = stop;
  }

  void take(std::size_t bytes) {
    at_ += bytes;
    position_ += static_cast<std::uint32_t>(bytes);
  }

  void simple(char value) {
    out_ += value;
    take(2);
  }

  void escape() {
    char c = at_ + 1 < body_.size() ? body_[at_ + 1] : '\0';
    switch (c) {
      case '\n': return take(2);
      case '\\':
      case '\'':
      case '"': return simple(c);
      case 'a': return simple('\a');
      case 'b': return simple('\b');
      case 'f': return simple('\f');
      case 'n': return simple('\n');
      case 'r': return simple('\r');
      case 't': return simple('\t');
      case 'v': return simple('\v');
      case 'x': return bytes_ ? byte() : hexadecimal(2, "truncated \\xXX escape");
      default: break;
    }
    if (!bytes_) {
      if (c == 'u') return hexadecimal(4, "truncated \\uXXXX escape");
      if (c == 'U') return hexadecimal(8, "truncated \\UXXXXXXXX escape");
      if (c == 'N') return named();
    }
    if (c >= '0' && c <= '7') return octal();
    out_ += '\\';  // not an escape: both characters stand for themselves
    take(1);
  }

  void octal() {
    char32_t value = 0;
    std::size_t length = 1;
    for (; length < 4 && at_ + length < body_.size(); ++length) {
      char c = body_[at_ + length];
      if (c < '0' || c > '7') break;
      value = value * 8 + static_cast<char32_t>(c - '0');
    }
    if (bytes_) out_ += static_cast<char>(value);
    else append_utf8(out_, value);
    take(length);
  }

  void byte() {
    const int high = at_ + 2 < body_.size() ? digit_value(body_[at_ + 2]) : 16;
    const int low = at_ + 3 < body_.size() ? digit_value(body_[at_ + 3]) : 16;
    if (high == 16 || low == 16) {
      message_ = "(value error) invalid \\x escape at position " + std::to_string(at_);
      return;
    }
    out_ += static_cast<char>(high * 16 + low);
    take(4);
  }

  void hexadecimal(std::size_t digits, const char* truncated) {
    char32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      int digit = at_ + 2 + i < body_.size() ? digit_value(body_[at_ + 2 + i]) : 16;
      if (digit == 16) return fail(1 + i, truncated);
      value = value * 16 + static_cast<char32_t>(digit);
    }
    if (value > 0x10ffff) return fail(1 + digits, "illegal Unicode character");
    append_utf8(out_, value);
    take(2 + digits);
  }

  void named() {
    std::size_t close = at_ + 2 < body_.size() && body_[at_ + 2] == '{' ? body_.find('}', at_) : std::string_view::npos;
    if (close == std::string_view::npos || close == at_ + 3) return fail(1, "malformed \\N character escape");
    const auto character = character_named(body_.substr(at_ + 3, close - at_ - 3));
    if (!character) return fail(close - at_, "unknown Unicode character name");
    append_utf8(out_, *character);
    take(close + 1 - at_);
  }

  void fail(std::size_t last, const char* reason) {
    message_ = "(unicode error) 'unicodeescape' codec can't decode bytes in position " + std::to_string(position_) +
               "-" + std::to_string(position_ + last) + ": " + reason;
  }

  std::string_view body_;
  std::string& out_;
  bool bytes_;
  Growth* growth_;
  std::size_t at_ = 0;
  std::uint32_t position_ = 0;
  std::string message_;
};

}  // namespace

NumberValue parse_number(std::string_view text) {
  std::string plain;
  for (char c : text) {
    if (c != '_') plain += c;
  }
  char mark = plain.size() > 1 && plain[0] == '0' ? static_cast<char>(plain[1] | 0x20) : '\0';
  std::string_view digits = plain;
  if (mark == 'x') return parse_integer(digits.substr(2), 16);
  if (mark == 'o') return parse_integer(digits.substr(2), 8);
  if (mark == 'b') return parse_integer(digits.substr(2), 2);
  bool imaginary = (plain.back() | 0x20) == 'j';
  if (imaginary) plain.pop_back();
  if (!imaginary && plain.find_first_not_of("0123456789") == std::string::npos) return parse_integer(plain, 10);
  return {imaginary ? NumberValue::Kind::kImaginary : NumberValue::Kind::kFloat, 0, parse_double(plain)};
}

StringParts split_string(std::string_view literal) {
  StringParts parts;
  std::size_t quote = literal.find_first_of("'\"");
  std::string_view prefix = literal.substr(0, quote);
  parts.raw = prefix.find_first_of("rR") != std::string_view::npos;
  parts.bytes = prefix.find_first_of("bB") != std::string_view::npos;
  std::string_view quoted = literal.substr(quote);
  std::size_t length = quoted.size() >= 6 && quoted.substr(0, 3) == std::string(3, quoted[0]) ? 3 : 1;
  parts.body = quoted.substr(length, quoted.size() - 2 * length);
  return parts;
}

std::optional<std::string> decode_escapes(std::string_view body, std::string& out, Growth* growth) {
  return EscapeReader(body, out, false, growth).run();
}

std::optional<std::string> decode_byte_escapes(std::string_view body, std::string& out) {
  return EscapeReader(body, out, true).run();
}

}  // namespace tessera::lang
