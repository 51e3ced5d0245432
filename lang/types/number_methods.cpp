// int, bool, float and complex: their types, slots and methods. The slots serve instances of script subclasses (Boxed)
// and the rare ways; the machine computes with immediates by itself.
#include <algorithm>
#include <cctype>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdlib>

#include "lang/core/failure.h"
#include "lang/objects/exception.h"
#include "lang/core/bind.h"
#include "lang/core/bind_maker.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/objects/class_slots.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/format.h"
#include "lang/types/hash.h"
#include "lang/types/iterators.h"
#include "lang/types/number.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/types/unicode.h"

namespace tessera::lang {

void name_class_in(Interpreter& in, const Value& self, std::string_view built_in, Error& error) {
  const std::string tail = "for object of type '" + std::string(built_in) + "'";
  if (!error.message.ends_with(tail)) return;
  error.message.replace(error.message.size() - built_in.size() - 1, built_in.size(), type_name(in, self));
}

namespace {

// --- slots

Value repr_slot(Interpreter& in, const Value& self) {
  const Value plain = unboxed(self);
  return is_big_int(plain) ? make_str(in, whole_text(in, plain)) : repr(in, plain);
}
Value format_slot(Interpreter& in, const Value& self, std::string_view spec) {
  if (spec.empty()) return str(in, self);
  const Value plain = unboxed(self);
  try {
    // CPython converts an int with float() before it formats it as one: the __float__ of its class gives the number.
    if (is_whole(plain) && std::string_view("eEfFgG%").find(spec.back()) != std::string_view::npos)
      return format(in, Value::real(to_float(in, self)), spec);
    return is_big_int(plain) ? format_int_value(in, plain, spec) : format(in, plain, spec);
  } catch (Error& error) {
    name_class_in(in, self, type_name(in, plain), error);
    throw;
  }
}
int64_t hash_slot(Interpreter& in, const Value& self) {
  const Value plain = unboxed(self);
  return is_big_int(plain) ? hash_big_int(as_big_int(plain)) : hash(in, plain);
}
bool truth_slot(Interpreter& in, const Value& self) {
  const Value plain = unboxed(self);
  return is_big_int(plain) || truth(in, plain);
}
Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  return number_compare(in, op, self, other);
}
Value binary_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  return reflected ? number_binary(in, op, other, self) : number_binary(in, op, self, other);
}
Value unary_slot(Interpreter& in, UnaryOp op, const Value& self) { return number_unary(in, op, self); }

Complex* complex_of(const Value& v) { return object_cast<Complex>(v); }

Value complex_repr_slot(Interpreter& in, const Value& self) {
  return make_str(in, complex_repr(complex_of(self)->real, complex_of(self)->imag));
}
Value complex_format_slot(Interpreter& in, const Value& self, std::string_view spec) {
  return spec.empty() ? str(in, self) : format_complex_value(in, complex_of(self)->real, complex_of(self)->imag, spec);
}
int64_t complex_hash_slot(Interpreter&, const Value& self) {
  const uint64_t h = static_cast<uint64_t>(hash_float(complex_of(self)->real)) +
                     1000003u * static_cast<uint64_t>(hash_float(complex_of(self)->imag));
  return h == ~uint64_t{0} ? -2 : static_cast<int64_t>(h);
}
bool complex_truth_slot(Interpreter&, const Value& self) {
  return complex_of(self)->real != 0 || complex_of(self)->imag != 0;
}

// --- making

// The immediate, or an object of the script subclass around it.
Value as_type(Interpreter& in, Type* type, Type* base, Value value) {
  if (type == base || is_failure(value)) return value;
  Boxed* box = make_object<Boxed>(in, type);
  box->value = std::move(value);
  return Value::adopt(box);
}

// CPython shows at most 200 characters of the literal's repr (float() and complex() show the whole one).
Value no_int(Interpreter& in, int base, std::string quoted) {
  constexpr size_t kShown = 200;
  size_t end = 0, characters = 0;
  for (; end < quoted.size(); ++end)
    if ((quoted[end] & 0xc0) != 0x80 && characters++ == kShown) break;
  quoted.resize(end);
  return failure(in, ErrorKind::ValueError, {"invalid literal for int() with base ", std::to_string(base), ": ", quoted});
}

Value int_of_text(Interpreter& in, const Value& text, int base) {
  Value parsed = parse_int(in, text_of(text), base);
  return parsed.is_undefined() ? no_int(in, base, repr_text(in, text)) : parsed;
}

