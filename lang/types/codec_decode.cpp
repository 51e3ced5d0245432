// Bytes to text, in the encodings that are native.
#include "lang/types/bytes.h"
#include "lang/types/codec_parts.h"

namespace tessera::lang {
namespace {

class Decoding {
 public:
  Decoding(Interpreter& in, std::string_view bytes, Codec codec, std::string_view errors, std::string_view name, bool final)
      : in_(in), bytes_(bytes), codec_(codec), errors_(in, errors, shown(codec, name)), final_(final) {}

  std::string run() {
    switch (codec_) {
      case Codec::Utf8Signature:
        if (!final_ && bytes_.size() < 3 && std::string_view("\xef\xbb\xbf").starts_with(bytes_)) break;
        if (bytes_.starts_with("\xef\xbb\xbf")) at_ = 3;
        utf8();
        break;
      case Codec::Utf8: utf8(); break;
      case Codec::Ascii: ascii(); break;
      case Codec::Latin1:
        out_.reserve(bytes_.size());
        for (; at_ < bytes_.size(); ++at_) budget_.take(), append_char(out_, byte(at_));
        break;
      case Codec::Utf16:
      case Codec::Utf16Little:
      case Codec::Utf16Big: utf16(); break;
      default: utf32(); break;
    }
    return std::move(out_);
  }

  size_t consumed() const { return at_; }

 private:
  static std::string_view shown(Codec codec, std::string_view name) { return codec == Codec::Utf8Signature ? "utf-8" : name; }

  unsigned byte(size_t i) const { return static_cast<unsigned char>(bytes_[i]); }

  // `count` bytes from at_ on cannot be read; moves behind them. False: they are cut off, and more may follow.
  bool fault(size_t count, const char* reason, bool cut_off = false) {
    if (cut_off && !final_) return false;
    if (data_.is_undefined()) data_ = make_bytes(in_, bytes_);
    CodecErrors::Reply reply = errors_.decode_fault(data_, at_, std::min(at_ + count, bytes_.size()), reason);
    bytes_ = bytes_of(data_);
    booked_.cover(in_.heap, out_.size() + reply.content.size() + bytes_.size());
    out_ += reply.content;
    if (reply.next <= at_) in_.poll();  // a handler may go back for ever
    at_ = reply.next;
    return true;
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
      if (byte(at_) < 128) continue;
      budget_.take();
      if (!utf8_character(byte(at_))) return;
    }
  }

  bool utf8_character(unsigned c) {
    const size_t need = c >= 0xf0 && c <= 0xf4 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 0;
    if (need == 0) return fault(1, "invalid start byte");
    const unsigned low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    const unsigned high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    size_t got = 1;
    while (got < need && at_ + got < bytes_.size() && byte(at_ + got) >= (got == 1 ? low : 0x80) &&
           byte(at_ + got) <= (got == 1 ? high : 0xbf))
      ++got;
    const bool passes = errors_.kind() == CodecErrors::Kind::SurrogatePass && c == 0xed;
    // A lone surrogate of which only the beginning has come.
    if (passes && got == 1 && !final_ && at_ + 2 == bytes_.size() && byte(at_ + 1) >= 0xa0 && byte(at_ + 1) <= 0xbf) return false;
    if (passes && got == 1 && at_ + 2 < bytes_.size() && byte(at_ + 1) >= 0xa0 && byte(at_ + 1) <= 0xbf && (byte(at_ + 2) & 0xc0) == 0x80)
      got = need;
    if (got < need) {
      const bool cut_off = at_ + got >= bytes_.size();
      return fault(got, cut_off ? "unexpected end of data" : "invalid continuation byte", cut_off);
    }
    out_.append(bytes_, at_, need);
    at_ += need;
    return true;
  }

  uint32_t unit(size_t at, int width, bool big) const {
    uint32_t value = 0;
    for (int i = 0; i < width; ++i) value |= byte(at + static_cast<size_t>(i)) << 8 * (big ? width - 1 - i : i);
    return value;
  }

  // The order of bytes: the encoding's, or what a mark at the beginning says.
  bool read_order(int width, Codec any, Codec big_codec) {
    bool big = codec_ == big_codec;
    if (codec_ == any) {
      if (bytes_.size() >= static_cast<size_t>(width)) {
        big = unit(0, width, true) == 0xfeff;
        if (big || unit(0, width, false) == 0xfeff) at_ = static_cast<size_t>(width);
      }
      errors_.set_codec(width == 2 ? (big ? "utf-16-be" : "utf-16-le") : (big ? "utf-32-be" : "utf-32-le"));
    }
    return big;
  }

  void utf16() {
    const bool big = read_order(2, Codec::Utf16, Codec::Utf16Big);
    for (bool goes_on = true; goes_on && at_ < bytes_.size();) {
      budget_.take();
      if (at_ + 2 > bytes_.size()) {
        goes_on = fault(1, "truncated data", true);
        continue;
      }
      const uint32_t first = unit(at_, 2, big);
      const uint32_t second = at_ + 4 <= bytes_.size() ? unit(at_ + 2, 2, big) : 0;
      if (!is_surrogate(first)) {
        append_char(out_, first);
        at_ += 2;
      } else if (first >= 0xdc00) {
        goes_on = lone(first, 2, "illegal encoding");
      } else if (at_ + 4 > bytes_.size()) {
        goes_on = lone(first, bytes_.size() - at_, "unexpected end of data", true);
      } else if (second >= 0xdc00 && second <= 0xdfff) {
        append_char(out_, 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        at_ += 4;
      } else {
        goes_on = lone(first, 2, "illegal UTF-16 surrogate");
      }
    }
  }

  bool lone(uint32_t surrogate, size_t count, const char* reason, bool cut_off = false) {
    if (errors_.kind() != CodecErrors::Kind::SurrogatePass || (cut_off && !final_)) return fault(count, reason, cut_off);
    append_char(out_, surrogate);
    at_ += codec_ >= Codec::Utf32 ? 4 : 2;
    return true;
  }

  void utf32() {
    const bool big = read_order(4, Codec::Utf32, Codec::Utf32Big);
    for (bool goes_on = true; goes_on && at_ < bytes_.size();) {
      budget_.take();
      if (at_ + 4 > bytes_.size()) {
        goes_on = fault(bytes_.size() - at_, "truncated data", true);
        continue;
      }
      const uint32_t c = unit(at_, 4, big);
      if (is_surrogate(c)) {
        goes_on = lone(c, 4, "code point in surrogate code point range(0xd800, 0xe000)");
      } else if (c > 0x10ffff) {
        goes_on = fault(4, "code point not in range(0x110000)");
      } else {
        append_char(out_, c);
        at_ += 4;
      }
    }
  }

  Interpreter& in_;
  Value data_;  // from the first fault on: a bytes object, in whose place a handler may put another
  std::string_view bytes_;
  Codec codec_;
  CodecErrors errors_;
  bool final_;
  Booking booked_;
  std::string out_;
  size_t at_ = 0;
  StopBudget budget_{in_};
};

}  // namespace

std::string decode_with(Interpreter& in, std::string_view bytes, Codec codec, std::string_view errors, std::string_view name, bool final,
                        size_t& consumed) {
  Decoding decoding(in, bytes, codec, errors, name, final);
  std::string text = decoding.run();
  consumed = decoding.consumed();
  return text;
}

}  // namespace tessera::lang
