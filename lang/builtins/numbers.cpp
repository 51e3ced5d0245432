// abs, round, pow, divmod, bin, oct, hex, chr, ord.
#include <climits>
#include <cmath>

#include "lang/builtins/builtins.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/objects/class_slots.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/format.h"
#include "lang/types/number.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/steps.h"

namespace tessera::lang {
namespace {

std::string name_of(Interpreter& in, const Value& v) { return std::string(type_name(in, v)); }

Value abs_function(Interpreter& in, const Args& args) {
  const Value& x = args[0];
  if (x.is_float()) return Value::real(std::fabs(x.as_float()));
  if (is_whole(x)) return whole_absolute(in, x);
  const Value method = type_lookup(type_of(in, x), in.names->abs);
  if (method.is_undefined()) throw Error(ErrorKind::TypeError, "bad operand type for abs(): '" + name_of(in, x) + "'");
  return call_special(in, method, x);
}

bool short_abs(Interpreter&, Value* args, Value& answer) {
  const Value& x = args[0];
  if (x.is_float()) answer = Value::real(std::fabs(x.as_float()));
  else if (x.is_int() && x.as_int() != INT64_MIN) answer = Value::integer(std::abs(x.as_int()));
  else return false;
  return true;
}

Value round_function(Interpreter& in, const Args& args) {
  const Value& x = args[0];
  if (is_whole(x) || x.is_float()) return round_number(in, x, args[1]);
  const Value method = type_lookup(type_of(in, x), in.names->round);
  if (method.is_undefined())
    throw Error(ErrorKind::TypeError, "type " + name_of(in, x) + " doesn't define __round__ method");
  return args[1].is_none() ? call_special(in, method, x) : call_special(in, method, x, {args[1]});
}

[[noreturn]] void throw_unsupported_power(Interpreter& in, const Value& a, const Value& b, const Value& m) {
  throw Error(ErrorKind::TypeError, "unsupported operand type(s) for ** or pow(): '" + name_of(in, a) + "', '" +
                                        name_of(in, b) + "', '" + name_of(in, m) + "'");
}

bool is_real(const Value& v) { return is_whole(v) || v.is_float(); }

// Computes pow(a, b, m) by the slot of the type of `who`, one of the three arguments. A __pow__ of a script is called only for the first argument.
Value power_by(Interpreter& in, const Value& who, const Args& args) {
  const Value a = unboxed(args[0]), b = unboxed(args[1]), m = unboxed(args[2]), plain = unboxed(who);
  const Type* const type = type_of(in, who);
  const auto is_own = [&](Str* name) {
    const Value method = type_lookup(type, name);
    return !method.is_undefined() && !is_native_method(method);
  };
  if (is_own(in.names->pow) || is_own(in.names->rpow) || (!is_real(plain) && !is_complex(in, plain))) {
    const Value method = &who == &args[0] ? type_lookup(type, in.names->pow) : Value();
    return method.is_undefined() ? in.not_implemented : call_special(in, method, who, {args[1], args[2]});
  }
  if (plain.is_float()) throw Error(ErrorKind::TypeError, "pow() 3rd argument not allowed unless all arguments are integers");
  if (is_whole(plain)) return is_whole(a) && is_whole(b) && is_whole(m) ? whole_power_modulo(in, a, b, m) : in.not_implemented;
  for (const Value* each : {&a, &b})
    if (!is_real(*each) && !is_complex(in, *each)) return in.not_implemented;
  throw Error(ErrorKind::ValueError, "complex modulo");
}

Value pow_function(Interpreter& in, const Args& args) {
  if (args[2].is_none()) return binary(in, BinaryOp::Pow, args[0], args[1]);
  for (uint32_t i = 0; i < 3; ++i) {
    Value result = power_by(in, args[i], args);
    if (!result.is(in.not_implemented)) return result;
  }
  throw_unsupported_power(in, args[0], args[1], args[2]);
}

Value divmod_function(Interpreter& in, const Args& args) { return binary(in, BinaryOp::DivMod, args[0], args[1]); }

bool short_divmod(Interpreter& in, Value* args, Value& answer) {
  if (!args[0].is_int() || !args[1].is_int() || args[1].as_int() <= 0) return false;
  const int64_t a = args[0].as_int(), b = args[1].as_int();
  answer = make_tuple(in, {Value::integer(floor_quotient(a, b)), Value::integer(floor_remainder(a, b))});
  return true;
}

template <unsigned kBase>
Value in_base(Interpreter& in, const Args& args) {
  if (args[0].is_int()) {
    char text[72], *const end = text + sizeof text, *p = end;
    const int64_t number = args[0].as_int();
    uint64_t rest = number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    do *--p = "0123456789abcdef"[rest % kBase];
    while ((rest /= kBase) != 0);
    *--p = kBase == 2 ? 'b' : kBase == 8 ? 'o' : 'x';
    *--p = '0';
    if (number < 0) *--p = '-';
    const auto size = static_cast<size_t>(end - p);
    return make_str(in, {p, size}, size);
  }
  std::string text = whole_text(in, whole_index(in, args[0]), kBase);
  text.insert(text[0] == '-' ? 1 : 0, kBase == 2 ? "0b" : kBase == 8 ? "0o" : "0x");
  return make_str(in, text);
}

Value chr_function(Interpreter& in, const Args& args) {
  const int64_t i = args[0].is_int() ? args[0].as_int() : whole_to_int64(whole_index(in, args[0]), "int");
  if (i < INT32_MIN || i > INT32_MAX) throw Error(ErrorKind::OverflowError, "Python int too large to convert to C int");
  if (i < 0 || i > 0x10ffff) throw Error(ErrorKind::ValueError, "chr() arg not in range(0x110000)");
  return char_str(in, static_cast<uint32_t>(i));
}

bool short_chr(Interpreter& in, Value* args, Value& answer) {
  if (!args[0].is_int() || args[0].as_int() < 0 || args[0].as_int() > 127) return false;
  answer = char_str(in, static_cast<uint32_t>(args[0].as_int()));
  return true;
}

bool short_ord(Interpreter&, Value* args, Value& answer) {
  if (!is_str(args[0])) return false;
  const Str* const s = as_str(args[0]);
  if (s->size != 1) return false;
  answer = Value::integer(static_cast<unsigned char>(*s->data));
  return true;
}

Value ord_function(Interpreter& in, const Args& args) {
  if (!is_str(args[0]) && (is_bytes(args[0]) || is_byte_array(args[0]))) {
    const std::string_view bytes = bytes_of(args[0]);
    if (bytes.size() == 1) return Value::integer(static_cast<unsigned char>(bytes[0]));
    throw Error(ErrorKind::TypeError,
                "ord() expected a character, but string of length " + std::to_string(bytes.size()) + " found");
  }
  if (!is_str(args[0])) {
    throw Error(ErrorKind::TypeError, "ord() expected string of length 1, but " + name_of(in, args[0]) + " found");
  }
  const Str* s = as_str(args[0]);
  if (s->length != 1) {
    throw Error(ErrorKind::TypeError,
                "ord() expected a character, but string of length " + std::to_string(s->length) + " found");
  }
  const char* p = s->data;
  return Value::integer(s->is_ascii() ? static_cast<unsigned char>(*p) : decode_char(p));
}

constexpr NativeDef kRows[] = {
    {"abs(x, /)", abs_function, "Return the absolute value of the argument.", {short_abs, 1}},
    {"round(number, ndigits=None)", round_function, "Round a number to a given precision in decimal digits."},
    {"pow(base, exp, mod=None)", pow_function, "base**exp, or base**exp % mod."},
    {"divmod(x, y, /)", divmod_function, "Return the tuple (x//y, x%y).", {short_divmod, 2}},
    {"bin(number, /)", in_base<2>, "Return the binary representation of an integer."},
    {"oct(number, /)", in_base<8>, "Return the octal representation of an integer."},
    {"hex(number, /)", in_base<16>, "Return the hexadecimal representation of an integer."},
    {"chr(i, /)", chr_function, "Return a string of one character with ordinal i.", {short_chr, 1}},
    {"ord(c, /)", ord_function, "Return the code point of a string of one character.", {short_ord, 1}},
};

}  // namespace

void add_number_functions(Interpreter& in, Module& module) { define_all(in, module, kRows); }

}  // namespace tessera::lang