Value int_of_bytes(Interpreter& in, const Value& x, int base) {
  const BytesLike like(in, x);
  Value parsed = parse_int(in, like.view(), base);
  return parsed.is_undefined() ? no_int(in, base, quote_bytes(like.view())) : parsed;
}

// May answer a failure.
Value int_of(Interpreter& in, const Value& x) {
  const bool of_script = x.is_object() && (x.as_object()->type->type_flags & kScriptClass);  // a class below str may say itself what number it is
  if ((is_bytes(x) || is_byte_array(x)) && !of_script) return int_of_bytes(in, x, 10);
  if (is_str(x) && !of_script) return int_of_text(in, x, 10);
  if (is_whole(x)) return whole_unary(in, UnaryOp::Pos, x);
  if (x.is_float()) return whole_from_float(in, x.as_float());
  if (x.is_object()) {
    const Type* type = x.as_object()->type;
    for (Str* name : {in.names->int_, in.names->index, in.names->trunc}) {
      const Value method = type_lookup(type, name);
      if (method.is_undefined()) continue;
      if (name == in.names->trunc) in.warn(ErrorKind::DeprecationWarning, "The delegation of int() to __trunc__ is deprecated.");
      const Value answer = call_special(in, method, x);
      const Value result = unboxed(answer);
      if (name == in.names->trunc && !is_whole(result) && result.is_object() &&
          !type_lookup(result.as_object()->type, in.names->index).is_undefined())
        return whole_index(in, result);
      if (is_whole(result)) {
        if (name != in.names->trunc && type_of(in, answer) != in.types.integer)
          warn_of_subclass(in, std::string(name->view()), answer, "int");
        return whole_unary(in, UnaryOp::Pos, result);
      }
      throw Error(ErrorKind::TypeError,
                  std::string(name->view()) + (name == in.names->trunc ? " returned non-Integral (type " : " returned non-int (type ") + std::string(type_name(in, result)) + ")");
    }
  }
  if (is_str(x)) return int_of_text(in, x, 10);
  if (is_bytes_without_gaps(in, x)) return int_of_bytes(in, x, 10);
  return failure(in, ErrorKind::TypeError, {"int() argument must be a string, a bytes-like object or a real number, not '",
                                           type_name(in, x), "'"});
}

Value int_make(Interpreter& in, Type* type, const Args& args) {
  if (args.count == 1 && args.keyword_names == nullptr && type == in.types.integer) return int_of(in, args[0]);
  Value slots[2];
  bind_maker(in, "int(x=..., /, base=...)", args, slots);
  const auto& [x, base] = slots;
  if (base.is_undefined())
    return as_type(in, type, in.types.integer, x.is_undefined() ? Value::integer(0) : int_of(in, x));
  if (x.is_undefined()) throw Error(ErrorKind::TypeError, "int() missing string argument");
  const Value radix_value = whole_index(in, base);
  const int64_t radix = is_big_int(radix_value) ? -1 : radix_value.as_int();
  if (radix != 0 && (radix < 2 || radix > 36))
    throw Error(ErrorKind::ValueError, "int() base must be >= 2 and <= 36, or 0");
  if (is_bytes(x) || is_byte_array(x))
    return as_type(in, type, in.types.integer, int_of_bytes(in, x, static_cast<int>(radix)));
  if (!is_str(x)) throw Error(ErrorKind::TypeError, "int() can't convert non-string with explicit base");
  return as_type(in, type, in.types.integer, int_of_text(in, x, static_cast<int>(radix)));
}

// Few plain digits, as most texts of numbers are; and what needs no text.
bool short_int(Interpreter& in, Value* argument, Value& answer) {
  constexpr uint32_t kSafeDigits = 18;  // no overflow
  if (argument->is_int() || argument->is_bool()) {
    answer = Value::integer(argument->as_int());
    return true;
  }
  if (argument->is_float()) {
    const double value = argument->as_float();
    if (!(std::abs(value) < 0x1p62)) return false;
    answer = Value::integer(static_cast<int64_t>(value));
    return true;
  }
  if (!argument->is_object() || argument->as_object()->type != in.types.str) return false;
  const Str* const text = as_str(*argument);
  if (text->size == 0 || text->size > kSafeDigits) return false;
  int64_t number = 0;
  for (uint32_t i = 0; i < text->size; ++i) {
    const unsigned digit = static_cast<unsigned char>(text->data[i]) - unsigned{'0'};
    if (digit > 9) return false;
    number = number * 10 + digit;
  }
  answer = Value::integer(number);
  return true;
}

