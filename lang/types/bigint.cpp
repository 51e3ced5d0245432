// Operators of integers of any size: signs around the magnitudes of natural.h.
#include "lang/types/bigint.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "lang/core/error.h"
#include "lang/types/hash.h"
#include "lang/types/number.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

[[noreturn]] void throw_zero(const char* message) { throw Error(ErrorKind::ZeroDivisionError, message); }
[[noreturn]] void throw_too_large_for_float() {
  throw Error(ErrorKind::OverflowError, "int too large to convert to float");
}

constexpr Limb kOne[] = {1};
constexpr Limbs kOneLimb{kOne, 1};

Value sum(Interpreter& in, Limbs a, bool a_negative, Limbs b, bool b_negative) {
  if (a_negative == b_negative) return make_whole(in, add(in, a, b), a_negative);
  const int order = compare(a, b);
  if (order == 0) return Value::integer(0);
  return order > 0 ? make_whole(in, subtract(in, a, b), a_negative) : make_whole(in, subtract(in, b, a), b_negative);
}

// Floors: the remainder has the divisor's sign. Either result may be left out.
void floor_divide(Interpreter& in, const WholeView& a, const WholeView& b, Value* quotient, Value* remainder) {
  Division parts = divide(in, a.limbs(), b.limbs());
  const bool opposite = a.negative() != b.negative();
  if (opposite && !parts.remainder.is_zero()) {
    if (quotient != nullptr) parts.quotient = add(in, parts.quotient, kOneLimb);
    if (remainder != nullptr) parts.remainder = subtract(in, b.limbs(), parts.remainder);
  }
  if (quotient != nullptr) *quotient = make_whole(in, std::move(parts.quotient), opposite);
  if (remainder != nullptr) *remainder = make_whole(in, std::move(parts.remainder), b.negative());
}

// The leading 64 bits of a number of more bits, the lowest one set if anything below is: rounding them rounds the number.
Limb leading_bits(Limbs a, size_t bits) noexcept {
  const size_t drop = bits - kLimbBits;
  const size_t limb = drop / kLimbBits, shift = drop % kLimbBits;
  Limb top = a[limb] >> shift;
  if (shift != 0) top |= a[limb + 1] << (kLimbBits - shift);
  bool rest = shift != 0 && (a[limb] << (kLimbBits - shift)) != 0;
  for (size_t i = 0; i < limb && !rest; ++i) rest = a[i] != 0;
  return top | (rest ? 1 : 0);
}

// a * 2**-scale, rounded once; `sticky` says that the true value is a little larger than a.
double scaled(Limbs a, int64_t scale, bool sticky) {
  const size_t bits = bit_length(a);
  Limb top = bits > kLimbBits ? leading_bits(a, bits) : a.size == 0 ? 0 : a[0];
  int64_t exponent = (bits > kLimbBits ? static_cast<int64_t>(bits - kLimbBits) : 0) - scale;
  if (top == 0) return 0;
  const int zeros = std::countl_zero(top);
  top <<= zeros;
  exponent -= zeros;
  if (sticky) top |= 1;
  // The lowest bit that a double keeps; more are dropped below the normal numbers.
  const int64_t dropped = std::max<int64_t>(11, -1074 - exponent);
  if (dropped > 64) return 0;
  if (dropped == 64) return top > Limb{1} << 63 ? 5e-324 : 0;
  const Limb half = Limb{1} << (dropped - 1), rest = top & ((half << 1) - 1);
  Limb kept = top >> dropped;
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  return std::ldexp(static_cast<double>(kept), static_cast<int>(std::min<int64_t>(exponent + dropped, 4096)));
}

Value true_divide(Interpreter& in, const WholeView& a, const WholeView& b) {
  if (b.limbs().is_zero()) throw_zero("division by zero");
  if (a.limbs().is_zero()) return Value::real(b.negative() ? -0.0 : 0.0);
  const auto wanted = static_cast<int64_t>(bit_length(a.limbs())) - static_cast<int64_t>(bit_length(b.limbs()));
  double result = 0;
  if (wanted > 1025) {
    result = HUGE_VAL;
  } else if (wanted >= -1080) {
    // A quotient of 66 bits or more, and whether anything was left.
    const int64_t shift = 66 - wanted;
    const Natural top = shift >= 0 ? shift_left(in, a.limbs(), static_cast<size_t>(shift)) : Natural(in, a.limbs());
    const Natural bottom = shift < 0 ? shift_left(in, b.limbs(), static_cast<size_t>(-shift)) : Natural(in, b.limbs());
    const Division parts = divide(in, top, bottom);
    result = scaled(parts.quotient, shift, !parts.remainder.is_zero());
  }
  if (std::isinf(result)) throw Error(ErrorKind::OverflowError, "integer division result too large for a float");
  return Value::real(a.negative() != b.negative() ? -result : result);
}

