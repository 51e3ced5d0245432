// math: the C library's functions with Python's errors, and exact sums and integers.
#include <cmath>
#include <limits>
#include <numbers>

#include "lang/objects/class_slots.h"
#include "lang/core/names.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

[[noreturn]] void domain_error() { throw Error(ErrorKind::ValueError, "math domain error"); }
[[noreturn]] void range_error() { throw Error(ErrorKind::OverflowError, "math range error"); }

// A NaN that no argument explains is outside the domain, an infinity is an overflow or a pole.
double checked(double x, double y, bool can_overflow) {
  if (std::isnan(y) && !std::isnan(x)) domain_error();
  if (std::isinf(y) && std::isfinite(x)) {
    if (can_overflow) range_error();
    domain_error();
  }
  return y;
}

template <double (*F)(double), bool kCanOverflow>
Value unary_function(Interpreter& in, const Args& args) {
  const double x = real_argument(in, args[0]);
  return Value::real(checked(x, F(x), kCanOverflow));
}

// A float whose result is finite is no error, whatever the function.
template <double (*F)(double)>
bool short_unary(Interpreter&, Value* args, Value& answer) {
  if (!args[0].is_float()) return false;
  const double y = F(args[0].as_float());
  if (!std::isfinite(y)) return false;
  answer = Value::real(y);
  return true;
}

template <double (*F)(double)>
Value total_function(Interpreter& in, const Args& args) {
  return Value::real(F(real_argument(in, args[0])));
}

template <bool (*F)(double)>
Value predicate(Interpreter& in, const Args& args) {
  return Value::boolean(F(real_argument(in, args[0])));
}

template <bool (*F)(double)>
bool short_predicate(Interpreter&, Value* args, Value& answer) {
  if (!args[0].is_float()) return false;
  answer = Value::boolean(F(args[0].as_float()));
  return true;
}

// Of a float whose whole number has 64 bits.
template <double (*F)(double)>
bool short_whole(Interpreter&, Value* args, Value& answer) {
  constexpr double kBound = 0x1p62;
  if (!args[0].is_float()) return false;
  const double y = F(args[0].as_float());
  if (!(std::fabs(y) < kBound)) return false;
  answer = Value::integer(static_cast<int64_t>(y));
  return true;
}

// Of two floats that are finite, as the result is: that is no error, whatever the function.
template <double (*F)(double, double)>
bool short_binary(Interpreter&, Value* args, Value& answer) {
  if (!args[0].is_float() || !args[1].is_float()) return false;
  const double x = args[0].as_float(), y = args[1].as_float(), z = F(x, y);
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) return false;
  answer = Value::real(z);
  return true;
}

bool is_finite(double x) { return std::isfinite(x); }
bool is_infinite(double x) { return std::isinf(x); }
bool is_nan(double x) { return std::isnan(x); }

// --- the gamma function by Lanczos' sum, in the form that CPython uses, so that the last digit is the same ---

constexpr int kLanczos = 13;
constexpr double kLanczosG = 6.024680040776729583740234375;
constexpr double kTop[kLanczos] = {
    23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786772,
    248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408};
constexpr double kBottom[kLanczos] = {0.0,        39916800.0, 120543840.0, 150917976.0, 105258076.0,
                                      45995730.0, 13339535.0, 2637558.0,   357423.0,    32670.0,
                                      1925.0,     66.0,       1.0};

double lanczos_sum(double x) {
  double top = 0.0, bottom = 0.0;
  if (x < 5.0) {
    for (int i = kLanczos; --i >= 0;) {
      top = top * x + kTop[i];
      bottom = bottom * x + kBottom[i];
    }
  } else {
    for (int i = 0; i < kLanczos; ++i) {
      top = top / x + kTop[i];
      bottom = bottom / x + kBottom[i];
    }
  }
  return top / bottom;
}

