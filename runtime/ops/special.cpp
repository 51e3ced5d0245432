// Special functions as ops: the rows of special.def, their derivatives, and what is made of them.
// compile: small (seldom in a step, and the kernel takes longer)
#include "runtime/ops/special.h"

#include <cmath>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/result_layout.h"
#include "runtime/ops/views.h"
#include "runtime/plan.h"

namespace tessera::tensor {

constinit Kernel<SpecialCall> special_kernel("special");

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr DTypeSet Halves = kRealTypes, Singles = kRealTypes - kHalfTypes, Floats = kFloatTypes;

struct Row {
  DTypeSet types;
  KernelName kernel;
  bool integers;
};
constexpr Row kRows[] = {
#define SPECIAL1(NAME, DOC, TYPES, KERNEL, ...) {TYPES, KERNEL, false},
#define SPECIAL2 SPECIAL1
#define INTEGER2(NAME, DOC, TYPES, KERNEL, ...) {TYPES, KERNEL, true},
#include "runtime/ops/special.def"
#undef SPECIAL1
#undef SPECIAL2
#undef INTEGER2
};
constexpr Row row_of(SpecialId id) { return kRows[int(id)]; }

DType result_type(const Row& row, DType t, Device device) {
  require_type(row.types, t, device, row.kernel);
  return row.integers || is_floating(t) ? t : Context::current().default_dtype;
}

// The kernel on contiguous operands of the type of the arithmetic; `y` may be undefined.
void compute(SpecialId id, const Tensor& out, const Tensor& x, const Tensor& y = {}) {
  const DType type = row_of(id).integers ? kInt64 : out.dtype() == kFloat64 ? kFloat64 : kFloat32;
  const auto operand = [&](const Tensor& t) {
    return contiguous(expand(to_dtype(to_device(t, out.device()), type), out.sizes()));
  };
  const Tensor a = operand(x), b = y.defined() ? operand(y) : Tensor();
  const Tensor to = out.dtype() == type && out.is_contiguous() ? out : Tensor::empty(out.sizes(), type, out.device());
  special_kernel(out.device(),
                 {int(id), type, a.data_ptr(), b.defined() ? b.data_ptr() : nullptr, to.data_ptr(), out.numel()});
  if (!to.same(out)) copy_into(out, to);
}

template <SpecialId id>
struct One {
  static Meta shape(const Tensor& self) {
    return {self.sizes(), result_type(row_of(id), self.dtype(), self.device()), self.device(),
            result_strides({{&self}}, self.sizes())};
  }
  static void run(const Tensor& out, const Tensor& self) { compute(id, out, self); }
};

template <SpecialId id>
struct Two {
  static Meta shape(const Tensor& self, const Tensor& other) {
    const Tensor* inputs[] = {&self, &other};
    PromotionState promotion;
    promotion.add(self);
    promotion.add(other);
    const Dims sizes = broadcast_all(inputs, 2);
    const DType type = result_type(row_of(id), promotion.result(), self.device());
    return {sizes, type, common_device(inputs, 2), result_strides(inputs, sizes)};
  }
  static void run(const Tensor& out, const Tensor& self, const Tensor& other) { compute(id, out, self, other); }
};

// The derivative in tensors, of x and the gradient g.
template <class F>
void record_one(Tensor& out, const char* name, const Tensor& self, F formula) {
  record(out, name, {&self}, keep(self), [formula](Sweep& s) { s.give(0, [&] { return formula(s.g(), s.kept(0)); }); });
}
// The derivatives of x and y; each becomes a sum over what was broadcast.
template <class Dx, class Dy>
void record_two(Tensor& out, const char* name, const Tensor& self, const Tensor& other, Dx dx, Dy dy) {
  record(out, name, {&self, &other}, keep(self, other), [dx, dy](Sweep& s) {
    const Tensor x = s.kept(0), y = s.kept(1);
    s.give(0, [&] { return sum_to_size(dx(s.g(), x, y), x.sizes()); });
    s.give(1, [&] { return sum_to_size(dy(s.g(), x, y), y.sizes()); });
  });
}
[[noreturn]] Tensor no_derivative(const char* of) {
  fail(TensorErrorKind::NotImplemented, "the derivative for '", of, "' is not implemented.");
}

// Near zero a quotient by x is its limit.
Tensor by_x(const Tensor& y, const Tensor& x, double at_zero) { return where(abs(x) > 1e-37, y / x, at_zero); }

#define TS_ONE(STRUCT, ID) using STRUCT = One<SpecialId::ID>;
#define TS_ONE_GRAD(STRUCT, ID, NODE, ...)                                                             \
  struct STRUCT : One<SpecialId::ID> {                                                                 \
    static void grad(Tensor& out, const Tensor& self) {                                                \
      record_one(out, NODE, self, [](const Tensor& g, const Tensor& x) { return g * (__VA_ARGS__); }); \
    }                                                                                                  \
  };                                                                                                   \
  [[maybe_unused]] Tensor call_##ID(const Tensor& x) { return apply<STRUCT>(x); }

// The functions that derivatives call, before the structs that hold them.
Tensor call_i0(const Tensor& x);
Tensor call_special_i0e(const Tensor& x);
Tensor call_special_i1(const Tensor& x);
Tensor call_special_i1e(const Tensor& x);
Tensor call_special_bessel_j0(const Tensor& x);
Tensor call_special_bessel_j1(const Tensor& x);
Tensor call_special_bessel_y0(const Tensor& x);
Tensor call_special_bessel_y1(const Tensor& x);
Tensor call_special_modified_bessel_i0(const Tensor& x);
Tensor call_special_modified_bessel_i1(const Tensor& x);
Tensor call_special_modified_bessel_k0(const Tensor& x);
Tensor call_special_modified_bessel_k1(const Tensor& x);
Tensor call_special_erfcx(const Tensor& x);
Tensor call_special_ndtri(const Tensor& x);

TS_ONE_GRAD(Digamma, digamma, "DigammaBackward0", polygamma(1, x))
TS_ONE_GRAD(I0, i0, "I0Backward0", call_special_i1(x))
TS_ONE_GRAD(I0e, special_i0e, "SpecialI0EBackward0", call_special_i1e(x) - sign(x) * call_special_i0e(x))
TS_ONE_GRAD(I1, special_i1, "SpecialI1Backward0", call_i0(x) - by_x(call_special_i1(x), x, 0.5))
TS_ONE_GRAD(I1e, special_i1e, "SpecialI1EBackward0",
            call_special_i0e(x) - sign(x) * call_special_i1e(x) - by_x(call_special_i1e(x), x, 0.5))
TS_ONE_GRAD(J0, special_bessel_j0, "SpecialBesselJ0Backward0", -call_special_bessel_j1(x))
TS_ONE_GRAD(J1, special_bessel_j1, "SpecialBesselJ1Backward0",
            call_special_bessel_j0(x) - by_x(call_special_bessel_j1(x), x, 0.5))
TS_ONE_GRAD(Y0, special_bessel_y0, "SpecialBesselY0Backward0", -call_special_bessel_y1(x))
TS_ONE_GRAD(Y1, special_bessel_y1, "SpecialBesselY1Backward0",
            call_special_bessel_y0(x) - call_special_bessel_y1(x) / x)
TS_ONE_GRAD(ModifiedI0, special_modified_bessel_i0, "SpecialModifiedBesselI0Backward0",
            call_special_modified_bessel_i1(x))
TS_ONE_GRAD(ModifiedI1, special_modified_bessel_i1, "SpecialModifiedBesselI1Backward0",
            call_special_modified_bessel_i0(x) - by_x(call_special_modified_bessel_i1(x), x, 0.5))
TS_ONE_GRAD(ModifiedK0, special_modified_bessel_k0, "SpecialModifiedBesselK0Backward0",
            -call_special_modified_bessel_k1(x))
TS_ONE_GRAD(ModifiedK1, special_modified_bessel_k1, "SpecialModifiedBesselK1Backward0",
            -(call_special_modified_bessel_k0(x) + call_special_modified_bessel_k1(x) / x))
TS_ONE(ScaledK0, special_scaled_modified_bessel_k0)
TS_ONE(ScaledK1, special_scaled_modified_bessel_k1)
TS_ONE(SphericalJ0, special_spherical_bessel_j0)
TS_ONE(AiryAi, special_airy_ai)
TS_ONE_GRAD(Erfcx, special_erfcx, "SpecialErfcxBackward0", 2.0 * x * call_special_erfcx(x) - 2.0 / std::sqrt(kPi))
TS_ONE_GRAD(LogNdtr, special_log_ndtr, "SpecialLogNdtrBackward0",
            std::sqrt(2 / kPi) / call_special_erfcx(x * -std::sqrt(0.5)))
TS_ONE_GRAD(Ndtri, special_ndtri, "SpecialNdtriBackward0",
            std::sqrt(2 * kPi) * exp(square(call_special_ndtri(x)) * 0.5))

// P(a, x) by x is the density of the gamma distribution; by a PyTorch has none.
Tensor gamma_density(const Tensor& a, const Tensor& x) { return exp((a - 1.0) * log(x) - x - lgamma(a)); }
struct Igamma : Two<SpecialId::igamma> {
  static void grad(Tensor& out, const Tensor& self, const Tensor& other) {
    record_two(
        out, "IgammaBackward0", self, other,
        [](const Tensor&, const Tensor&, const Tensor&) { return no_derivative("igamma: input"); },
        [](const Tensor& g, const Tensor& a, const Tensor& x) { return g * gamma_density(a, x); });
  }
};
struct Igammac : Two<SpecialId::igammac> {
  static void grad(Tensor& out, const Tensor& self, const Tensor& other) {
    record_two(
        out, "IgammacBackward0", self, other,
        [](const Tensor&, const Tensor&, const Tensor&) { return no_derivative("igammac: input"); },
        [](const Tensor& g, const Tensor& a, const Tensor& x) { return -g * gamma_density(a, x); });
  }
};
// The node's number says which operand was a Python number.
const char* node_of(const char* const (&names)[3], const Tensor& x, const Tensor& y) {
  return names[x.is_wrapped_number() ? 1 : y.is_wrapped_number() ? 2 : 0];
}
struct Zeta : Two<SpecialId::special_zeta> {
  static void grad(Tensor& out, const Tensor& self, const Tensor& other) {
    record_two(
        out, node_of({"SpecialZetaBackward0", "SpecialZetaBackward1", "SpecialZetaBackward2"}, self, other), self,
        other, [](const Tensor&, const Tensor&, const Tensor&) { return no_derivative("zeta"); },
        [](const Tensor& g, const Tensor& s, const Tensor& q) { return g * -s * apply<Zeta>(s + 1.0, q); });
  }
};
struct Xlog1py : Two<SpecialId::special_xlog1py> {
  static void grad(Tensor& out, const Tensor& self, const Tensor& other) {
    record_two(
        out, node_of({"SpecialXlog1PyBackward0", "SpecialXlog1PyBackward1", "SpecialXlog1PyBackward2"}, self, other),
        self, other,
        [](const Tensor& g, const Tensor& x, const Tensor& y) {
          return g * where((x == 0.0) & (y <= -1.0), 0.0, log1p(y));
        },
        [](const Tensor& g, const Tensor& x, const Tensor& y) { return g * x / (y + 1.0); });
  }
};
struct Logaddexp2 : Two<SpecialId::logaddexp2> {
  static void grad(Tensor& out, const Tensor& self, const Tensor& other) {
    record_two(
        out, "Logaddexp2Backward0", self, other,
        [](const Tensor& g, const Tensor& x, const Tensor& y) { return g / (exp2(y - x) + 1.0); },
        [](const Tensor& g, const Tensor& x, const Tensor& y) { return g / (exp2(x - y) + 1.0); });
  }
};
Tensor bits_as(const Tensor& t, DType type) {
  return Tensor::adopt(TensorImpl::create_view(&t.storage(), t.impl()->address(), t.sizes(), t.strides(), type));
}

struct NextAfter : Two<SpecialId::nextafter> {
  static void run(const Tensor& out, const Tensor& self, const Tensor& other) {
    if (!is_half(out.dtype())) return compute(SpecialId::nextafter, out, self, other);
    copy_into(out, half_step(expand(to_dtype(self, out.dtype()), out.sizes()), to_dtype(other, out.dtype())));
  }
  /// The result moves with self, but where it stays there.
  static void grad(Tensor& out, const Tensor& self, const Tensor& other) {
    record_two(
        out, "NextafterBackward0", self, other,
        [](const Tensor& g, const Tensor& x, const Tensor& y) { return where(x == y, 0.0, g); },
        [](const Tensor& g, const Tensor&, const Tensor&) { return zeros(g.sizes(), g.dtype(), g.device()); });
  }

