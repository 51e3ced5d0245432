// Arithmetic of numbers. Ints of 64 bits are handled here; a result or an operand beyond that is handed to bigint.h.
#include "lang/types/number.h"

#include <bit>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdlib>

#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/format.h"
#include "lang/types/hash.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/types/unicode.h"

namespace tessera::lang {
namespace {

[[noreturn]] void throw_zero(const char* message) { throw Error(ErrorKind::ZeroDivisionError, message); }

// Of a division by zero; null for operators that do not divide.
const char* zero_message(BinaryOp op, bool real) {
  switch (op) {
    case BinaryOp::TrueDiv: return real ? "float division by zero" : "division by zero";
    case BinaryOp::FloorDiv: return real ? "float floor division by zero" : "integer division or modulo by zero";
    case BinaryOp::Mod: return real ? "float modulo" : "integer modulo by zero";
    case BinaryOp::DivMod: return real ? "float divmod()" : "integer division or modulo by zero";
    default: return nullptr;
  }
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) return -a;  // a is not INT64_MIN
  const int64_t q = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t int_floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

// Rounded once: the quotient's leading 64 bits, with a last bit that says whether anything was left.
double true_divide(int64_t a, int64_t b) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (a >= -kExact && a <= kExact && b >= -kExact && b <= kExact)
    return static_cast<double>(a) / static_cast<double>(b);
  const bool negative = (a < 0) != (b < 0);
  const uint64_t n = a < 0 ? ~static_cast<uint64_t>(a) + 1 : static_cast<uint64_t>(a);
  const uint64_t d = b < 0 ? ~static_cast<uint64_t>(b) + 1 : static_cast<uint64_t>(b);
  if (n == 0) return negative ? -0.0 : 0.0;
  // As far to the left as it goes, so that a small n by a large d keeps 64 bits too.
  int shift = 64 + std::countl_zero(n);
  const unsigned __int128 wide = static_cast<unsigned __int128>(n) << shift;
  const unsigned __int128 q = wide / d;
  bool rest = wide % d != 0;
  const auto high = static_cast<uint64_t>(q >> 64);
  const int width = high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<uint64_t>(q));
  const int surplus = width - 62;  // 62 bits are enough, and leave room for the sticky bit
  rest = rest || (q & ((static_cast<unsigned __int128>(1) << surplus) - 1)) != 0;
  shift -= surplus;
  const uint64_t bits = static_cast<uint64_t>(q >> surplus) << 1 | (rest ? 1 : 0);
  const double result = std::ldexp(static_cast<double>(bits), -shift - 1);
  return negative ? -result : result;
}

bool multiply(int64_t a, int64_t b, int64_t& out) { return !__builtin_mul_overflow(a, b, &out); }

// False if the power does not fit into 64 bits.
bool int_power(int64_t base, int64_t exponent, int64_t& result) {
  result = 1;
  if (exponent == 0) return true;
  if (base == 0 || base == 1 || base == -1) {
    result = base == -1 && exponent % 2 == 0 ? 1 : base;
    return true;
  }
  if (exponent > 63) return false;
  for (;;) {
    if ((exponent & 1) && !multiply(result, base, result)) return false;
    exponent >>= 1;
    if (exponent == 0) return true;
    if (!multiply(base, base, base)) return false;
  }
}

Value complex_power(Interpreter& in, double ar, double ai, double br, double bi);

Value float_power(Interpreter& in, double a, double b) {
  if (b == 0 || a == 1) return Value::real(1);
  if (std::isnan(a) || std::isnan(b)) return Value::real(a + b);
  if (a == 0 && b < 0 && !std::isinf(b)) throw_zero("0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    return complex_power(in, a, 0, b, 0);
  }
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
    throw Error(ErrorKind::OverflowError,
                make_tuple(in, {Value::integer(34), make_str(in, "Numerical result out of range")}));
  }
  return Value::real(result);
}

// False if the result does not fit into 64 bits.
bool left_shift(int64_t a, int64_t n, int64_t& result) {
  if (n < 0) throw Error(ErrorKind::ValueError, "negative shift count");
  if (a != 0 && (n > 62 || ((a << n) >> n) != a)) return false;
  result = a == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << n);
  return true;
}

int64_t right_shift(int64_t a, int64_t n) {
  if (n < 0) throw Error(ErrorKind::ValueError, "negative shift count");
  return n > 63 ? (a < 0 ? -1 : 0) : a >> n;
}