double sin_pi(double x) {
  const double y = std::fmod(std::fabs(x), 2.0);
  const double pi = std::numbers::pi;
  double r = 1.0;
  switch (static_cast<int>(std::round(2.0 * y))) {
    case 0: r = std::sin(pi * y); break;
    case 1: r = std::cos(pi * (y - 0.5)); break;
    case 2: r = std::sin(pi * (1.0 - y)); break;
    case 3: r = -std::cos(pi * (y - 1.5)); break;
    default: r = std::sin(pi * (y - 2.0)); break;
  }
  return std::copysign(1.0, x) * r;
}

double factorial_value(int n) {
  double r = 1.0;
  for (int i = 2; i <= n; ++i) r *= i;
  return r;
}

double gamma_positive_or_not(double x) {
  const double absx = std::fabs(x);
  const double y = absx + (kLanczosG - 0.5);
  double z;
  if (absx > kLanczosG - 0.5) {
    const double q = y - absx;
    z = q - (kLanczosG - 0.5);
  } else {
    const double q = y - (kLanczosG - 0.5);
    z = q - absx;
  }
  z = z * kLanczosG / y;
  double r;
  if (x < 0.0) {
    r = -std::numbers::pi / sin_pi(absx) / absx * std::exp(y) / lanczos_sum(absx);
    r -= z * r;
    if (absx < 140.0) {
      r /= std::pow(y, absx - 0.5);
    } else {
      const double root = std::pow(y, absx / 2.0 - 0.25);
      r /= root;
      r /= root;
    }
  } else {
    r = lanczos_sum(absx) / std::exp(y);
    r += z * r;
    if (absx < 140.0) {
      r *= std::pow(y, absx - 0.5);
    } else {
      const double root = std::pow(y, absx / 2.0 - 0.25);
      r *= root;
      r *= root;
    }
  }
  return r;
}

Value gamma_function(Interpreter& in, const Args& args) {
  const double x = real_argument(in, args[0]);
  if (!std::isfinite(x)) {
    if (std::isnan(x) || x > 0.0) return Value::real(x);
    domain_error();
  }
  if (x == 0.0) domain_error();
  if (x == std::floor(x)) {
    if (x < 0.0) domain_error();
    if (x <= 23) return Value::real(factorial_value(static_cast<int>(x) - 1));
  }
  const double absx = std::fabs(x);
  if (absx < 1e-20) {
    const double r = 1.0 / x;
    if (std::isinf(r)) range_error();
    return Value::real(r);
  }
  if (absx > 200.0) {
    if (x < 0.0) return Value::real(0.0 / sin_pi(x));
    range_error();
  }
  const double r = gamma_positive_or_not(x);
  if (std::isinf(r)) range_error();
  return Value::real(r);
}

Value lgamma_function(Interpreter& in, const Args& args) {
  const double x = real_argument(in, args[0]);
  if (!std::isfinite(x)) return Value::real(std::isnan(x) ? x : kInfinity);
  if (x == std::floor(x) && x <= 2.0) {
    if (x <= 0.0) domain_error();
    return Value::real(0.0);
  }
  const double absx = std::fabs(x);
  if (absx < 1e-20) return Value::real(-std::log(absx));
  double r = std::log(lanczos_sum(absx)) - kLanczosG;
  r += (absx - 0.5) * (std::log(absx + kLanczosG - 0.5) - 1);
  if (x < 0.0) r = std::log(std::numbers::pi) - std::log(std::fabs(sin_pi(absx))) - std::log(absx) - r;
  if (std::isinf(r)) range_error();
  return Value::real(r);
}

// --- logarithms ---

// Of a number, or of an int beyond the floats: its fraction's logarithm and its exponent's.
double logarithm(Interpreter& in, const Value& v, double (*f)(double)) {
  const Value plain = unboxed(v);
  if (is_big_int(plain) && whole_sign(plain) > 0) {
    int64_t exponent;
    const double fraction = whole_to_fraction(plain, exponent);
    if (exponent > 1023) return f(fraction) + f(2.0) * static_cast<double>(exponent);
  }
  if (is_big_int(plain) && whole_sign(plain) < 0) domain_error();
  // An int is taken for what it is: the __float__ of a class below int is not asked.
  const double x = real_argument(in, is_whole(plain) ? plain : v);
  if (std::isnan(x)) return x;
  if (x > 0.0) return f(x);
  domain_error();
}

Value log_function(Interpreter& in, const Args& args) {
  if (args.keyword_names != nullptr && args.keyword_names->size != 0) throw Error(ErrorKind::TypeError, "log() takes no keyword arguments");
  if (args.count < 1 || args.count > 2) throw Error(ErrorKind::TypeError, "math.log requires 1 to 2 arguments");
  const double top = logarithm(in, args[0], std::log);
  if (args.count == 1) return Value::real(top);
  const double bottom = logarithm(in, args[1], std::log);
  if (bottom == 0.0) throw Error(ErrorKind::ZeroDivisionError, "float division by zero");
  return Value::real(top / bottom);
}

Value log2_function(Interpreter& in, const Args& args) { return Value::real(logarithm(in, args[0], std::log2)); }
Value log10_function(Interpreter& in, const Args& args) { return Value::real(logarithm(in, args[0], std::log10)); }

// --- of two numbers ---

Value atan2_function(Interpreter& in, const Args& args) {
  const double first = real_argument(in, args[0]), second = real_argument(in, args[1]);
  return Value::real(std::atan2(first, second));
}

Value copysign_function(Interpreter& in, const Args& args) {
  const double first = real_argument(in, args[0]), second = real_argument(in, args[1]);
  return Value::real(std::copysign(first, second));
}

Value fmod_function(Interpreter& in, const Args& args) {
  const double x = real_argument(in, args[0]), y = real_argument(in, args[1]);
  const double r = std::fmod(x, y);
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) domain_error();
  return Value::real(r);
}

Value remainder_function(Interpreter& in, const Args& args) {
  const double x = real_argument(in, args[0]), y = real_argument(in, args[1]);
  const double r = std::remainder(x, y);
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) domain_error();
  return Value::real(r);
}

Value pow_function(Interpreter& in, const Args& args) {
  const double x = real_argument(in, args[0]), y = real_argument(in, args[1]);
  const double r = std::pow(x, y);
  if (std::isfinite(x) && std::isfinite(y)) {
    if (std::isnan(r)) domain_error();
    if (std::isinf(r)) {
      if (x == 0.0) domain_error();
      range_error();
    }
  }
  return Value::real(r);
}

Value ldexp_function(Interpreter& in, const Args& args) {
  const double x = real_argument(in, args[0]);
  if (!is_whole(unboxed(args[1]))) throw Error(ErrorKind::TypeError, "Expected an int as second argument to ldexp.");
  const Value power = whole_index(in, args[1]);
  const int64_t e = is_big_int(power) ? whole_sign(power) * INT64_MAX : power.as_int();
  if (x == 0.0 || !std::isfinite(x)) return Value::real(x);
  if (e > 5000) range_error();
  if (e < -5000) return Value::real(std::copysign(0.0, x));
  const double r = std::ldexp(x, static_cast<int>(e));
  if (std::isinf(r)) range_error();
  return Value::real(r);
}

Value nextafter_function(Interpreter& in, const Args& args) {
  const double x = real_argument(in, args[0]), y = real_argument(in, args[1]);
  return Value::real(std::nextafter(x, y));
}

Value ulp_function(Interpreter& in, const Args& args) {
  const double x = std::fabs(real_argument(in, args[0]));
  if (!std::isfinite(x)) return Value::real(x);
  const double up = std::nextafter(x, kInfinity);
  return Value::real(std::isinf(up) ? x - std::nextafter(x, -kInfinity) : up - x);
}

Value frexp_function(Interpreter& in, const Args& args) {
  int e = 0;
  const double x = real_argument(in, args[0]);
  const double m = std::frexp(x, &e);
  return make_tuple(in, {Value::real(m), Value::integer(std::isfinite(x) ? e : 0)});
}

Value modf_function(Interpreter& in, const Args& args) {
  const double x = real_argument(in, args[0]);
  double whole;
  const double rest = std::modf(x, &whole);
  return make_tuple(in, {Value::real(rest), Value::real(whole)});
}

