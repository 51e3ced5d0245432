// Arithmetic of numbers. Ints are 64 bits: what does not fit raises OverflowError.
#include "lang/types/number.h"

#include <bit>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdlib>

#include "lang/objects/class.h"
#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/types/format.h"
#include "lang/types/hash.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/types/unicode.h"

namespace tessera::lang {
namespace {

[[noreturn]] void throw_zero(const char* message) { throw Error(ErrorKind::ZeroDivisionError, message); }

int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) {
    if (a == INT64_MIN) throw_int_overflow("//");
    return -a;
  }
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

int64_t int_power(int64_t base, int64_t exponent) {
  if (exponent == 0) return 1;
  if (base == 0 || base == 1) return base;
  if (base == -1) return exponent % 2 != 0 ? -1 : 1;
  if (exponent > 63) throw_int_overflow("**");
  int64_t result = 1;
  for (;;) {
    if ((exponent & 1) && !multiply(result, base, result)) throw_int_overflow("**");
    exponent >>= 1;
    if (exponent == 0) return result;
    if (!multiply(base, base, base)) throw_int_overflow("**");
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

int64_t left_shift(int64_t a, int64_t n) {
  if (n < 0) throw Error(ErrorKind::ValueError, "negative shift count");
  if (a == 0) return 0;
  if (n > 62 || ((a << n) >> n) != a) throw_int_overflow("<<");
  return static_cast<int64_t>(static_cast<uint64_t>(a) << n);
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
  } else if (v.is_int() || v.is_bool()) {
    real = static_cast<double>(v.as_int());
  } else if (is_complex(in, v)) {
    real = static_cast<Complex*>(v.as_object())->real;
    imag = static_cast<Complex*>(v.as_object())->imag;
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

// Small whole exponents by multiplication, as CPython does, so that (1+2j)**2 is exact.
Value complex_power(Interpreter& in, double ar, double ai, double br, double bi) {
  if (br == 0 && bi == 0) return make_complex(in, 1, 0);
  if (ar == 0 && ai == 0) {
    if (bi != 0 || br < 0) throw_zero("0.0 to a negative or complex power");
    return make_complex(in, 0, 0);
  }
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
    return br < 0 ? complex_divide(in, 1, 0, rr, ri) : make_complex(in, rr, ri);
  }
  const double magnitude = std::hypot(ar, ai), angle = std::atan2(ai, ar);
  double length = std::pow(magnitude, br), phase = angle * br;
  if (bi != 0) {
    length *= std::exp(-angle * bi);
    phase += bi * std::log(magnitude);
  }
  const double real = length * std::cos(phase), imag = length * std::sin(phase);
  if ((std::isinf(real) || std::isinf(imag)) && std::isfinite(ar) && std::isfinite(ai) && std::isfinite(br) &&
      std::isfinite(bi)) {
    throw Error(ErrorKind::OverflowError, "complex exponentiation");
  }
  return make_complex(in, real, imag);
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

void throw_int_overflow(const char* op) {
  throw_error(ErrorKind::OverflowError, "integer overflow: the result of %s does not fit into 64 bits", op);
}

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
    return static_cast<Boxed*>(value.as_object())->value;
  return value;
}

Value int_binary(Interpreter& in, BinaryOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case BinaryOp::Add:
      if (__builtin_add_overflow(a, b, &result)) throw_int_overflow("+");
      return Value::integer(result);
    case BinaryOp::Sub:
      if (__builtin_sub_overflow(a, b, &result)) throw_int_overflow("-");
      return Value::integer(result);
    case BinaryOp::Mul:
      if (__builtin_mul_overflow(a, b, &result)) throw_int_overflow("*");
      return Value::integer(result);
    case BinaryOp::TrueDiv:
      if (b == 0) throw_zero("division by zero");
      return Value::real(true_divide(a, b));
    case BinaryOp::FloorDiv:
      if (b == 0) throw_zero("integer division or modulo by zero");
      return Value::integer(floor_div(a, b));
    case BinaryOp::Mod:
      if (b == 0) throw_zero("integer modulo by zero");
      return Value::integer(int_floor_mod(a, b));
    case BinaryOp::DivMod:
      if (b == 0) throw_zero("integer division or modulo by zero");
      return make_tuple(in, {Value::integer(floor_div(a, b)), Value::integer(int_floor_mod(a, b))});
    case BinaryOp::Pow:
      if (b < 0) return float_power(in, static_cast<double>(a), static_cast<double>(b));
      return Value::integer(int_power(a, b));
    case BinaryOp::LShift: return Value::integer(left_shift(a, b));
    case BinaryOp::RShift: return Value::integer(right_shift(a, b));
    case BinaryOp::And: return Value::integer(a & b);
    case BinaryOp::Or: return Value::integer(a | b);
    case BinaryOp::Xor: return Value::integer(a ^ b);
    case BinaryOp::MatMul: break;
  }
  return in.not_implemented;
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
      if (b == 0) throw_zero("float division by zero");
      return Value::real(a / b);
    case BinaryOp::FloorDiv:
      if (b == 0) throw_zero("float floor division by zero");
      float_divmod(a, b, quotient, remainder);
      return Value::real(quotient);
    case BinaryOp::Mod:
      if (b == 0) throw_zero("float modulo");
      return Value::real(floor_mod(a, b));
    case BinaryOp::DivMod:
      if (b == 0) throw_zero("float divmod()");
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
    if (i == INT64_MIN) throw_int_overflow("-");
    return Value::integer(-i);
  }
  if (a.is_float() && op != UnaryOp::Invert) return Value::real(op == UnaryOp::Neg ? -a.as_float() : a.as_float());
  if (is_complex(in, a) && op != UnaryOp::Invert) {
    const Complex* c = static_cast<Complex*>(a.as_object());
    return op == UnaryOp::Pos ? make_complex(in, c->real, c->imag) : make_complex(in, -c->real, -c->imag);
  }
  return in.not_implemented;
}

Value int_power_modulo(Interpreter&, int64_t base, int64_t exponent, int64_t modulus) {
  if (modulus == 0) throw Error(ErrorKind::ValueError, "pow() 3rd argument cannot be 0");
  const uint64_t m = modulus < 0 ? ~static_cast<uint64_t>(modulus) + 1 : static_cast<uint64_t>(modulus);
  auto reduce = [m](int64_t v) {
    const __int128 r = static_cast<__int128>(v) % static_cast<__int128>(m);
    return static_cast<uint64_t>(r < 0 ? r + static_cast<__int128>(m) : r);
  };
  auto times = [m](uint64_t x, uint64_t y) { return static_cast<uint64_t>(static_cast<unsigned __int128>(x) * y % m); };
  uint64_t b = reduce(base);
  if (exponent < 0) {  // the inverse, by Euclid
    __int128 r0 = m, r1 = b, t0 = 0, t1 = 1;
    while (r1 != 0) {
      const __int128 q = r0 / r1;
      std::swap(r0 -= q * r1, r1);
      std::swap(t0 -= q * t1, t1);
    }
    if (r0 != 1) throw Error(ErrorKind::ValueError, "base is not invertible for the given modulus");
    b = static_cast<uint64_t>(t0 < 0 ? t0 + static_cast<__int128>(m) : t0);
    if (exponent == INT64_MIN) throw_int_overflow("pow()");
    exponent = -exponent;
  }
  uint64_t result = 1 % m;
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result = times(result, b);
    b = times(b, b);
  }
  return Value::integer(modulus < 0 && result != 0 ? static_cast<int64_t>(result) + modulus
                                                   : static_cast<int64_t>(result));
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

Value number_compare(Interpreter& in, CompareOp op, const Value& left, const Value& right) {
  const Value a = unboxed(left), b = unboxed(right);
  const bool a_int = a.is_int() || a.is_bool(), b_int = b.is_int() || b.is_bool();
  int order;
  if (a_int && b_int) {
    order = a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int();
  } else if (a.is_float() && b.is_float()) {
    const double x = a.as_float(), y = b.as_float();
    order = x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
  } else if (a_int && b.is_float()) {
    order = compare_int_float(a.as_int(), b.as_float());
  } else if (a.is_float() && b_int) {
    order = compare_int_float(b.as_int(), a.as_float());
    if (order != 2) order = -order;
  } else {
    double ar, ai, br, bi;
    if (op != CompareOp::Eq && op != CompareOp::Ne) return in.not_implemented;
    if (!as_complex(in, a, ar, ai) || !as_complex(in, b, br, bi)) return in.not_implemented;
    const bool exact =
        (!a_int || compare_int_float(a.as_int(), br) == 0) && (!b_int || compare_int_float(b.as_int(), ar) == 0);
    if (!exact) return Value::boolean(op == CompareOp::Ne);
    return Value::boolean((ar == br && ai == bi) == (op == CompareOp::Eq));
  }
  return Value::boolean(order_holds(op, order));
}

int64_t int_from_float(Interpreter&, double value) {
  if (std::isnan(value)) throw Error(ErrorKind::ValueError, "cannot convert float NaN to integer");
  if (std::isinf(value)) throw Error(ErrorKind::OverflowError, "cannot convert float infinity to integer");
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) {
    throw Error(ErrorKind::OverflowError, "integer overflow: the float does not fit into 64 bits");
  }
  return static_cast<int64_t>(value);
}

int64_t round_half_even(Interpreter& in, double value) { return int_from_float(in, std::nearbyint(value)); }

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

int64_t round_int(int64_t value, int64_t digits) {
  if (digits >= 0) return value;
  if (digits < -18) return 0;
  int64_t unit = 1;
  for (int64_t i = digits; i < 0; ++i) unit *= 10;
  int64_t rest = int_floor_mod(value, unit);
  const int64_t down = value - rest;
  const bool odd = (down / unit) % 2 != 0;
  const bool up = rest > unit - rest || (rest == unit - rest && odd);
  int64_t result = down;
  if (up && __builtin_add_overflow(down, unit, &result)) throw_int_overflow("round()");
  return result;
}

}  // namespace

Value round_number(Interpreter& in, const Value& number, const Value& digits) {
  const Value value = unboxed(number);
  const bool given = !digits.is_undefined() && !digits.is_none();
  if (value.is_float()) {
    if (!given) return Value::integer(round_half_even(in, value.as_float()));
    const double result = round_decimals(value.as_float(), index(in, digits));
    if (std::isinf(result) && std::isfinite(value.as_float())) {
      throw Error(ErrorKind::OverflowError, "rounded value too large to represent");
    }
    return Value::real(result);
  }
  return Value::integer(given ? round_int(value.as_int(), index(in, digits)) : value.as_int());
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