bool short_float(Interpreter&, Value* argument, Value& answer) {
  if (argument->is_float()) answer = *argument;
  else if (argument->is_int() || argument->is_bool()) answer = Value::real(static_cast<double>(argument->as_int()));
  else return false;
  return true;
}

bool short_bool(Interpreter& in, Value* argument, Value& answer) {
  if (argument->is_object() && argument->as_object()->type != in.types.str) return false;
  answer = Value::boolean(truth(in, *argument));
  return true;
}

Value bool_make(Interpreter& in, Type*, const Args& args) {
  refuse_keywords("bool", args);
  check_count("bool", args, 0, 1);
  return Value::boolean(args.count == 1 && truth(in, args[0]));
}

Value no_float(Interpreter& in, const std::string& quoted) {
  return failure(in, ErrorKind::ValueError, {"could not convert string to float: ", quoted});
}

// As float() converts what is no text: the `__float__` of a class is asked also where the object is a float itself, unlike in to_float.
double number_to_float(Interpreter& in, const Value& number) {
  const Value method = number.is_object() && (number.as_object()->type->type_flags & kScriptClass)
                           ? type_lookup(number.as_object()->type, in.names->float_)
                           : Value();
  const Value answer = method.is_undefined() ? number : call_special(in, method, number);
  if (!method.is_undefined() && !unboxed(answer).is_float()) {
    throw Error(ErrorKind::TypeError, std::string(type_name(in, number)) + ".__float__ returned non-float (type " +
                                          std::string(type_name(in, answer)) + ")");
  }
  if (!method.is_undefined() && !answer.is_float())
    warn_of_subclass(in, std::string(type_name(in, number)) + ".__float__", answer, "float");
  return to_float(in, unboxed(answer));
}

Value float_make(Interpreter& in, Type* type, const Args& args) {
  refuse_keywords(in, type, in.types.real, "float", args);
  check_count("float", args, 0, 1);
  double result = 0;
  // A class below str or bytes may say itself what number it is.
  const auto says = [&](Str* name) { return !type_lookup(args[0].as_object()->type, name).is_undefined(); };
  const bool converts = args.positional() == 1 && args[0].is_object() && (says(in.names->float_) || says(in.names->index));
  if (args.positional() == 1 && is_str(args[0]) && !converts) {
    if (!parse_float(text_of(args[0]), result)) return no_float(in, repr_text(in, args[0]));
  } else if (args.positional() == 1 && (is_bytes(args[0]) || is_byte_array(args[0])) && !converts) {
    if (!parse_float(BytesLike(in, args[0]).view(), result)) return no_float(in, repr_text(in, args[0]));
  } else if (args.positional() == 1 && args[0].is_float()) {
    result = args[0].as_float();
  } else if (args.positional() == 1) {
    const Value& plain = args[0];
    const bool number = !plain.is_object() ? !plain.is_none()
                                           : !type_lookup(plain.as_object()->type, in.names->float_).is_undefined() ||
                                                 !type_lookup(plain.as_object()->type, in.names->index).is_undefined();
    if (!number && is_bytes_without_gaps(in, plain)) {
      if (!parse_float(BytesLike(in, plain).view(), result)) return no_float(in, repr_text(in, plain));
      return as_type(in, type, in.types.real, Value::real(result));
    }
    if (!number) {
      throw Error(ErrorKind::TypeError, "float() argument must be a string or a real number, not '" +
                                            std::string(type_name(in, args[0])) + "'");
    }
    result = number_to_float(in, plain);
  }
  return as_type(in, type, in.types.real, Value::real(result));
}

[[noreturn]] void malformed_complex() { throw Error(ErrorKind::ValueError, "complex() arg is a malformed string"); }

