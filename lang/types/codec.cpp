// The native encodings by name, and the way to those of the registry.
// compile: few-inlines (no faster with more inlines)
#include "lang/types/codec.h"

#include "lang/core/error.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/bytes.h"
#include "lang/types/codec_parts.h"
#include "lang/types/str.h"

namespace tessera::lang {
namespace {

struct CodecName {
  std::string_view alias;  // without separators, in small letters
  Codec codec;
  std::string_view name;
};
constexpr CodecName kCodecs[] = {
    {"utf8", Codec::Utf8, "utf-8"},
    {"u8", Codec::Utf8, "utf-8"},
    {"utf", Codec::Utf8, "utf-8"},
    {"cp65001", Codec::Utf8, "utf-8"},
    {"utf8sig", Codec::Utf8Signature, "utf-8-sig"},
    {"ascii", Codec::Ascii, "ascii"},
    {"usascii", Codec::Ascii, "ascii"},
    {"646", Codec::Ascii, "ascii"},
    {"latin1", Codec::Latin1, "iso8859-1"},
    {"latin", Codec::Latin1, "iso8859-1"},
    {"iso88591", Codec::Latin1, "iso8859-1"},
    {"l1", Codec::Latin1, "iso8859-1"},
    {"8859", Codec::Latin1, "iso8859-1"},
    {"cp819", Codec::Latin1, "iso8859-1"},
    {"unicodeescape", Codec::Escape, "unicode-escape"},
    {"rawunicodeescape", Codec::RawEscape, "raw-unicode-escape"},
    {"utf16", Codec::Utf16, "utf-16"},
    {"u16", Codec::Utf16, "utf-16"},
    {"utf16le", Codec::Utf16Little, "utf-16-le"},
    {"utf16be", Codec::Utf16Big, "utf-16-be"},
    {"utf32", Codec::Utf32, "utf-32"},
    {"u32", Codec::Utf32, "utf-32"},
    {"utf32le", Codec::Utf32Little, "utf-32-le"},
    {"utf32be", Codec::Utf32Big, "utf-32-be"},
};

const CodecName* find_plain(std::string_view alias) {
  for (const CodecName& each : kCodecs) {
    if (each.alias == alias) return &each;
  }
  return nullptr;
}

const CodecName* find_codec(std::string_view encoding) {
  static const CodecName* const utf8 = find_plain("utf8");
  if (encoding == "utf-8") return utf8;
  std::string plain;
  for (const char c : encoding) {
    if (c != '-' && c != '_' && c != ' ') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return find_plain(plain);
}

// codecs._encode_text or _decode_text, which know the registry.
Value ask_registry(Interpreter& in, std::string_view function, const Value& object, std::string_view encoding,
                   std::string_view errors) {
  const Value codecs(in.import("codecs"));
  return call(in, get_attr(in, codecs, intern(in, function)), {object, make_str(in, encoding), make_str(in, errors)});
}

// -X dev: a wrong name of an error handler is told even if there is no error.
bool tells_handlers(Interpreter& in, std::string_view errors) { return in.host().flags.dev_mode && errors != "strict"; }
void check_handler(Interpreter& in, std::string_view errors) {
  call(in, get_attr(in, Value(in.import("codecs")), intern(in, "lookup_error")), {make_str(in, errors)});
}

// CPython decodes through the registry unless the encoding has one of a few names, and the registry adds the encoding's name to an exception
// that a handler of errors raises. The handlers that are native raise nothing but the UnicodeError itself, which stays as it is.
bool decodes_by_registry(Interpreter& in, const CodecName* codec, std::string_view errors) {
  if (codec == nullptr) return true;
  for (const std::string_view known : {"utf8", "utf16", "utf32", "ascii", "usascii", "latin1", "iso88591"})
    if (codec->alias == known) return false;
  using Kind = CodecErrors::Kind;
  const Kind kind = CodecErrors(in, errors, codec->name).kind();
  return kind == Kind::XmlReference || kind == Kind::Name || kind == Kind::Registered;
}

bool same_in_ascii(Codec codec) { return codec == Codec::Utf8 || codec == Codec::Ascii || codec == Codec::Latin1; }

std::string decode_native(Interpreter& in, std::string_view bytes, const CodecName& codec, std::string_view errors,
                          bool final, size_t& consumed) {
  if (codec.codec == Codec::Escape || codec.codec == Codec::RawEscape)
    return decode_escapes(in, bytes, codec.codec == Codec::RawEscape, errors, final, consumed);
  return decode_with(in, bytes, codec.codec, errors, codec.name, final, consumed);
}

}  // namespace

Value encode_text(Interpreter& in, const Value& text, std::string_view encoding, std::string_view errors) {
  if (tells_handlers(in, errors)) check_handler(in, errors);
  const CodecName* const codec = find_codec(encoding);
  if (codec == nullptr) return ask_registry(in, "_encode_text", text, encoding, errors);
  if (same_in_ascii(codec->codec) && as_str(text)->is_ascii()) return make_bytes(in, text_of(text));
  if (codec->codec == Codec::Utf8 && text_of(text).find('\xed') == std::string_view::npos)
    return make_bytes(in, text_of(text));  // no surrogates in it
  return make_bytes(in, encode_with(in, text, codec->codec, errors, codec->name));
}

void check_c_text(Interpreter& in, const Value& text) {
  check_encodable(in, text);
  if (text_of(text).find('\0') != std::string_view::npos) throw Error(ErrorKind::ValueError, "embedded null character");
}

Value decode_text(Interpreter& in, std::string_view bytes, std::string_view encoding, std::string_view errors) {
  Value kept;
  if (tells_handlers(in, errors)) {  // may run a script
    kept = make_bytes(in, bytes);
    bytes = bytes_of(kept);
    check_handler(in, errors);
  }
  if (bytes.empty() && !in.host().flags.dev_mode) return make_str(in, bytes, 0);  // CPython looks up no encoding
  const CodecName* const codec = find_codec(encoding);
  if (decodes_by_registry(in, codec, errors)) return ask_registry(in, "_decode_text", make_bytes(in, bytes), encoding, errors);
  if (same_in_ascii(codec->codec) && all_ascii(bytes)) return make_str(in, bytes, bytes.size());
  size_t consumed = 0;
  return make_str(in, decode_native(in, bytes, *codec, errors, true, consumed));
}

std::string_view codec_name(std::string_view encoding) {
  const CodecName* found = find_codec(encoding);
  return found == nullptr ? std::string_view() : found->name;
}

Value decode_part(Interpreter& in, std::string_view bytes, std::string_view encoding, std::string_view errors,
                  bool final, size_t& consumed) {
  const CodecName* const codec = find_codec(encoding);
  if (codec == nullptr) throw Error(ErrorKind::LookupError, "unknown encoding: " + std::string(encoding));
  return make_str(in, decode_native(in, bytes, *codec, errors, final, consumed));
}

}  // namespace tessera::lang
