// What becomes of characters that an encoding has not, and of bytes that mean none: the `errors=` of a conversion.
//
// strict, ignore, replace, backslashreplace, xmlcharrefreplace, namereplace, surrogateescape and surrogatepass are done here; any other name
// is looked up with codecs.lookup_error at the first fault, and called as CPython calls it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

class CodecErrors {
 public:
  enum class Kind : uint8_t { Strict, Ignore, Replace, Backslash, XmlReference, Name, SurrogateEscape, SurrogatePass, Registered };

  // `codec` is the name that exceptions show. Both texts have to outlive this object.
  CodecErrors(Interpreter& in, std::string_view errors, std::string_view codec);

  Kind kind() const { return kind_; }
  void set_codec(std::string_view codec) { codec_ = codec; }

  // What is written in place of a fault, and where the conversion goes on.
  struct Reply {
    std::string content;
    bool is_bytes = false;  // goes to the output as it is
    size_t next = 0;
  };

  // The characters [first, last) of `text`. Throws UnicodeEncodeError, or what a registered handler raises.
  Reply encode_fault(const Value& text, size_t first, size_t last, const char* reason);
  [[noreturn]] void throw_encode(const Value& text, size_t first, size_t last, const char* reason);

  // The bytes [first, last). A registered handler may put other bytes in their place: then `data` is written, and `next` is a place in it.
  Reply decode_fault(Value& data, size_t first, size_t last, const char* reason);

 private:
  Value encode_error(const Value& text, size_t first, size_t last, const char* reason);
  Value ask(const Value& error);
  Reply checked(const Value& answer, size_t size, const char* refusal, bool takes_bytes);

  Interpreter& in_;
  std::string_view errors_, codec_;
  Kind kind_;
  Value handler_;  // of Registered, once it is known
};

// "\x41", "\u0416", "\U0001f600"
std::string backslash_escape(uint32_t code_point);
inline bool is_surrogate(uint32_t code_point) { return code_point >= 0xd800 && code_point <= 0xdfff; }

}  // namespace tessera::lang
