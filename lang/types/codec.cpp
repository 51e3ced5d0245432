// The codecs. Each walks over its input and hands what it cannot convert to the error handler of the call.
#include "lang/types/codec.h"

#include <cstdio>
#include <cstring>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/bytes.h"
#include "lang/types/str.h"

namespace tessera::lang {
namespace {

enum class Codec {
  None,
  Utf8,
  Utf8Signature,
  Ascii,
  Latin1,
  Utf16,
  Utf16Little,
  Utf16Big,
  Utf32,
  Utf32Little,
  Utf32Big
};
enum class Handler { Strict, Ignore, Replace, Backslash, XmlReference, SurrogateEscape, SurrogatePass, Unknown };

struct CodecName {
  std::string_view alias;
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
    {"utf16", Codec::Utf16, "utf-16"},
    {"u16", Codec::Utf16, "utf-16"},
    {"utf16le", Codec::Utf16Little, "utf-16-le"},
    {"utf16be", Codec::Utf16Big, "utf-16-be"},
    {"utf32", Codec::Utf32, "utf-32"},
    {"u32", Codec::Utf32, "utf-32"},
    {"utf32le", Codec::Utf32Little, "utf-32-le"},
    {"utf32be", Codec::Utf32Big, "utf-32-be"},
};

const CodecName* find_codec(std::string_view encoding) {
  std::string plain;
  for (const char c : encoding) {
    if (c != '-' && c != '_' && c != ' ') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  for (const CodecName& each : kCodecs) {
    if (each.alias == plain) return &each;
  }
  return nullptr;
}

const CodecName& need_codec(std::string_view encoding) {
  const CodecName* found = find_codec(encoding);
  if (found == nullptr) throw Error(ErrorKind::LookupError, "unknown encoding: " + std::string(encoding));
  return *found;
}

Handler handler_of(std::string_view errors) {
  if (errors == "strict") return Handler::Strict;
  if (errors == "ignore") return Handler::Ignore;
  if (errors == "replace") return Handler::Replace;
  if (errors == "backslashreplace") return Handler::Backslash;
  if (errors == "xmlcharrefreplace") return Handler::XmlReference;
  if (errors == "surrogateescape") return Handler::SurrogateEscape;
  if (errors == "surrogatepass") return Handler::SurrogatePass;
  return Handler::Unknown;
}

[[noreturn]] void throw_unknown_handler(std::string_view errors) {
  throw Error(ErrorKind::LookupError, "unknown error handler name '" + std::string(errors) + "'");
}

std::string escaped(uint32_t cp) {
  char text[16];
  std::snprintf(text, sizeof text, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
  return text;
}

bool is_surrogate(uint32_t cp) { return cp >= 0xd800 && cp <= 0xdfff; }

void put_unit(std::string& out, uint32_t value, int width, bool big) {
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> 8 * (big ? width - 1 - i : i));
}

// --- encoding

class Encoder {
 public:
  Encoder(Interpreter& in, const Value& text, const CodecName& codec, std::string_view errors)
      : in_(in), text_(text), codec_(codec), errors_(errors), handler_(handler_of(errors)) {}

  std::string run() {
    if (codec_.codec == Codec::Utf8Signature) out_ = "\xef\xbb\xbf";
    if (codec_.codec == Codec::Utf16) put_unit(out_, 0xfeff, 2, false);
    if (codec_.codec == Codec::Utf32) put_unit(out_, 0xfeff, 4, false);
    const char* p = text_of(text_).data();
    const char* const end = p + text_of(text_).size();
    StopBudget budget(in_);
    while (p < end) {
      budget.take();
      const char* next = p;
      const uint32_t cp = decode_char(next);
      if (can(cp)) {
        put(cp);
        p = next;
        ++at_;
      } else {
        p = run_of_faults(p, end);
      }
    }
    return std::move(out_);
  }

 private:
  bool wide() const { return codec_.codec >= Codec::Utf16; }
  bool can(uint32_t cp) const {
    if (codec_.codec == Codec::Ascii) return cp < 128;
    if (codec_.codec == Codec::Latin1) return cp < 256;
    return !is_surrogate(cp);
  }

  void put(uint32_t cp) {
    switch (codec_.codec) {
      case Codec::Ascii:
      case Codec::Latin1: out_ += static_cast<char>(cp); return;
      case Codec::Utf16:
      case Codec::Utf16Little:
      case Codec::Utf16Big: {
        const bool big = codec_.codec == Codec::Utf16Big;
        if (cp >= 0x10000) {
          put_unit(out_, 0xd800 + ((cp - 0x10000) >> 10), 2, big);
          cp = 0xdc00 + ((cp - 0x10000) & 0x3ff);
        }
        put_unit(out_, cp, 2, big);
        return;
      }
      case Codec::Utf32:
      case Codec::Utf32Little:
      case Codec::Utf32Big: put_unit(out_, cp, 4, codec_.codec == Codec::Utf32Big); return;
      default: append_char(out_, cp); return;
    }
  }

  void put_ascii(std::string_view text) {
    for (const char c : text) put(static_cast<unsigned char>(c));
  }

  // All the characters in a row that cannot be written are one fault.
  const char* run_of_faults(const char* p, const char* end) {
    size_t count = 0;
    std::string codes;
    const char* next = p;
    while (next < end) {
      const char* q = next;
      const uint32_t cp = decode_char(q);
      if (can(cp)) break;
      if (!handle(cp)) {
        size_t last = at_ + count + 1;
        for (const char* r = q; r < end && !can(decode_char(r)); ++last) {}
        fail(at_ + count, last);
      }
      next = q;
      ++count;
    }
    at_ += count;
    return next;
  }

  bool handle(uint32_t cp) {
    switch (handler_) {
      case Handler::Ignore: return true;
      case Handler::Replace: put('?'); return true;
      case Handler::Backslash: put_ascii(escaped(cp)); return true;
      case Handler::XmlReference: put_ascii("&#" + std::to_string(cp) + ";"); return true;
      case Handler::SurrogateEscape:
        if (cp < 0xdc80 || cp > 0xdcff || wide()) return false;
        out_ += static_cast<char>(cp - 0xdc00);
        return true;
      case Handler::SurrogatePass:
        if (!is_surrogate(cp) || codec_.codec == Codec::Ascii || codec_.codec == Codec::Latin1) return false;
        put(cp);
        return true;
      case Handler::Unknown: throw_unknown_handler(errors_);
      default: return false;
    }
  }

  [[noreturn]] void fail(size_t first, size_t last) {
    const char* const reason = codec_.codec == Codec::Ascii    ? "ordinal not in range(128)"
                               : codec_.codec == Codec::Latin1 ? "ordinal not in range(256)"
                                                               : "surrogates not allowed";
    std::string_view name = codec_.codec == Codec::Latin1 ? "latin-1" : codec_.name;
    if (codec_.codec == Codec::Utf8Signature) name = "utf-8";
    const Value error_class(error_type(in_, ErrorKind::UnicodeEncodeError));
    throw Thrown(call(in_, error_class,
                      {make_str(in_, name), text_, Value::integer(static_cast<int64_t>(first)),
                       Value::integer(static_cast<int64_t>(last)), make_str(in_, reason)}));
  }

  Interpreter& in_;
  const Value& text_;
  const CodecName& codec_;
  std::string_view errors_;
  Handler handler_;
  std::string out_;
  size_t at_ = 0;  // in characters
};

// --- decoding

class Decoding {
 public:
  Decoding(Interpreter& in, std::string_view bytes, const CodecName& codec, std::string_view errors)
      : in_(in), bytes_(bytes), codec_(codec), errors_(errors), handler_(handler_of(errors)) {}

  std::string run() {
    switch (codec_.codec) {
      case Codec::Utf8Signature:
        if (bytes_.starts_with("\xef\xbb\xbf")) at_ = 3;
        [[fallthrough]];
      case Codec::Utf8: utf8(); break;
      case Codec::Ascii: ascii(); break;
      case Codec::Latin1:
        out_.reserve(bytes_.size());
        for (const char c : bytes_) budget_.take(), append_char(out_, static_cast<unsigned char>(c));
        break;
      case Codec::Utf16:
      case Codec::Utf16Little:
      case Codec::Utf16Big: utf16(); break;
      default: utf32(); break;
    }
    return std::move(out_);
  }

 private:
  unsigned byte(size_t i) const { return static_cast<unsigned char>(bytes_[i]); }

  // `count` bytes from at_ on cannot be read; moves behind them.
  void fault(size_t count, const char* reason) {
    const size_t end = std::min(at_ + count, bytes_.size());
    switch (handler_) {
      case Handler::Ignore: break;
      case Handler::Replace: append_char(out_, 0xfffd); break;
      case Handler::Backslash:
        for (size_t i = at_; i < end; ++i) out_ += escaped(byte(i));
        break;
      case Handler::SurrogateEscape: {
        size_t i = at_;
        for (; i < end && byte(i) >= 128; ++i) append_char(out_, 0xdc00 + byte(i));
        if (i == at_) fail(end, reason);
        at_ = i;
        return;
      }
      case Handler::XmlReference:
        throw Error(ErrorKind::TypeError, "don't know how to handle UnicodeDecodeError in error callback");
      case Handler::Unknown: throw_unknown_handler(errors_);
      default: fail(end, reason);
    }
    at_ = end;
  }

  [[noreturn]] void fail(size_t end, const char* reason) {
    const Value error_class(error_type(in_, ErrorKind::UnicodeDecodeError));
    std::string_view name = codec_.codec == Codec::Utf8Signature ? "utf-8" : codec_.name;
    if (codec_.codec == Codec::Utf16) name = big_ ? "utf-16-be" : "utf-16-le";
    if (codec_.codec == Codec::Utf32) name = big_ ? "utf-32-be" : "utf-32-le";
    throw Thrown(call(in_, error_class,
                      {make_str(in_, name), make_bytes(in_, bytes_), Value::integer(static_cast<int64_t>(at_)),
                       Value::integer(static_cast<int64_t>(end)), make_str(in_, reason)}));
  }

  void copy_ascii() {
    size_t end = at_;
    const size_t most = std::min(bytes_.size(), at_ + kPieceItems);
    while (end < most && byte(end) < 128) ++end;
    budget_.take(end - at_);
    out_.append(bytes_, at_, end - at_);
    at_ = end;
  }

  void ascii() {
    for (copy_ascii(); at_ < bytes_.size(); copy_ascii())
      if (byte(at_) >= 128) fault(1, "ordinal not in range(128)");
  }

  void utf8() {
    for (copy_ascii(); at_ < bytes_.size(); copy_ascii()) {
      const unsigned c = byte(at_);
      if (c < 128) continue;
      budget_.take();
      const size_t need = c >= 0xf0 && c <= 0xf4 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 0;
      if (need == 0) {
        fault(1, "invalid start byte");
        continue;
      }
      const unsigned low = c == 0xe0   ? 0xa0
                           : c == 0xf0 ? 0x90
                                       : 0x80,
                     high = c == 0xed   ? 0x9f
                            : c == 0xf4 ? 0x8f
                                        : 0xbf;
      size_t got = 1;
      while (got < need && at_ + got < bytes_.size() && byte(at_ + got) >= (got == 1 ? low : 0x80) &&
             byte(at_ + got) <= (got == 1 ? high : 0xbf))
        ++got;
      if (got == need) {
        out_.append(bytes_, at_, need);
        at_ += need;
      } else if (handler_ == Handler::SurrogatePass && c == 0xed && at_ + 2 < bytes_.size() && byte(at_ + 1) >= 0xa0 &&
                 byte(at_ + 1) <= 0xbf && (byte(at_ + 2) & 0xc0) == 0x80) {
        out_.append(bytes_, at_, 3);
        at_ += 3;
      } else {
        fault(got, at_ + got >= bytes_.size() ? "unexpected end of data" : "invalid continuation byte");
      }
    }
  }

  uint32_t unit(size_t at, int width, bool big) const {
    uint32_t value = 0;
    for (int i = 0; i < width; ++i) value |= byte(at + static_cast<size_t>(i)) << 8 * (big ? width - 1 - i : i);
    return value;
  }

  void utf16() {
    bool& big = big_ = codec_.codec == Codec::Utf16Big;
    if (codec_.codec == Codec::Utf16 && bytes_.size() >= 2) {
      big = unit(0, 2, false) == 0xfffe;
      if (big || unit(0, 2, false) == 0xfeff) at_ = 2;
    }
    while (at_ < bytes_.size()) {
      budget_.take();
      if (at_ + 2 > bytes_.size()) {
        fault(1, "truncated data");
        continue;
      }
      const uint32_t first = unit(at_, 2, big);
      if (!is_surrogate(first)) {
        append_char(out_, first);
        at_ += 2;
      } else if (first >= 0xdc00) {
        lone(first, 2, "illegal encoding");
      } else if (at_ + 4 > bytes_.size()) {
        lone(first, bytes_.size() - at_, "unexpected end of data");
      } else {
        const uint32_t second = unit(at_ + 2, 2, big);
        if (second >= 0xdc00 && second <= 0xdfff) {
          append_char(out_, 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
          at_ += 4;
        } else {
          lone(first, 2, "illegal UTF-16 surrogate");
        }
      }
    }
  }

  void lone(uint32_t surrogate, size_t count, const char* reason) {
    if (handler_ != Handler::SurrogatePass) return fault(count, reason);
    append_char(out_, surrogate);
    at_ += codec_.codec >= Codec::Utf32 ? 4 : 2;
  }

  void utf32() {
    bool& big = big_ = codec_.codec == Codec::Utf32Big;
    if (codec_.codec == Codec::Utf32 && bytes_.size() >= 4) {
      big = unit(0, 4, true) == 0xfeff;
      if (big || unit(0, 4, false) == 0xfeff) at_ = 4;
    }
    while (at_ < bytes_.size()) {
      budget_.take();
      if (at_ + 4 > bytes_.size()) {
        fault(bytes_.size() - at_, "truncated data");
        continue;
      }
      const uint32_t cp = unit(at_, 4, big);
      if (is_surrogate(cp)) {
        lone(cp, 4, "code point in surrogate code point range(0xd800, 0xe000)");
      } else if (cp > 0x10ffff) {
        fault(4, "code point not in range(0x110000)");
      } else {
        append_char(out_, cp);
        at_ += 4;
      }
    }
  }

  Interpreter& in_;
  std::string_view bytes_;
  const CodecName& codec_;
  std::string_view errors_;
  Handler handler_;
  std::string out_;
  size_t at_ = 0;
  bool big_ = false;
  StopBudget budget_{in_};
};

}  // namespace

Value encode_text(Interpreter& in, const Value& text, std::string_view encoding, std::string_view errors) {
  const CodecName& codec = need_codec(encoding);
  const bool same = codec.codec == Codec::Utf8 || codec.codec == Codec::Ascii || codec.codec == Codec::Latin1;
  if (same && as_str(text)->is_ascii()) return make_bytes(in, text_of(text));
  if (codec.codec == Codec::Utf8 && text_of(text).find('\xed') == std::string_view::npos)
    return make_bytes(in, text_of(text));  // no surrogates in it
  return make_bytes(in, Encoder(in, text, codec, errors).run());
}

Value decode_text(Interpreter& in, std::string_view bytes, std::string_view encoding, std::string_view errors) {
  const CodecName& codec = need_codec(encoding);
  const bool same = codec.codec == Codec::Utf8 || codec.codec == Codec::Ascii || codec.codec == Codec::Latin1;
  if (same && all_ascii(bytes)) return make_str(in, bytes, bytes.size());
  return make_str(in, Decoding(in, bytes, codec, errors).run());
}

std::string_view codec_name(std::string_view encoding) {
  const CodecName* found = find_codec(encoding);
  return found == nullptr ? std::string_view() : found->name;
}

}  // namespace tessera::lang