Value int_power(Interpreter& in, const Value& a, const Value& b) {
  const WholeView base(a), exponent(b);
  if (exponent.negative()) return float_binary(in, BinaryOp::Pow, whole_to_float(a), whole_to_float(b));
  const bool odd = !exponent.limbs().is_zero() && (exponent.limbs()[0] & 1) != 0;
  uint64_t times = 0;
  if (!whole_to_uint64(b, times)) {
    if (base.limbs().size > 1 || (base.limbs().size == 1 && base.limbs()[0] > 1))
      throw Error(ErrorKind::MemoryError, std::string());
    return base.limbs().is_zero() ? Value::integer(0) : Value::integer(base.negative() && odd ? -1 : 1);
  }
  return make_whole(in, power(in, base.limbs(), times), base.negative() && odd);
}

Value shift(Interpreter& in, const Value& a, const Value& b, bool left) {
  const WholeView value(a), count(b);
  if (count.negative()) throw Error(ErrorKind::ValueError, "negative shift count");
  if (value.limbs().is_zero()) return Value::integer(0);
  const bool huge = count.limbs().size > 1 || (count.limbs().size == 1 && count.limbs()[0] >> 40 != 0);
  if (left) {
    if (huge && whole_bit_length(b) > 66) throw Error(ErrorKind::OverflowError, "too many digits in integer");
    if (huge) throw Error(ErrorKind::MemoryError, std::string());
    const size_t bits = count.limbs().is_zero() ? 0 : count.limbs()[0];
    return make_whole(in, shift_left(in, value.limbs(), bits), value.negative());
  }
  if (huge) return Value::integer(value.negative() ? -1 : 0);
  const size_t bits = count.limbs().is_zero() ? 0 : count.limbs()[0];
  Natural kept = shift_right(in, value.limbs(), bits);
  if (value.negative() && trailing_zeros(value.limbs()) < bits) kept = add(in, kept, kOneLimb);
  return make_whole(in, std::move(kept), value.negative());
}

// Limb by limb of the two's complement of a number that goes on with its sign.
class Complement {
 public:
  Complement(Limbs limbs, bool negative) noexcept : limbs_(limbs), negative_(negative), carry_(negative) {}
  Limb next() noexcept {
    const Limb limb = at_ < limbs_.size ? limbs_[at_] : 0;
    ++at_;
    if (!negative_) return limb;
    const Limb out = ~limb + (carry_ ? 1 : 0);
    carry_ = carry_ && out == 0;
    return out;
  }

 private:
  Limbs limbs_;
  size_t at_ = 0;
  bool negative_, carry_;
};

Value bitwise(Interpreter& in, BinaryOp op, const WholeView& a, const WholeView& b) {
  const auto combined = [op](Limb x, Limb y) { return op == BinaryOp::And ? x & y : op == BinaryOp::Or ? x | y : x ^ y; };
  const bool negative = combined(a.negative(), b.negative()) != 0;
  const size_t size = std::max(a.limbs().size, b.limbs().size) + 1;
  Natural result(in, size);
  Complement x(a.limbs(), a.negative()), y(b.limbs(), b.negative());
  for (size_t i = 0; i < size; ++i) result.data()[i] = combined(x.next(), y.next());
  if (negative) {
    Complement back({result.data(), size}, true);
    for (size_t i = 0; i < size; ++i) result.data()[i] = back.next();
  }
  result.set_size(size);
  return make_whole(in, std::move(result), negative);
}

}  // namespace

Value make_whole(Interpreter&, Natural magnitude, bool negative) {
  if (magnitude.size() <= 1) {
    const Limb value = magnitude.is_zero() ? 0 : magnitude.data()[0];
    if (value <= static_cast<Limb>(INT64_MAX) + (negative ? 1 : 0))
      return Value::integer(static_cast<int64_t>(negative ? ~value + 1 : value));
  }
  BigInt* const object = magnitude.release();
  object->aux = negative;
  return Value::adopt(object);
}

