// Integers of any size as text, and back. Decimal text is made and read in halves, so that its cost is that of a product, and a
// program can be stopped meanwhile; bases that are powers of two are read off the bits.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <vector>

#include "lang/core/error.h"
#include "lang/core/pieces.h"
#include "lang/types/bigint.h"
#include "lang/types/format.h"

namespace tessera::lang {
namespace {

// The largest power of a base that is a limb.
struct Chunk {
  Limb power;
  unsigned digits;
};
Chunk chunk_of(unsigned base) {
  Chunk chunk{base, 1};
  while (chunk.power <= ~Limb{0} / base) {
    chunk.power *= base;
    ++chunk.digits;
  }
  return chunk;
}

constexpr Chunk kDecimal{10'000'000'000'000'000'000u, 19};
constexpr size_t kLimbsByLimb = 24;  // up to so many limbs, digits are split off limb by limb

class DecimalWriter {
 public:
  DecimalWriter(Interpreter& in, std::string& out) : in_(in), out_(out) {}

  void write(Limbs value) {
    // powers_[i] is 10**(19 * 2**i); as many as are needed to halve the number.
    const Limb chunk = kDecimal.power;
    if (value.size > kLimbsByLimb) powers_.emplace_back(in_, Limbs{&chunk, 1});
    while (!powers_.empty() && powers_.back().size() * 2 <= value.size + 1)
      powers_.push_back(multiply(in_, powers_.back(), powers_.back()));
    split(value, powers_.size(), 0);
  }

 private:
  // Appends the digits, with leading zeros up to `width`.
  void split(Limbs value, size_t level, size_t width) {
    if (value.size <= kLimbsByLimb) return limb_by_limb(value, width);
    while (compare(value, powers_[level - 1]) < 0) --level;
    const size_t low_width = size_t{kDecimal.digits} << (level - 1);
    const Division parts = divide(in_, value, powers_[level - 1]);
    split(parts.quotient, level, width > low_width ? width - low_width : 0);
    split(parts.remainder, level, low_width);
  }

  void limb_by_limb(Limbs value, size_t width) {
    in_.check_stop();
    Limb work[kLimbsByLimb];
    std::memcpy(work, value.data, value.size * sizeof(Limb));
    Limb chunks[kLimbsByLimb + 2];
    size_t count = 0;
    for (size_t n = value.size; n != 0;) {
      chunks[count++] = divide_in_place(work, n, kDecimal.power);
      if (work[n - 1] == 0) --n;
    }
    char buffer[20];
    std::string digits;
    for (size_t i = count; i-- > 0;) {
      const auto size = static_cast<size_t>(std::to_chars(buffer, buffer + sizeof buffer, chunks[i]).ptr - buffer);
      if (i + 1 != count) digits.append(kDecimal.digits - size, '0');
      digits.append(buffer, size);
    }
    if (digits.size() < width) out_.append(width - digits.size(), '0');
    out_ += digits;
  }

  Interpreter& in_;
  std::string& out_;
  std::vector<Natural> powers_;
};

void append_power_of_two(Interpreter& in, std::string& out, Limbs value, unsigned bits_each, bool upper) {
  const char* const digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  const size_t count = (bit_length(value) + bits_each - 1) / bits_each;
  const size_t start = out.size();
  out.resize(start + count);
  in_pieces(in, count, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t bit = i * bits_each, limb = bit / kLimbBits, shift = bit % kLimbBits;
      Limb digit = value[limb] >> shift;
      if (shift + bits_each > kLimbBits && limb + 1 < value.size) digit |= value[limb + 1] << (kLimbBits - shift);
      out[start + count - 1 - i] = digits[digit & ((1u << bits_each) - 1)];
    }
  });
}

[[noreturn]] void throw_too_many_digits(Interpreter& in, size_t digits) {
  const std::string of = digits == 0 ? "" : ": value has " + std::to_string(digits) + " digits";
  throw Error(ErrorKind::ValueError, "Exceeds the limit (" + std::to_string(in.int_max_str_digits) +
                                         " digits) for integer string conversion" + of +
                                         "; use sys.set_int_max_str_digits() to increase the limit");
}

