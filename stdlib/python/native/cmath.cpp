// cmath: functions of complex numbers.
// compile: small (seldom in an inner loop)
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/types/number.h"
#include "stdlib/python/native/cmath_functions.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

using C = std::complex<double>;

C argument(Interpreter& in, const Value& v) {
  double real = 0, imag = 0;
  if (!complex_parts(in, v, real, imag)) real = real_argument(in, v);  // raises TypeError
  return {real, imag};
}

Value result(Interpreter& in, C z) { return make_complex(in, z.real(), z.imag()); }

// ValueError or OverflowError for what the function has left in errno.
void check_errno() {
  if (errno == EDOM) throw Error(ErrorKind::ValueError, "math domain error");
  if (errno == ERANGE) throw Error(ErrorKind::OverflowError, "math range error");
}

template <C (*F)(C)>
Value function(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]);
  errno = 0;
  const C w = F(z);
  check_errno();
  return result(in, w);
}

// As the language divides (Smith's way); the C++ library's division has other last digits.
C quotient(C a, C b) {
  if (std::fabs(b.real()) >= std::fabs(b.imag())) {
    const double ratio = b.imag() / b.real(), denominator = b.real() + b.imag() * ratio;
    return {(a.real() + a.imag() * ratio) / denominator, (a.imag() - a.real() * ratio) / denominator};
  }
  const double ratio = b.real() / b.imag(), denominator = b.real() * ratio + b.imag();
  return {(a.real() * ratio + a.imag()) / denominator, (a.imag() * ratio - a.real()) / denominator};
}

Value log_function(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]), base = args[1].is_undefined() ? C() : argument(in, args[1]);
  errno = 0;
  const C w = complex_log(z);
  if (args[1].is_undefined()) {
    check_errno();
    return result(in, w);
  }
  errno = 0;  // CPython forgets what it has said of z
  const C scale = complex_log(base);
  if (scale == C()) errno = EDOM;
  check_errno();
  return result(in, quotient(w, scale));
}

double angle_of(C z) {
  errno = 0;
  const double angle = std::atan2(z.imag(), z.real());
  check_errno();
  return angle;
}

Value phase(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]);
  return Value::real(angle_of(z));
}

Value polar(Interpreter& in, const Args& args) {
  const C z = argument(in, args[0]);
  const double size = std::hypot(z.real(), z.imag());
  if (std::isinf(size) && std::isfinite(z.real()) && std::isfinite(z.imag()))
    throw Error(ErrorKind::OverflowError, "math range error");
  return make_tuple(in, {Value::real(size), Value::real(std::atan2(z.imag(), z.real()))});
}

Value rect(Interpreter& in, const Args& args) {
  const double r = real_argument(in, args[0]), phi = real_argument(in, args[1]);
  errno = 0;
  const C w = complex_rect(r, phi);
  check_errno();
  return result(in, w);
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
    {"sqrt(z, /)", function<complex_sqrt>, "Square root."},
    {"exp(z, /)", function<complex_exp>, "e raised to z."},
    {"sin(z, /)", function<complex_sin>, "Sine."},
    {"cos(z, /)", function<complex_cos>, "Cosine."},
    {"tan(z, /)", function<complex_tan>, "Tangent."},
    {"sinh(z, /)", function<complex_sinh>, "Hyperbolic sine."},
    {"cosh(z, /)", function<complex_cosh>, "Hyperbolic cosine."},
    {"tanh(z, /)", function<complex_tanh>, "Hyperbolic tangent."},
    {"asin(z, /)", function<complex_asin>, "Arc sine."},
    {"acos(z, /)", function<complex_acos>, "Arc cosine."},
    {"atan(z, /)", function<complex_atan>, "Arc tangent."},
    {"asinh(z, /)", function<complex_asinh>, "Inverse hyperbolic sine."},
    {"acosh(z, /)", function<complex_acosh>, "Inverse hyperbolic cosine."},
    {"atanh(z, /)", function<complex_atanh>, "Inverse hyperbolic tangent."},
    {"log(z, base=..., /)", log_function, "Logarithm."},
    {"log10(z, /)", function<complex_log10>, "Logarithm to base 10."},
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
