// pointwise.def as rows, derivatives, C++ functions and registry entries.
// compile: small, constant-addresses (a formula calls ops, which take longer, and a row's own ways are known when it is compiled)
#include "runtime/ops/pointwise_rows.h"

#include "runtime/autograd/record.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/ops/grad_probe.h"
#include "runtime/ops/op.h"
#include "runtime/ops/pointwise_ids.h"
#include "runtime/ops/row_ways.h"
#include "runtime/ops/special.h"

namespace tessera::tensor {

using namespace pointwise;
using namespace row_ways;

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

/// Parameters may be complex where there are tensors beside them (TERNARY1): then the formula is one of Scalars.
template <class Formula>
Tensor gradient_of(const GradArgs& a) {
  if constexpr (Formula::kScalarParams)
    if (a.params[0].is_complex()) return Formula::of(a.g, a.x, a.y, a.z, a.result, a.params[0], a.params[1]);
  return Formula::of(a.g, a.x, a.y, a.z, a.result, a.params[0].to_double(), a.params[1].to_double());
}

template <class Formula>
constexpr PointwiseRow::Derivative derivative_of() {
  if constexpr (!has_derivative<Formula>()) return {};
  else return {&gradient_of<Formula>, derivative_reads<Formula>(), is_computed<Formula>()};
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

// ---- rows ----

// The dtypes of rows that do not take those of their class. Layers of networks take no integers; what rounds or limits takes no bool.
constexpr DTypeSet kLayerTypes = kFloatTypes, kLayerOrComplexTypes = kFloatTypes | kComplexTypes,
                   kOrderedTypes = kFloatTypes | kIntegralTypes | kWideUnsignedTypes;

constexpr bool has_own_ways(const RowFacts& f) {
  return f.refuse_bools || f.takes_bool_to_number || f.bool_is_int64 || f.check_types || f.check_operands ||
         f.check_params || f.bounds || f.of_complex || f.of_halves || f.of_number || f.of_bools >= 0 || f.ordered >= 0 || f.in_rows ||
         f.empty_steps != EmptySteps::Fresh;
}

template <class... Formulas>
constexpr std::array<PointwiseRow::Derivative, 3> derivatives() {
  return {derivative_of<Formulas>()...};
}

constexpr PointwiseRow make_row(const char* name, PointwiseClass row_class, unsigned char arity, unsigned char params,
                                const char* body, const std::array<PointwiseRow::Derivative, 3>& derivative,
                                RowFacts facts) {
  if (!facts.check_operands && row_class == PointwiseClass::Divide) facts.check_operands = check_divisor;
  if (!facts.check_operands && row_class == PointwiseClass::Select) facts.check_operands = check_choices;
  const DTypeSet own = facts.types == DTypeSet() ? types_of(row_class) : facts.types;
  return {name,
          node_name(name, '0'),
          real_class(row_class),
          (own - facts.but_types) | facts.and_types,
          arity,
          params,
          has_own_ways(facts),
          derivative,
          body,
          facts};
}

}  // namespace

#define TS_ROW(NAME, CLASS, ARITY, PARAMS, BODY, DERIVATIVES, ...) \
  make_row(#NAME, PointwiseClass::CLASS, ARITY, PARAMS, BODY, DERIVATIVES, {__VA_ARGS__}),
#define UNARY(NAME, CLASS, WHERE, DOC, BODY, DX, ...) \
  TS_ROW(NAME, CLASS, 1, 0, #BODY, (derivatives<D0_##NAME>()), __VA_ARGS__)
#define UNARY1(NAME, CLASS, WHERE, P, PD, DOC, BODY, DX, ...) \
  TS_ROW(NAME, CLASS, 1, 1, #BODY, (derivatives<D0_##NAME>()), __VA_ARGS__)
#define UNARY2(NAME, CLASS, WHERE, P, PD, Q, QD, DOC, BODY, DX, ...) \
  TS_ROW(NAME, CLASS, 1, 2, #BODY, (derivatives<D0_##NAME>()), __VA_ARGS__)
#define BINARY(NAME, CLASS, WHERE, DOC, BODY, DX, DY, ...) \
  TS_ROW(NAME, CLASS, 2, 0, #BODY, (derivatives<D0_##NAME, D1_##NAME>()), __VA_ARGS__)
#define TERNARY(NAME, CLASS, WHERE, SCHEMA, DOC, BODY, DX, DY, DZ, ...) \
  TS_ROW(NAME, CLASS, 3, 0, #BODY, (derivatives<D0_##NAME, D1_##NAME, D2_##NAME>()), __VA_ARGS__)
#define TERNARY1(NAME, CLASS, WHERE, SCHEMA, P, PD, DOC, BODY, DX, DY, DZ, ...) \
  TS_ROW(NAME, CLASS, 3, 1, #BODY, (derivatives<D0_##NAME, D1_##NAME, D2_##NAME>()), __VA_ARGS__)
constexpr PointwiseRow kPointwiseRows[] = {
#include "runtime/ops/pointwise.def"
};
#undef TS_ROW
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

/// The result of a row without a derivative says so when one is asked for. Other ops' derivatives, which call the same rows, are not touched.
template <int Id>
void refuse_derivative([[maybe_unused]] Tensor& result, [[maybe_unused]] std::span<const Operand> in) {
  if constexpr (kPointwiseRows[Id].facts.refuses_derivative) {
    for (const Operand& operand : in)
      if (operand.is_tensor() && needs_grad(operand.tensor()) && is_differentiable(result.dtype()))
        return record(result, "NotImplemented", {&operand.tensor()}, [](Sweep&) {
          fail(TensorErrorKind::Runtime, "derivative for aten::", kPointwiseRows[Id].name, " is not implemented");
        });
  }
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
[[gnu::hot]] Tensor fast_binary(const Tensor& x, const Tensor& y, unsigned reuse) {
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
constexpr OpFacts entry_facts() {
  OpFacts facts = kPointwiseRows[Id].facts.op;
  facts.batching = Batching::Pointwise;
  if (kPointwiseRows[Id].params) return facts;
  if (kPointwiseRows[Id].arity == 1) facts.fast = {.unary = fast_unary<Id>, .unary_inplace = fast_unary_inplace<Id>};
  if (kPointwiseRows[Id].arity == 2)
    facts.fast = {nullptr, fast_binary<Id>,         fast_ts<Id>,        fast_st<Id>,
                  nullptr, fast_binary_inplace<Id>, fast_ts_inplace<Id>};
  return facts;
}

/// Calls for the tests (samples.h): inside the domain of nearly every row, broadcast, and with a number.
constexpr const char* usual_samples(PointwiseClass row_class, int arity) {
  if (row_class == PointwiseClass::Select) return "b[2,3], f[3], f[2,1]\nb[3], c[3], c[2,3]";
  if (row_class == PointwiseClass::Bits) return arity == 1 ? "i[3,4]<9\nb[4]" : "i[3,4]<9, i[4]<5\ni[3]<9, 2";
  if (row_class == PointwiseClass::Divide) return "f[3,4], g[4]\ng[2,3], 0.45\ni[4]<9, 2";
  const bool complex = row_class > PointwiseClass::Select;
  if (arity == 1) return complex ? "p[3,4]\np[4,3].t\np[0,3]\np[]\nc[3,2]" : "p[3,4]\np[4,3].t\np[0,3]\np[]";
  if (arity == 2)
    return complex ? "p[3,4], p[4]\np[2,1], p[1,3]\np[4,3].t, p[4,3]\np[3], 0.5\nc[2,3], c[3]\nc[3], p[3]\np[3], 2j"
                   : "p[3,4], p[4]\np[2,1], p[1,3]\np[4,3].t, p[4,3]\np[3], 0.5";
  return complex ? "p[2,3], p[3], p[2,1]\nc[2,3], c[3], c[2,1]" : "p[2,3], p[3], p[2,1]";
}

template <int Id>
struct RowEntry {
  static constexpr OpFacts kFacts = entry_facts<Id>();

  static OpRegistration make(PointwiseClass row_class, const char* schema, const char* doc, uint32_t where) {
    const PointwiseRow& row = kPointwiseRows[Id];
    return {row.name,
            row.facts.schema ? row.facts.schema : schema,
            doc,
            row.facts.refuses_derivative ? where | kNoGrad : where,
            OpParts{run_boxed<Id>},
            row.facts.samples ? row.facts.samples : usual_samples(row_class, row.arity),
            kFacts};
  }
};
#define TS_ENTRY(NAME, CLASS, SCHEMA, DOC, FLAGS) \
  static const OpRegistration entry_##NAME =      \
      RowEntry<k_##NAME>::make(PointwiseClass::CLASS, #NAME SCHEMA " -> Tensor", DOC, FLAGS);
#define UNARY(NAME, CLASS, WHERE, DOC, ...) TS_ENTRY(NAME, CLASS, "(Tensor self)", DOC, WHERE)
#define UNARY1(NAME, CLASS, WHERE, P, PD, DOC, ...) \
  TS_ENTRY(NAME, CLASS, "(Tensor self, Scalar " #P "=" #PD ")", DOC, WHERE)
#define UNARY2(NAME, CLASS, WHERE, P, PD, Q, QD, DOC, ...) \
  TS_ENTRY(NAME, CLASS, "(Tensor self, Scalar " #P "=" #PD ", Scalar " #Q "=" #QD ")", DOC, WHERE)
#define BINARY(NAME, CLASS, WHERE, DOC, ...) \
  TS_ENTRY(NAME, CLASS, "(Tensor self, Tensor other)", DOC, WHERE | kNumberOperands)
#define TERNARY(NAME, CLASS, WHERE, SCHEMA, DOC, ...) TS_ENTRY(NAME, CLASS, SCHEMA, DOC, WHERE | kNumberOperands)
#define TERNARY1(NAME, CLASS, WHERE, SCHEMA, P, PD, DOC, ...) \
  TS_ENTRY(NAME, CLASS, SCHEMA, DOC, WHERE | kNumberOperands)
#include "runtime/ops/pointwise.def"
#undef TS_ENTRY
#undef UNARY
#undef UNARY1
#undef UNARY2
#undef BINARY
#undef TERNARY
#undef TERNARY1

}  // namespace

}  // namespace tessera::tensor
