// What is said in terms of table entries: alpha and rounding_mode, where, clamp, gelu, reversed and alternative names.
#include <algorithm>

#include "runtime/autograd/node.h"
#include "runtime/device/meta.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/views.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/pointwise_rows.h"
#include "runtime/ops/result_layout.h"
#include "runtime/plan.h"

namespace tessera::tensor {

Tensor without_infinities(const Tensor& x, Scalar neginf, Scalar posinf);  // a row of pointwise.def
namespace {

bool is_one(const Scalar& s) { return s.is_int() && s.to_int() == 1; }
Scalar negated(const Scalar& s) {
  if (s.is_complex()) return -s.to_complex();
  return s.is_float() ? Scalar(-s.to_double()) : Scalar(-s.to_int());
}

void check_alpha(const Operand& x, const Operand& y, const Scalar& alpha) {
  PromotionState state;
  for (const Operand* operand : {&x, &y}) {
    if (operand->is_tensor()) state.add(operand->tensor());
    else state.add(operand->scalar());
  }
  const DType type = state.result();
  check(!alpha.is_bool() || is_bool(type), TensorErrorKind::Runtime,
        "Boolean alpha only supported for Boolean results.");
  check(is_differentiable(type) || alpha.is_bool() || alpha.is_int(), TensorErrorKind::Runtime,
        "For integral input tensors, argument alpha must not be a floating point number.");
  check(is_complex(type) || !alpha.is_complex(), TensorErrorKind::Runtime,
        "For non-complex input tensors, argument alpha must not be a complex number.");
  alpha.as(type);
}

}  // namespace

Tensor add(const Operand& x, const Operand& y, Scalar alpha) {
  if (is_one(alpha)) return add(x, y);
  check_alpha(x, y, alpha);
  return add_scaled(x, y, alpha);
}

void add_(const Tensor& self, const Operand& x) {
  const Operand both[] = {self, x};
  run_pointwise_inplace(pointwise::k_add, both);
}

Tensor sub(const Operand& x, const Operand& y, Scalar alpha) {
  if (is_one(alpha)) return sub(x, y);
  check_alpha(x, y, alpha);
  return add_scaled(x, y, negated(alpha));
}

Tensor where(const Tensor& condition, const Operand& x, const Operand& y) {
  check(is_bool(condition.dtype()) || condition.dtype() == kUInt8, TensorErrorKind::Runtime,
        "where expected condition to be a boolean tensor, but got a tensor with dtype ",
        scalar_type_name(condition.dtype()));
  return where_(condition, x, y);
}

// Of floats a bound is read as a real number, or says that it is none.
static void read_bound(const Tensor& x, std::optional<Scalar>& bound) {
  if (bound && bound->is_complex() && is_floating(x.dtype())) bound = Scalar(bound->to_double());
}

[[gnu::hot]] Tensor clamp(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max) {
  read_bound(x, min), read_bound(x, max);
  check(min || max, TensorErrorKind::Runtime, "torch.clamp: At least one of 'min' or 'max' must not be None");
  // A bool has no order of its own; among numbers it is one.
  const bool among_numbers = (min && !min->is_bool()) || (max && !max->is_bool());
  if (is_bool(x.dtype()) && !among_numbers) refuse_type(x, "clamp_scalar_cpu");
  const Tensor in = is_bool(x.dtype()) ? to_dtype(x, kInt64) : x;
  if (min && max) return clamp_both(in, *min, *max);
  return min ? clamp_min(in, *min) : clamp_max(in, *max);
}

Tensor gelu(const Tensor& x, const std::string& approximate) {
  if (approximate == "tanh") return gelu_tanh(x);
  check(approximate == "none", TensorErrorKind::Runtime, "approximate argument must be either none or tanh.");
  return gelu_erf(x);
}

namespace {

using namespace pointwise;

Operand operand_of(OpCall& c, size_t i, Scalar& number) {
  if (c.is_tensor(i)) return c.tensor(i);
  number = c.scalar(i);
  return number;
}

// Runs a row with the operands given, in place when `out` is operand 0, into out=, or fresh.
void run_row(OpCall& c, int id, const Operand* in, const Scalar* params = nullptr) {
  bool inplace = !c.out.empty() && in[0].is_tensor() && c.out[0].same(in[0].tensor());
  if (inplace) {
    run_pointwise_inplace(id, in, params);
    c.results.emplace_back(c.out[0]);
  } else {
    c.results.emplace_back(run_pointwise(id, in, params, c.out.empty() ? nullptr : &c.out[0]));
  }
}

// The row itself says so of bools; with alpha another one runs.
void refuse_bools(const Operand& x, const Operand& y) {
  const auto is_true = [](const Operand& o) {
    return o.is_tensor() ? is_bool(o.tensor().dtype()) : o.scalar().is_bool();
  };
  if (is_true(x) || is_true(y)) sub(x, y);
}

template <bool kSubtract>
void add_alpha(OpCall& c) {
  Scalar nx, ny, alpha = c.scalar(2);
  Operand x = operand_of(c, 0, nx), y = operand_of(c, 1, ny);
  if (is_one(alpha)) {
    Operand in[] = {x, y};
    return run_row(c, kSubtract ? k_sub : k_add, in);
  }
  if (kSubtract) refuse_bools(x, y);
  check_alpha(x, y, alpha);
  const auto is_boolean = [](const Operand& o) {
    return o.is_tensor() ? is_bool(o.tensor().dtype()) : o.scalar().is_bool();
  };
  if (is_boolean(x) && is_boolean(y)) alpha = alpha.to_bool();
  Operand in[] = {x, y, kSubtract ? negated(alpha) : alpha};
  run_row(c, k_add_scaled, in);
  if (kSubtract && c.out.empty()) c.results[0] = renamed(std::get<Tensor>(c.results[0]), "SubBackward0");
}

void rsub(OpCall& c) {
  Scalar nx, ny;
  Operand x = operand_of(c, 0, nx), y = operand_of(c, 1, ny);
  refuse_bools(y, x);
  if (!is_one(c.scalar(2))) check_alpha(x, y, c.scalar(2));
  const Tensor scaled = is_one(c.scalar(2)) ? Tensor() : mul(x, c.scalar(2));
  Operand in[] = {y, scaled.defined() ? Operand(scaled) : x};
  c.results.emplace_back(renamed(run_pointwise(k_sub, in), y.is_tensor() ? "RsubBackward0" : "RsubBackward1"));
}

void divide_rounding(OpCall& c) {
  Scalar nx, ny;
  Operand in[] = {operand_of(c, 0, nx), operand_of(c, 1, ny)};
  if (c.none(2)) return run_row(c, k_div, in);
  const std::string mode = Unbox<std::string>::get(c, 2);
  check(mode == "trunc" || mode == "floor", TensorErrorKind::Runtime,
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", mode, "'");
  if (mode == "trunc") {
    PromotionState type;
    for (const Operand& operand : in) operand.is_tensor() ? type.add(operand.tensor()) : type.add(operand.scalar());
    if (!is_half(type.result())) return run_row(c, k_trunc_divide, in);
    Tensor quotient = div(in[0], in[1]);  // rounded, before it is cut off
    const Operand both[] = {quotient};
    run_pointwise_inplace(k_trunc, both);
    return return_value(c, renamed(quotient, "DivBackward2"));
  }
  run_row(c, k_floor_divide, in);
  const auto is_recorded = [&](const Operand& o) { return o.is_tensor() && needs_grad(o.tensor()); };
  if (!c.out.empty() || !(is_recorded(in[0]) || is_recorded(in[1]))) return;
  Tensor result = std::get<Tensor>(c.results[0]);  // rounded: a derivative of zeros
  const Tensor x = in[0].as_tensor(), y = in[1].as_tensor();
  record(result, "DivBackward2", {&x, &y}, [a = Dims(x.sizes()), b = Dims(y.sizes())](Sweep& s) {
    s.give(0, [&] { return zeros(a, s.g().dtype(), s.g().device()); });
    s.give(1, [&] { return zeros(b, s.g().dtype(), s.g().device()); });
  });
  c.results[0] = result;
}

void where_boxed(OpCall& c) {
  Scalar nx, ny;
  Operand x = operand_of(c, 1, nx), y = operand_of(c, 2, ny);
  return_value(c, where(c.tensor(0), x, y));
}
void where_method(OpCall& c) {  // x.where(condition, other)
  Scalar ny;
  Operand y = operand_of(c, 2, ny);
  c.results.emplace_back(where(c.tensor(1), c.tensor(0), y));
}

std::optional<Scalar> maybe_scalar(OpCall& c, size_t i) {
  return c.none(i) ? std::nullopt : std::optional<Scalar>(c.scalar(i));
}

// Bounds that are tensors promote; complex ones are refused by the kernel.
Tensor limited(const Tensor& x, const Tensor& bound, bool lower) {
  for (const Tensor* t : {&x, &bound})
    if (is_complex(t->dtype()))
      refuse_type(promote_types(x.dtype(), bound.dtype()), x.device(),
                  lower ? KernelName("maximum_cpu", "max_elementwise_cuda")
                        : KernelName("minimum_cpu", "min_elementwise_cuda"));
  return renamed(lower ? maximum(x, bound) : minimum(x, bound), "ClampBackward0");
}
Tensor clamp_min_tensor(const Tensor& x, const Tensor& min) {
  return renamed(limited(x, min, true), "ClampMinBackward1");
}
Tensor clamp_max_tensor(const Tensor& x, const Tensor& max) {
  return renamed(limited(x, max, false), "ClampMaxBackward1");
}

// Not inlined, as a dozen of them stand in one derivative.
[[gnu::noinline]] Tensor less(const Tensor& a, const Tensor& b) { return a < b; }
[[gnu::noinline]] Tensor at_most(const Tensor& a, const Tensor& b) { return a <= b; }
[[gnu::noinline]] Tensor equal_to(const Tensor& a, const Tensor& b) { return a == b; }
[[gnu::noinline]] Tensor both(const Tensor& a, const Tensor& b) { return a & b; }
[[gnu::noinline]] Tensor chosen(const Tensor& c, const Tensor& a, const Tensor& b) { return where(c, a, b); }
[[gnu::noinline]] Tensor like(const Tensor& t, const Tensor& d) {
  return to_dtype(sum_to_size(d, t.sizes()), t.dtype());
}

// Between two tensors. The gradient goes where the result comes from: NaN is the input's, and numbers that are equal share it where
// the bounds leave room between them. Of what is `overwritten` a copy is kept.
Tensor clamped(const Tensor& x, const Tensor& min, const Tensor& max, bool overwritten) {
  Tensor result, kept = x;
  {
    const GradMode off(false);
    result = limited(limited(x, min, true), max, false);
    if (overwritten) kept = clone(x);
  }
  if (!needs_grad(x, min, max)) return result;
  record(result, "ClampBackward0", {&x, &min, &max}, keep(kept, min, max), [](Sweep& s) {
    const Tensor x = s.kept(0), low = s.kept(1), high = s.kept(2), room = less(low, high), g = s.g();
    const Tensor none = zeros_like(g), half = g * 0.5, under = less(x, low), over = less(high, x);
    s.give(0, [&] {
      const Tensor shared = chosen(both(equal_to(x, low), room), half, chosen(both(equal_to(x, high), room), half, g));
      return like(x, chosen(under, none, chosen(over, none, shared)));
    });
    s.give(1, [&] {
      const Tensor shared = chosen(both(equal_to(x, low), room), half, none);
      return like(low, chosen(both(under, at_most(low, high)), g, shared));
    });
    s.give(2, [&] {
      const Tensor shared = chosen(both(equal_to(x, high), room), half, none);
      return like(high, chosen(less(high, low), g, chosen(both(over, at_most(low, high)), g, shared)));
    });
  });
  return result;
}

[[gnu::hot]] void clamp_boxed(OpCall& c) {
  bool tensors = c.is_tensor(1) || c.is_tensor(2);
  const Tensor x = c.tensor(0);
  Tensor result;
  if (tensors) {
    check(!is_complex(x.dtype()), TensorErrorKind::NotImplemented, "clamp is not supported for complex types");
    const Tensor kept = c.is_inplace() && needs_grad(x) ? clone(x) : x;  // the derivative reads what is overwritten
    if (c.none(1)) result = limited(kept, Unbox<Tensor>::get(c, 2), false);
    else if (c.none(2)) result = limited(kept, Unbox<Tensor>::get(c, 1), true);
    else result = clamped(x, Unbox<Tensor>::get(c, 1), Unbox<Tensor>::get(c, 2), c.is_inplace());
  } else {
    auto min = maybe_scalar(c, 1), max = maybe_scalar(c, 2);
    if (!c.out.empty() && c.out[0].same(x) && (min || max)) {
      read_bound(x, min), read_bound(x, max);
      Operand in[] = {x};
      Scalar params[] = {min ? *min : *max, max ? *max : *min};
      return run_row(c, min && max ? k_clamp_both : min ? k_clamp_min : k_clamp_max, in, params);
    }
    result = clamp(x, min, max);
  }
  return_value(c, result);
}

Tensor round_decimals(const Tensor& x, int64_t decimals) {
  require_type(kFloatTypes, x, decimals ? "round_cpu" : "round_vml_cpu");
  const int64_t places = std::clamp<int64_t>(decimals, -400, 400);  // beyond the powers that a double has
  double scale = 1;
  for (int64_t i = 0; i < std::abs(places); i++) scale *= 10;
  if (!x.numel()) return round(x);
  if (is_half(x.dtype()))  // whose range the scaled numbers would leave
    return renamed(to_dtype(round_decimals(to_dtype(x, kFloat32), decimals), x.dtype()), "RoundBackward1");
  return renamed(decimals >= 0 ? div(round(mul(x, scale)), scale) : mul(round(div(x, scale)), scale), "RoundBackward1");
}
bool equal(const Tensor& x, const Tensor& y) {
  refuse_meta(x, "equal");
  if (x.sizes() != y.sizes()) return false;
  if (kSmallComplexTypes.has(x.dtype())) refuse_type(x, x.same(y) ? "equal_notnan_cpu" : "equal_cpu");
  GradMode off(false);
  return all(eq(x, y)).item().to_bool();
}
Tensor isclose(const Tensor& x, const Tensor& y, double rtol, double atol, bool equal_nan) {
  GradMode off(false);
  check(x.dtype() == y.dtype(), TensorErrorKind::Runtime, scalar_type_name(x.dtype()), " did not match ",
        scalar_type_name(y.dtype()));
  check(rtol >= 0, TensorErrorKind::Runtime, "rtol must be greater than or equal to zero, but got ", rtol);
  check(atol >= 0, TensorErrorKind::Runtime, "atol must be greater than or equal to zero, but got ", atol);
  Tensor close = eq(x, y);
  if (equal_nan && is_differentiable(x.dtype())) close = close | (isnan(x) & isnan(y));
  if (rtol == 0 && atol == 0) return close;
  if (is_bool(x.dtype())) return close;
  const bool stored = is_wide_unsigned(x.dtype());  // has no difference of its own
  const Tensor from = stored ? to_dtype(x, kFloat64) : x, to = stored ? to_dtype(y, kFloat64) : y;
  Tensor allowed = abs(mul(y, rtol)) + atol, gap = abs(sub(from, to));
  return close | (isfinite(gap) & le(gap, allowed));
}
bool allclose(const Tensor& x, const Tensor& y, double rtol, double atol, bool equal_nan) {
  return all(isclose(x, y, rtol, atol, equal_nan)).item().to_bool();
}
Tensor logit(const Tensor& given, std::optional<double> eps) {
  if (is_complex(given.dtype())) refuse_type(given, "logit_cpu");
  const Tensor x = is_floating(given.dtype()) ? given : to_dtype(given, Context::current().default_dtype);
  // Bounds by comparison: a clamp would bound NaN.
  const auto bounded = [&] { return eps ? where(lt(x, *eps), *eps, where(gt(x, 1 - *eps), 1 - *eps, x)) : x; };
  Tensor out;
  {
    GradMode off(false);
    const Tensor p = bounded();
    out = log(p / (1.0 - p));
  }
  if (!needs_grad(x)) return out;
  record(out, "LogitBackward0", {&x}, keep(x), [low = eps.value_or(0.0), beyond = eps ? 0.0 : std::nan("")](Sweep& s) {
    s.give(0, [&] {
      const Tensor x = s.kept(0);
      return where(lt(x, low) | gt(x, 1 - low), beyond, s.g() / (x * (1.0 - x)));
    });
  });
  return out;
}
struct Sinc {
  static constexpr bool in_place = true;
  static Meta shape(const Tensor& self) {
    return {self.sizes(), is_differentiable(self.dtype()) ? self.dtype() : Context::current().default_dtype,
            self.device(), result_strides({{&self}}, self.sizes())};
  }
  static void run(const Tensor& out, const Tensor& self) {
    const Tensor x = is_half(self.dtype()) ? to_dtype(self, kFloat32) : self,
                 zero = eq(x, 0);  // a half is rounded once
    const Tensor t = x * kPi;
    copy_into(out, where(zero, 1.0, sin(t) / where(zero, 1.0, t)));
  }
  static void grad(Tensor& out, const Tensor& self) {
    record(out, "SincBackward0", {&self}, keep(clone(self)), [](Sweep& s) {
      s.give(0, [&] {
        const Tensor x = s.kept(0), t = x * kPi;
        return where(eq(x, 0), 0.0, s.g() * conj((t * cos(t) - sin(t)) / (t * x)));
      });
    });
  }

 private:
  static constexpr double kPi = 3.14159265358979323846;
};
Tensor nan_to_num(const Tensor& x, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (is_complex(x.dtype()))
    return renamed(view_as_complex(nan_to_num(view_as_real(contiguous(x)), nan, posinf, neginf)), "NanToNumBackward0");
  if (!is_floating(x.dtype()) || !x.numel()) return renamed(clone(x), "NanToNumBackward0");
  const double top = facts(x.dtype()).most;
  const Tensor y = without_infinities(x, neginf.value_or(-top), posinf.value_or(top));
  return renamed(nan.value_or(0.0) == 0.0 ? y : where(isnan(x), *nan, y), "NanToNumBackward0");
}
Tensor prelu(const Tensor& x, const Tensor& weight) {
  check(x.dtype() == weight.dtype(), TensorErrorKind::Runtime, "prelu: Type promoting not supported. Got ",
        scalar_type_name(x.dtype()), " and ", scalar_type_name(weight.dtype()));
  check(x.dim() > 0 || weight.numel() == 1, TensorErrorKind::Runtime, "Not allow zero-dim input tensor.");
  const int64_t channels = x.dim() > 1 ? x.sizes()[1] : 1;
  check(weight.numel() == 1 || weight.numel() == channels, TensorErrorKind::Runtime,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
        " and channel size = ", channels, ".");
  check(weight.dim() <= 1, TensorErrorKind::Runtime,
        "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  require_type(kFloatTypes, x, "prelu_cpu");
  Tensor w = weight;
  if (x.dim() == 0) w = reshape(weight, {});
  else if (weight.numel() != 1 && x.dim() > 2) {  // one for each channel, which is dimension 1
    Dims shape(size_t(x.dim()) - 1, 1);
    shape[0] = weight.numel();
    w = reshape(weight, shape);
  }
  Tensor out = where(gt(x, 0), x, w * x);
  if (needs_grad(out) && out.requires_grad()) grad_fn_of(out)->name = "PreluKernelBackward0";
  return out;
}
Tensor pow_number(Scalar base, const Tensor& exponent) { return pow(base, exponent); }

constexpr uint32_t kAll = kFunction | kMethod | kInplace | kOut;
constexpr uint32_t kNumbers = kAll | kNumberOperands;

TS_BOXED(add, "add.alpha(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "self + alpha * other.", kNumbers,
         add_alpha<false>,
         "f[2,3], f[3], alpha=2\n"
         "f[2], 1.5, alpha=0.5\n"
         "f[2,3], f[2], alpha=2 -> RuntimeError: The size of tensor a (3) must match",
         .priority = 1, .takes_numbers_anywhere = true, .batching = Batching::Pointwise);
TS_BOXED(sub, "sub.alpha(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "self - alpha * other.", kNumbers,
         add_alpha<true>,
         "f[2,3], f[3], alpha=2\n"
         "f[2], 1.5, alpha=0.5",
         .priority = 1, .takes_numbers_anywhere = true, .batching = Batching::Pointwise);
TS_BOXED(subtract, "subtract(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "", kNumbers, add_alpha<true>,
         "f[2,3], f[3]\n"
         "f[2,3], f[2,1], alpha=3",
         .alias_of = "sub",
         .forms =
             "Tensor self, Tensor other, *, Scalar alpha=1\n"
             "Tensor self, Scalar other, Scalar alpha=1",
         .takes_numbers_anywhere = true, .batching = Batching::Pointwise);
TS_BOXED(rsub, "rsub(Tensor self, Tensor other, Scalar alpha=1) -> Tensor", "other - self.",
         kFunction | kNumberOperands, rsub,
         "f[2,3], f[3]\n"
         "f[3], 2.5, alpha=2",
         .forms =
             "Tensor self, Tensor other, *, Scalar alpha=1\n"
             "Tensor self, Scalar other, Scalar alpha=1",
         .batching = Batching::Pointwise);
TS_BOXED(
    div, "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", "Division, rounded as asked.",
    kNumbers, divide_rounding,
    "f[2,3], g[3], rounding_mode='floor'\n"
    "f[3], 0.7, rounding_mode='trunc'\n"
    "i[4]<9, 2, rounding_mode='floor'\n"
    "f[2], 1, rounding_mode='up' -> RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'",
    .priority = 1, .takes_numbers_anywhere = true, .batching = Batching::Pointwise);
TS_BOXED(divide, "divide(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor", "", kNumbers,
         divide_rounding,
         "f[2,3], g[3]\n"
         "f[3], 2",
         .alias_of = "div",
         .forms =
             "Tensor self, Tensor other\n"
             "Tensor self, Tensor other, *, str? rounding_mode\n"
             "Tensor self, Scalar other\n"
             "Tensor self, Scalar other, *, str? rounding_mode",
         .takes_numbers_anywhere = true, .batching = Batching::Pointwise);
TS_BOXED(true_divide, "true_divide(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor", "", kNumbers,
         divide_rounding,
         "f[2,3], g[3]\n"
         "i[3]<9, 2",
         .alias_of = "div",
         .forms =
             "Tensor self, Tensor other\n"
             "Tensor self, Scalar other",
         .takes_numbers_anywhere = true, .batching = Batching::Pointwise);
TS_BOXED(where, "where(Tensor condition, Tensor self, Tensor other) -> Tensor",
         "self where condition is true, other elsewhere.", kFunction | kNumberOperands | kOut, where_boxed,
         "b[2,3], f[3], f[2,1]\n"
         "b[3], f[3], 1.5",
         .forms =
             "Tensor condition\n"
             "Tensor condition, Tensor self, Tensor other, *, Tensor? out=None\n"
             "Tensor condition, Scalar self, Tensor other\n"
             "Tensor condition, Tensor self, Scalar other\n"
             "Tensor condition, Scalar self, Scalar other",
         .out = {OutRule::Same, "Expected out type to be $R but got $O"}, .batching = Batching::Pointwise);
TS_BOXED(where, "where.method(Tensor self, Tensor condition, Tensor other) -> Tensor",
         "self where condition is true, other elsewhere.", kMethod | kNumberOperands, where_method,
         "f[3], b[2,3], f[2,1]", .out = {OutRule::Same, "Expected out type to be $R but got $O"},
         .batching = Batching::Pointwise);
TS_BOXED(clamp, "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "self limited to [min, max].", kAll,
         clamp_boxed,
         "f[3,4], -0.9, 0.9\n"
         "f[4], max=0.4\n"
         "f[4] -> RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None",
         .batching = Batching::Pointwise);
TS_BOXED(clamp, "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
         "self limited to [min, max].", kAll, clamp_boxed,
         "f[3,4], f[4], g[4]\n"
         "f[3], max=g[3]",
         .priority = -1, .one_device = "clamp_Tensor", .batching = Batching::Pointwise);
TS_BOXED(clamp_min, "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", "At least min.", kAll,
         box<&clamp_min_tensor>, "f[3,4], g[4]", .priority = -1, .one_device = "clamp_min_Tensor",
         .batching = Batching::Pointwise);
TS_BOXED(clamp_max, "clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", "At most max.", kAll, box<&clamp_max_tensor>,
         "f[3,4], g[4]", .priority = -1, .one_device = "clamp_max_Tensor", .batching = Batching::Pointwise);
TS_BOXED(clip, "clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "", kAll, clamp_boxed,
         "f[3,4], -0.9, 0.9", .alias_of = "clamp", .batching = Batching::Pointwise);
TS_BOXED(clip, "clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", "", kAll, clamp_boxed,
         "f[3,4], f[4], g[4]", .priority = -1, .alias_of = "clamp", .batching = Batching::Pointwise);
TS_BOXED(round, "round.decimals(Tensor self, *, int decimals) -> Tensor", "Rounded to a number of decimals.",
         kAll | kSpecial, box<&round_decimals>,
         "f[3,4], decimals=1\n"
         "i[3]<4, decimals=1 -> NotImplementedError: \"round_cpu\" not implemented for 'Long'",
         .priority = 1, .out = kOutFound, .batching = Batching::Pointwise);
TS_OP(gelu, "gelu(Tensor self, *, str approximate='none') -> Tensor", "x times the normal distribution function.",
      kFunctional | kOut, &gelu,
      "f[3,4]\n"
      "f[4], approximate='tanh'\n"
      "f[4], approximate='x' -> RuntimeError: approximate argument must be either none or tanh.",
      .out = kOutFound);
TS_OP(equal, "equal(Tensor self, Tensor other) -> bool", "Same shape and same elements.",
      kFunction | kMethod | kNoGrad | kDataDependent, &equal, "f[2,3], f[2,3]", .one_device = "_equal");
TS_OP(isclose, "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
      "|self - other| <= atol + rtol * |other|.", kFunction | kMethod | kNoGrad, &isclose,
      "f[2,3], f[3]\n"
      "f[3], f[3], 0.1, 0.2, True",
      .batching = Batching::Pointwise);
TS_OP(allclose, "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
      "isclose for every element.", kFunction | kMethod | kNoGrad | kDataDependent, &allclose, "f[2,3], f[3]");
TS_OP(logit, "logit(Tensor self, float? eps=None) -> Tensor", "The inverse of sigmoid.", kAll | kSpecial, &logit,
      "p[3,4]\n"
      "p[3], 0.2");
TS_OP(sinc, "sinc(Tensor self) -> Tensor", "sin(pi x) / (pi x).", kAll | kSpecial, Sinc, "f[3,4]\nc[3]\ni[3]<3");
TS_OP(nan_to_num, "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
      "NaN and infinities replaced by numbers.", kAll, &nan_to_num,
      "f[3,4]\n"
      "c[3]\n"
      "f[4], 1.5, 2.5, -2.5",
      .out = {OutRule::Same, "nan_to_num: dtype of out: $O should be same as input: $R"});
TS_OP(prelu, "prelu(Tensor self, Tensor weight) -> Tensor", "x above zero, weight * x below.",
      kFunction | kMethod | kFunctional, &prelu,
      "f[2,3,2], p[3]\n"
      "f[2,3], p[1]",
      .one_device = "__prelu_kernel", .autocast = Autocast::Lower, .autocast_cuda = Autocast::Lower);
TS_BOXED(pow, "pow.Scalar(Scalar self, Tensor exponent) -> Tensor", "A number to the powers in exponent.", kFunction,
         box<&pow_number>, "2.5, f[3,4]", .priority = 1, .batching = Batching::Pointwise);

// ---- other names of table entries ----
template <int Id, int Arity>
void run_alias(OpCall& c) {
  Scalar numbers[2];
  Operand in[2] = {operand_of(c, 0, numbers[0]), 0};
  if (Arity == 2) in[1] = operand_of(c, 1, numbers[1]);
  run_row(c, Id, in);
}
/// The facts of a row, under another name of the op. The registry keeps the record as it keeps the entry.
const OpFacts& facts_of_alias(const char* of, int id) {
  auto* facts = new OpFacts(kPointwiseRows[id].facts.op);
  facts->alias_of = of;
  return *facts;
}
/// Another name of a row.
#define TS_ALIAS1(NAME, OF, FLAGS, SAMPLES)                                               \
  const OpRegistration alias_##NAME{                                                      \
      #NAME,   #NAME "(Tensor self) -> Tensor", "", FLAGS, OpParts{run_alias<k_##OF, 1>}, \
      SAMPLES, facts_of_alias(#OF, k_##OF)};
#define TS_ALIAS2(NAME, OF, FLAGS)                                                 \
  const OpRegistration alias_##NAME{#NAME,                                         \
                                    #NAME "(Tensor self, Tensor other) -> Tensor", \
                                    "",                                            \
                                    FLAGS | kNumberOperands,                       \
                                    OpParts{run_alias<k_##OF, 2>},                 \
                                    "p[2,3], p[3]\np[3], 0.5",                     \
                                    facts_of_alias(#OF, k_##OF)};
TS_ALIAS1(absolute, abs, kAll, "p[2,3]")
TS_ALIAS1(negative, neg, kAll, "p[2,3]")
TS_ALIAS1(fix, trunc, kAll, "p[2,3]")
TS_ALIAS1(arcsin, asin, kAll, "p[2,3]")
TS_ALIAS1(arccos, acos, kAll, "p[2,3]")
TS_ALIAS1(arctan, atan, kAll, "p[2,3]")
TS_ALIAS1(arcsinh, asinh, kAll, "p[2,3]")
TS_ALIAS1(arccosh, acosh, kAll, "g[2,3]")
TS_ALIAS1(arctanh, atanh, kAll, "p[2,3]")
TS_ALIAS1(expit, sigmoid, kSpecial, "p[2,3]")
TS_BOXED(multiply, "multiply(Tensor self, Tensor other) -> Tensor", "", kAll | kNumberOperands, (run_alias<k_mul, 2>),
         "p[2,3], p[3]\np[3], 0.5", .alias_of = "mul", .forms = kFormsOfSecondNumber, .takes_numbers_anywhere = true,
         .batching = Batching::Pointwise);
TS_ALIAS2(greater, gt, kAll)
TS_ALIAS2(greater_equal, ge, kAll)
TS_ALIAS2(less, lt, kAll)
TS_ALIAS2(less_equal, le, kAll)
TS_ALIAS2(not_equal, ne, kAll)
TS_ALIAS2(arctan2, atan2, kAll)

}  // namespace
}  // namespace tessera::tensor