void float_divmod(double a, double b, double& quotient, double& remainder) {
  double mod = std::fmod(a, b);
  double div = (a - mod) / b;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) {
      mod += b;
      div -= 1.0;
    }
  } else {
    mod = std::copysign(0.0, b);
  }
  if (div != 0) {
    quotient = std::floor(div);
    if (div - quotient > 0.5) quotient += 1.0;
  } else {
    quotient = std::copysign(0.0, a / b);
  }
  remainder = mod;
}

Value complex_binary(Interpreter& in, BinaryOp op, const Value& a, const Value& b);

bool as_complex(Interpreter& in, const Value& v, double& real, double& imag) {
  imag = 0;
  if (v.is_float()) {
    real = v.as_float();
  } else if (is_whole(v)) {
    real = whole_to_float(v);
  } else if (is_complex(in, v)) {
    real = object_cast<Complex>(v)->real;
    imag = object_cast<Complex>(v)->imag;
  } else {
    return false;
  }
  return true;
}

Value complex_divide(Interpreter& in, double ar, double ai, double br, double bi) {
  if (br == 0 && bi == 0) throw_zero("complex division by zero");
  if (std::fabs(br) >= std::fabs(bi)) {
    const double ratio = bi / br, denominator = br + bi * ratio;
    return make_complex(in, (ar + ai * ratio) / denominator, (ai - ar * ratio) / denominator);
  }
  const double ratio = br / bi, denominator = br * ratio + bi;
  return make_complex(in, (ar * ratio + ai) / denominator, (ai * ratio - ar) / denominator);
}

Value finite_power(Interpreter& in, double real, double imag) {
  if (std::isinf(real) || std::isinf(imag)) throw Error(ErrorKind::OverflowError, "complex exponentiation");
  return make_complex(in, real, imag);
}

// Small whole exponents by multiplication, as CPython does, so that (1+2j)**2 is exact.
Value complex_power(Interpreter& in, double ar, double ai, double br, double bi) {
  if (br == 0 && bi == 0) return make_complex(in, 1, 0);
  const bool of_zero = ar == 0 && ai == 0;
  if (of_zero && (bi != 0 || br < 0)) throw_zero("0.0 to a negative or complex power");
  if (bi == 0 && br == std::floor(br) && std::fabs(br) <= 100) {
    double rr = 1, ri = 0, pr = ar, pi = ai;
    for (uint32_t n = static_cast<uint32_t>(std::fabs(br)); n != 0; n >>= 1) {
      if (n & 1) {
        const double t = rr * pr - ri * pi;
        ri = rr * pi + ri * pr;
        rr = t;
      }
      const double t = pr * pr - pi * pi;
      pi = pr * pi + pi * pr;
      pr = t;
    }
    if (br > 0) return finite_power(in, rr, ri);
    as_complex(in, complex_divide(in, 1, 0, rr, ri), rr, ri);
    return finite_power(in, rr, ri);
  }
  if (of_zero) return make_complex(in, 0, 0);
  const double magnitude = std::hypot(ar, ai), angle = std::atan2(ai, ar);
  double length = std::pow(magnitude, br), phase = angle * br;
  if (bi != 0) {
    length *= std::exp(-angle * bi);
    phase += bi * std::log(magnitude);
  }
  return finite_power(in, length * std::cos(phase), length * std::sin(phase));
}

Value complex_binary(Interpreter& in, BinaryOp op, const Value& a, const Value& b) {
  double ar, ai, br, bi;
  if (!as_complex(in, a, ar, ai) || !as_complex(in, b, br, bi)) return in.not_implemented;
  switch (op) {
    case BinaryOp::Add: return make_complex(in, ar + br, ai + bi);
    case BinaryOp::Sub: return make_complex(in, ar - br, ai - bi);
    case BinaryOp::Mul: return make_complex(in, ar * br - ai * bi, ar * bi + ai * br);
    case BinaryOp::TrueDiv: return complex_divide(in, ar, ai, br, bi);
    case BinaryOp::Pow: return complex_power(in, ar, ai, br, bi);
    default: return in.not_implemented;
  }
}

}  // namespace

Value make_complex(Interpreter& in, double real, double imag, Type* type) {
  Complex* c = make_object<Complex>(in, type != nullptr ? type : in.types.complex);
  c->real = real;
  c->imag = imag;
  return Value::adopt(c);
}

