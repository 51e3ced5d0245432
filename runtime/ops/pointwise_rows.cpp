// pointwise.def as rows, derivatives, C++ functions and registry entries.
#include "runtime/ops/pointwise_rows.h"

#include <cctype>
#include <deque>

#include "runtime/autograd/record.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/grad_probe.h"
#include "runtime/ops/op.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/special.h"

namespace tessera::tensor {

using namespace pointwise;

// ---- longer pieces of derivatives ----

static Tensor pow_dx(const Tensor& g, const Tensor& x, const Tensor& y) {
  if (y.is_wrapped_number() && !is_complex(y.dtype())) {
    double e = y.item().to_double();
    if (e == 0.0) return zeros_like(g);
    if (e == 2.0) return g * (x * 2.0);
    return g * (pow(x, e - 1.0) * e);
  }
  return where(y == 0.0, 0.0, g * (y * pow(x, y - 1.0)));
}
static Tensor pow_dy(const Tensor& g, const Tensor& x, const Tensor& y, const Tensor& result) {
  const bool complex = is_complex(y.dtype());
  const Tensor right = complex ? (imag(y) == 0.0) & (real(y) >= 0.0) : y >= 0.0, zero = (x == 0.0) & right;
  const bool widens = is_complex(result.dtype()) && !is_complex(x.dtype());  // then negative numbers have logarithms
  return g * where(zero, 0.0, result * log(widens ? to_dtype(x, result.dtype()) : x));
}
static Tensor gelu_tanh_dx(const Tensor& x) {
  constexpr double k = 0.79788456080286535588;
  Tensor t = tanh((x + 0.044715 * (x * x * x)) * k);
  return 0.5 * (t + 1.0) + 0.5 * x * (1.0 - t * t) * (1.0 + (3 * 0.044715) * (x * x)) * k;
}

// ---- derivatives ----

namespace {

/// `kNumbers`: the parameters may be complex, as those of rows with tensors beside them are.
template <class Formula, bool kNumbers = false>
constexpr PointwiseRow::Derivative derivative_of() {
  if constexpr (!has_derivative<Formula>()) return {};
  else
    return {[](const GradArgs& a) -> Tensor {
              if constexpr (kNumbers)
                if (a.params[0].is_complex())
                  return Formula::of(a.g, a.x, a.y, a.z, a.result, a.params[0], a.params[1]);
              return Formula::of(a.g, a.x, a.y, a.z, a.result, a.params[0].to_double(), a.params[1].to_double());
            },
            derivative_reads<Formula>(), is_computed<Formula>()};
}

#define TS_FN
#include "runtime/ops/formulas.inc"
#undef TS_FN
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1

/// "add" -> "AddBackward0", "leaky_relu" -> "LeakyReluBackward0": PyTorch's grad_fn names. Some ops record as another.
const char* backward_name(std::string_view op) {
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"where_", "where"},    {"gelu_erf", "gelu"},    {"gelu_tanh", "gelu"},   {"clamp_both", "clamp"},
      {"clamp_min", "clamp"}, {"clamp_max", "clamp"},  {"add_scaled", "add"},   {"square", "pow"},
      {"relu6", "hardtanh"},  {"selu", "elu"},         {"softsign", "div"},     {"logsigmoid", "log_sigmoid"},
      {"log1p", "log1_p"},    {"rad2deg", "rad2_deg"}, {"deg2rad", "deg2_rad"},
  };
  const std::string_view name = op;
  for (auto [from, to] : kOthers)
    if (name == from) op = to;
  std::string out;
  bool upper = true;
  for (char c : op) {
    if (c != '_') out += upper ? char(std::toupper(c)) : c;
    upper = c == '_' || (std::isdigit(c) && op == "log1p");
  }
  out += name.starts_with("clamp_") ? "Backward1" : "Backward0";
  static auto* names = new std::deque<std::string>;  // they live as long as the program, and a leak checker sees where
  return names->emplace_back(std::move(out)).c_str();
}

}  // namespace

