// _datetime: what dates, times and spans of time are made of. `Span` is a number of microseconds, with its arithmetic;
// `Moment` a number of microseconds since the day before 0001-01-01, with a time zone. The classes of datetime.tsr derive
// from them and add what is seldom in a loop: text, zones, the calendar's other questions.
// compile: small (seldom in an inner loop)
#include <cmath>
#include <cstring>

#include "lang/core/bind.h"
#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/own_type.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/setup.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr int64_t kSecond = 1'000'000, kDay = 86'400 * kSecond;
constexpr int64_t kLastDay = 3'652'059;  // 9999-12-31

// --- spans

// The microseconds of the longest span take 67 bits; the products of spans are computed in these.
using Wide = __int128;
constexpr int64_t kMostDays = 999'999'999;

struct Span : GcObject {
  int64_t days = 0, us = 0;  // us of the day, 0 <= us < kDay
};

void destroy_span(Interpreter& in, Object* self) { free_object(in, known_cast<Span>(self)); }
constexpr char kSpanLayout[] = "datetime.timedelta";
bool is_span(const Value& v) { return has_layout(v, kSpanLayout); }
const Span& span_of(const Value& v) {
  if (!is_span(v)) throw Error(ErrorKind::TypeError, "a timedelta is expected");
  return *object_cast<const Span>(v);
}
Wide span_us(const Value& v) {
  const Span& span = span_of(v);
  return static_cast<Wide>(span.days) * kDay + span.us;
}

[[noreturn]] void throw_span_overflow() { throw Error(ErrorKind::OverflowError, "Python int too large to convert to C int"); }

Value new_span(Interpreter& in, Type* type, Wide us) {
  Wide days = us / kDay;
  if (us < days * kDay) --days;
  if (days != static_cast<int32_t>(days)) throw_span_overflow();
  if (days > kMostDays || days < -kMostDays) {
    throw_error(ErrorKind::OverflowError, "days=%d; must have magnitude <= %d", static_cast<int>(days),
                static_cast<int>(kMostDays));
  }
  Span* s = make_object<Span>(in, type);
  Value made = Value::adopt(s);
  s->days = static_cast<int64_t>(days);
  s->us = static_cast<int64_t>(us - days * kDay);
  return made;
}

// An int of a script; one beyond 120 bits becomes the nearest that has them, which no span reaches either.
Wide wide_of(Interpreter& in, const Value& value) {
  const Value whole = value.is_int() ? value : whole_index(in, value);
  if (!is_big_int(whole)) return whole.as_int();
  Wide number = static_cast<Wide>(1) << 120;
  if (whole_bit_length(whole) > 120) return whole_sign(whole) < 0 ? -number : number;
  unsigned char bytes[sizeof number];
  whole_to_bytes(whole, bytes, sizeof bytes, true);
  std::memcpy(&number, bytes, sizeof bytes);
  return number;
}

Value value_of(Interpreter& in, Wide number) {
  if (number == static_cast<int64_t>(number)) return Value::integer(static_cast<int64_t>(number));
  unsigned char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof bytes);
  return whole_of_bytes(in, bytes, sizeof bytes, true);
}

Value make_span(Interpreter& in, Type* type, const Args& args) {
  check_count("Span", args, 1, 1);
  return new_span(in, type, wide_of(in, args[0]));
}

// Arithmetic answers the class that derives from Span itself, whatever subclass of it the operands are of.
Type* span_class(const Value& v) {
  const std::vector<Type*>& mro = v.as_object()->type->mro;
  return mro.size() < 3 ? mro[0] : mro[mro.size() - 3];
}

Wide times(Wide a, Wide b) {
  Wide product;
  if (__builtin_mul_overflow(a, b, &product)) throw_span_overflow();
  return product;
}

Wide floor_quotient(Wide a, Wide b) {
  if (b == 0) throw Error(ErrorKind::ZeroDivisionError, "integer division or modulo by zero");
  const Wide quotient = a / b;
  return quotient - (quotient * b != a && (a < 0) != (b < 0) ? 1 : 0);
}