// "1+2j", "-j", "(3)", with blanks around.
void parse_complex(std::string_view text, double& real, double& imag) {
  auto trim = [&] {
    while (!text.empty() && unicode::is_ascii_space(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
    while (!text.empty() && unicode::is_ascii_space(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  };
  trim();
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') {
    text = text.substr(1, text.size() - 2);
    trim();
  }
  auto number = [whole = text](std::string_view part, double& out) {
    std::string s(part);
    if (!strip_underscores(s)) {
      throw Error(ErrorKind::ValueError, "could not convert string to complex: " + quote(whole));
    }
    if (!parse_float_text(s, out)) malformed_complex();
  };
  if (text.empty()) malformed_complex();
  if (text.back() != 'j' && text.back() != 'J') return number(text, real);
  text.remove_suffix(1);
  size_t split = text.size();
  while (split > 0) {  // the last sign that is not an exponent's
    --split;
    if ((text[split] == '+' || text[split] == '-') &&
        (split == 0 || (text[split - 1] != 'e' && text[split - 1] != 'E')))
      break;
  }
  if (split != 0) number(text.substr(0, split), real);
  const std::string_view second = text.substr(split);
  if (second.empty() || second == "+") imag = 1;
  else if (second == "-") imag = -1;
  else number(second, imag);
}

}  // namespace

bool complex_parts(Interpreter& in, const Value& v, double& real, double& imag, bool ask) {
  imag = 0;
  if (ask && v.is_object() && v.as_object()->type != in.types.complex) {
    const Value method = type_lookup(v.as_object()->type, in.names->complex);
    if (!method.is_undefined()) {
      const Value answer = call_special(in, method, v);
      if (!is_complex(in, answer)) {
        throw Error(ErrorKind::TypeError,
                    "__complex__ returned non-complex (type " + std::string(type_name(in, answer)) + ")");
      }
      return complex_parts(in, answer, real, imag, false);
    }
  }
  if (is_complex(in, v)) {
    real = complex_of(v)->real;
    imag = complex_of(v)->imag;
    return true;
  }
  const Value plain = unboxed(v);
  const bool number = plain.is_object() ? !type_lookup(plain.as_object()->type, in.names->float_).is_undefined() ||
                                              !type_lookup(plain.as_object()->type, in.names->index).is_undefined()
                                        : !plain.is_none();
  if (is_str(v) || !number) return false;
  real = number_to_float(in, v);
  return true;
}

namespace {

Value complex_make(Interpreter& in, Type* type, const Args& args) {
  Value slots[2];
  bind_maker(in, "complex(real=..., imag=...)", args, slots);
  const auto& [re, im] = slots;
  double ar = 0, ai = 0, br = 0, bi = 0;
  if (is_str(re)) {
    if (!im.is_undefined()) throw Error(ErrorKind::TypeError, "complex() can't take second arg if first is a string");
    parse_complex(text_of(re), ar, ai);
    return make_complex(in, ar, ai, type);
  }
  if (is_str(im)) throw Error(ErrorKind::TypeError, "complex() second arg can't be a string");
  if (!re.is_undefined() && !complex_parts(in, re, ar, ai)) {
    throw Error(ErrorKind::TypeError,
                "complex() first argument must be a string or a number, not '" + std::string(type_name(in, re)) + "'");
  }
  if (im.is_undefined()) {
    const bool same = re.is_object() && re.as_object()->type == in.types.complex && type == in.types.complex;
    return same ? re : make_complex(in, ar, ai, type);
  }
  if (!complex_parts(in, im, br, bi, false)) {
    throw Error(ErrorKind::TypeError,
                "complex() second argument must be a number, not '" + std::string(type_name(in, im)) + "'");
  }
  return make_complex(in, is_complex(in, im) ? ar - bi : ar, is_complex(in, re) ? ai + br : br, type);
}

// --- methods

Value as_int(Interpreter& in, const Args& args) { return int_of(in, unboxed(args[0])); }
Value as_float(Interpreter& in, const Args& args) { return Value::real(to_float(in, unboxed(args[0]))); }
Value as_plain_int(Interpreter& in, const Args& args) { return whole_unary(in, UnaryOp::Pos, unboxed(args[0])); }
Value as_plain_float(Interpreter&, const Args& args) { return Value::real(unboxed(args[0]).as_float()); }
Value zero_int(Interpreter&, const Args&) { return Value::integer(0); }
Value zero_float(Interpreter&, const Args&) { return Value::real(0); }
Value one_int(Interpreter&, const Args&) { return Value::integer(1); }
Value round_method(Interpreter& in, const Args& args) { return round_number(in, args[0], args[1]); }

// An int takes no None for its digits; round() leaves None out.
Value round_whole(Interpreter& in, const Args& args) {
  if (args[1].is_none()) index(in, args[1]);
  return round_number(in, args[0], args[1].is_undefined() ? Value::none() : args[1]);
}

Value float_floor(Interpreter& in, const Args& args) {
  return whole_from_float(in, std::floor(unboxed(args[0]).as_float()));
}
Value float_ceil(Interpreter& in, const Args& args) {
  return whole_from_float(in, std::ceil(unboxed(args[0]).as_float()));
}

Value abs_method(Interpreter& in, const Args& args) {
  const Value v = unboxed(args[0]);
  return v.is_float() ? Value::real(std::fabs(v.as_float())) : whole_absolute(in, v);
}

Value bit_length(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(whole_bit_length(unboxed(args[0]))));
}
Value bit_count(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(whole_bit_count(unboxed(args[0]))));
}
Value int_ratio(Interpreter& in, const Args& args) {
  return make_tuple(in, {as_plain_int(in, args), Value::integer(1)});
}

// True: the first byte is the most significant one.
bool is_big_endian(const Value& order) {
  const std::string_view text = text_of(order);
  if (text != "big" && text != "little")
    throw Error(ErrorKind::ValueError, "byteorder must be either 'little' or 'big'");
  return text == "big";
}

Value to_bytes(Interpreter& in, const Args& args) {
  const Value value = unboxed(args[0]);
  const int64_t length = args[1].as_int();
  const bool big = is_big_endian(args[2]), is_signed = args[3].as_bool();
  if (length < 0) throw Error(ErrorKind::ValueError, "length argument must be non-negative");
  if (whole_sign(value) < 0 && !is_signed)
    throw Error(ErrorKind::OverflowError, "can't convert negative int to unsigned");
  Bytes* out = new_bytes(in, static_cast<size_t>(length));
  const Value keep = Value::adopt(out);
  auto* const data = reinterpret_cast<unsigned char*>(out->data());
  if (!whole_to_bytes(value, data, static_cast<size_t>(length), is_signed))
    throw Error(ErrorKind::OverflowError, "int too big to convert");
  if (big) std::reverse(data, data + length);
  return keep;
}

Value from_bytes(Interpreter& in, const Args& args) {
  const bool big = is_big_endian(args[2]), is_signed = args[3].as_bool();
  const bool by_method = args[1].is_object() && !type_lookup(args[1].as_object()->type, intern(in, "__bytes__")).is_undefined();
  const bool convertible = by_method || is_bytes_like(in, args[1]) || is_iterable(in, args[1]);
  if (is_str(args[1]) || !convertible)
    throw_error(ErrorKind::TypeError, "cannot convert '%s' object to bytes",
                std::string(type_name(in, args[1])).c_str());
  // An object without __bytes__ is iterated, though bytes() would ask an __index__ first.
  const auto items = [&] { return call(in, Value(bytes_types(in).bytes), {by_method ? args[1] : list_from(in, args[1])}); };
  const Value source = is_bytes_like(in, args[1]) ? args[1] : items();
  std::string bytes(BytesLike(in, source, BytesLike::kCopyGaps).view());
  if (big) std::reverse(bytes.begin(), bytes.end());
  const Value number =
      whole_of_bytes(in, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), is_signed);
  return args[0].as_object() == in.types.integer ? number : call(in, args[0], {number});
}