/// Of the classes that compute in the promoted dtype some rows take uint16, uint32 and uint64 too, others no bool, as in
/// PyTorch; and what a network's layers are made of takes no integers.
constexpr DTypeSet types_of_row(std::string_view name, PointwiseClass row_class) {
  for (const std::string_view taker :
       {"elu", "celu", "selu", "leaky_relu", "silu", "mish", "gelu_erf", "gelu_tanh", "softplus", "logsigmoid",
        "hardsigmoid", "hardswish", "softshrink", "hardshrink", "hypot", "frac"})
    if (name == taker) return kFloatTypes;
  for (const std::string_view taker : {"logaddexp", "lerp"})
    if (name == taker) return kFloatTypes | kComplexTypes;
  for (const std::string_view taker : {"abs", "pow", "addcmul", "floor_divide", "trunc_divide", "remainder", "fmod",
                                       "bitwise_left_shift", "bitwise_right_shift", "threshold"})
    if (name == taker) return types_of(row_class) - DTypeSet(DType::Bool);
  if (name == "round") return (types_of(row_class) - DTypeSet(DType::Bool)) | kWideUnsignedTypes;
  for (const std::string_view taker : {"floor", "ceil", "trunc", "relu", "relu6", "hardtanh"})
    if (name == taker) return kFloatTypes | kIntegralTypes | kWideUnsignedTypes;
  for (const std::string_view taker :
       {"mul", "maximum", "minimum", "fmax", "fmin", "clamp_min", "clamp_max", "clamp_both"})
    if (name == taker) return types_of(row_class) | kWideUnsignedTypes;
  return types_of(row_class);
}