Value whole_from_uint64(Interpreter& in, uint64_t value) {
  if (value <= static_cast<uint64_t>(INT64_MAX)) return Value::integer(static_cast<int64_t>(value));
  return make_whole(in, Natural(in, Limbs{&value, 1}), false);
}

Value whole_from_float(Interpreter& in, double value) {
  if (value >= -9223372036854775808.0 && value < 9223372036854775808.0)
    return Value::integer(static_cast<int64_t>(value));
  if (std::isnan(value)) throw Error(ErrorKind::ValueError, "cannot convert float NaN to integer");
  if (std::isinf(value)) throw Error(ErrorKind::OverflowError, "cannot convert float infinity to integer");
  int exponent;
  const auto mantissa = static_cast<Limb>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
  return make_whole(in, shift_left(in, Limbs{&mantissa, 1}, static_cast<size_t>(exponent - 53)), value < 0);
}

int64_t whole_to_int64(const Value& whole, const char* c_type) {
  if (!is_big_int(whole)) return whole.as_int();
  throw_error(ErrorKind::OverflowError, "Python int too large to convert to C %s", c_type);
}

int whole_to_int(const Value& whole) {
  const int64_t number = whole_to_int64(whole, "int");
  if (number != static_cast<int32_t>(number))
    throw Error(ErrorKind::OverflowError, "Python int too large to convert to C int");
  return static_cast<int>(number);
}

bool whole_to_uint64(const Value& whole, uint64_t& out) noexcept {
  const WholeView view(whole);
  if (view.negative() || view.limbs().size > 1) return false;
  out = view.limbs().is_zero() ? 0 : view.limbs()[0];
  return true;
}

double whole_to_float(const Value& whole) {
  if (!is_big_int(whole)) return static_cast<double>(whole.as_int());
  const WholeView view(whole);
  const double result = bit_length(view.limbs()) > 1024 ? HUGE_VAL : scaled(view.limbs(), 0, false);
  if (std::isinf(result)) throw_too_large_for_float();
  return view.negative() ? -result : result;
}

double whole_to_fraction(const Value& whole, int64_t& exponent) noexcept {
  const WholeView view(whole);
  exponent = static_cast<int64_t>(bit_length(view.limbs()));
  double result = scaled(view.limbs(), exponent, false);
  if (result == 1.0) {
    result = 0.5;
    ++exponent;
  }
  return view.negative() ? -result : result;
}

Value whole_binary(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  const WholeView a(left), b(right);
  Value quotient, remainder;
  switch (op) {
    case BinaryOp::Add: return sum(in, a.limbs(), a.negative(), b.limbs(), b.negative());
    case BinaryOp::Sub: return sum(in, a.limbs(), a.negative(), b.limbs(), !b.negative());
    case BinaryOp::Mul: return make_whole(in, multiply(in, a.limbs(), b.limbs()), a.negative() != b.negative());
    case BinaryOp::TrueDiv: return true_divide(in, a, b);
    case BinaryOp::FloorDiv:
      if (b.limbs().is_zero()) throw_zero("integer division or modulo by zero");
      floor_divide(in, a, b, &quotient, nullptr);
      return quotient;
    case BinaryOp::Mod:
      if (b.limbs().is_zero()) throw_zero("integer modulo by zero");
      floor_divide(in, a, b, nullptr, &remainder);
      return remainder;
    case BinaryOp::DivMod:
      if (b.limbs().is_zero()) throw_zero("integer division or modulo by zero");
      floor_divide(in, a, b, &quotient, &remainder);
      return make_tuple(in, {std::move(quotient), std::move(remainder)});
    case BinaryOp::Pow: return int_power(in, left, right);
    case BinaryOp::LShift: return shift(in, left, right, true);
    case BinaryOp::RShift: return shift(in, left, right, false);
    case BinaryOp::And:
    case BinaryOp::Or:
    case BinaryOp::Xor: return bitwise(in, op, a, b);
    case BinaryOp::MatMul: break;
  }
  return in.not_implemented;
}

Value whole_unary(Interpreter& in, UnaryOp op, const Value& value) {
  if (op == UnaryOp::Pos) return is_big_int(value) ? value : Value::integer(value.as_int());
  const WholeView a(value);
  if (op == UnaryOp::Neg) return make_whole(in, Natural(in, a.limbs()), !a.negative());
  return sum(in, a.limbs(), !a.negative(), kOneLimb, true);  // ~a is -a - 1
}

Value whole_absolute(Interpreter& in, const Value& value) {
  return whole_sign(value) < 0 ? whole_unary(in, UnaryOp::Neg, value) : whole_unary(in, UnaryOp::Pos, value);
}