Value is_integer(Interpreter&, const Args& args) {
  const double d = unboxed(args[0]).as_float();
  return Value::boolean(std::isfinite(d) && d == std::floor(d));
}

Value float_ratio(Interpreter& in, const Args& args) {
  const double d = unboxed(args[0]).as_float();
  if (std::isnan(d)) throw Error(ErrorKind::ValueError, "cannot convert NaN to integer ratio");
  if (std::isinf(d)) throw Error(ErrorKind::OverflowError, "cannot convert Infinity to integer ratio");
  int exponent;
  double mantissa = std::frexp(d, &exponent);
  for (int i = 0; i < 300 && mantissa != std::floor(mantissa); ++i) {
    mantissa *= 2;
    --exponent;
  }
  const Value top = Value::integer(static_cast<int64_t>(mantissa)), one = Value::integer(1);
  const Value shift = Value::integer(std::abs(exponent));
  if (exponent > 0) return make_tuple(in, {whole_binary(in, BinaryOp::LShift, top, shift), one});
  return make_tuple(in, {top, whole_binary(in, BinaryOp::LShift, one, shift)});
}

Value float_hex(Interpreter& in, const Args& args) {
  const double d = unboxed(args[0]).as_float();
  if (!std::isfinite(d)) return make_str(in, float_repr(d));
  if (d == 0) return make_str(in, std::signbit(d) ? "-0x0.0p+0" : "0x0.0p+0");
  int exponent;
  double mantissa = std::frexp(std::fabs(d), &exponent);
  const int shift = std::max(0, DBL_MIN_EXP - exponent);
  mantissa = std::ldexp(mantissa, 1 - shift);
  exponent -= 1 - shift;
  std::string out = d < 0 ? "-0x" : "0x";
  out += static_cast<char>('0' + static_cast<int>(mantissa));
  out += '.';
  mantissa -= std::floor(mantissa);
  for (int i = 0; i < 13; ++i) {
    mantissa *= 16;
    out += "0123456789abcdef"[static_cast<int>(mantissa)];
    mantissa -= std::floor(mantissa);
  }
  return make_str(in, out + (exponent < 0 ? "p-" : "p+") + std::to_string(std::abs(exponent)));
}