std::string decimal(Interpreter& in, const Value& value, bool bounded) {
  if (!is_big_int(value)) return int_text(value.as_int());
  const WholeView view(value);
  const auto most = static_cast<size_t>(in.int_max_str_digits);
  // log10(2) is 0.30103: a number of certainly more digits is refused before the work.
  const double least_digits = static_cast<double>(bit_length(view.limbs()) - 1) * 0.30102999;
  if (bounded && most != 0 && least_digits > static_cast<double>(most)) throw_too_many_digits(in, 0);
  in.heap.expect(static_cast<size_t>(least_digits) * 2);
  std::string out(view.negative() ? 1 : 0, '-');
  DecimalWriter(in, out).write(view.limbs());
  if (bounded && most != 0 && out.size() - (view.negative() ? 1 : 0) > most) throw_too_many_digits(in, 0);
  return out;
}

int digit_value(char c) noexcept {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

class DigitsReader {
 public:
  DigitsReader(Interpreter& in, unsigned base) : in_(in), base_(base), chunk_(chunk_of(base)) {}

  Natural read(std::string_view digits) {
    constexpr size_t kChunksByChunk = 48;
    if (digits.size() <= kChunksByChunk * chunk_.digits) return chunk_by_chunk(digits);
    size_t level = 0;
    while ((chunk_.digits << (level + 1)) < digits.size()) ++level;
    const size_t low = size_t{chunk_.digits} << level;
    const Natural high = read(digits.substr(0, digits.size() - low)), rest = read(digits.substr(digits.size() - low));
    return add(in_, multiply(in_, high, power_at(level)), rest);
  }

 private:
  const Natural& power_at(size_t level) {
    if (powers_.empty()) powers_.emplace_back(in_, Limbs{&chunk_.power, 1});
    while (powers_.size() <= level) powers_.push_back(multiply(in_, powers_.back(), powers_.back()));
    return powers_[level];
  }

  Natural chunk_by_chunk(std::string_view digits) {
    in_.check_stop();
    Natural out(in_, digits.size() / chunk_.digits + 2);
    size_t used = 0;
    while (!digits.empty()) {
      const size_t some = digits.size() % chunk_.digits != 0 ? digits.size() % chunk_.digits : chunk_.digits;
      Limb value = 0, factor = 1;
      for (char c : digits.substr(0, some)) {
        value = value * base_ + static_cast<Limb>(digit_value(c));
        factor *= base_;
      }
      digits.remove_prefix(some);
      const Limb carry = multiply_add_in_place(out.data(), used, factor, value);
      if (carry != 0) out.data()[used++] = carry;
    }
    out.set_size(used);
    return out;
  }

  Interpreter& in_;
  const Limb base_;
  const Chunk chunk_;
  std::vector<Natural> powers_;
};

Natural read_power_of_two(Interpreter& in, std::string_view digits, unsigned bits_each) {
  const size_t limbs = (digits.size() * bits_each + kLimbBits - 1) / kLimbBits + 1;
  Natural out(in, limbs);
  std::fill(out.data(), out.data() + limbs, 0);
  in_pieces(in, digits.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto digit = static_cast<Limb>(digit_value(digits[digits.size() - 1 - i]));
      const size_t bit = i * bits_each, limb = bit / kLimbBits, shift = bit % kLimbBits;
      out.data()[limb] |= digit << shift;
      if (shift + bits_each > kLimbBits) out.data()[limb + 1] |= digit >> (kLimbBits - shift);
    }
  });
  out.set_size(limbs);
  return out;
}

}  // namespace

std::string whole_text(Interpreter& in, const Value& value, unsigned base, bool upper) {
  if (base == 10) return decimal(in, value, true);
  const WholeView view(value);
  std::string out(view.negative() ? 1 : 0, '-');
  if (view.limbs().is_zero()) return "0";
  in.heap.expect(bit_length(view.limbs()) / static_cast<size_t>(std::countr_zero(base)));
  append_power_of_two(in, out, view.limbs(), static_cast<unsigned>(std::countr_zero(base)), upper);
  return out;
}

std::string whole_decimal(Interpreter& in, const Value& value) { return decimal(in, value, false); }

Value whole_of_digits(Interpreter& in, std::string_view digits, unsigned base, bool negative) {
  if (std::has_single_bit(base))
    return make_whole(in, read_power_of_two(in, digits, static_cast<unsigned>(std::countr_zero(base))), negative);
  const auto most = static_cast<size_t>(in.int_max_str_digits);
  if (most != 0 && digits.size() > most) throw_too_many_digits(in, digits.size());
  return make_whole(in, DigitsReader(in, base).read(digits), negative);
}

}  // namespace tessera::lang
