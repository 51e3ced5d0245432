// _codec: the native encodings and tables of one byte a character, as `codecs` (codecs.tsr) needs them.
// compile: few-inlines (no faster with more inlines)
#include "lang/types/codec.h"

#include <algorithm>

#include "lang/objects/class.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

std::string_view errors_argument(Interpreter& in, const Value& v) { return v.is_none() ? "strict" : text_argument(in, v, "errors"); }

Value need_text(Interpreter& in, const Value& v, const std::string& function) {
  if (!is_str(v)) throw_error(ErrorKind::TypeError, "%s() argument 1 must be str, not %s", function.c_str(), lang::argument_type(in, v));
  return v;
}

// The public function that encodes with a native encoding: "utf_16_le_encode".
std::string encoder_name(std::string_view encoding) {
  std::string name(encoding == "iso8859-1" ? "latin-1" : encoding == "utf-8-sig" ? "utf-8" : encoding);
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_encode";
}

Value check_text(Interpreter& in, const Args& args) {
  if (is_str(args[0])) check_c_text(in, args[0]);
  return Value::none();
}

Value native_name(Interpreter& in, const Args& args) {
  const std::string_view name = codec_name(text_argument(in, args[0], "lookup() argument"));
  return name.empty() ? Value::none() : make_str(in, name);
}

Value encode(Interpreter& in, const Args& args) {
  const std::string_view encoding = text_argument(in, args[0], "encoding");
  const Value text = need_text(in, args[1], encoder_name(encoding));
  Value bytes = encode_text(in, text, encoding, errors_argument(in, args[2]));
  return make_tuple(in, {bytes, Value::integer(as_str(text)->length)});
}

// A text counts as its UTF-8 for the escapes, which read str too.
Value decode(Interpreter& in, const Args& args) {
  const std::string encoding(text_argument(in, args[0], "encoding"));
  const bool from_text = is_str(args[1]) && codec_name(encoding).ends_with("escape");
  if (from_text) check_encodable(in, args[1]);
  const std::string bytes(from_text ? text_of(args[1]) : std::string(BytesLike(in, args[1]).view()));
  size_t consumed = 0;
  Value text = decode_part(in, bytes, encoding, errors_argument(in, args[2]), truth(in, args[3]), consumed);
  return make_tuple(in, {text, Value::integer(static_cast<int64_t>(consumed))});
}

Value map_encode(Interpreter& in, const Args& args) {
  const Value text = need_text(in, args[0], "charmap_encode");
  Value bytes = charmap_encode(in, text, errors_argument(in, args[1]), args[2]);
  return make_tuple(in, {bytes, Value::integer(as_str(text)->length)});
}

Value map_decode(Interpreter& in, const Args& args) {
  const Value bytes = make_bytes(in, BytesLike(in, args[0]));
  const Value text = charmap_decode(in, bytes, errors_argument(in, args[1]), args[2]);
  return make_tuple(in, {text, Value::integer(static_cast<int64_t>(bytes_of(bytes).size()))});
}

// The memory of a bytes-like object as bytes, or the UTF-8 of a str where `text` allows one.
Value bytes_argument(Interpreter& in, const Args& args) {
  if (truth(in, args[1]) && is_str(args[0])) {
    check_encodable(in, args[0]);
    return make_bytes(in, text_of(args[0]));
  }
  return make_bytes(in, BytesLike(in, args[0]));
}

const NativeDef kFunctions[] = {
    {"bytes_argument(data, text=False, /)", bytes_argument, "The bytes of an argument."},
    {"check_text(text, /)", check_text, "Refuses a str that is no text for C code: surrogates, null characters."},
    {"native_name(encoding, /)", native_name, "The name of a native encoding, or None."},
    {"encode(encoding, text, errors='strict', /)", encode, "(bytes, characters) of a native encoding."},
    {"decode(encoding, data, errors='strict', final=True, /)", decode, "(text, bytes read) of a native encoding."},
    {"charmap_encode(str, errors=None, mapping=None, /)", map_encode, "(bytes, characters) by a table."},
    {"charmap_decode(data, errors=None, mapping=None, /)", map_decode, "(text, bytes read) by a table."},
};

}  // namespace

void fill_codec(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib
