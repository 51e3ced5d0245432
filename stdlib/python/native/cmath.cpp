// cmath: functions of complex numbers.
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/types/number.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

using C = std::complex<double>;

C argument(Interpreter& in, const Value& v) {
  if (is_complex(in, v)) {
    const Complex* c = object_cast<Complex>(v);
    return {c->real, c->imag};
  }
  const Value method = v.is_object() ? find_attr(in, v, in.names->complex) : Value();
  if (!method.is_undefined()) return argument(in, call(in, method));
  return {real_argument(in, v), 0.0};
}

Value result(Interpreter& in, C z) { return make_complex(in, z.real(), z.imag()); }

template <C (*F)(const C&)>
Value function(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]);
  const C w = F(z);
  const bool finite = std::isfinite(z.real()) && std::isfinite(z.imag());
  if (finite && (std::isnan(w.real()) || std::isnan(w.imag()))) throw Error(ErrorKind::ValueError, "math domain error");
  if (finite && (std::isinf(w.real()) || std::isinf(w.imag())))
    throw Error(ErrorKind::OverflowError, "math range error");
  return result(in, w);
}

Value log_function(Interpreter& in, const Args& args) {
  const auto log_of = [&](const Value& v) {
    const C z = argument(in, v);
    if (z == C(0.0, 0.0)) throw Error(ErrorKind::ValueError, "math domain error");
    return std::log(z);
  };
  C w = log_of(args[0]);
  if (!args[1].is_undefined()) w /= log_of(args[1]);
  return result(in, w);
}

Value log10_function(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]);
  if (z == C(0.0, 0.0)) throw Error(ErrorKind::ValueError, "math domain error");
  return result(in, std::log10(z));
}

Value phase(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]);
  return Value::real(std::atan2(z.imag(), z.real()));
}

Value polar(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]);
  return make_tuple(in, {Value::real(std::hypot(z.real(), z.imag())), Value::real(std::atan2(z.imag(), z.real()))});
}

Value rect(Interpreter& in, const Args& args) {
  const double r = real_argument(in, args[0]), phi = real_argument(in, args[1]);
  return make_complex(in, r * std::cos(phi), r * std::sin(phi));
}

Value isclose(Interpreter& in, const Args& args) {
  const C a = argument(in, args[0]), b = argument(in, args[1]);
  const double relative = real_argument(in, args[2]), absolute = real_argument(in, args[3]);
  if (relative < 0.0 || absolute < 0.0) throw Error(ErrorKind::ValueError, "tolerances must be non-negative");
  if (a == b) return Value::boolean(true);
  if (std::isinf(a.real()) || std::isinf(a.imag()) || std::isinf(b.real()) || std::isinf(b.imag()))
    return Value::boolean(false);
  const double diff = std::abs(a - b);
  return Value::boolean(diff <= relative * std::abs(b) || diff <= relative * std::abs(a) || diff <= absolute);
}

template <bool (*F)(double)>
Value either(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]);
  return Value::boolean(F(z.real()) || F(z.imag()));
}

bool is_infinite(double x) { return std::isinf(x); }
bool is_nan(double x) { return std::isnan(x); }

Value isfinite(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]);
  return Value::boolean(std::isfinite(z.real()) && std::isfinite(z.imag()));
}

const NativeDef kFunctions[] = {
    {"sqrt(z, /)", function<std::sqrt>, "Square root."},
    {"exp(z, /)", function<std::exp>, "e raised to z."},
    {"sin(z, /)", function<std::sin>, "Sine."},
    {"cos(z, /)", function<std::cos>, "Cosine."},
    {"tan(z, /)", function<std::tan>, "Tangent."},
    {"sinh(z, /)", function<std::sinh>, "Hyperbolic sine."},
    {"cosh(z, /)", function<std::cosh>, "Hyperbolic cosine."},
    {"tanh(z, /)", function<std::tanh>, "Hyperbolic tangent."},
    {"asin(z, /)", function<std::asin>, "Arc sine."},
    {"acos(z, /)", function<std::acos>, "Arc cosine."},
    {"atan(z, /)", function<std::atan>, "Arc tangent."},
    {"asinh(z, /)", function<std::asinh>, "Inverse hyperbolic sine."},
    {"acosh(z, /)", function<std::acosh>, "Inverse hyperbolic cosine."},
    {"atanh(z, /)", function<std::atanh>, "Inverse hyperbolic tangent."},
    {"log(z, base=..., /)", log_function, "Logarithm."},
    {"log10(z, /)", log10_function, "Logarithm to base 10."},
    {"phase(z, /)", phase, "The angle."},
    {"polar(z, /)", polar, "Length and angle."},
    {"rect(r, phi, /)", rect, "From length and angle."},
    {"isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0)", isclose, "Nearly equal?"},
    {"isfinite(z, /)", isfinite, "Are both parts finite?"},
    {"isinf(z, /)", either<is_infinite>, "Is a part infinite?"},
    {"isnan(z, /)", either<is_nan>, "Is a part NaN?"},
};

}  // namespace

void fill_cmath(Interpreter& in, Module& module) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  for (const NativeDef& row : kFunctions) in.def(module, row.signature, row.doc, row.function);
  set_member(in, module, "pi", Value::real(std::numbers::pi));
  set_member(in, module, "e", Value::real(std::numbers::e));
  set_member(in, module, "tau", Value::real(2.0 * std::numbers::pi));
  set_member(in, module, "inf", Value::real(kInfinity));
  set_member(in, module, "nan", Value::real(kNan));
  set_member(in, module, "infj", make_complex(in, 0.0, kInfinity));
  set_member(in, module, "nanj", make_complex(in, 0.0, kNan));
}

}  // namespace tessera::stdlib