 private:
  /// A half's bits as an integer: one more is the next number away from zero.
  static Tensor half_step(const Tensor& x, const Tensor& y) {
    const Tensor bits = bits_as(contiguous(x), kInt16), away = eq(gt(y, x), gt(x, 0.0));
    const Tensor least =
        where(gt(y, 0.0), Tensor::scalar(1, kInt16, x.device()), Tensor::scalar(INT16_MIN + 1, kInt16, x.device()));
    const Tensor stepped = where(x == 0.0, least, where(away, bits + 1, bits - 1));
    return where(isnan(x), x, where(isnan(y) | (x == y), y, bits_as(contiguous(stepped), x.dtype())));
  }
};

struct Polygamma {
  static Meta shape(int64_t n, const Tensor& self) {
    require_type(kRealTypes, self,
                 n == 0   ? KernelName("digamma", "digamma_cuda")
                 : n == 1 ? KernelName("trigamma", "trigamma_cuda")
                          : KernelName("polygamma", "polygamma_cuda"));
    check(n >= 0, TensorErrorKind::Runtime, "polygamma(n, x) does not support negative n.");
    return {self.sizes(), result_type(row_of(SpecialId::polygamma_), self.dtype(), self.device()), self.device(),
            result_strides({{&self}}, self.sizes())};
  }
  static void run(const Tensor& out, int64_t n, const Tensor& self) {
    compute(SpecialId::polygamma_, out, Tensor::scalar(double(n), kFloat64, self.device()), self);
  }
  static void grad(Tensor& out, int64_t n, const Tensor& self) {
    record(out, "PolygammaBackward0", {&self}, keep(self),
           [n](Sweep& s) { s.give(0, [&] { return s.g() * polygamma(n + 1, s.kept(0)); }); });
  }
};
struct PolygammaOfSelf {
  static Meta shape(const Tensor& self, int64_t n) { return Polygamma::shape(n, self); }
  static void run(const Tensor& out, const Tensor& self, int64_t n) { Polygamma::run(out, n, self); }
  static void grad(Tensor& out, const Tensor& self, int64_t n) { Polygamma::grad(out, n, self); }
};

// log of the product of gamma(self - j / 2), j below p, times pi^(p (p - 1) / 4).
struct Mvlgamma {
  static Tensor arguments(const Tensor& self, int64_t p) {
    return unsqueeze(self, -1) +
           arange(-0.5 * double(p) + 0.5, 0.5, 0.5, is_floating(self.dtype()) ? self.dtype() : kFloat32, self.device());
  }
  static Meta shape(const Tensor& self, int64_t p) {
    check(!is_bool(self.dtype()), TensorErrorKind::Runtime, "The input tensor may not be a boolean tensor.");
    check(p >= 1, TensorErrorKind::Runtime, "p has to be greater than or equal to 1");
    require_type(kRealTypes | kWideUnsignedTypes, self, "arange_cpu");
    return {self.sizes(), is_floating(self.dtype()) ? self.dtype() : Context::current().default_dtype, self.device()};
  }
  static void run(const Tensor& out, const Tensor& self, int64_t p) {
    copy_into(out, sum(lgamma(arguments(self, p)), Dims{-1}) + double(p * (p - 1)) * 0.25 * std::log(kPi));
  }
  static void grad(Tensor& out, const Tensor& self, int64_t p) {
    record(out, "MvlgammaBackward0", {&self}, keep(self),
           [p](Sweep& s) { s.give(0, [&] { return s.g() * sum(digamma(arguments(s.kept(0), p)), Dims{-1}); }); });
  }
};

Tensor gammaln(const Tensor& self) { return lgamma(self); }
Tensor ndtr(const Tensor& self) { return (erf(self / std::sqrt(2.0)) + 1.0) * 0.5; }

struct Frexp {
  static std::array<Meta, 2> shape(const Tensor& self) {
    check(is_floating(self.dtype()), TensorErrorKind::Runtime, "torch.frexp() only supports floating-point dtypes");
    const Dims strides = dense_strides(self);
    return {Meta{self.sizes(), self.dtype(), self.device(), strides},
            Meta{self.sizes(), kInt32, self.device(), strides}};
  }
  static void run(const Tensor& mantissa, const Tensor& exponent, const Tensor& self) {
    compute(SpecialId::frexp_mantissa, mantissa, self);
    compute(SpecialId::frexp_exponent, exponent, self);
  }
  static void grad(Tensor& mantissa, Tensor& exponent, const Tensor& self) {
    record(mantissa, "FrexpBackward0", {&self}, keep(exponent),
           [](Sweep& s) { s.give(0, [&] { return s.g() / exp2(to_dtype(s.kept(0), s.g().dtype())); }); });
  }
};

constexpr uint32_t kSpec = kSpecial | kOut, kAll = kFunction | kMethod | kInplace | kOut;
#define TS_UNARY(NAME, ARGUMENT, STRUCT, FLAGS, DOC, ...) \
  TS_OP(NAME, #NAME "(Tensor " ARGUMENT ") -> Tensor", DOC, FLAGS, STRUCT, __VA_ARGS__)

TS_UNARY(digamma, "self", Digamma, kAll | kSpecial, "The derivative of lgamma.",
         "g[3,4]\ni[3]<4\nc[2] -> NotImplementedError: \"digamma\" not implemented for 'ComplexFloat'");
TS_UNARY(special_psi, "self", Digamma, kSpec, "", "g[3,4]", .alias_of = "digamma");
TS_UNARY(i0, "self", I0, kAll | kSpecial, "Modified Bessel function of the first kind, order 0.", "f[3,4]\ni[3]<4");
TS_UNARY(special_i0e, "self", I0e, kSpec, "i0(x) * exp(-|x|).", "f[3,4].t\ni[3]<4");
TS_UNARY(special_i1, "self", I1, kSpec, "Modified Bessel function of the first kind, order 1.", "f[3,4]\ni[3]<4");
TS_UNARY(special_i1e, "self", I1e, kSpec, "i1(x) * exp(-|x|).", "f[3,4]\ni[3]<4");
TS_UNARY(special_bessel_j0, "self", J0, kSpec, "Bessel function of the first kind, order 0.", "f[3,4]\ni[3]<4");
TS_UNARY(special_bessel_j1, "self", J1, kSpec, "Bessel function of the first kind, order 1.", "f[3,4]\ni[3]<4");
TS_UNARY(special_bessel_y0, "self", Y0, kSpec, "Bessel function of the second kind, order 0.", "p[3,4]\ni[3]<4");
TS_UNARY(special_bessel_y1, "self", Y1, kSpec, "Bessel function of the second kind, order 1.", "p[3,4]\ni[3]<4");
TS_UNARY(special_modified_bessel_i0, "self", ModifiedI0, kSpec, "Modified Bessel function of the first kind, order 0.",
         "f[3,4]\ni[3]<4");
TS_UNARY(special_modified_bessel_i1, "self", ModifiedI1, kSpec, "Modified Bessel function of the first kind, order 1.",
         "f[3,4]\ni[3]<4");
TS_UNARY(special_modified_bessel_k0, "self", ModifiedK0, kSpec, "Modified Bessel function of the second kind, order 0.",
         "p[3,4]\ni[3]<4");
TS_UNARY(special_modified_bessel_k1, "self", ModifiedK1, kSpec, "Modified Bessel function of the second kind, order 1.",
         "p[3,4]\ni[3]<4");
TS_UNARY(special_scaled_modified_bessel_k0, "x", ScaledK0, kSpec | kNoGrad, "modified_bessel_k0(x) * exp(x).",
         "p[3,4]");
TS_UNARY(special_scaled_modified_bessel_k1, "x", ScaledK1, kSpec | kNoGrad, "modified_bessel_k1(x) * exp(x).",
         "p[3,4]");
TS_UNARY(special_spherical_bessel_j0, "x", SphericalJ0, kSpec | kNoGrad, "sin(x) / x, 1 at 0.", "f[3,4]");
TS_UNARY(special_airy_ai, "x", AiryAi, kSpec | kNoGrad, "Airy's function Ai.", "f[3,4]\ni[3]<4");
TS_UNARY(special_erfcx, "self", Erfcx, kSpec, "erfc(x) * exp(x * x).", "f[3,4]\ni[3]<4");
TS_UNARY(special_log_ndtr, "self", LogNdtr, kSpec, "Logarithm of the normal distribution function.", "f[3,4]\ni[3]<4");
TS_UNARY(special_ndtri, "self", Ndtri, kSpec, "The inverse of the normal distribution function.", "p[3,4]");
TS_UNARY(special_ndtr, "self", &ndtr, kSpec, "The normal distribution function.", "f[3,4]\ni[3]<4");
TS_UNARY(special_gammaln, "self", &gammaln, kSpec, "", "g[3,4]", .alias_of = "lgamma");
TS_OP(frexp, "frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)", "x as mantissa * 2 ** exponent.",
      kFunction | kMethod | kOut, Frexp,
      "f[3,4]\ni[2]<3 -> RuntimeError: torch.frexp() only supports floating-point dtypes",
      .out = {OutRule::Same, "torch.frexp() expects mantissa to have dtype $r but got $o"});

TS_OP(polygamma, "polygamma(int n, Tensor self) -> Tensor", "Derivative number n of digamma.",
      kFunction | kSpecial | kOut, Polygamma,
      "0, g[3]\n1, g[3,4]\n2, g[3]\n1, i[3]<4\n-1, g[2] -> RuntimeError: polygamma(n, x) does not support negative n.");
TS_OP(polygamma, "polygamma.of(Tensor self, int n) -> Tensor", "Derivative number n of digamma.", kMethod | kInplace,
      PolygammaOfSelf, "g[3], 1\ng[2], -1 -> RuntimeError: polygamma(n, x) does not support negative n.");
TS_OP(mvlgamma, "mvlgamma(Tensor self, int p) -> Tensor", "Logarithm of the gamma function of p dimensions.", kAll,
      Mvlgamma, "g[3,4], 2\ni[3]<4, 1\ng[2], 0 -> RuntimeError: p has to be greater than or equal to 1");
TS_OP(special_multigammaln, "special_multigammaln(Tensor self, int p) -> Tensor",
      "Logarithm of the gamma function of p dimensions.", kSpec, Mvlgamma, "g[3,4], 2");

#define TS_BINARY(NAME, STRUCT, FLAGS, DOC, ...) \
  TS_OP(NAME, #NAME "(Tensor self, Tensor other) -> Tensor", DOC, FLAGS, STRUCT, __VA_ARGS__)
TS_BINARY(igamma, Igamma, kAll, "The regularised lower incomplete gamma function.",
          "i[2]<3, i[2]<3 -> NotImplementedError: \"igamma_cpu\" not implemented for 'Long'", .one_device = "igamma");
TS_BINARY(igammac, Igammac, kAll, "The regularised upper incomplete gamma function.",
          "i[2]<3, i[2]<3 -> NotImplementedError: \"igammac_cpu\" not implemented for 'Long'", .one_device = "igammac");
TS_BINARY(special_gammainc, Igamma, kSpec, "The regularised lower incomplete gamma function.",
          "i[2]<3, i[2]<3 -> NotImplementedError: \"igamma_cpu\" not implemented for 'Long'", .one_device = "igamma");
TS_BINARY(special_gammaincc, Igammac, kSpec, "The regularised upper incomplete gamma function.",
          "i[2]<3, i[2]<3 -> NotImplementedError: \"igammac_cpu\" not implemented for 'Long'", .one_device = "igammac");
TS_BINARY(special_zeta, Zeta, kSpec | kNumberOperands, "Hurwitz's zeta function: the sum of (other + k) ** -self.",
          "i[3]<4, i[3]<4", .forms = kFormsOfEitherNumber);
TS_BINARY(special_xlog1py, Xlog1py, kSpec | kNumberOperands, "x * log1p(y), 0 where x is 0.",
          "f[3,4], p[3,4]\nf[3], g[2,1]\ni[3]<4, i[3]<4", .forms = kFormsOfEitherNumber);
TS_BINARY(
    logaddexp2, Logaddexp2, kFunction | kMethod | kOut, "log2(2 ** x + 2 ** y), without overflow.",
    "f[3,4], f[3,4]\nf[3], f[2,1]\ni[3]<4, i[3]<4 -> NotImplementedError: \"logaddexp2_cpu\" not implemented for 'Long'",
    .one_device = "logaddexp2");
TS_BINARY(nextafter, NextAfter, kFunction | kMethod | kInplace | kOut,
          "The next number after self on the way to other.",
          "i[2]<3, i[2]<3 -> NotImplementedError: \"nextafter_cpu\" not implemented for 'Long'",
          .one_device = "nextafter");
TS_BINARY(gcd, Two<SpecialId::gcd>, kAll | kNoGrad, "The greatest common divisor.",
          "i[3]<9, i[3]<9\nf[2], f[2] -> NotImplementedError: \"gcd_cpu\" not implemented for 'Float'",
          .one_device = "gcd");
TS_BINARY(lcm, Two<SpecialId::lcm>, kAll | kNoGrad, "The least common multiple.",
          "i[3]<9, i[3,1]<9\nf[2], f[2] -> NotImplementedError: \"lcm_cpu\" not implemented for 'Float'",
          .one_device = "lcm");

template <SpecialId id>
Tensor at_number(Scalar x, const Tensor& n) {
  return apply<Two<id>>(Tensor::wrapped_number(x), n);
}

#define TS_POLYNOMIAL(NAME, DOC)                                                                                   \
  TS_OP(special_##NAME, "special_" #NAME "(Tensor x, Tensor n) -> Tensor", DOC, kSpec | kNumberOperands | kNoGrad, \
        Two<SpecialId::special_##NAME>, "f[3,4], i[4]<9\ni[3]<4, i[3]<4",                                          \
        .forms = "Tensor x, Tensor n\nScalar x, Tensor n\nTensor x, Scalar n");                                    \
  TS_OP(special_##NAME, "special_" #NAME ".x_scalar(Scalar x, Tensor n) -> Tensor", DOC, kSpec | kNoGrad,          \
        &at_number<SpecialId::special_##NAME>, "0.3, i[4]<9")
TS_POLYNOMIAL(chebyshev_polynomial_t, "The Chebyshev polynomial of the first kind, of degree n.");
TS_POLYNOMIAL(chebyshev_polynomial_u, "The Chebyshev polynomial of the second kind, of degree n.");
TS_POLYNOMIAL(chebyshev_polynomial_v, "The Chebyshev polynomial of the third kind, of degree n.");
TS_POLYNOMIAL(chebyshev_polynomial_w, "The Chebyshev polynomial of the fourth kind, of degree n.");
TS_POLYNOMIAL(shifted_chebyshev_polynomial_t, "chebyshev_polynomial_t of 2 x - 1.");
TS_POLYNOMIAL(shifted_chebyshev_polynomial_u, "chebyshev_polynomial_u of 2 x - 1.");
TS_POLYNOMIAL(shifted_chebyshev_polynomial_v, "chebyshev_polynomial_v of 2 x - 1.");
TS_POLYNOMIAL(shifted_chebyshev_polynomial_w, "chebyshev_polynomial_w of 2 x - 1.");
TS_POLYNOMIAL(hermite_polynomial_h, "The physicists' Hermite polynomial of degree n.");
TS_POLYNOMIAL(hermite_polynomial_he, "The probabilists' Hermite polynomial of degree n.");
TS_POLYNOMIAL(laguerre_polynomial_l, "The Laguerre polynomial of degree n.");
TS_POLYNOMIAL(legendre_polynomial_p, "The Legendre polynomial of degree n.");

}  // namespace

Tensor digamma(const Tensor& self) { return apply<Digamma>(self); }
Tensor polygamma(int64_t n, const Tensor& self) { return apply<Polygamma>(n, self); }

}  // namespace tessera::tensor
