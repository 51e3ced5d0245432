// Bytes of files to text: UTF-8, ASCII and Latin-1, a block at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::stdlib {

enum class Encoding : uint8_t { Utf8, Utf8Signature, Ascii, Latin1 };
enum class OnError : uint8_t { Strict, Ignore, Replace, SurrogateEscape };

// False: no such encoding.
bool find_encoding(std::string_view name, Encoding& out);

// The line ends that a text was seen to have, for the attribute `newlines`. A "\r" at the end of one piece may go on in the next.
class LineEnds {
 public:
  enum Kind : uint8_t { kReturn = 1, kNewline = 2, kBoth = 4 };
  void note(std::string_view text, bool last);
  uint8_t seen() const noexcept { return seen_; }

 private:
  uint8_t seen_ = 0;
  bool after_return_ = false;
};

// What stands in the way of decoding: a byte and CPython's words for it.
struct DecodeFailure {
  uint8_t byte;
  size_t first, last;  // offsets in the file
  const char* reason;
  const char* codec;
};

class Decoder {
 public:
  Decoder(Encoding encoding, OnError on_error, bool translate_newlines)
      : encoding_(encoding), on_error_(on_error), translate_(translate_newlines) {}

  // Appends the text of `bytes` to `out`; what is cut off at the end waits for the next block. `last`: nothing follows.
  // Throws DecodeFailure. `ends`: told of the line ends before they are translated, or null.
  void decode(std::string_view bytes, bool last, std::string& out, LineEnds* ends);
  // The second half of decode(): line ends are noted and translated.
  void translate(std::string_view text, bool last, std::string& out, LineEnds* ends);

  const std::string& carry() const noexcept { return carry_; }  // bytes of a character that has not arrived whole
  void clear_carry() noexcept { carry_.clear(); }
  // Does a "\n" that follows belong to a line end that was given out as "\n" already?
  bool after_return() const noexcept { return after_return_; }
  void set_after_return() noexcept { after_return_ = true; }
  void set_started() noexcept { started_ = true; }  // no signature is to come

 private:
  size_t decode_utf8(std::string_view bytes, bool last, std::string& out);
  void bad(std::string_view bytes, size_t first, size_t count, const char* reason, std::string& out) const;

  Encoding encoding_;
  OnError on_error_;
  bool translate_;
  bool started_ = false, after_return_ = false;
  std::string carry_;
  size_t offset_ = 0;  // of carry_'s first byte in the file
};

}  // namespace tessera::stdlib
