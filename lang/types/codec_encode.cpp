// Text to bytes, in the encodings that are native.
#include "lang/types/codec_parts.h"

namespace tessera::lang {
namespace {

void put_unit(std::string& out, uint32_t value, int width, bool big) {
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> 8 * (big ? width - 1 - i : i));
}

class Target {
 public:
  Target(Codec codec, bool surrogates) : codec_(codec), surrogates_(surrogates) {}

  std::optional<std::string_view> find(uint32_t c) {
    bytes_.clear();
    switch (codec_) {
      case Codec::Ascii:
      case Codec::Latin1:
        if (c >= limit()) return std::nullopt;
        bytes_ += static_cast<char>(c);
        return bytes_;
      case Codec::Escape: append_escaped(bytes_, c, false); return bytes_;
      case Codec::RawEscape: append_escaped(bytes_, c, true); return bytes_;
      default: break;
    }
    if (is_surrogate(c) && !surrogates_) return std::nullopt;
    switch (codec_) {
      case Codec::Utf16:
      case Codec::Utf16Little:
      case Codec::Utf16Big: {
        const bool big = codec_ == Codec::Utf16Big;
        if (c >= 0x10000) {
          put_unit(bytes_, 0xd800 + ((c - 0x10000) >> 10), 2, big);
          c = 0xdc00 + ((c - 0x10000) & 0x3ff);
        }
        put_unit(bytes_, c, 2, big);
        return bytes_;
      }
      case Codec::Utf32:
      case Codec::Utf32Little:
      case Codec::Utf32Big: put_unit(bytes_, c, 4, codec_ == Codec::Utf32Big); return bytes_;
      default: append_char(bytes_, c); return bytes_;
    }
  }

  const char* reason(uint32_t) const {
    return codec_ == Codec::Ascii    ? "ordinal not in range(128)"
           : codec_ == Codec::Latin1 ? "ordinal not in range(256)"
                                     : "surrogates not allowed";
  }

  // Bytes come in whole units, and text in ASCII where every character could be written.
  bool takes(const CodecErrors::Reply& reply) const {
    if (codec_ == Codec::Ascii || codec_ == Codec::Latin1) return true;
    const size_t unit = codec_ >= Codec::Utf32 ? 4 : codec_ >= Codec::Utf16 ? 2 : 1;
    return reply.is_bytes ? reply.content.size() % unit == 0 : all_ascii(reply.content);
  }

  bool joins_faults() const { return codec_ < Codec::Utf16; }

 private:
  uint32_t limit() const { return codec_ == Codec::Ascii ? 128 : 256; }

  Codec codec_;
  bool surrogates_;  // surrogatepass
  std::string bytes_;
};

std::string_view name_in_errors(Codec codec, std::string_view name) {
  if (codec == Codec::Latin1) return "latin-1";
  return codec == Codec::Utf8Signature ? "utf-8" : name;
}

}  // namespace

std::string encode_with(Interpreter& in, const Value& text, Codec codec, std::string_view errors, std::string_view name) {
  CodecErrors handler(in, errors, name_in_errors(codec, name));
  Target target(codec, handler.kind() == CodecErrors::Kind::SurrogatePass);
  std::string mark;
  if (codec == Codec::Utf8Signature) mark = "\xef\xbb\xbf";
  if (codec == Codec::Utf16) put_unit(mark, 0xfeff, 2, false);
  if (codec == Codec::Utf32) put_unit(mark, 0xfeff, 4, false);
  return encode_all(in, text, target, handler, mark);
}

}  // namespace tessera::lang