Value isclose_function(Interpreter& in, const Args& args) {
  const double a = real_argument(in, args[0]), b = real_argument(in, args[1]);
  const double relative = real_argument(in, args[2]), absolute = real_argument(in, args[3]);
  if (relative < 0.0 || absolute < 0.0) throw Error(ErrorKind::ValueError, "tolerances must be non-negative");
  if (a == b) return Value::boolean(true);
  if (std::isinf(a) || std::isinf(b)) return Value::boolean(false);
  const double diff = std::fabs(b - a);
  return Value::boolean(diff <= std::fabs(relative * b) || diff <= std::fabs(relative * a) || diff <= absolute);
}

Value degrees_function(Interpreter& in, const Args& args) {
  return Value::real(real_argument(in, args[0]) * (180.0 / std::numbers::pi));
}
Value radians_function(Interpreter& in, const Args& args) {
  return Value::real(real_argument(in, args[0]) * (std::numbers::pi / 180.0));
}

// --- to whole numbers ---

Value by_method(Interpreter& in, const Value& v, Str* name, double (*f)(double)) {
  if (v.is_float()) return whole_from_float(in, f(v.as_float()));
  if (is_whole(v)) return whole_unary(in, UnaryOp::Pos, v);
  const Type* type = type_of(in, v);
  const Value method = type_lookup(type, name);
  if (!method.is_undefined()) return call_special(in, method, v);
  return whole_from_float(in, f(to_float(in, v)));
}

Value floor_function(Interpreter& in, const Args& args) { return by_method(in, args[0], in.names->floor, std::floor); }
Value ceil_function(Interpreter& in, const Args& args) { return by_method(in, args[0], in.names->ceil, std::ceil); }

Value trunc_function(Interpreter& in, const Args& args) {
  const Value& v = args[0];
  if (v.is_float()) return whole_from_float(in, v.as_float());
  if (is_whole(v)) return whole_unary(in, UnaryOp::Pos, v);
  const Value method = type_lookup(type_of(in, v), in.names->trunc);
  if (method.is_undefined()) {
    throw_error(ErrorKind::TypeError, "type %s doesn't define __trunc__ method", std::string(type_name(in, v)).c_str());
  }
  return call_special(in, method, v);
}

// --- sums and norms ---

// Adds x to non-overlapping partial sums (Shewchuk): nothing is ever lost.
void add_partial(std::vector<double>& partials, double x) {
  size_t kept = 0;
  for (double y : partials) {
    if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
    const double high = x + y;
    const double low = y - (high - x);
    if (low != 0.0) partials[kept++] = low;
    x = high;
  }
  partials.resize(kept);
  if (x != 0.0) partials.push_back(x);  // a sum of zeros is 0.0, of -0.0 too
}

double round_partials(const std::vector<double>& partials) {
  size_t n = partials.size();
  if (n == 0) return 0.0;
  double high = partials[--n], low = 0.0;
  while (n > 0) {
    const double x = high, y = partials[--n];
    high = x + y;
    low = y - (high - x);
    if (low != 0.0) break;
  }
  // Halfway cases are rounded to even by what comes after them.
  if (n > 0 && ((low < 0.0 && partials[n - 1] < 0.0) || (low > 0.0 && partials[n - 1] > 0.0))) {
    const double y = low * 2.0, x = high + y;
    if (y == x - high) high = x;
  }
  return high;
}

Value fsum_function(Interpreter& in, const Args& args) {
  std::vector<double> partials;
  double special = 0.0, infinities = 0.0;
  for_each(in, args[0], [&](Value v) {
    const double x = real_argument(in, v);
    if (std::isfinite(x)) {
      add_partial(partials, x);
      if (!partials.empty() && std::isinf(partials.back())) throw Error(ErrorKind::OverflowError, "intermediate overflow in fsum");
    } else {
      if (std::isinf(x)) infinities += x;
      special += x;
    }
  });
  if (special != 0.0) {
    if (std::isnan(infinities)) throw Error(ErrorKind::ValueError, "-inf + inf in fsum");
    return Value::real(special);
  }
  return Value::real(round_partials(partials));
}

Value prod_function(Interpreter& in, const Args& args) {
  Value result = args[1];
  for_each(in, args[0], [&](Value v) { result = binary(in, BinaryOp::Mul, result, v); });
  return result;
}

