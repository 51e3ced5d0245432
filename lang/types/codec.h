// Text to bytes and back: str.encode, bytes.decode, and the functions that `codecs` is made of.
//
// UTF-8, ASCII, Latin-1, UTF-16, UTF-32, unicode_escape and raw_unicode_escape are native; every other encoding is asked of the registry of
// `codecs`. `errors`: codec_errors.h. Whatever cannot be converted raises UnicodeEncodeError or UnicodeDecodeError with CPython's arguments.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

// A bytes object. LookupError for an encoding or an error handler that is not known.
Value encode_text(Interpreter& in, const Value& text, std::string_view encoding, std::string_view errors);
// Refuses a str that CPython could not hand to C code, as it hands the names of encodings and of error handlers: one with lone surrogates
// (UnicodeEncodeError) or with a null character (ValueError).
void check_c_text(Interpreter& in, const Value& text);
// Whether there are lone surrogates in the text, which UTF-8 leaves to the error handler.
inline bool has_surrogates(std::string_view text) noexcept {
  for (size_t at = text.find('\xed'); at != text.npos; at = text.find('\xed', at + 1))
    if (static_cast<unsigned char>(text[at + 1]) >= 0xa0) return true;
  return false;
}
// A str.
Value decode_text(Interpreter& in, std::string_view bytes, std::string_view encoding, std::string_view errors);
// The name by which `codecs.lookup` knows a native encoding; empty: it is none.
std::string_view codec_name(std::string_view encoding);

// A native encoding's text of the beginning of `bytes`; `consumed` says how many. Not `final`: a character that is cut off at the end stays.
Value decode_part(Interpreter& in, std::string_view bytes, std::string_view encoding, std::string_view errors,
                  bool final, size_t& consumed);

// `mapping` goes from a character's number to a byte, bytes or None: a dict or anything with __getitem__.
Value charmap_encode(Interpreter& in, const Value& text, std::string_view errors, const Value& mapping);
// `mapping` goes from a byte to a character: a str (U+FFFE stands for none), a dict or anything with __getitem__.
Value charmap_decode(Interpreter& in, const Value& bytes, std::string_view errors, const Value& mapping);

}  // namespace tessera::lang