// a / b, to the nearest, to even in the middle
Wide divide_nearest(Wide a, Wide b) {
  const Wide quotient = floor_quotient(a, b), rest = a - quotient * b, other = b - rest;  // both of b's sign
  const bool up = b < 0 ? rest < other : rest > other;
  return quotient + (up || (rest == other && (quotient & 1) != 0) ? 1 : 0);
}

// us * f or us / f, rounded once: a float is an odd number of 53 bits times a power of two.
Wide scaled(Wide us, double f, bool divide) {
  if (std::isnan(f)) throw Error(ErrorKind::ValueError, "cannot convert NaN to integer ratio");
  if (std::isinf(f)) throw Error(ErrorKind::OverflowError, "cannot convert Infinity to integer ratio");
  int power;
  Wide odd = static_cast<int64_t>(std::ldexp(std::frexp(f, &power), 53));
  if (odd == 0) return divide ? floor_quotient(us, 0) : 0;
  for (power -= 53; odd % 2 == 0; ++power) odd /= 2;
  Wide above = divide ? us : us * odd, below = divide ? odd : 1;
  if (divide) power = -power;
  // Numbers that the shifts below would lose are beyond any span, and divisors of 2**72 and more leave nothing of one.
  if (power >= 0) {
    if (power > 120 ? above != 0 : above != 0 && (above < 0 ? -above : above) >> (126 - power) != 0) throw_span_overflow();
    if (power <= 120) above *= static_cast<Wide>(1) << power;
  } else if (divide ? power < -72 : power < -125) {
    return 0;
  } else {
    below *= static_cast<Wide>(1) << -power;
  }
  return divide_nearest(above, below);
}

Value span_with_span(Interpreter& in, BinaryOp op, const Value& left, const Value& right) {
  const Wide a = span_us(left), b = span_us(right);
  Type* type = span_class(left);
  switch (op) {
    case BinaryOp::Add: return new_span(in, type, a + b);
    case BinaryOp::Sub: return new_span(in, type, a - b);
    case BinaryOp::FloorDiv: return value_of(in, floor_quotient(a, b));
    case BinaryOp::Mod:
      if (b == 0) throw Error(ErrorKind::ZeroDivisionError, "integer modulo by zero");
      return new_span(in, type, a - floor_quotient(a, b) * b);
    case BinaryOp::DivMod: {
      const Wide quotient = floor_quotient(a, b);
      return make_tuple(in, {value_of(in, quotient), new_span(in, type, a - quotient * b)});
    }
    case BinaryOp::TrueDiv: return whole_binary(in, op, value_of(in, a), value_of(in, b));
    default: return in.not_implemented;
  }
}

Value span_with_number(Interpreter& in, BinaryOp op, const Value& span, const Value& number) {
  const Wide us = span_us(span);
  const bool whole = !number.is_float();
  switch (op) {
    case BinaryOp::Mul: return new_span(in, span_class(span), whole ? times(us, wide_of(in, number)) : scaled(us, number.as_float(), false));
    case BinaryOp::TrueDiv:
      return new_span(in, span_class(span), whole ? divide_nearest(us, wide_of(in, number)) : scaled(us, number.as_float(), true));
    case BinaryOp::FloorDiv:
      return whole ? new_span(in, span_class(span), floor_quotient(us, wide_of(in, number))) : in.not_implemented;
    default: return in.not_implemented;
  }
}

Value span_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  if (is_span(other)) return reflected ? span_with_span(in, op, other, self) : span_with_span(in, op, self, other);
  const Value number = unboxed(other);
  if (!is_whole(number) && !number.is_float()) return in.not_implemented;
  if (reflected && op != BinaryOp::Mul) return in.not_implemented;
  return span_with_number(in, op, self, number);
}

Value span_unary(Interpreter& in, UnaryOp op, const Value& self) {
  if (op == UnaryOp::Invert) throw Error(ErrorKind::TypeError, "bad operand type for unary ~: 'datetime.timedelta'");
  return new_span(in, span_class(self), op == UnaryOp::Neg ? -span_us(self) : span_us(self));
}