namespace {

// The inverse of `a` modulo `m`, by Euclid's algorithm with one cofactor.
Value inverse_modulo(Interpreter& in, const Value& a, const Value& m) {
  Value r0 = m, r1 = whole_binary(in, BinaryOp::Mod, a, m), t0 = Value::integer(0), t1 = Value::integer(1);
  while (whole_sign(r1) != 0) {
    in.check_stop();
    const WholeView x(r0), y(r1);
    Value quotient, rest;
    floor_divide(in, x, y, &quotient, &rest);
    Value t = whole_binary(in, BinaryOp::Sub, t0, whole_binary(in, BinaryOp::Mul, quotient, t1));
    t0 = std::exchange(t1, std::move(t));
    r0 = std::exchange(r1, std::move(rest));
  }
  if (compare_whole(r0, Value::integer(1)) != 0)
    throw Error(ErrorKind::ValueError, "base is not invertible for the given modulus");
  return whole_binary(in, BinaryOp::Mod, t0, m);
}

}  // namespace

static int64_t short_power_modulo(int64_t base, uint64_t exponent, int64_t modulus) {
  const auto times = [modulus](int64_t a, int64_t b) {
    return modulus <= INT32_MAX ? a * b % modulus : static_cast<int64_t>(static_cast<__int128>(a) * b % modulus);
  };
  int64_t result = 1 % modulus, square = base % modulus;
  if (square < 0) square += modulus;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = times(result, square);
    if (exponent > 1) square = times(square, square);
  }
  return result;
}

Value whole_power_modulo(Interpreter& in, const Value& base, const Value& exponent, const Value& modulus) {
  if (whole_sign(modulus) == 0) throw Error(ErrorKind::ValueError, "pow() 3rd argument cannot be 0");
  if (base.is_int() && exponent.is_int() && exponent.as_int() >= 0 && modulus.is_int() && modulus.as_int() > 0)
    return Value::integer(short_power_modulo(base.as_int(), static_cast<uint64_t>(exponent.as_int()), modulus.as_int()));
  const Value m = whole_absolute(in, modulus);
  const bool inverse = whole_sign(exponent) < 0;
  const Value b = inverse ? inverse_modulo(in, base, m) : whole_binary(in, BinaryOp::Mod, base, m);
  const WholeView bv(b), ev(exponent), mv(m);
  Value result = make_whole(in, power_modulo(in, bv.limbs(), ev.limbs(), mv.limbs()), false);
  return whole_sign(modulus) < 0 ? whole_binary(in, BinaryOp::Mod, result, modulus) : result;
}

Value whole_gcd(Interpreter& in, const Value& a, const Value& b) {
  if (a.is_int() && b.is_int() && a.as_int() != INT64_MIN && b.as_int() != INT64_MIN)
    return Value::integer(std::gcd(a.as_int(), b.as_int()));
  const WholeView x(a), y(b);
  return make_whole(in, greatest_common_divisor(in, x.limbs(), y.limbs()), false);
}

Value whole_square_root(Interpreter& in, const Value& a) {
  if (a.is_int() && a.as_int() < int64_t{1} << 52) return Value::integer(static_cast<int64_t>(std::sqrt(static_cast<double>(a.as_int()))));
  return make_whole(in, square_root(in, WholeView(a).limbs()), false);
}

Value whole_round(Interpreter& in, const Value& value, const Value& digits) {
  const WholeView places(digits);
  if (!places.negative()) return whole_unary(in, UnaryOp::Pos, value);
  const WholeView number(value);
  // A unit of more digits than twice the number has: the result is zero, and the unit need not be made.
  const size_t bits = bit_length(number.limbs());
  if (places.limbs().size > 1 || places.limbs()[0] > bits / 3 + 2) return Value::integer(0);
  const Value unit = whole_binary(in, BinaryOp::Pow, Value::integer(10), Value::integer(static_cast<int64_t>(places.limbs()[0])));
  Value quotient, rest;
  floor_divide(in, number, WholeView(unit), &quotient, &rest);
  const int order = compare_whole(whole_binary(in, BinaryOp::LShift, rest, Value::integer(1)), unit);
  const WholeView q(quotient);
  const bool odd = !q.limbs().is_zero() && (q.limbs()[0] & 1) != 0;
  if (order > 0 || (order == 0 && odd)) quotient = whole_binary(in, BinaryOp::Add, quotient, Value::integer(1));
  return whole_binary(in, BinaryOp::Mul, quotient, unit);
}

