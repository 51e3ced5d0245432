// unicode_escape and raw_unicode_escape: text as the escapes of string literals, in ASCII (raw: in Latin-1, with \u and \U alone).
// compile: small (encodings of escapes are rare)
#include <cstdio>

#include "lang/syntax/character_names.h"
#include "lang/types/bytes.h"
#include "lang/types/codec_parts.h"

namespace tessera::lang {

void append_escaped(std::string& out, uint32_t c, bool raw) {
  if (raw ? c < 256 : c >= ' ' && c < 127 && c != '\\') {
    out += static_cast<char>(c);
    return;
  }
  if (!raw && c < 128) {
    constexpr std::pair<uint32_t, const char*> kShort[] = {{'\t', "\\t"}, {'\n', "\\n"}, {'\r', "\\r"}, {'\\', "\\\\"}};
    for (const auto& [code, text] : kShort) {
      if (code != c) continue;
      out += text;
      return;
    }
  }
  out += backslash_escape(c);
}

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

class Escapes {
 public:
  Escapes(Interpreter& in, std::string_view bytes, bool raw, std::string_view errors, bool final)
      : in_(in), bytes_(bytes), raw_(raw), errors_(in, errors, raw ? "rawunicodeescape" : "unicodeescape"), final_(final) {}

  std::string run() {
    StopBudget budget(in_);
    for (bool goes_on = true; goes_on && at_ < bytes_.size();) {
      budget.take();
      if (bytes_[at_] != '\\') append_char(out_, static_cast<unsigned char>(bytes_[at_++]));
      else goes_on = raw_ ? raw_escape() : escape();
    }
    if (!warning_.empty()) in_.warn(ErrorKind::DeprecationWarning, warning_);
    return std::move(out_);
  }

  size_t consumed() const { return at_; }

 private:
  // The bytes up to `end` are no escape. False: they are cut off, and more may follow.
  bool fault(size_t end, const char* reason) {
    if (end >= bytes_.size() && !final_) return false;
    if (data_.is_undefined()) data_ = make_bytes(in_, bytes_);
    CodecErrors::Reply reply = errors_.decode_fault(data_, at_, std::min(end, bytes_.size()), reason);
    bytes_ = bytes_of(data_);
    booked_.cover(in_.heap, out_.size() + reply.content.size() + bytes_.size());
    out_ += reply.content;
    if (reply.next <= at_) in_.poll();  // a handler may go back for ever
    at_ = reply.next;
    return true;
  }

  bool put(uint32_t c, size_t next) {
    append_char(out_, c);
    at_ = next;
    return true;
  }

  // \xXX, \uXXXX, \UXXXXXXXX: `digits` behind the two bytes at at_.
  bool hex_escape(size_t digits, const char* truncated, const char* too_large) {
    uint32_t c = 0;
    size_t i = at_ + 2;
    for (; i < at_ + 2 + digits; ++i) {
      const int digit = i < bytes_.size() ? hex_value(bytes_[i]) : -1;
      if (digit < 0) return fault(i, truncated);
      c = c << 4 | static_cast<uint32_t>(digit);
    }
    if (c <= 0x10ffff) return put(c, i);
    // Not cut off, however many bytes follow.
    const bool was_final = std::exchange(final_, true);
    const bool goes_on = fault(i, too_large);
    final_ = was_final;
    return goes_on;
  }

  // Backslashes in pairs stand for themselves: only the last of an odd number begins an escape.
  bool raw_escape() {
    size_t i = at_;
    while (i < bytes_.size() && bytes_[i] == '\\') ++i;
    const size_t count = i - at_;
    if (i == bytes_.size() && !final_) {
      const size_t pairs = count / 2 * 2;
      out_.append(bytes_, at_, pairs);
      at_ += pairs;
      return pairs == count;
    }
    const bool escape = count % 2 == 1 && i < bytes_.size() && (bytes_[i] == 'u' || bytes_[i] == 'U');
    out_.append(bytes_, at_, escape ? count - 1 : count);
    at_ = escape ? i - 1 : i;
    if (!escape) return true;
    return bytes_[i] == 'u' ? hex_escape(4, "truncated \\uXXXX escape", "")
                            : hex_escape(8, "truncated \\UXXXXXXXX escape", "\\Uxxxxxxxx out of range");
  }

  bool escape() {
    if (at_ + 1 == bytes_.size()) return fault(at_ + 1, "\\ at end of string");
    const char c = bytes_[at_ + 1];
    switch (c) {
      case '\n': at_ += 2; return true;
      case '\\':
      case '\'':
      case '"': return put(static_cast<unsigned char>(c), at_ + 2);
      case 'a': return put('\a', at_ + 2);
      case 'b': return put('\b', at_ + 2);
      case 'f': return put('\f', at_ + 2);
      case 'n': return put('\n', at_ + 2);
      case 'r': return put('\r', at_ + 2);
      case 't': return put('\t', at_ + 2);
      case 'v': return put('\v', at_ + 2);
      case 'x': return hex_escape(2, "truncated \\xXX escape", "");
      case 'u': return hex_escape(4, "truncated \\uXXXX escape", "");
      case 'U': return hex_escape(8, "truncated \\UXXXXXXXX escape", "illegal Unicode character");
      case 'N': return named();
      default: break;
    }
    if (c >= '0' && c <= '7') return octal();
    if (warning_.empty()) {
      warning_ = "invalid escape sequence '\\";
      append_char(warning_, static_cast<unsigned char>(c));
      warning_ += "'";
    }
    return put('\\', at_ + 1);
  }

  bool octal() {
    uint32_t c = 0;
    size_t i = at_ + 1;
    for (; i < std::min(at_ + 4, bytes_.size()) && bytes_[i] >= '0' && bytes_[i] <= '7'; ++i) c = c * 8 + static_cast<uint32_t>(bytes_[i] - '0');
    if (i == bytes_.size() && i < at_ + 4 && !final_) return false;
    if (c > 0377 && warning_.empty()) warning_ = "invalid octal escape sequence '" + std::string(bytes_.substr(at_, 4)) + "'";
    return put(c, i);
  }

  bool named() {
    size_t i = at_ + 2;
    if (i >= bytes_.size() || bytes_[i] != '{') return fault(i, "malformed \\N character escape");
    const size_t end = bytes_.find('}', i);
    if (end == bytes_.npos) return fault(bytes_.size(), "malformed \\N character escape");
    const std::string_view name = bytes_.substr(i + 1, end - i - 1);
    if (name.empty()) return fault(end, "malformed \\N character escape");
    if (const auto c = character_named(name)) return put(*c, end + 1);
    const bool was_final = std::exchange(final_, true);
    const bool goes_on = fault(end + 1, "unknown Unicode character name");
    final_ = was_final;
    return goes_on;
  }

  Interpreter& in_;
  Value data_;  // from the first fault on
  std::string_view bytes_;
  bool raw_;
  CodecErrors errors_;
  bool final_;
  Booking booked_;
  std::string out_, warning_;
  size_t at_ = 0;
};

}  // namespace

std::string decode_escapes(Interpreter& in, std::string_view bytes, bool raw, std::string_view errors, bool final, size_t& consumed) {
  Escapes escapes(in, bytes, raw, errors, final);
  std::string text = escapes.run();
  consumed = escapes.consumed();
  return text;
}

}  // namespace tessera::lang