// Scaled by a power of two, squared and summed exactly, then the root corrected once: right to the last bit or nearly.
double vector_norm(const std::vector<double>& v) {
  double most = 0.0;
  bool nan = false;
  for (double x : v) {
    nan = nan || std::isnan(x);
    most = std::fmax(most, std::fabs(x));
  }
  if (std::isinf(most)) return most;
  if (nan) return std::numeric_limits<double>::quiet_NaN();
  if (most == 0.0 || v.size() <= 1) return most;
  int exponent = 0;
  std::frexp(most, &exponent);
  std::vector<double> partials;
  const auto add_square = [&](double x, double sign) {
    const double square = x * x;
    add_partial(partials, sign * square);
    add_partial(partials, sign * std::fma(x, x, -square));
  };
  for (double x : v) add_square(std::ldexp(x, -exponent), 1.0);
  const double root = std::sqrt(round_partials(partials));
  add_square(root, -1.0);
  return std::ldexp(root + round_partials(partials) / (2.0 * root), exponent);
}

Value hypot_function(Interpreter& in, const Args& args) {
  std::vector<double> v;
  for (const Value& x : *as_tuple(args[0])) v.push_back(std::fabs(real_argument(in, x)));
  return Value::real(vector_norm(v));
}

Value dist_function(Interpreter& in, const Args& args) {
  std::vector<double> p, q;
  const Value first = tuple_from(in, args[0]), second = tuple_from(in, args[1]);
  if (as_tuple(first)->size != as_tuple(second)->size)
    throw Error(ErrorKind::ValueError, "both points must have the same number of dimensions");
  for (uint32_t i = 0; i < as_tuple(first)->size; ++i) {
    p.push_back(real_argument(in, as_tuple(first)->items[i]));
    q.push_back(real_argument(in, as_tuple(second)->items[i]));
  }
  for (size_t i = 0; i < p.size(); ++i) p[i] = std::fabs(p[i] - q[i]);
  return Value::real(vector_norm(p));
}

double exp2_of(double x) { return std::exp2(x); }

