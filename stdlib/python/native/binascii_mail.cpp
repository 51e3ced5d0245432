// The half of _binascii that mail needs: uuencoded lines, quoted-printable text (RFC 1521, section 5.1) and the checksum of BinHex.
// compile: small (seldom in an inner loop)
#include <cstring>

#include "lang/core/pieces.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/binascii.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr size_t kUuBytes = 45;  // of a line
constexpr size_t kQpColumns = 76;

Value to_uu(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  const std::string_view bytes = data.view();
  const char zero = flag_argument(in, args[1]) ? '`' : ' ';
  if (bytes.size() > kUuBytes) throw_binascii(in, "At most 45 bytes at once");
  const auto letter = [&](size_t value) { return value == 0 ? zero : static_cast<char>(' ' + value); };
  std::string out(1, letter(bytes.size()));
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (int shift = 18; shift >= 0; shift -= 6) out += letter(group >> shift & 63);
  }
  return make_bytes(in, out + '\n');
}

Value from_uu(Interpreter& in, const Args& args) {
  const std::string line = ascii_argument(in, args[0]);
  // Spaces at a line's end may have been lost on the way: what is missing counts as zeros.
  size_t at = 1;
  const auto value = [&]() -> uint32_t {
    const char c = at < line.size() ? line[at++] : '\n';
    if (c == '\n' || c == '\r') return 0;
    if (c < ' ' || c > ' ' + 64) throw_binascii(in, "Illegal char");
    return static_cast<uint32_t>(c - ' ') & 63;
  };
  const size_t size = line.empty() ? 32 : static_cast<size_t>(line[0] - ' ') & 63;
  std::string out;
  while (out.size() < size) {
    uint32_t group = 0;
    for (int k = 0; k < 4 && out.size() < size; ++k) {
      group = group << 6 | value();
      if (k > 0) out += static_cast<char>(group >> (6 - 2 * k));
    }
  }
  for (; at < line.size(); ++at)
    if (std::strchr(" `\n\r", line[at]) == nullptr) throw_binascii(in, "Trailing garbage");
  return make_bytes(in, out);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Value from_quoted(Interpreter& in, const Args& args) {
  const std::string text = ascii_argument(in, args[0]);
  const bool header = flag_argument(in, args[1]);
  std::string out;
  StopBudget budget(in);
  for (size_t i = 0; i < text.size();) {
    budget.take();
    const char c = text[i++];
    if (c != '=') {
      out += header && c == '_' ? ' ' : c;
      continue;
    }
    if (i == text.size()) break;
    if (text[i] == '\n' || text[i] == '\r') {  // a soft end of a line
      i = std::min(text.find('\n', i), text.size() - 1) + 1;
    } else if (text[i] == '=') {
      out += '=';
      ++i;
    } else if (i + 1 < text.size() && hex_digit(text[i]) >= 0 && hex_digit(text[i + 1]) >= 0) {
      out += static_cast<char>(hex_digit(text[i]) * 16 + hex_digit(text[i + 1]));
      i += 2;
    } else {
      out += '=';
    }
  }
  return make_bytes(in, out);
}

class QuotedPrintable {
 public:
  QuotedPrintable(std::string_view data, bool quote_tabs, bool text, bool header)
      : data_(data), quote_tabs_(quote_tabs), text_(text), header_(header) {
    const size_t newline = data.find('\n');
    end_ = newline != data.npos && newline > 0 && data[newline - 1] == '\r' ? "\r\n" : "\n";
  }

  std::string encode(Interpreter& in) {
    StopBudget budget(in);
    for (size_t i = 0; i < data_.size();) {
      budget.take();
      const char c = data_[i];
      if (must_quote(i)) {
        if (column_ + 3 >= kQpColumns) soft_end();
        quote(c);
        column_ += 3;
        ++i;
      } else if (text_ && ends_line(i)) {
        hard_end();
        i += c == '\r' ? 2 : 1;
      } else {
        if (i + 1 != data_.size() && data_[i + 1] != '\n' && column_ + 1 >= kQpColumns) soft_end();
        ++column_;
        out_ += header_ && c == ' ' ? '_' : c;
        ++i;
      }
    }
    return std::move(out_);
  }

 private:
  bool ends_line(size_t i) const {
    return data_[i] == '\n' || (data_[i] == '\r' && i + 1 < data_.size() && data_[i + 1] == '\n');
  }

  bool must_quote(size_t i) const {
    const auto c = static_cast<unsigned char>(data_[i]);
    const bool last = i + 1 == data_.size(), blank = c == ' ' || c == '\t', line_end = c == '\r' || c == '\n';
    if (c > 126 || c == '=' || (header_ && c == '_')) return true;
    // A dot alone on a line ends a message of SMTP.
    if (c == '.' && column_ == 0 && (last || std::strchr("\n\r", data_[i + 1]) != nullptr)) return true;
    if (line_end) return !text_;
    if (blank) return last || quote_tabs_;
    return c < 33;
  }

  void quote(char c) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out_ += {'=', kDigits[byte >> 4], kDigits[byte & 15]};
  }

  void soft_end() {
    out_ += '=';
    out_ += end_;
    column_ = 0;
  }

  // A blank before the end of a line is quoted: mailers drop it.
  void hard_end() {
    if (!out_.empty() && (out_.back() == ' ' || out_.back() == '\t')) {
      const char blank = out_.back();
      out_.pop_back();
      quote(blank);
    }
    out_ += end_;
    column_ = 0;
  }

  std::string_view data_;
  bool quote_tabs_, text_, header_;
  std::string_view end_;
  std::string out_;
  size_t column_ = 0;
};

Value to_quoted(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  const bool tabs = flag_argument(in, args[1]), text = flag_argument(in, args[2]), header = flag_argument(in, args[3]);
  return make_bytes(in, QuotedPrintable(data.view(), tabs, text, header).encode(in));
}

// CRC-CCITT: the polynomial x^16 + x^12 + x^5 + 1, the highest bit first.
Value crc_hqx(Interpreter& in, const Args& args) {
  const BytesLike data(in, args[0]);
  uint32_t crc = static_cast<uint32_t>(int_argument(in, args[1])) & 0xffff;
  StopBudget budget(in);
  for (const char c : data.view()) {
    budget.take();
    crc ^= static_cast<uint32_t>(static_cast<unsigned char>(c)) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1 ^ ((crc & 0x8000) != 0 ? 0x1021 : 0)) & 0xffff;
  }
  return Value::integer(crc);
}

const NativeDef kFunctions[] = {
    {"b2a_uu(data, /, *, backtick=False)", to_uu, "A line of uuencoded data."},
    {"a2b_uu(data, /)", from_uu, "The bytes of a uuencoded line."},
    {"a2b_qp(data, header=0)", from_quoted, "The bytes of quoted-printable text."},
    {"b2a_qp(data, quotetabs=0, istext=1, header=0)", to_quoted, "The bytes as quoted-printable text."},
    {"crc_hqx(data, crc, /)", crc_hqx, "The CRC-CCITT checksum, beginning with crc."},
};

}  // namespace

void add_mail_encodings(Interpreter& in, Module& module) {
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
}

}  // namespace tessera::stdlib