Value compared(CompareOp op, Wide a, Wide b) {
  switch (op) {
    case CompareOp::Lt: return Value::boolean(a < b);
    case CompareOp::Le: return Value::boolean(a <= b);
    case CompareOp::Eq: return Value::boolean(a == b);
    case CompareOp::Ne: return Value::boolean(a != b);
    case CompareOp::Gt: return Value::boolean(a > b);
    default: return Value::boolean(a >= b);
  }
}

Value span_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  return is_span(other) ? compared(op, span_us(self), span_us(other)) : in.not_implemented;
}

bool span_truth(Interpreter&, const Value& self) { return span_us(self) != 0; }

Value span_days(Interpreter&, const Args& args) { return Value::integer(span_of(args[0]).days); }
Value span_seconds(Interpreter&, const Args& args) { return Value::integer(span_of(args[0]).us / kSecond); }
Value span_microseconds(Interpreter&, const Args& args) { return Value::integer(span_of(args[0]).us % kSecond); }
Value span_all(Interpreter& in, const Args& args) { return value_of(in, span_us(args[0])); }
Value span_abs(Interpreter& in, const Args& args) {
  const Wide us = span_us(args[0]);
  return new_span(in, span_class(args[0]), us < 0 ? -us : us);
}
Value span_total(Interpreter& in, const Args& args) {
  return whole_binary(in, BinaryOp::TrueDiv, span_all(in, args), Value::integer(kSecond));
}

// As of the tuple of the three attributes, which CPython takes: a program may print it.
int64_t span_hash(Interpreter& in, const Value& self) {
  const Span& span = span_of(self);
  return hash(in, make_tuple(in, {Value::integer(span.days), Value::integer(span.us / kSecond), Value::integer(span.us % kSecond)}));
}

const NativeDef kSpanMethods[] = {
    {"__abs__(self)", span_abs, "Without its sign."},
    {"total_seconds(self)", span_total, "All of it in seconds."},
};

// --- the calendar

bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int64_t month_days(int64_t year, int64_t month) {
  constexpr uint8_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

int64_t days_before_month(int64_t year, int64_t month) {
  constexpr uint16_t kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  return kBefore[month - 1] + (month > 2 && is_leap(year) ? 1 : 0);
}

int64_t ordinal_of(int64_t year, int64_t month, int64_t day) {
  const int64_t y = year - 1;
  return y * 365 + y / 4 - y / 100 + y / 400 + days_before_month(year, month) + day;
}

struct Ymd {
  int64_t year, month, day;
};

Ymd date_of(int64_t ordinal) {
  int64_t n = ordinal - 1;
  const int64_t n400 = n / 146097;
  n %= 146097;
  const int64_t n100 = n / 36524;
  n %= 36524;
  const int64_t n4 = n / 1461;
  n %= 1461;
  const int64_t n1 = n / 365;
  n %= 365;
  const int64_t year = n400 * 400 + n100 * 100 + n4 * 4 + n1 + 1;
  if (n1 == 4 || n100 == 4) return {year - 1, 12, 31};
  int64_t month = n / 32 + 1;
  if (month < 12 && days_before_month(year, month + 1) <= n) ++month;
  return {year, month, n - days_before_month(year, month) + 1};
}

// An argument that is an int of C in CPython.
int64_t c_int(Interpreter& in, const Value& value) {
  const Value whole = value.is_int() ? value : whole_index(in, value);
  if (is_big_int(whole)) throw Error(ErrorKind::OverflowError, "Python int too large to convert to C long");
  const int64_t number = whole.as_int();
  if (number > INT32_MAX) throw Error(ErrorKind::OverflowError, "signed integer is greater than maximum");
  if (number < INT32_MIN) throw Error(ErrorKind::OverflowError, "signed integer is less than minimum");
  return number;
}

int64_t checked_day(Interpreter& in, const Value* ymd) {
  const int64_t year = c_int(in, ymd[0]), month = c_int(in, ymd[1]), day = c_int(in, ymd[2]);
  if (year < 1 || year > 9999)
    throw_error(ErrorKind::ValueError, "year %lld is out of range", static_cast<long long>(year));
  if (month < 1 || month > 12) throw Error(ErrorKind::ValueError, "month must be in 1..12");
  if (day < 1 || day > month_days(year, month)) throw Error(ErrorKind::ValueError, "day is out of range for month");
  return ordinal_of(year, month, day) * kDay;
}

int64_t checked_clock(Interpreter& in, const Value* parts) {
  static constexpr struct {
    const char* name;
    int64_t most;
  } kParts[] = {{"hour", 23}, {"minute", 59}, {"second", 59}, {"microsecond", 999'999}};
  int64_t values[4];
  for (int i = 0; i < 4; ++i) values[i] = c_int(in, parts[i]);
  for (int i = 0; i < 4; ++i) {
    if (values[i] < 0 || values[i] > kParts[i].most) {
      throw_error(ErrorKind::ValueError, "%s must be in 0..%lld", kParts[i].name,
                  static_cast<long long>(kParts[i].most));
    }
  }
  return ((values[0] * 60 + values[1]) * 60 + values[2]) * kSecond + values[3];
}

Value pack_date(Interpreter& in, const Args& args) { return Value::integer(checked_day(in, args.values)); }
Value pack_clock(Interpreter& in, const Args& args) { return Value::integer(checked_clock(in, args.values)); }
Value pack(Interpreter& in, const Args& args) {
  const int64_t day = checked_day(in, args.values);
  return Value::integer(day + checked_clock(in, args.values + 3));
}

// --- moments

struct Moment : GcObject {
  int64_t us = 0;
  Value zone;  // a tzinfo or None
  int64_t fold = 0;
};

void destroy_moment(Interpreter& in, Object* self) { free_object(in, known_cast<Moment>(self)); }
void traverse_moment(Object* self, Visitor& visitor) { visitor(known_cast<Moment>(self)->zone); }
void clear_moment(Interpreter&, Object* self) {
  const Value gone = std::exchange(known_cast<Moment>(self)->zone, Value::none());
}

constexpr char kMomentLayout[] = "datetime.datetime";
bool is_moment(const Value& v) { return has_layout(v, kMomentLayout); }
const Moment* moment_of(const Value& v) {
  if (!is_moment(v)) throw Error(ErrorKind::TypeError, "a date or time is expected");
  return object_cast<const Moment>(v);
}

Value make_moment(Interpreter& in, Type* type, const Args& args) {
  check_count("Moment", args, 1, 3);
  const int64_t us = int_argument(in, args[0]);
  Moment* m = make_object<Moment>(in, type);
  Value made = Value::adopt(m);
  m->us = us;
  m->zone = args.count > 1 ? args[1] : Value::none();
  if (args.count > 2) m->fold = c_int(in, args[2]);
  if (m->fold != 0 && m->fold != 1) throw Error(ErrorKind::ValueError, "fold must be either 0 or 1");
  return made;
}

int64_t checked_range(Wide us) {
  if (us < kDay || us >= (kLastDay + 1) * kDay) throw Error(ErrorKind::OverflowError, "date value out of range");
  return static_cast<int64_t>(us);
}

// The number of microseconds of a day that exists.
Value in_range(Interpreter& in, const Args& args) { return Value::integer(checked_range(wide_of(in, args[0]))); }

// datetime itself says by `_exact` and `_span` which classes its results are of. What is not a plain datetime, or has a
// zone to ask, is the script's: _plus(self, other), _minus(self, other).
Value moment_binary(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  if (op != BinaryOp::Add && op != BinaryOp::Sub) return in.not_implemented;
  if (op == BinaryOp::Sub && reflected) return is_moment(other) ? call_method(in, other, intern(in, "_minus"), {self}) : in.not_implemented;
  Type* type = self.as_object()->type;
  const Value exact = type_lookup(type, intern(in, "_exact"));
  if (exact.is_object() && exact.as_object() == type) {
    const Moment* m = moment_of(self);
    if (is_span(other)) {
      const Wide by = span_us(other);
      const int64_t us = checked_range(op == BinaryOp::Add ? m->us + by : m->us - by);
      Moment* made = make_object<Moment>(in, type);
      Value result = Value::adopt(made);
      made->us = us;
      made->zone = m->zone;
      return result;
    }
    if (op == BinaryOp::Sub && is_moment(other) && other.as_object()->type == type &&
        m->zone.is(moment_of(other)->zone)) {
      const Value span = type_lookup(type, intern(in, "_span"));
      return new_span(in, own_type(span, kSpanLayout, "datetime._span"), m->us - moment_of(other)->us);
    }
  }
  return call_method(in, self, intern(in, op == BinaryOp::Add ? "_plus" : "_minus"), {other});
}

template <int64_t kUnit, int64_t kCount>
Value clock_part(Interpreter&, const Args& args) {
  return Value::integer(moment_of(args[0])->us / kUnit % kCount);
}
Value moment_year(Interpreter&, const Args& args) {
  return Value::integer(date_of(moment_of(args[0])->us / kDay).year);
}
Value moment_month(Interpreter&, const Args& args) {
  return Value::integer(date_of(moment_of(args[0])->us / kDay).month);
}
Value moment_day(Interpreter&, const Args& args) { return Value::integer(date_of(moment_of(args[0])->us / kDay).day); }
Value moment_us(Interpreter&, const Args& args) { return Value::integer(moment_of(args[0])->us); }
Value moment_zone(Interpreter&, const Args& args) { return moment_of(args[0])->zone; }
Value moment_fold(Interpreter&, const Args& args) { return Value::integer(moment_of(args[0])->fold); }
Value moment_ordinal(Interpreter&, const Args& args) { return Value::integer(moment_of(args[0])->us / kDay); }
Value moment_weekday(Interpreter&, const Args& args) { return Value::integer((moment_of(args[0])->us / kDay + 6) % 7); }

// (year, month, day, hour, minute, second, microsecond)
Value moment_fields(Interpreter& in, const Args& args) {
  const int64_t us = moment_of(args[0])->us, clock = us % kDay;
  const Ymd date = us < kDay ? Ymd{0, 0, 0} : date_of(us / kDay);
  return make_tuple(in, {Value::integer(date.year), Value::integer(date.month), Value::integer(date.day),
                         Value::integer(clock / (3600 * kSecond)), Value::integer(clock / (60 * kSecond) % 60),
                         Value::integer(clock / kSecond % 60), Value::integer(clock % kSecond)});
}

// Two of one class without zones are compared here; the rest is the script's: `_ordered(self, other, equality)` answers
// two ints to compare in place of them, True or False for an equality, or NotImplemented.
Value moment_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  const Moment* a = moment_of(self);
  if (is_moment(other) && other.as_object()->type == a->type) {
    const Moment* b = moment_of(other);
    if (a->zone.is_none() && b->zone.is_none()) return compared(op, a->us, b->us);
  }
  const bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  const Value answer = call_method(in, self, intern(in, "_ordered"), {other, Value::boolean(equality)});
  if (answer.is_bool()) return Value::boolean(answer.as_bool() == (op == CompareOp::Eq));
  if (!is_tuple(answer)) return in.not_implemented;
  return compared(op, int_argument(in, (*as_tuple(answer))[0]), int_argument(in, (*as_tuple(answer))[1]));
}

const NativeDef kMomentMethods[] = {
    {"toordinal(self)", moment_ordinal, "The number of the day, 1 for January 1 of year 1."},
    {"weekday(self)", moment_weekday, "0 for Monday ... 6 for Sunday."},
    {"_fields(self)", moment_fields, "All numbers from the year to the microsecond."},
};

// Attributes of a class of datetime.tsr: dates have no hours and times no years.
Value show_date(Interpreter& in, const Args& args) {
  Type* const type = as_type(args[0]);
  in.add_property(type, "year", moment_year);
  in.add_property(type, "month", moment_month);
  in.add_property(type, "day", moment_day);
  type_changed(in, type);
  return Value::none();
}
Value show_clock(Interpreter& in, const Args& args) {
  Type* const type = as_type(args[0]);
  in.add_property(type, "hour", clock_part<3600 * kSecond, 24>);
  in.add_property(type, "minute", clock_part<60 * kSecond, 60>);
  in.add_property(type, "second", clock_part<kSecond, 60>);
  in.add_property(type, "microsecond", clock_part<1, kSecond>);
  in.add_property(type, "tzinfo", moment_zone);
  in.add_property(type, "fold", moment_fold);
  type_changed(in, type);
  return Value::none();
}

// The names of methods that times lack are hidden here, and the class date shows them.
void add_moment(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "date";
  spec.module = "datetime";
  spec.size = sizeof(Moment);
  Type* type = in.new_type(spec);
  type->slots.layout = kMomentLayout;
  type->slots.destroy = destroy_moment;
  type->slots.traverse = traverse_moment;
  type->slots.clear = clear_moment;
  type->slots.compare = moment_compare;
  type->slots.binary = moment_binary;
  type->slots.hash = nullptr;
  type->make = make_moment;
  slot_methods(in, type);
  operator_methods(in, type, 1u << static_cast<int>(BinaryOp::Add) | 1u << static_cast<int>(BinaryOp::Sub));
  in.add_methods(type, kMomentMethods, std::size(kMomentMethods));
  for (const std::string_view name : {"toordinal", "weekday"}) {
    const Value method = *dict_get_text(type->attributes(), name);
    dict_delete_str(in, type->attributes(), intern(in, name));
    dict_set_str(in, type->attributes(), intern(in, "_" + std::string(name)), method);
  }
  in.add_property(type, "_us", moment_us);
  set_member(in, module, "Moment", Value(type));
}

void add_span(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "timedelta";
  spec.module = "datetime";
  spec.size = sizeof(Span);
  Type* type = in.new_type(spec);
  type->slots.layout = kSpanLayout;
  type->slots.destroy = destroy_span;
  type->slots.binary = span_binary;
  type->slots.unary = span_unary;
  type->slots.compare = span_compare;
  type->slots.hash = span_hash;
  type->slots.truth = span_truth;
  type->make = make_span;
  slot_methods(in, type);
  uint32_t operators = 0;
  for (const BinaryOp op : {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::TrueDiv, BinaryOp::FloorDiv, BinaryOp::Mod, BinaryOp::DivMod})
    operators |= 1u << static_cast<int>(op);
  operator_methods(in, type, operators);
  in.add_methods(type, kSpanMethods, std::size(kSpanMethods));
  in.add_property(type, "days", span_days, nullptr, "Whole days; negative for a negative span.");
  in.add_property(type, "seconds", span_seconds, nullptr, "Of the day: 0 <= seconds < 86400.");
  in.add_property(type, "microseconds", span_microseconds, nullptr, "Of the second.");
  in.add_property(type, "_us", span_all);
  set_member(in, module, "Span", Value(type));
}

}  // namespace

void fill_datetime(Interpreter& in, Module& module) {
  add_span(in, module);
  add_moment(in, module);
  in.def(module, "show_date(cls, /)", "Adds the attributes of a date.", show_date);
  in.def(module, "show_clock(cls, /)", "Adds the attributes of a time of day.", show_clock);
  in.def(module, "pack_date(year, month, day, /)", "The microseconds of a date, checked.", pack_date);
  in.def(module, "pack_clock(hour, minute, second, microsecond, /)", "Of a time of day.", pack_clock);
  in.def(module, "pack(year, month, day, hour, minute, second, microsecond, /)", "Of both.", pack);
  in.def(module, "in_range(us, /)", "The argument, if it is within the years 1 to 9999.", in_range);
}

}  // namespace tessera::stdlib