const NativeDef kRows[] = {
    {"acos(x, /)", unary_function<std::acos, false>, "Arc cosine, in radians.", {short_unary<std::acos>, 1}},
    {"acosh(x, /)", unary_function<std::acosh, false>, "Inverse hyperbolic cosine.", {short_unary<std::acosh>, 1}},
    {"asin(x, /)", unary_function<std::asin, false>, "Arc sine, in radians.", {short_unary<std::asin>, 1}},
    {"asinh(x, /)", unary_function<std::asinh, false>, "Inverse hyperbolic sine.", {short_unary<std::asinh>, 1}},
    {"atan(x, /)", unary_function<std::atan, false>, "Arc tangent, in radians.", {short_unary<std::atan>, 1}},
    {"atan2(y, x, /)", atan2_function, "Arc tangent of y/x with the signs of both.", {short_binary<std::atan2>, 2}},
    {"atanh(x, /)", unary_function<std::atanh, false>, "Inverse hyperbolic tangent.", {short_unary<std::atanh>, 1}},
    {"cbrt(x, /)", unary_function<std::cbrt, false>, "Cube root.", {short_unary<std::cbrt>, 1}},
    {"ceil(x, /)", ceil_function, "The least integer that is not below x.", {short_whole<std::ceil>, 1}},
    {"copysign(x, y, /)", copysign_function, "The magnitude of x with the sign of y.", {short_binary<std::copysign>, 2}},
    {"cos(x, /)", unary_function<std::cos, false>, "Cosine of x radians.", {short_unary<std::cos>, 1}},
    {"cosh(x, /)", unary_function<std::cosh, true>, "Hyperbolic cosine.", {short_unary<std::cosh>, 1}},
    {"degrees(x, /)", degrees_function, "Radians to degrees."},
    {"dist(p, q, /)", dist_function, "Euclidean distance of two points."},
    {"erf(x, /)", total_function<std::erf>, "Error function.", {short_unary<std::erf>, 1}},
    {"erfc(x, /)", total_function<std::erfc>, "1 - erf(x).", {short_unary<std::erfc>, 1}},
    {"exp(x, /)", unary_function<std::exp, true>, "e raised to x.", {short_unary<std::exp>, 1}},
    {"exp2(x, /)", unary_function<exp2_of, true>, "2 raised to x.", {short_unary<exp2_of>, 1}},
    {"expm1(x, /)", unary_function<std::expm1, true>, "exp(x) - 1, exact near zero.", {short_unary<std::expm1>, 1}},
    {"fabs(x, /)", total_function<std::fabs>, "Absolute value, as a float.", {short_unary<std::fabs>, 1}},
    {"floor(x, /)", floor_function, "The greatest integer that is not above x.", {short_whole<std::floor>, 1}},
    {"fmod(x, y, /)", fmod_function, "The remainder with the sign of x.", {short_binary<std::fmod>, 2}},
    {"frexp(x, /)", frexp_function, "Mantissa and exponent: x == m * 2**e."},
    {"fsum(seq, /)", fsum_function, "The exact sum, rounded once."},
    {"gamma(x, /)", gamma_function, "Gamma function."},
    {"hypot(*coordinates)", hypot_function, "Length of a vector."},
    {"isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0)", isclose_function, "Are a and b nearly equal?"},
    {"isfinite(x, /)", predicate<is_finite>, "Neither an infinity nor NaN?", {short_predicate<is_finite>, 1}},
    {"isinf(x, /)", predicate<is_infinite>, "An infinity?", {short_predicate<is_infinite>, 1}},
    {"isnan(x, /)", predicate<is_nan>, "Not a number?", {short_predicate<is_nan>, 1}},
    {"ldexp(x, i, /)", ldexp_function, "x * 2**i."},
    {"lgamma(x, /)", lgamma_function, "Logarithm of the absolute value of gamma(x)."},
    {"log", log_function, "Logarithm to a base, e if none is given."},
    {"log10(x, /)", log10_function, "Logarithm to base 10."},
    {"log1p(x, /)", unary_function<std::log1p, false>, "log(1 + x), exact near zero.", {short_unary<std::log1p>, 1}},
    {"log2(x, /)", log2_function, "Logarithm to base 2."},
    {"modf(x, /)", modf_function, "Fractional and integer parts."},
    {"nextafter(x, y, /)", nextafter_function, "The next float after x towards y."},
    {"pow(x, y, /)", pow_function, "x raised to y, as floats."},
    {"prod(iterable, /, *, start=1)", prod_function, "Product of the items."},
    {"radians(x, /)", radians_function, "Degrees to radians."},
    {"remainder(x, y, /)", remainder_function, "The remainder nearest to zero."},
    {"sin(x, /)", unary_function<std::sin, false>, "Sine of x radians.", {short_unary<std::sin>, 1}},
    {"sinh(x, /)", unary_function<std::sinh, true>, "Hyperbolic sine.", {short_unary<std::sinh>, 1}},
    {"sqrt(x, /)", unary_function<std::sqrt, false>, "Square root.", {short_unary<std::sqrt>, 1}},
    {"tan(x, /)", unary_function<std::tan, false>, "Tangent of x radians.", {short_unary<std::tan>, 1}},
    {"tanh(x, /)", unary_function<std::tanh, false>, "Hyperbolic tangent.", {short_unary<std::tanh>, 1}},
    {"trunc(x, /)", trunc_function, "x without its fraction.", {short_whole<std::trunc>, 1}},
    {"ulp(x, /)", ulp_function, "The distance from x to the next float."},
};

}  // namespace

void fill_math(Interpreter& in, Module& module) {
  for (const NativeDef& row : kRows) in.def(module, row);
  fill_math_integers(in, module);
  set_member(in, module, "pi", Value::real(std::numbers::pi));
  set_member(in, module, "e", Value::real(std::numbers::e));
  set_member(in, module, "tau", Value::real(2.0 * std::numbers::pi));
  set_member(in, module, "inf", Value::real(kInfinity));
  set_member(in, module, "nan", Value::real(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace tessera::stdlib