#define TS_ROW(NAME, CLASS, ARITY, PARAMS, BODY, ...) \
  {#NAME,                                             \
   backward_name(#NAME),                              \
   real_class(PointwiseClass::CLASS),                 \
   types_of_row(#NAME, PointwiseClass::CLASS),        \
   ARITY,                                             \
   PARAMS,                                            \
   {__VA_ARGS__},                                     \
   BODY},
#define UNARY(NAME, CLASS, WHERE, DOC, BODY, DX) TS_ROW(NAME, CLASS, 1, 0, #BODY, derivative_of<D0_##NAME>())
#define UNARY1(NAME, CLASS, WHERE, P, PD, DOC, BODY, DX) TS_ROW(NAME, CLASS, 1, 1, #BODY, derivative_of<D0_##NAME>())
#define UNARY2(NAME, CLASS, WHERE, P, PD, Q, QD, DOC, BODY, DX) \
  TS_ROW(NAME, CLASS, 1, 2, #BODY, derivative_of<D0_##NAME>())
#define BINARY(NAME, CLASS, WHERE, DOC, BODY, DX, DY) \
  TS_ROW(NAME, CLASS, 2, 0, #BODY, derivative_of<D0_##NAME>(), derivative_of<D1_##NAME>())
#define TERNARY(NAME, CLASS, WHERE, SCHEMA, DOC, BODY, DX, DY, DZ) \
  TS_ROW(NAME, CLASS, 3, 0, #BODY, derivative_of<D0_##NAME>(), derivative_of<D1_##NAME>(), derivative_of<D2_##NAME>())
#define TERNARY1(NAME, CLASS, WHERE, SCHEMA, P, PD, DOC, BODY, DX, DY, DZ)                             \
  TS_ROW(NAME, CLASS, 3, 1, #BODY, derivative_of<D0_##NAME, true>(), derivative_of<D1_##NAME, true>(), \
         derivative_of<D2_##NAME, true>())
const PointwiseRow kPointwiseRows[] = {
#include "runtime/ops/pointwise.def"
};
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1

// ---- C++ functions ----

#define UNARY(NAME, ...)                \
  Tensor NAME(const Tensor& x) {        \
    Operand in[] = {x};                 \
    return run_pointwise(k_##NAME, in); \
  }
#define UNARY1(NAME, CLASS, WHERE, P, PD, ...) \
  Tensor NAME(const Tensor& x, Scalar P) {     \
    Operand in[] = {x};                        \
    return run_pointwise(k_##NAME, in, &P);    \
  }
#define UNARY2(NAME, CLASS, WHERE, P, PD, Q, QD, ...) \
  Tensor NAME(const Tensor& x, Scalar P, Scalar Q) {  \
    Operand in[] = {x};                               \
    Scalar params[] = {P, Q};                         \
    return run_pointwise(k_##NAME, in, params);       \
  }
#define BINARY(NAME, ...)                           \
  Tensor NAME(const Operand& x, const Operand& y) { \
    Operand in[] = {x, y};                          \
    return run_pointwise(k_##NAME, in);             \
  }
#define TERNARY(NAME, ...)                                            \
  Tensor NAME(const Operand& x, const Operand& y, const Operand& z) { \
    Operand in[] = {x, y, z};                                         \
    return run_pointwise(k_##NAME, in);                               \
  }
#define TERNARY1(NAME, CLASS, WHERE, SCHEMA, P, ...)                            \
  Tensor NAME(const Operand& x, const Operand& y, const Operand& z, Scalar P) { \
    Operand in[] = {x, y, z};                                                   \
    return run_pointwise(k_##NAME, in, &P);                                     \
  }
#include "runtime/ops/pointwise.def"
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1

// ---- registry ----

namespace {

constexpr uint32_t kAll = kFunction | kMethod | kInplace | kOut;
constexpr uint32_t Everywhere = kAll, Plain = kFunction | kMethod | kOut, Special = kAll | kSpecial,
                   Both = kAll | kFunctional, Shown = Both & ~kMethod, Functional = kFunctional | kInplace,
                   Internal = kInternal;

Operand operand_of(OpCall& c, size_t i, Scalar& number) {
  if (c.is_tensor(i)) return c.tensor(i);
  number = c.scalar(i);
  return number;
}

/// Of rounded quotients and of steps PyTorch defines no derivative; their results say so when one is asked for. Other ops'
/// derivatives, which call the same rows, are not touched.
template <int Id>
void refuse_derivative([[maybe_unused]] Tensor& result, [[maybe_unused]] std::span<const Operand> in) {
  if constexpr (Id == k_floor_divide || Id == k_heaviside) {
    for (const Operand& operand : in)
      if (operand.is_tensor() && needs_grad(operand.tensor()) && is_differentiable(result.dtype()))
        return record(result, "NotImplemented", {&operand.tensor()}, [](Sweep&) {
          fail(TensorErrorKind::Runtime, "derivative for aten::", kPointwiseRows[Id].name, " is not implemented");
        });
  }
}

constexpr uint32_t flags_of_row(std::string_view name, uint32_t where) {
  return name == "floor_divide" || name == "heaviside" ? where | kNoGrad : where;
}

/// The boxed form of every row: operands, then parameters. One function for all, as it is long.
void run_boxed_row(OpCall& c, int id, void (*refuse)(Tensor&, std::span<const Operand>)) {
  const PointwiseRow& row = kPointwiseRows[id];
  Scalar numbers[3], params[2];
  Operand in[3] = {0, 0, 0};
  for (size_t k = 0; k < row.arity; k++) in[k] = operand_of(c, k, numbers[k]);
  for (size_t p = 0; p < row.params; p++) params[p] = c.scalar(row.arity + p);
  if (c.out.empty()) {
    Tensor result = run_pointwise(id, in, params);
    refuse(result, {in, row.arity});
    c.results.emplace_back(std::move(result));
  } else if (c.is_tensor(0) && c.out[0].same(c.tensor(0))) {
    run_pointwise_inplace(id, in, params);
    c.results.emplace_back(c.out[0]);
  } else {
    c.results.emplace_back(run_pointwise(id, in, params, &c.out[0]));
  }
}
template <int Id>
void run_boxed(OpCall& c) {
  run_boxed_row(c, Id, refuse_derivative<Id>);
}

template <int Id>
Tensor fast_unary(const Tensor& x) {
  Operand in[] = {x};
  return run_pointwise(Id, in);
}
template <int Id>
void fast_unary_inplace(const Tensor& x) {
  Operand in[] = {x};
  run_pointwise_inplace(Id, in);
}
template <int Id>
Tensor fast_binary(const Tensor& x, const Tensor& y, unsigned reuse) {
  Operand in[] = {x, y};
  Tensor result = run_pointwise(Id, in, nullptr, nullptr, reuse);
  refuse_derivative<Id>(result, in);
  return result;
}
template <int Id>
Tensor fast_ts(const Tensor& x, const Scalar& y, unsigned reuse) {
  Operand in[] = {x, y};
  Tensor result = run_pointwise(Id, in, nullptr, nullptr, reuse);
  refuse_derivative<Id>(result, in);
  return result;
}
template <int Id>
Tensor fast_st(const Scalar& x, const Tensor& y, unsigned reuse) {
  Operand in[] = {x, y};
  Tensor result = run_pointwise(Id, in, nullptr, nullptr, reuse);
  refuse_derivative<Id>(result, in);
  return result;
}
template <int Id>
void fast_binary_inplace(const Tensor& x, const Tensor& y) {
  Operand in[] = {x, y};
  run_pointwise_inplace(Id, in);
}
template <int Id>
void fast_ts_inplace(const Tensor& x, const Scalar& y) {
  Operand in[] = {x, y};
  run_pointwise_inplace(Id, in);
}

template <int Id>
constexpr FastPaths unary_paths() {
  FastPaths f;
  f.unary = fast_unary<Id>;
  f.unary_inplace = fast_unary_inplace<Id>;
  return f;
}
template <int Id>
constexpr FastPaths binary_paths() {
  return {nullptr, fast_binary<Id>, fast_ts<Id>, fast_st<Id>, nullptr, fast_binary_inplace<Id>, fast_ts_inplace<Id>};
}

/// Some parameters have no defaults.
constexpr const char* schema_of_row(std::string_view name, const char* schema) {
  if (name == "threshold") return "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor";
  if (name == "clamp_min") return "clamp_min(Tensor self, Scalar min) -> Tensor";
  return name == "clamp_max" ? "clamp_max(Tensor self, Scalar max) -> Tensor" : schema;
}

/// Calls for the tests (samples.h): inside the domain of nearly every row, broadcast, and with a number.
constexpr const char* samples_of_row(std::string_view name, PointwiseClass row_class, int arity) {
  if (name == "bitwise_left_shift" || name == "bitwise_right_shift") return "i[3,4]<9, i[4]<5\ni[3]<9, 2";
  if (name == "acosh") return "g[3,4]\nc[4]";
  if (name == "clamp_min" || name == "clamp_max") return "p[3,4], 0.5\np[4,3].t, 0.5\np[0,3], 1\np[], 0.5";
  if (name == "celu") return "f[3,4]\nf[4,3].t, 0.5\nf[0,3]\nf[], 2";
  if (name == "threshold") return "p[3,4], 0.5, 0.25\np[4,3].t, 0.5, -1\np[0,3], 0, 1\np[], 0.5, 2";
  if (row_class == PointwiseClass::Select) return "b[2,3], f[3], f[2,1]\nb[3], c[3], c[2,3]";
  if (row_class == PointwiseClass::Bits) return arity == 1 ? "i[3,4]<9\nb[4]" : "i[3,4]<9, i[4]<5\ni[3]<9, 2";
  if (row_class == PointwiseClass::Divide) return "f[3,4], g[4]\ng[2,3], 0.45\ni[4]<9, 2";
  const bool complex = row_class > PointwiseClass::Select;
  if (arity == 1) return complex ? "p[3,4]\np[4,3].t\np[0,3]\np[]\nc[3,2]" : "p[3,4]\np[4,3].t\np[0,3]\np[]";
  if (arity == 2)
    return complex ? "p[3,4], p[4]\np[2,1], p[1,3]\np[4,3].t, p[4,3]\np[3], 0.5\nc[2,3], c[3]\nc[3], p[3]\np[3], 2j"
                   : "p[3,4], p[4]\np[2,1], p[1,3]\np[4,3].t, p[4,3]\np[3], 0.5";
  if (name == "addcmul" || name == "addcdiv")
    return "p[2,3], p[3], p[2,1]\np[3], p[3], p[3], value=-0.5\nc[2,3], c[3], c[2,1]\nc[3], c[3], c[3], value=1-2j";
  if (name == "lerp") return "p[2,3], p[3], p[2,1]\nc[2,3], c[3], c[2,1]\nc[3], c[3], 0.25";
  return complex ? "p[2,3], p[3], p[2,1]\nc[2,3], c[3], c[2,1]" : "p[2,3], p[3], p[2,1]";
}
#define TS_ENTRY(NAME, CLASS, ARITY, SCHEMA, DOC, FLAGS, PATHS)                             \
  static const OpRegistration entry_##NAME{#NAME,                                           \
                                           schema_of_row(#NAME, #NAME SCHEMA " -> Tensor"), \
                                           DOC,                                             \
                                           flags_of_row(#NAME, FLAGS),                      \
                                           run_boxed<k_##NAME>,                             \
                                           PATHS,                                           \
                                           0,                                               \
                                           samples_of_row(#NAME, PointwiseClass::CLASS, ARITY)};
#define UNARY(NAME, CLASS, WHERE, DOC, ...) \
  TS_ENTRY(NAME, CLASS, 1, "(Tensor self)", DOC, WHERE, unary_paths<k_##NAME>())
#define UNARY1(NAME, CLASS, WHERE, P, PD, DOC, ...) \
  TS_ENTRY(NAME, CLASS, 1, "(Tensor self, Scalar " #P "=" #PD ")", DOC, WHERE, {})
#define UNARY2(NAME, CLASS, WHERE, P, PD, Q, QD, DOC, ...) \
  TS_ENTRY(NAME, CLASS, 1, "(Tensor self, Scalar " #P "=" #PD ", Scalar " #Q "=" #QD ")", DOC, WHERE, {})
#define BINARY(NAME, CLASS, WHERE, DOC, ...) \
  TS_ENTRY(NAME, CLASS, 2, "(Tensor self, Tensor other)", DOC, WHERE | kNumberOperands, binary_paths<k_##NAME>())
#define TERNARY(NAME, CLASS, WHERE, SCHEMA, DOC, ...) TS_ENTRY(NAME, CLASS, 3, SCHEMA, DOC, WHERE | kNumberOperands, {})
#define TERNARY1(NAME, CLASS, WHERE, SCHEMA, P, PD, DOC, ...) \
  TS_ENTRY(NAME, CLASS, 3, SCHEMA, DOC, WHERE | kNumberOperands, {})
#include "runtime/ops/pointwise.def"
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1

}  // namespace

}  // namespace tessera::tensor