int whole_sign(const Value& a) noexcept {
  if (is_big_int(a)) return as_big_int(a)->negative() ? -1 : 1;
  return a.as_int() < 0 ? -1 : a.as_int() > 0;
}

int compare_whole(const Value& left, const Value& right) noexcept {
  if (!is_big_int(left) && !is_big_int(right)) return left.as_int() < right.as_int() ? -1 : left.as_int() > right.as_int();
  const WholeView a(left), b(right);
  if (a.negative() != b.negative()) return a.negative() ? -1 : 1;
  const int order = compare(a.limbs(), b.limbs());
  return a.negative() ? -order : order;
}

int compare_whole_float(const Value& a, double b) noexcept {
  if (!is_big_int(a)) return compare_int_float(a.as_int(), b);
  if (std::isnan(b)) return 2;
  const WholeView whole(a);
  const int sign = whole.negative() ? -1 : 1;
  if (whole.negative() != (b < 0)) return sign;
  if (std::isinf(b)) return -sign;
  const double magnitude = std::fabs(b);
  int exponent;
  const auto mantissa = static_cast<Limb>(std::ldexp(std::frexp(magnitude, &exponent), 53));
  const auto bits = static_cast<int64_t>(bit_length(whole.limbs()));
  if (exponent != bits) return bits < exponent ? -sign : sign;
  // Of 63 bits and more, a double is a whole number: its mantissa and zeros.
  const Limbs limbs = whole.limbs();
  const Limb top = bits > 64 ? leading_bits(limbs, static_cast<size_t>(bits)) : limbs[0];
  const Limb other = mantissa << (std::min<int64_t>(bits, 64) - 53);
  return top == other ? 0 : (top < other) == (sign > 0) ? -1 : 1;
}

int64_t hash_big_int(const BigInt* value) noexcept {
  // 2**64 is 8 modulo 2**61 - 1.
  uint64_t x = 0;
  for (size_t i = value->size; i-- > 0;) {
    const Limb limb = value->limbs()[i];
    const uint64_t sum = ((x << 3 & kHashModulus) | x >> 58) + (limb & kHashModulus) + (limb >> 61);
    x = sum % kHashModulus;
  }
  const int64_t result = value->negative() ? -static_cast<int64_t>(x) : static_cast<int64_t>(x);
  return result == -1 ? -2 : result;
}

uint64_t whole_bit_length(const Value& a) noexcept { return bit_length(WholeView(a).limbs()); }

uint64_t whole_bit_count(const Value& a) noexcept {
  const WholeView view(a);
  uint64_t count = 0;
  for (size_t i = 0; i < view.limbs().size; ++i) count += static_cast<uint64_t>(std::popcount(view.limbs()[i]));
  return count;
}

bool whole_to_bytes(const Value& value, unsigned char* out, size_t size, bool is_signed) noexcept {
  const WholeView view(value);
  if (view.negative() && !is_signed) return false;
  // Bits that the magnitude takes, and one for the sign; -2**n needs n bits and the sign's.
  size_t bits = bit_length(view.limbs());
  if (is_signed && bits != 0 && !(view.negative() && trailing_zeros(view.limbs()) + 1 == bits)) ++bits;
  if (bits > size * 8) return false;
  Complement complement(view.limbs(), view.negative());
  for (size_t i = 0; i < size; i += sizeof(Limb)) {
    Limb limb = complement.next();
    for (size_t j = i; j < std::min(size, i + sizeof(Limb)); ++j, limb >>= 8) out[j] = static_cast<unsigned char>(limb);
  }
  return true;
}

Value whole_of_bytes(Interpreter& in, const unsigned char* bytes, size_t size, bool is_signed) {
  const bool negative = is_signed && size != 0 && (bytes[size - 1] & 0x80) != 0;
  const size_t limbs = size / sizeof(Limb) + 1;
  Natural result(in, limbs);
  std::memset(result.data(), negative ? 0xff : 0, limbs * sizeof(Limb));
  std::memcpy(result.data(), bytes, size);  // little-endian hosts only, like the rest of the program
  if (negative) {
    Complement back({result.data(), limbs}, true);
    for (size_t i = 0; i < limbs; ++i) result.data()[i] = back.next();
  }
  result.set_size(limbs);
  return make_whole(in, std::move(result), negative);
}

}  // namespace tessera::lang