std::string complex_repr(double real, double imag) {
  const std::string im = float_text(imag, 'r', 0) + "j";
  if (real == 0 && !std::signbit(real)) return im;
  const bool plus = !std::signbit(imag) || std::isnan(imag);
  return "(" + float_text(real, 'r', 0) + (plus ? "+" : "") + im + ")";
}

Value unboxed(const Value& value) {
  if (value.is_object() && value.as_object()->kind == ObjectKind::Boxed)
    return object_cast<Boxed>(value)->value;
  return value;
}

namespace {

// The rare way of an operator whose result does not fit into 64 bits.
[[gnu::noinline, gnu::cold]] Value int_binary_wide(Interpreter& in, BinaryOp op, int64_t a, int64_t b) {
  return whole_binary(in, op, Value::integer(a), Value::integer(b));
}

}  // namespace

Value int_binary(Interpreter& in, BinaryOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case BinaryOp::Add:
      if (__builtin_add_overflow(a, b, &result)) return int_binary_wide(in, op, a, b);
      return Value::integer(result);
    case BinaryOp::Sub:
      if (__builtin_sub_overflow(a, b, &result)) return int_binary_wide(in, op, a, b);
      return Value::integer(result);
    case BinaryOp::Mul:
      if (__builtin_mul_overflow(a, b, &result)) return int_binary_wide(in, op, a, b);
      return Value::integer(result);
    case BinaryOp::TrueDiv:
      if (b == 0) throw_zero(zero_message(op, false));
      return Value::real(true_divide(a, b));
    case BinaryOp::FloorDiv:
      if (b == 0) throw_zero(zero_message(op, false));
      if (a == INT64_MIN && b == -1) return int_binary_wide(in, op, a, b);
      return Value::integer(floor_div(a, b));
    case BinaryOp::Mod:
      if (b == 0) throw_zero(zero_message(op, false));
      return Value::integer(int_floor_mod(a, b));
    case BinaryOp::DivMod:
      if (b == 0) throw_zero(zero_message(op, false));
      if (a == INT64_MIN && b == -1) return int_binary_wide(in, op, a, b);
      return make_tuple(in, {Value::integer(floor_div(a, b)), Value::integer(int_floor_mod(a, b))});
    case BinaryOp::Pow:
      if (b < 0) return float_power(in, static_cast<double>(a), static_cast<double>(b));
      if (!int_power(a, b, result)) return int_binary_wide(in, op, a, b);
      return Value::integer(result);
    case BinaryOp::LShift:
      if (!left_shift(a, b, result)) return int_binary_wide(in, op, a, b);
      return Value::integer(result);
    case BinaryOp::RShift: return Value::integer(right_shift(a, b));
    case BinaryOp::And: return Value::integer(a & b);
    case BinaryOp::Or: return Value::integer(a | b);
    case BinaryOp::Xor: return Value::integer(a ^ b);
    case BinaryOp::MatMul: break;
  }
  return in.not_implemented;
}

const char* zero_division(BinaryOp op, const Value& left, const Value& right) noexcept {
  const bool reals = left.is_float() || right.is_float();
  const auto is_small = [](const Value& v) { return v.is_int() || v.is_bool() || v.is_float(); };
  if (!is_small(left) || (right.is_float() ? right.as_float() != 0 : !is_small(right) || right.as_int() != 0)) return nullptr;
  return zero_message(op, reals);
}

double floor_mod(double a, double b) noexcept {
  const double mod = std::fmod(a, b);
  if (mod == 0) return std::copysign(0.0, b);
  return (b < 0) != (mod < 0) ? mod + b : mod;
}

Value float_binary(Interpreter& in, BinaryOp op, double a, double b) {
  double quotient, remainder;
  switch (op) {
    case BinaryOp::Add: return Value::real(a + b);
    case BinaryOp::Sub: return Value::real(a - b);
    case BinaryOp::Mul: return Value::real(a * b);
    case BinaryOp::TrueDiv:
      if (b == 0) throw_zero(zero_message(op, true));
      return Value::real(a / b);
    case BinaryOp::FloorDiv:
      if (b == 0) throw_zero(zero_message(op, true));
      float_divmod(a, b, quotient, remainder);
      return Value::real(quotient);
    case BinaryOp::Mod:
      if (b == 0) throw_zero(zero_message(op, true));
      return Value::real(floor_mod(a, b));
    case BinaryOp::DivMod:
      if (b == 0) throw_zero(zero_message(op, true));
      float_divmod(a, b, quotient, remainder);
      return make_tuple(in, {Value::real(quotient), Value::real(remainder)});
    case BinaryOp::Pow: return float_power(in, a, b);
    default: return in.not_implemented;
  }
}

