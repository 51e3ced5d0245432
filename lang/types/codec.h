// Text to bytes and back: str.encode, bytes.decode.
//
// UTF-8, ASCII, Latin-1, UTF-16 and UTF-32 under all of their names; errors= strict, ignore, replace, backslashreplace,
// xmlcharrefreplace, surrogateescape and surrogatepass. What cannot be converted raises UnicodeEncodeError or
// UnicodeDecodeError with CPython's arguments.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

// A bytes object. LookupError for an encoding or an error handler that is not known.
Value encode_text(Interpreter& in, const Value& text, std::string_view encoding, std::string_view errors);
// A str.
Value decode_text(Interpreter& in, std::string_view bytes, std::string_view encoding, std::string_view errors);
// The name by which `codecs.lookup` knows an encoding; empty: there is none.
std::string_view codec_name(std::string_view encoding);

}  // namespace tessera::lang