Value float_fromhex(Interpreter& in, const Args& args) {
  if (!is_str(args[1])) throw Error(ErrorKind::TypeError, "bad argument type for built-in operation");
  const Value number = Value::real(parse_hex_float(text_of(args[1])));
  return args[0].as_object() == in.types.real ? number : call(in, args[0], {number});
}

Value complex_real(Interpreter&, const Args& args) { return Value::real(complex_of(args[0])->real); }
Value complex_imag(Interpreter&, const Args& args) { return Value::real(complex_of(args[0])->imag); }
Value conjugate(Interpreter& in, const Args& args) {
  return make_complex(in, complex_of(args[0])->real, -complex_of(args[0])->imag);
}
Value complex_abs(Interpreter&, const Args& args) {
  return Value::real(std::hypot(complex_of(args[0])->real, complex_of(args[0])->imag));
}

constexpr NativeDef kIntRows[] = {
    {"bit_length(self, /)", bit_length, "Number of bits necessary to represent the number in binary."},
    {"bit_count(self, /)", bit_count, "Number of ones in the binary representation of the absolute value."},
    {"conjugate(self, /)", as_plain_int, "Returns self."},
    {"as_integer_ratio(self, /)", int_ratio, "A pair of integers whose ratio is the number."},
    {"to_bytes(self, /, length: int = 1, byteorder: str = 'big', *, signed: bool = False)", to_bytes,
     "The number as bytes."},
    {"from_bytes(cls, /, bytes, byteorder: str = 'big', *, signed: bool = False)", from_bytes,
     "The number that bytes stand for."},
    {"__int__(self, /)", as_plain_int, ""},
    {"__index__(self, /)", as_plain_int, ""},
    {"__float__(self, /)", as_float, ""},
    {"__trunc__(self, /)", as_plain_int, ""},
    {"__floor__(self, /)", as_plain_int, ""},
    {"__ceil__(self, /)", as_plain_int, ""},
    {"__round__(self, ndigits=..., /)", round_whole, ""},
    {"__abs__(self, /)", abs_method, ""},
};

Value float_getformat(Interpreter& in, const Args& args) {
  if (text_of(args[1]) != "double" && text_of(args[1]) != "float")
    throw Error(ErrorKind::ValueError, "__getformat__() argument 1 must be 'double' or 'float'");
  return make_str(in, "IEEE, little-endian");
}

constexpr NativeDef kFloatRows[] = {
    {"__getformat__(cls, typestr: str, /)", float_getformat, "The layout of the C type 'double' or 'float'."},
    {"is_integer(self, /)", is_integer, "True if the number is a whole one."},
    {"as_integer_ratio(self, /)", float_ratio, "A pair of integers whose ratio is the number."},
    {"hex(self, /)", float_hex, "A hexadecimal representation of the number."},
    {"fromhex(cls, string, /)", float_fromhex, "The number of a hexadecimal representation."},
    {"conjugate(self, /)", as_plain_float, "Returns self."},
    {"__int__(self, /)", as_int, ""},
    {"__float__(self, /)", as_plain_float, ""},
    {"__trunc__(self, /)", as_int, ""},
    {"__floor__(self, /)", float_floor, ""},
    {"__ceil__(self, /)", float_ceil, ""},
    {"__round__(self, ndigits=None, /)", round_method, ""},
    {"__abs__(self, /)", abs_method, ""},
};