Value number_binary(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  const Value a = unboxed(left), b = unboxed(right);
  const bool a_int = a.is_int() || a.is_bool(), b_int = b.is_int() || b.is_bool();
  if (a_int && b_int) {
    if (a.is_bool() && b.is_bool() && (op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor)) {
      const bool x = a.as_bool(), y = b.as_bool();
      return Value::boolean(op == BinaryOp::And ? x && y : op == BinaryOp::Or ? x || y : x != y);
    }
    return int_binary(in, op, a.as_int(), b.as_int());
  }
  if (is_whole(a) && is_whole(b)) return whole_binary(in, op, a, b);
  if (is_big_int(a) && b.is_float()) return float_binary(in, op, whole_to_float(a), b.as_float());
  if (a.is_float() && is_big_int(b)) return float_binary(in, op, a.as_float(), whole_to_float(b));
  if ((a_int || a.is_float()) && (b_int || b.is_float())) {
    return float_binary(in, op, a_int ? static_cast<double>(a.as_int()) : a.as_float(),
                        b_int ? static_cast<double>(b.as_int()) : b.as_float());
  }
  if (is_complex(in, a) || is_complex(in, b)) return complex_binary(in, op, a, b);
  return in.not_implemented;
}

Value number_unary(Interpreter& in, UnaryOp op, const Value& value) {
  const Value a = unboxed(value);
  if (a.is_int() || a.is_bool()) {
    const int64_t i = a.as_int();
    if (op == UnaryOp::Invert) return Value::integer(~i);
    if (op == UnaryOp::Pos) return Value::integer(i);
    if (i == INT64_MIN) return whole_unary(in, op, a);
    return Value::integer(-i);
  }
  if (is_big_int(a)) return whole_unary(in, op, a);
  if (a.is_float() && op != UnaryOp::Invert) return Value::real(op == UnaryOp::Neg ? -a.as_float() : a.as_float());
  if (is_complex(in, a) && op != UnaryOp::Invert) {
    const Complex* c = object_cast<Complex>(a);
    return op == UnaryOp::Pos ? make_complex(in, c->real, c->imag) : make_complex(in, -c->real, -c->imag);
  }
  return in.not_implemented;
}

int compare_int_float(int64_t a, double b) noexcept {
  if (std::isnan(b)) return 2;
  if (b >= 9223372036854775808.0) return -1;
  if (b < -9223372036854775808.0) return 1;
  const double whole = std::trunc(b);
  const int64_t i = static_cast<int64_t>(whole);
  if (a != i) return a < i ? -1 : 1;
  return b > whole ? -1 : b < whole ? 1 : 0;
}

bool order_holds(CompareOp op, int order) noexcept {
  if (order == 2) return op == CompareOp::Ne;
  switch (op) {
    case CompareOp::Lt: return order < 0;
    case CompareOp::Le: return order <= 0;
    case CompareOp::Eq: return order == 0;
    case CompareOp::Ne: return order != 0;
    case CompareOp::Gt: return order > 0;
    case CompareOp::Ge: return order >= 0;
  }
  return false;
}

namespace {

// == and != of numbers one of which is complex. NotImplemented if one is not a number.
Value complex_equal(Interpreter& in, CompareOp op, const Value& a, const Value& b) {
  const bool a_whole = is_whole(a);
  if (a_whole || is_whole(b)) {
    const Value& other = a_whole ? b : a;
    if (!is_complex(in, other)) return in.not_implemented;
    const Complex* const c = object_cast<Complex>(other);
    const bool equal = c->imag == 0 && compare_whole_float(a_whole ? a : b, c->real) == 0;
    return Value::boolean(equal == (op == CompareOp::Eq));
  }
  double ar, ai, br, bi;
  if (!as_complex(in, a, ar, ai) || !as_complex(in, b, br, bi)) return in.not_implemented;
  return Value::boolean((ar == br && ai == bi) == (op == CompareOp::Eq));
}

}  // namespace

