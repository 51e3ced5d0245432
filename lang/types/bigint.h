// Integers of any size. An int that fits into 64 bits is a Value with Tag::Int, always; any other is a BigInt (natural.h), an
// object with a magnitude and a sign. So equality, identity and hashes of small ints never meet a big one.
//
// "Whole" below: a Value that is an int, a bool or a BigInt. An instance of a script's subclass is asked for its value first
// (`unboxed` in number.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lang/core/object_cast.h"
#include "lang/core/type.h"
#include "lang/core/value.h"
#include "lang/types/natural.h"

namespace tessera::lang {

inline bool is_big_int(const Value& v) noexcept {
  return v.is_object() && v.as_object()->kind == ObjectKind::BigInt;
}
inline bool is_whole(const Value& v) noexcept { return v.is_int() || v.is_bool() || is_big_int(v); }
inline const BigInt* as_big_int(const Value& v) noexcept { return known_cast<const BigInt>(v); }

// The magnitude and the sign of a whole Value, which must outlive this.
class WholeView {
 public:
  explicit WholeView(const Value& v) noexcept {
    if (is_big_int(v)) {
      limbs_ = {as_big_int(v)->limbs(), as_big_int(v)->size};
      negative_ = as_big_int(v)->negative();
      return;
    }
    const int64_t i = v.as_int();
    negative_ = i < 0;
    small_ = negative_ ? ~static_cast<Limb>(i) + 1 : static_cast<Limb>(i);
    limbs_ = {&small_, size_t{i != 0}};
  }
  WholeView(const WholeView&) = delete;
  WholeView& operator=(const WholeView&) = delete;
  Limbs limbs() const noexcept { return limbs_; }
  bool negative() const noexcept { return negative_; }

 private:
  Limb small_ = 0;
  Limbs limbs_;
  bool negative_;
};

Value make_whole(Interpreter& in, Natural magnitude, bool negative);
Value whole_from_uint64(Interpreter& in, uint64_t value);
Value whole_from_float(Interpreter& in, double value);  // truncates; CPython's errors for infinities and NaN
// OverflowError "Python int too large to convert to C <c_type>" for a BigInt.
int64_t whole_to_int64(const Value& whole, const char* c_type = "ssize_t");
// OverflowError "Python int too large to convert to C int" for what has more than 32 bits.
int whole_to_int(const Value& whole);
// True, and the number, if it is from 0 to 2**64 - 1.
bool whole_to_uint64(const Value& whole, uint64_t& out) noexcept;
// Rounded to even. OverflowError "int too large to convert to float".
double whole_to_float(const Value& whole);
// value = fraction * 2**exponent, 0.5 <= |fraction| < 1, rounded to even.
double whole_to_fraction(const Value& whole, int64_t& exponent) noexcept;

// Like int_binary and number_unary, for any whole operands.
Value whole_binary(Interpreter& in, BinaryOp op, const Value& a, const Value& b);
Value whole_unary(Interpreter& in, UnaryOp op, const Value& a);
Value whole_power_modulo(Interpreter& in, const Value& base, const Value& exponent, const Value& modulus);
Value whole_gcd(Interpreter& in, const Value& a, const Value& b);
Value whole_absolute(Interpreter& in, const Value& a);
Value whole_square_root(Interpreter& in, const Value& a);                     // math.isqrt of a number that is not negative
Value whole_round(Interpreter& in, const Value& value, const Value& digits);  // round(value, digits), half to even
int whole_sign(const Value& a) noexcept;
int compare_whole(const Value& a, const Value& b) noexcept;
int compare_whole_float(const Value& a, double b) noexcept;  // exact; 2 when b is a NaN
int64_t hash_big_int(const BigInt* value) noexcept;
uint64_t whole_bit_length(const Value& a) noexcept;
uint64_t whole_bit_count(const Value& a) noexcept;

// Text. Only base 10 is bounded by sys.set_int_max_str_digits (a ValueError).
std::string whole_text(Interpreter& in, const Value& value, unsigned base = 10, bool upper = false);
// As whole_text in base 10, without that bound: for natives that write files and messages.
std::string whole_decimal(Interpreter& in, const Value& value);
// The number of digits in [2, 36], which are valid in the base: no sign, no underscore.
Value whole_of_digits(Interpreter& in, std::string_view digits, unsigned base, bool negative);

// Two's complement, the least significant byte first. False: the number does not fit into so many bytes.
bool whole_to_bytes(const Value& value, unsigned char* out, size_t size, bool is_signed) noexcept;
Value whole_of_bytes(Interpreter& in, const unsigned char* bytes, size_t size, bool is_signed);

}  // namespace tessera::lang
