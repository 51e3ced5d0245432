// Between codec.cpp, which knows the encodings by name, and the files that do the work of each.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lang/core/booked_text.h"
#include "lang/core/interpreter.h"
#include "lang/core/pieces.h"
#include "lang/types/codec_errors.h"
#include "lang/types/str.h"

namespace tessera::lang {

enum class Codec : uint8_t {
  Utf8,
  Utf8Signature,
  Ascii,
  Latin1,
  Escape,     // unicode_escape
  RawEscape,  // raw_unicode_escape
  Utf16,
  Utf16Little,
  Utf16Big,
  Utf32,
  Utf32Little,
  Utf32Big
};

std::string encode_with(Interpreter& in, const Value& text, Codec codec, std::string_view errors, std::string_view name);
// The text of the first `consumed` bytes.
std::string decode_with(Interpreter& in, std::string_view bytes, Codec codec, std::string_view errors, std::string_view name, bool final,
                        size_t& consumed);
std::string decode_escapes(Interpreter& in, std::string_view bytes, bool raw, std::string_view errors, bool final, size_t& consumed);
void append_escaped(std::string& out, uint32_t code_point, bool raw);

// Encodes `text` with a target that offers
//   std::optional<std::string_view> find(uint32_t code_point)   the bytes of a character, good until the next call; nothing: it has none
//   const char* reason(uint32_t code_point)                     why not
//   bool takes(const CodecErrors::Reply&)                       whether a handler's replacement may stand in the output
template <class Target>
std::string encode_all(Interpreter& in, const Value& text, Target& target, CodecErrors& errors, std::string_view mark = {}) {
  BookedText out(in);
  out += mark;
  Str* const s = as_str(text);
  const char* const begin = s->data;
  const char* const end = begin + s->size;
  const char* p = begin;
  size_t at = 0;  // in characters
  while (p < end) {
    const char* next = p;
    const uint32_t c = decode_char(next);
    if (const auto bytes = target.find(c)) {
      out += *bytes;
      p = next;
      ++at;
      continue;
    }
    // All the characters in a row that cannot be written are one fault, but in UTF-16 and UTF-32.
    const char* const reason = target.reason(c);
    size_t last = at + 1;
    for (const char* q = next; target.joins_faults() && q < end && !target.find(decode_char(q)); ++last) {}
    const CodecErrors::Reply reply = errors.encode_fault(text, at, last, reason);
    if (!target.takes(reply)) errors.throw_encode(text, at, last, reason);
    if (reply.is_bytes) {
      out += reply.content;
    } else {
      const char* r = reply.content.data();
      for (const char* const stop = r + reply.content.size(); r < stop;) {
        const auto bytes = target.find(decode_char(r));
        if (!bytes) errors.throw_encode(text, at, last, reason);
        out += *bytes;
      }
    }
    if (reply.next <= at) in.poll();  // a handler may go back for ever
    at = reply.next;
    p = begin + byte_offset(in, s, static_cast<uint32_t>(at));
  }
  return out.str();
}

}  // namespace tessera::lang
