// A piece of program text with a name: what every position in the front end and the compiler points into.
//
// The text is normalised once, when the Source is made: a UTF-8 byte order mark is dropped and "\r\n" and a lone "\r"
// become "\n", as CPython reads files. Everybody else keeps byte offsets (Span) into that text; line and column are
// computed only when something is shown, from a table of line starts that is built on first use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::lang {

// A half-open range of bytes of a Source's text.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend bool operator==(const Span&, const Span&) = default;
};

// From the beginning of `first` to the end of `last`.
constexpr Span join(Span first, Span last) { return {first.begin, last.end}; }

// One-based line; zero-based column, once in bytes and once in characters (code points), which is what people see.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t byte_column = 0;
  std::uint32_t column = 0;
};

class Source : public std::enable_shared_from_this<Source> {
 public:
  // Text longer than this is refused by the parser: offsets have 32 bits, and tokens point one past the end.
  static constexpr std::size_t kMaxBytes = 0x7fff'ffff;

  Source(std::string name, std::string_view text);
  // A text that is read when it is first asked for.
  using Read = std::string (*)(const void* of);
  Source(std::string name, Read read, const void* of);

  const std::string& name() const { return name_; }
  std::string_view text() const {
    if (read_ != nullptr) [[unlikely]]
      read_text();
    return text_;
  }
  std::string_view text(Span span) const { return text().substr(span.begin, span.end - span.begin); }

  // Of eval, exec, compile: tracebacks show lines of a text only where they could be read from its file.
  void set_unlisted() { unlisted_ = true; }
  bool is_unlisted() const { return unlisted_; }

  Position position(std::uint32_t byte) const;
  std::uint32_t line_number(std::uint32_t byte) const;  // one-based; cheaper than position()
  std::uint32_t line_count() const;
  std::string_view line(std::uint32_t number) const;     // one-based, without its line end; empty when out of range
  std::uint32_t line_begin(std::uint32_t number) const;  // offset of a line's first byte

 private:
  const std::vector<std::uint32_t>& line_starts() const;
  void read_text() const;

  std::string name_;
  mutable std::string text_;
  mutable Read read_ = nullptr;
  const void* of_ = nullptr;
  bool unlisted_ = false;
  mutable std::vector<std::uint32_t> line_starts_;  // empty until the first question
};

// Number of code points in UTF-8 text; a broken byte counts as one.
std::uint32_t count_characters(std::string_view utf8);

}  // namespace tessera::lang