Value number_compare(Interpreter& in, CompareOp op, const Value& left, const Value& right) {
  const Value a = unboxed(left), b = unboxed(right);
  const bool a_int = a.is_int() || a.is_bool(), b_int = b.is_int() || b.is_bool();
  int order;
  if (a_int && b_int) {
    order = a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int();
  } else if (is_whole(a) && is_whole(b)) {
    order = compare_whole(a, b);
  } else if (a.is_float() && b.is_float()) {
    const double x = a.as_float(), y = b.as_float();
    order = x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
  } else if (is_whole(a) && b.is_float()) {
    order = compare_whole_float(a, b.as_float());
  } else if (a.is_float() && is_whole(b)) {
    order = compare_whole_float(b, a.as_float());
    if (order != 2) order = -order;
  } else {
    if (op != CompareOp::Eq && op != CompareOp::Ne) return in.not_implemented;
    return complex_equal(in, op, a, b);
  }
  return Value::boolean(order_holds(op, order));
}

namespace {

// To a number of decimals, exactly: the decimal expansion decides, half to even.
double round_decimals(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 323) return value;
  if (digits < -308) return std::copysign(0.0, value);
  if (digits >= 0) {
    const std::string text = float_text(value, 'f', static_cast<int>(digits));
    return std::strtod(text.c_str(), nullptr);
  }
  // Tens, hundreds …: drop digits of the integer part by hand.
  std::string text = float_text(value, 'f', 60);
  const bool negative = text[0] == '-';
  if (negative) text.erase(0, 1);
  const size_t point = text.find('.');
  const size_t keep = point > static_cast<size_t>(-digits) ? point - static_cast<size_t>(-digits) : 0;
  std::string head = text.substr(0, keep), tail = text.substr(keep);
  std::erase(tail, '.');
  if (static_cast<size_t>(-digits) > point) tail.insert(0, static_cast<size_t>(-digits) - point, '0');
  bool up = tail[0] > '5';
  if (tail[0] == '5') {
    const bool exact_half = tail.find_first_not_of('0', 1) == tail.npos;
    up = !exact_half || (!head.empty() && (head.back() - '0') % 2 == 1);
  }
  double result = std::strtod(((head.empty() ? "0" : head) + "e" + std::to_string(-digits)).c_str(), nullptr);
  if (up) {
    std::string one = head.empty() ? "0" : head;
    size_t i = one.size();
    while (i > 0 && one[i - 1] == '9') one[--i] = '0';
    if (i == 0) {
      one.insert(0, 1, '1');
    } else {
      ++one[i - 1];
    }
    result = std::strtod((one + "e" + std::to_string(-digits)).c_str(), nullptr);
  }
  return negative ? -result : result;
}

// The number of decimals, or a bound that is as good as any beyond it.
int64_t decimals(Interpreter& in, const Value& digits) {
  const Value whole = whole_index(in, digits);
  return is_big_int(whole) ? whole_sign(whole) * (int64_t{1} << 20) : whole.as_int();
}

}  // namespace

Value round_number(Interpreter& in, const Value& number, const Value& digits) {
  const Value value = unboxed(number);
  const bool given = !digits.is_undefined() && !digits.is_none();
  if (value.is_float()) {
    if (!given) return whole_from_float(in, std::nearbyint(value.as_float()));
    const double result = round_decimals(value.as_float(), decimals(in, digits));
    if (std::isinf(result) && std::isfinite(value.as_float())) {
      throw Error(ErrorKind::OverflowError, "rounded value too large to represent");
    }
    return Value::real(result);
  }
  return given ? whole_round(in, value, whole_index(in, digits)) : whole_unary(in, UnaryOp::Pos, value);
}

int64_t hash_float(double value) noexcept {
  if (!std::isfinite(value)) return std::isnan(value) ? 0x5a17f0a7 : value > 0 ? 314159 : -314159;
  int exponent;
  double mantissa = std::frexp(value, &exponent);
  const bool negative = mantissa < 0;
  if (negative) mantissa = -mantissa;
  uint64_t x = 0;
  while (mantissa != 0) {  // 28 bits at a time
    x = ((x << 28) & kHashModulus) | x >> (61 - 28);
    mantissa *= 268435456.0;
    exponent -= 28;
    const uint64_t y = static_cast<uint64_t>(mantissa);
    mantissa -= static_cast<double>(y);
    x += y;
    if (x >= kHashModulus) x -= kHashModulus;
  }
  exponent = exponent >= 0 ? exponent % 61 : 61 - 1 - ((-1 - exponent) % 61);
  x = ((x << exponent) & kHashModulus) | x >> (61 - exponent);
  const int64_t result = negative ? -static_cast<int64_t>(x) : static_cast<int64_t>(x);
  return result == -1 ? -2 : result;
}

}  // namespace tessera::lang
