// _multibyte: text to bytes and back in the encodings of multibyte_charsets.h, with CPython's faults and handlers of errors.
// compile: small (encodings of East Asia are rare)
#include "lang/core/booked_text.h"
#include "lang/types/bytes.h"
#include "lang/types/codec_errors.h"
#include "lang/types/unicode.h"
#include "stdlib/python/native/multibyte_charsets.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

const char* const kIllegal = "illegal multibyte sequence";

const Charset& charset_argument(Interpreter& in, const Value& v) {
  const Charset* const found = find_charset(text_argument(in, v, "encoding"));
  if (found == nullptr) throw Error(ErrorKind::LookupError, "unknown encoding: " + std::string(text_of(v)));
  return *found;
}

std::string_view errors_argument(Interpreter& in, const Value& v) { return v.is_none() ? "strict" : text_argument(in, v, "errors"); }

Value is_known(Interpreter& in, const Args& args) {
  const Charset* const found = find_charset(text_argument(in, args[0], "encoding"));
  return Value::boolean(found != nullptr && CharsetConverter(*found).is_open());
}

// What `ask` answers for a fault. CPython's codecs of these encodings say of any place beyond the text that it is out of bounds.
template <class F>
CodecErrors::Reply within_bounds(const F& ask) {
  try {
    return ask();
  } catch (const Error& error) {
    if (error.kind != ErrorKind::OverflowError) throw;
    throw Error(ErrorKind::IndexError, "position -1 from error handler out of bounds");
  }
}

// What a handler put in place of a fault, encoded; a character that the encoding lacks too is a fault that no handler is asked about.
void append_encoded(Interpreter& in, CharsetConverter& converter, std::string_view name, std::string_view content, BookedText& out) {
  size_t at = 0;
  for (const char* p = content.data(); p < content.data() + content.size(); ++at) {
    const auto bytes = converter.encode(decode_char(p));
    if (!bytes) CodecErrors(in, "strict", name).throw_encode(make_str(in, content), at, at + 1, kIllegal);
    out += *bytes;
  }
}

Value encode(Interpreter& in, const Args& args) {
  const Charset& charset = charset_argument(in, args[0]);
  const std::string_view name = text_of(args[0]);
  const Value text = is_str(args[1]) ? args[1] : str(in, args[1]);  // CPython's C code takes the str() of any object
  CodecErrors errors(in, errors_argument(in, args[2]), name);
  CharsetConverter converter(charset);
  BookedText out(in);
  Str* const s = as_str(text);
  for (size_t at = 0, place = 0; place < s->size;) {
    const char* p = s->data + place;
    const auto bytes = converter.encode(decode_char(p));
    if (bytes) {
      out += *bytes;
      place = static_cast<size_t>(p - s->data);
      ++at;
      continue;
    }
    const CodecErrors::Reply reply = within_bounds([&] { return errors.encode_fault(text, at, at + 1, kIllegal); });
    if (reply.is_bytes) out += reply.content;
    else append_encoded(in, converter, name, reply.content, out);
    if (reply.next <= at) in.poll();  // a handler may go back for ever
    at = reply.next;
    place = byte_offset(in, s, static_cast<uint32_t>(at));
  }
  return make_tuple(in, {make_bytes(in, out.str()), Value::integer(static_cast<int64_t>(s->length))});
}

Value decode(Interpreter& in, const Args& args) {
  CharsetConverter converter(charset_argument(in, args[0]));
  CodecErrors errors(in, errors_argument(in, args[2]), text_of(args[0]));
  const bool final = truth(in, args[3]);
  Value data = make_bytes(in, BytesLike(in, args[1]).view());
  BookedText out(in);
  size_t at = 0;
  while (at < bytes_of(data).size()) {
    const std::string_view rest = bytes_of(data).substr(at);
    const CharsetConverter::Decoded found = converter.decode(rest);
    if (found.size != 0) {
      char utf8[4];
      out += std::string_view(utf8, encode_char(utf8, found.code_point));
      at += found.size;
      continue;
    }
    if (found.cut_off && !final) break;
    const size_t end = found.cut_off ? at + rest.size() : at + 1;
    const CodecErrors::Reply reply = within_bounds(
        [&] { return errors.decode_fault(data, at, end, found.cut_off ? "incomplete multibyte sequence" : kIllegal); });
    out += reply.content;
    if (reply.next <= at) in.poll();  // a handler may go back for ever
    at = reply.next;
  }
  return make_tuple(in, {make_str(in, out.str()), Value::integer(static_cast<int64_t>(at))});
}

const NativeDef kFunctions[] = {
    {"is_known(encoding, /)", is_known, "Whether this is one of the encodings, and the C library has its tables."},
    {"encode(encoding, text, errors='strict', /)", encode, "(bytes, characters read)."},
    {"decode(encoding, data, errors='strict', final=True, /)", decode, "(text, bytes read)."},
};

}  // namespace

void fill_multibyte(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib
