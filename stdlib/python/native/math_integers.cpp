// math's functions of whole numbers: gcd, lcm, factorial, comb, perm, isqrt.
#include <algorithm>

#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

Value product(Interpreter& in, const Value& a, const Value& b) { return binary(in, BinaryOp::Mul, a, b); }

Value gcd_function(Interpreter& in, const Args& args) {
  Value g = Value::integer(0);
  for (const Value& v : *as_tuple(args[0])) g = whole_gcd(in, g, whole_index(in, v));
  return g;
}

bool short_gcd(Interpreter& in, Value* args, Value& answer) {
  if (!args[0].is_int() || !args[1].is_int()) return false;
  answer = whole_gcd(in, args[0], args[1]);
  return true;
}

Value lcm_function(Interpreter& in, const Args& args) {
  Value l = Value::integer(1);
  for (const Value& v : *as_tuple(args[0])) {
    const Value x = whole_index(in, v);
    if (whole_sign(l) == 0) continue;
    if (whole_sign(x) == 0) l = x;
    else l = whole_absolute(in, product(in, binary(in, BinaryOp::FloorDiv, l, whole_gcd(in, l, x)), x));
  }
  return l;
}

// first * (first + 1) * ... * (first + count - 1), in halves, so that the factors of long products are of one length.
Value rising_product(Interpreter& in, const Value& first, int64_t count) {
  in.check_stop();
  if (count > 16) {
    const int64_t half = count / 2;
    const Value low = rising_product(in, first, half);
    return product(in, low, rising_product(in, binary(in, BinaryOp::Add, first, Value::integer(half)), count - half));
  }
  Value result = Value::integer(1), factor = first;
  int64_t i = 0, next;
  for (; i < count && factor.is_int() && factor.as_int() != INT64_MAX; ++i) {
    if (__builtin_mul_overflow(result.as_int(), factor.as_int(), &next)) break;
    result.replace_int(next);
    factor.replace_int(factor.as_int() + 1);
  }
  for (; i < count; ++i) {
    result = product(in, result, factor);
    factor = binary(in, BinaryOp::Add, factor, Value::integer(1));
  }
  return result;
}

Value factorial_function(Interpreter& in, const Args& args) {
  if (args[0].is_float()) throw Error(ErrorKind::TypeError, "'float' object cannot be interpreted as an integer");
  const Value n = whole_index(in, args[0]);
  if (whole_sign(n) < 0) throw Error(ErrorKind::ValueError, "factorial() not defined for negative values");
  if (is_big_int(n))
    throw Error(ErrorKind::OverflowError, "factorial() argument should not exceed 9223372036854775807");
  return n.as_int() < 2 ? Value::integer(1) : rising_product(in, Value::integer(2), n.as_int() - 1);
}

struct Choice {
  Value n, k;
};

// n and k of comb and perm, neither negative.
Choice choice(Interpreter& in, const Args& args) {
  const Choice c{whole_index(in, args[0]), whole_index(in, args[1])};
  if (whole_sign(c.n) < 0) throw Error(ErrorKind::ValueError, "n must be a non-negative integer");
  if (whole_sign(c.k) < 0) throw Error(ErrorKind::ValueError, "k must be a non-negative integer");
  return c;
}

Value comb_function(Interpreter& in, const Args& args) {
  const Choice c = choice(in, args);
  const Value rest = binary(in, BinaryOp::Sub, c.n, c.k);
  if (whole_sign(rest) < 0) return Value::integer(0);
  const Value& k = compare_whole(rest, c.k) < 0 ? rest : c.k;
  if (is_big_int(k)) throw Error(ErrorKind::OverflowError, "min(n - k, k) must not exceed 9223372036854775807");
  const Value first = binary(in, BinaryOp::Add, binary(in, BinaryOp::Sub, c.n, k), Value::integer(1));
  return binary(in, BinaryOp::FloorDiv, rising_product(in, first, k.as_int()),
                rising_product(in, Value::integer(1), k.as_int()));
}

Value perm_function(Interpreter& in, const Args& args) {
  if (args[1].is_none()) return factorial_function(in, args);
  const Choice c = choice(in, args);
  const Value rest = binary(in, BinaryOp::Sub, c.n, c.k);
  if (whole_sign(rest) < 0) return Value::integer(0);
  if (is_big_int(c.k)) throw Error(ErrorKind::OverflowError, "k must not exceed 9223372036854775807");
  return rising_product(in, binary(in, BinaryOp::Add, rest, Value::integer(1)), c.k.as_int());
}

Value isqrt_function(Interpreter& in, const Args& args) {
  const Value n = whole_index(in, args[0]);
  if (whole_sign(n) < 0) throw Error(ErrorKind::ValueError, "isqrt() argument must be nonnegative");
  return whole_square_root(in, n);
}

constexpr NativeDef kRows[] = {
    {"comb(n, k, /)", comb_function, "Ways to choose k of n things, order ignored."},
    {"factorial(n, /)", factorial_function, "n!"},
    {"gcd(*integers)", gcd_function, "Greatest common divisor.", {short_gcd, 2}},
    {"isqrt(n, /)", isqrt_function, "Integer part of the square root."},
    {"lcm(*integers)", lcm_function, "Least common multiple."},
    {"perm(n, k=None, /)", perm_function, "Ways to choose k of n things in order."},
};

}  // namespace

void fill_math_integers(Interpreter& in, Module& module) {
  for (const NativeDef& row : kRows) in.def(module, row);
}

}  // namespace tessera::stdlib