Value complex_itself(Interpreter& in, const Args& args) {
  const Complex* c = complex_of(args[0]);
  return c->type == in.types.complex ? args[0] : make_complex(in, c->real, c->imag);
}
Value complex_arguments(Interpreter& in, const Args& args) {
  return make_tuple(in, {Value::real(complex_of(args[0])->real), Value::real(complex_of(args[0])->imag)});
}

constexpr NativeDef kComplexRows[] = {
    {"__complex__(self, /)", complex_itself, ""},
    {"__getnewargs__(self, /)", complex_arguments, ""},
    {"conjugate(self, /)", conjugate, "The complex conjugate."},
    {"__abs__(self, /)", complex_abs, ""},
};

// A BigInt has int's type, and no object of the type int is a Boxed.
void destroy_number(Interpreter& in, Object* self) {
  if (self->kind == ObjectKind::BigInt) free_big_int(in, known_cast<BigInt>(self));
  else destroy_plain<Boxed>(in, self);
}

void number_slots(Type* type) {
  TypeSlots& s = type->slots;
  s.destroy = destroy_number;
  s.repr = repr_slot;
  s.format = format_slot;
  s.hash = hash_slot;
  s.truth = truth_slot;
  s.compare = compare_slot;
  s.binary = binary_slot;
  s.unary = unary_slot;
}

Type* number_type(Interpreter& in, Type* made, const char* name, Type* base, uint32_t flags) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "builtins";
  spec.kind = ObjectKind::Boxed;
  spec.size = sizeof(Boxed);
  spec.flags = flags;
  spec.base = base;
  Type* type = made != nullptr ? made : in.new_type(spec);
  number_slots(type);
  return type;
}

}  // namespace

void make_number_types(Interpreter& in) {
  BuiltinTypes& t = in.types;
  t.integer = number_type(in, t.integer, "int", nullptr, 0);
  t.boolean = number_type(in, t.boolean, "bool", t.integer, kFinalType);
  t.real = number_type(in, t.real, "float", nullptr, 0);
  NativeTypeSpec spec;
  spec.name = "complex";
  spec.module = "builtins";
  spec.kind = ObjectKind::Native;
  spec.size = sizeof(Complex);
  if (t.complex == nullptr) t.complex = in.new_type(spec);
  TypeSlots& s = t.complex->slots;
  s.destroy = destroy_plain<Complex>;
  s.repr = complex_repr_slot;
  s.format = complex_format_slot;
  s.hash = complex_hash_slot;
  s.truth = complex_truth_slot;
  s.compare = compare_slot;
  s.binary = binary_slot;
  s.unary = unary_slot;
}

namespace {

void fill_int(Interpreter& in, Type* type) {
  add_rows(in, type, kIntRows);
  in.add_property(type, "real", as_plain_int);
  in.add_property(type, "imag", zero_int);
  in.add_property(type, "numerator", as_plain_int);
  in.add_property(type, "denominator", one_int);
  slot_methods(in, type);
}

void fill_float(Interpreter& in, Type* type) {
  add_rows(in, type, kFloatRows);
  in.add_property(type, "real", as_plain_float);
  in.add_property(type, "imag", zero_float);
  slot_methods(in, type);
}

void fill_complex(Interpreter& in, Type* type) {
  add_rows(in, type, kComplexRows);
  in.add_member(type, "real", complex_real);
  in.add_member(type, "imag", complex_imag);
  slot_methods(in, type);
}

// bool inherits all but what its values show and how they combine.
void fill_bool(Interpreter& in, Type* type) {
  slot_methods(in, type);
  for (const char* name : {"__hash__", "__bool__", "__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__", "__neg__", "__pos__", "__format__"})
    dict_delete_str(in, type->attributes(), intern(in, name));
}

}  // namespace

void number_methods(Interpreter& in) {
  BuiltinTypes& t = in.types;
  t.integer->make = int_make;
  t.integer->short_make = short_int;
  t.boolean->make = bool_make;
  t.boolean->short_make = short_bool;
  t.real->make = float_make;
  t.real->short_make = short_float;
  t.complex->make = complex_make;
  t.integer->fill_later(fill_int);
  t.boolean->fill_later(fill_bool);
  t.real->fill_later(fill_float);
  t.complex->fill_later(fill_complex);
}

}  // namespace tessera::lang
