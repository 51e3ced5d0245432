// Arithmetic of int, bool, float and complex, with CPython's results and messages. The virtual machine handles the
// common cases inline and comes here for the rest (overflow, zero, mixed types, the rarer operators).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "lang/core/make_object.h"
#include "lang/core/type.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Complex : Object {
  double real = 0, imag = 0;
};
// pow(x, 2), which rounds some squares otherwise than x * x does. Its error is below 0.52 units in the last place, so that the two agree
// unless x * x lies near the middle of two floats: `error` is what the product has lost.
inline double float_square(double x) noexcept {
  constexpr double kSplit = 134217729.0;  // 2^27 + 1: halves of 26 bits, whose products are exact
  constexpr double kSafe = 0.47 * 0x1p-52, kLeast = 0x1p-400, kMost = 0x1p400;
  const double square = x * x, scaled = kSplit * x, high = scaled - (scaled - x), low = x - high;
  const double error = ((high * high - square) + 2.0 * high * low) + low * low;
  const double power = std::bit_cast<double>(std::bit_cast<uint64_t>(square) & uint64_t{0x7ff} << 52);  // of two, not above the square
  const bool agrees = square > kLeast && square < kMost && std::abs(error) < kSafe * power;
  const volatile double two = 2.0;  // the compiler makes x * x of a pow(x, 2.0) that it sees
  return agrees ? square : std::pow(x, two);
}
inline bool is_complex(Interpreter& in, const Value& v) noexcept {
  if (!v.is_object()) return false;
  const Type* type = v.as_object()->type;
  return type == in.types.complex || type->is_subtype_of(in.types.complex);
}
Value make_complex(Interpreter& in, double real, double imag, Type* type = nullptr);  // null: plain complex
// Reads a complex number, a real one or what a class's __complex__ returns (unless `ask` is false). Returns false if `v` is no number.
bool complex_parts(Interpreter& in, const Value& v, double& real, double& imag, bool ask = true);
std::string complex_repr(double real, double imag);

Value int_binary(Interpreter& in, BinaryOp op, int64_t a, int64_t b);
Value float_binary(Interpreter& in, BinaryOp op, double a, double b);
// NotImplemented unless both are numbers (a Boxed int or float counts as its immediate).
Value number_binary(Interpreter& in, BinaryOp op, const Value& a, const Value& b);
Value number_unary(Interpreter& in, UnaryOp op, const Value& a);
// The number inside of a Boxed (an immediate or a BigInt); else the value itself.
Value unboxed(const Value& value);

// Exact, also beyond 2**53: -1, 0, 1, or 2 when a NaN is in it.
int compare_int_float(int64_t a, double b) noexcept;
// Of two numbers; NotImplemented otherwise.
Value number_compare(Interpreter& in, CompareOp op, const Value& a, const Value& b);
bool order_holds(CompareOp op, int order) noexcept;  // order as above

double floor_mod(double a, double b) noexcept;           // b != 0
// The message of the ZeroDivisionError that an operator raises for two ints, bools or floats, or null.
const char* zero_division(BinaryOp op, const Value& left, const Value& right) noexcept;
Value round_number(Interpreter& in, const Value& value, const Value& digits);
// operator.index: a whole Value (bigint.h) of an int, a bool or an object with __index__; else TypeError.
Value whole_index(Interpreter& in, const Value& value);
// DeprecationWarning: `method` answered an instance of a class below int or float, which `kind` names.
void warn_of_subclass(Interpreter& in, const std::string& method, const Value& answer, const char* kind);

// int('…', base) and float('…'). Undefined, or false, if the text is no number.
Value parse_int(Interpreter& in, std::string_view text, int base);
bool parse_float(std::string_view text, double& out);
double parse_hex_float(std::string_view text);              // float.fromhex
bool parse_float_text(std::string_view text, double& out);  // no blanks, no underscores
bool strip_underscores(std::string& number);                // false: one stands elsewhere than between digits

}  // namespace tessera::lang
