// float.fromhex: "0x1.8p3", rounded once, half to even, however many digits there are.
// compile: small (hexadecimal floats are rare)
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>

#include "lang/core/error.h"
#include "lang/types/number.h"
#include "lang/types/unicode.h"

namespace tessera::lang {
namespace {

constexpr int kMantissaBits = 53;
constexpr int64_t kSmallestNormal = -1022;       // exponents of the highest bit
constexpr int64_t kFarExponent = 1'000'000'000;  // where all that is left is zero or too large

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The digits as mantissa * 2**exponent; what does not fit is kept as one sticky bit at the end.
struct HexDigits {
  uint64_t mantissa = 0;
  int64_t exponent = 0;
  bool sticky = false;
  bool any = false;

  void add(int digit, bool behind_point) noexcept {
    any = true;
    if (mantissa >> 56 == 0) {
      mantissa = mantissa << 4 | static_cast<unsigned>(digit);
      if (behind_point) exponent -= 4;
    } else {
      sticky = sticky || digit != 0;
      if (!behind_point) exponent += 4;
    }
  }

  double value() const noexcept {
    if (mantissa == 0) return 0;
    uint64_t bits = mantissa << 1 | (sticky ? 1 : 0);
    int64_t scale = exponent - 1;
    const int width = std::bit_width(bits);
    const int64_t highest = scale + width - 1;
    if (highest > 2 * kMantissaBits + 1024) return std::numeric_limits<double>::infinity();
    const int64_t keep = highest >= kSmallestNormal ? kMantissaBits : highest - kSmallestNormal + kMantissaBits;
    if (keep < 0) return 0;
    const int64_t drop = width - keep;
    if (drop > 0) {
      const uint64_t rest = bits & ((uint64_t{1} << drop) - 1), half = uint64_t{1} << (drop - 1);
      bits >>= drop;
      scale += drop;
      if (rest > half || (rest == half && (bits & 1))) ++bits;
    }
    return std::ldexp(static_cast<double>(bits), static_cast<int>(scale));
  }
};

[[noreturn]] void malformed() { throw Error(ErrorKind::ValueError, "invalid hexadecimal floating-point string"); }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    while (!text_.empty() && unicode::is_ascii_space(static_cast<unsigned char>(text_.front()))) text_.remove_prefix(1);
    while (!text_.empty() && unicode::is_ascii_space(static_cast<unsigned char>(text_.back()))) text_.remove_suffix(1);
  }

  double read() {
    const bool negative = accept('-');
    if (!negative) accept('+');
    const double magnitude = is_word("inf") || is_word("infinity") ? std::numeric_limits<double>::infinity()
                             : is_word("nan")                      ? std::numeric_limits<double>::quiet_NaN()
                                                                   : number();
    return negative ? -magnitude : magnitude;
  }

 private:
  bool accept(char c) {
    if (text_.empty() || (text_.front() | 0x20) != (c | 0x20)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool is_word(std::string_view word) const {
    if (text_.size() != word.size()) return false;
    for (size_t i = 0; i < word.size(); ++i) {
      if ((text_[i] | 0x20) != word[i]) return false;
    }
    return true;
  }

  double number() {
    if (text_.size() >= 2 && text_[0] == '0' && (text_[1] | 0x20) == 'x') text_.remove_prefix(2);
    HexDigits digits;
    read_digits(digits, false);
    if (!text_.empty() && text_.front() == '.') {
      text_.remove_prefix(1);
      read_digits(digits, true);
    }
    if (!digits.any) malformed();
    if (accept('p')) digits.exponent += read_exponent();
    if (!text_.empty()) malformed();
    const double value = digits.value();
    if (std::isinf(value)) {
      throw Error(ErrorKind::OverflowError, "hexadecimal value too large to represent as a float");
    }
    return value;
  }

  void read_digits(HexDigits& digits, bool behind_point) {
    while (!text_.empty() && hex_digit(text_.front()) >= 0) {
      digits.add(hex_digit(text_.front()), behind_point);
      text_.remove_prefix(1);
    }
  }

  int64_t read_exponent() {
    const bool negative = !text_.empty() && text_.front() == '-';
    if (negative || (!text_.empty() && text_.front() == '+')) text_.remove_prefix(1);
    if (text_.empty()) malformed();
    int64_t value = 0;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
      value = std::min(value * 10 + (text_.front() - '0'), kFarExponent);
      text_.remove_prefix(1);
    }
    return negative ? -value : value;
  }

  std::string_view text_;
};

}  // namespace

double parse_hex_float(std::string_view text) { return Reader(text).read(); }

}  // namespace tessera::lang
