// compile: small (runs once for a template)
#include "stdlib/python/native/regex_template.h"

#include "lang/types/str.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib::regex {
namespace {

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_octal(char32_t c) { return c >= '0' && c <= '7'; }

std::string utf8(std::u32string_view text) {
  std::string out;
  for (char32_t c : text) append_char(out, c);
  return out;
}

class TemplateParser {
 public:
  TemplateParser(std::u32string_view text, const Program& program, std::vector<Warning>& warnings)
      : text_(text), program_(program), warnings_(warnings) {}

  Template run() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\\') {
        escape();
      } else {
        put(text_[at_++]);
      }
    }
    flush();
    return std::move(parts_);
  }

 private:
  [[noreturn]] static void fail(std::string message, size_t where) {
    throw SyntaxError{std::move(message), static_cast<int64_t>(where)};
  }

  void put(char32_t c) {
    if (program_.bytes) literal_ += static_cast<char>(c);
    else append_char(literal_, c);
  }

  void flush() {
    if (!literal_.empty()) parts_.push_back({std::move(literal_), -1});
    literal_.clear();
  }

  void group(uint64_t number, size_t where, const std::string& shown) {
    if (number > program_.groups) fail("invalid group reference " + shown, where);
    flush();
    parts_.push_back({std::string(), static_cast<int64_t>(number)});
  }

  void escape() {
    const size_t here = at_++;
    if (at_ >= text_.size()) fail("bad escape (end of pattern)", here);
    const char32_t c = text_[at_++];
    static constexpr std::u32string_view kLetters = U"abfnrtv\\";
    static constexpr std::u32string_view kMeanings = U"\a\b\f\n\r\t\v\\";
    if (c == 'g') {
      named(here);
    } else if (c == '0') {
      uint32_t value = 0;
      for (int i = 0; i < 2 && at_ < text_.size() && is_octal(text_[at_]); ++i)
        value = value * 8 + (text_[at_++] - '0');
      put(value);
    } else if (is_digit(c)) {
      numbered(here, c);
    } else if (const size_t known = kLetters.find(c); known != std::u32string_view::npos) {
      put(kMeanings[known]);
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      fail("bad escape \\" + utf8(text_.substr(here + 1, 1)), here);
    } else {
      put('\\');
      put(c);
    }
  }

  void numbered(size_t here, char32_t first) {
    uint32_t number = first - '0';
    if (at_ < text_.size() && is_digit(text_[at_])) {
      const char32_t second = text_[at_++];
      if (is_octal(first) && is_octal(second) && at_ < text_.size() && is_octal(text_[at_])) {
        const uint32_t value = (first - '0') * 64 + (second - '0') * 8 + (text_[at_++] - '0');
        if (value > 0377) fail("octal escape value " + utf8(text_.substr(here, 4)) + " outside of range 0-0o377", here);
        put(value);
        return;
      }
      number = number * 10 + (second - '0');
    }
    group(number, here + 1, std::to_string(number));
  }

  void named(size_t here) {
    if (at_ >= text_.size() || text_[at_] != '<') fail("missing <", here + 2);
    const size_t begin = ++at_;
    const size_t end = text_.find(U'>', begin);
    if (begin >= text_.size()) fail("missing group name", begin);
    if (end == std::u32string_view::npos) fail("missing >, unterminated name", begin);
    const std::u32string_view given = text_.substr(begin, end - begin);
    const std::string name = utf8(given), shown = quoted_name(given, program_.bytes);
    if (name.empty()) fail("missing group name", begin);
    at_ = end + 1;
    bool plain = true;
    if (const int64_t number = group_number(given, program_.types, plain); number >= 0) {
      if (!plain) warnings_.push_back({false, name_warning(shown, begin)});
      group(static_cast<uint64_t>(number), begin, std::to_string(number));
      return;
    }
    if (!program_.types.is_identifier(name)) fail("bad character in group name " + shown, begin);
    if (program_.bytes && name.size() != given.size()) warnings_.push_back({false, name_warning(shown, begin)});
    for (const auto& [known, index] : program_.names) {
      if (known == name) {
        flush();
        parts_.push_back({std::string(), static_cast<int64_t>(index)});
        return;
      }
    }
    throw SyntaxError{"unknown group name " + quoted_name(given, false), kUnknownGroup};
  }

  std::u32string_view text_;
  const Program& program_;
  std::vector<Warning>& warnings_;
  size_t at_ = 0;
  std::string literal_;
  Template parts_;
};

}  // namespace

Template parse_template(std::u32string_view text, const Program& program, std::vector<Warning>& warnings) {
  return TemplateParser(text, program, warnings).run();
}

}  // namespace tessera::stdlib::regex
