// Finds out, while compiling, what a derivative reads: the formula is "run" on Probes, types that carry one bit for each
// of x, y, z, the result and g; every operator and function joins the bits of its arguments and notes that it was there.
#pragma once

#include <type_traits>

namespace tessera::tensor {

struct NoGrad {};
#define TS_NO_GRAD \
  ::tessera::tensor::NoGrad {}

namespace probe {

template <unsigned Bits>
struct Probe {
  static constexpr unsigned kBits = Bits;
};
template <class T>
struct BitsOf {
  static constexpr unsigned value = 0;
};
template <unsigned B>
struct BitsOf<Probe<B>> {
  static constexpr unsigned value = B;
};
template <class T>
inline constexpr bool is_probe = false;
template <unsigned B>
inline constexpr bool is_probe<Probe<B>> = true;
template <class... A>
concept SomeProbe = (is_probe<A> || ...);
inline constexpr unsigned kGradient = 16, kComputed = 32;
template <class... A>
using Join = Probe<(BitsOf<A>::value | ... | kComputed)>;

#define TS_PROBE(OP)          \
  template <class A, class B> \
  requires SomeProbe<A, B>    \
  constexpr Join<A, B> operator OP(const A&, const B&) { return {}; }
TS_PROBE(+)
TS_PROBE(-)
TS_PROBE(*)
TS_PROBE(/)
TS_PROBE(==)
TS_PROBE(!=)
TS_PROBE(<) TS_PROBE(<=) TS_PROBE(>) TS_PROBE(>=) TS_PROBE(&) TS_PROBE(|)
#undef TS_PROBE
    template <unsigned B>
    constexpr Probe<B | kComputed> operator-(Probe<B>) {
  return {};
}
#define TS_PROBE(F)        \
  template <class... A>    \
  requires SomeProbe<A...> \
  constexpr Join<A...> F(const A&...) { return {}; }
TS_PROBE(where)
TS_PROBE(add_scaled)
TS_PROBE(sign)
TS_PROBE(zeros_like)
TS_PROBE(exp)
TS_PROBE(log)
TS_PROBE(sin) TS_PROBE(cos) TS_PROBE(rsqrt) TS_PROBE(sinh) TS_PROBE(cosh) TS_PROBE(sigmoid) TS_PROBE(tanh)
    TS_PROBE(softplus) TS_PROBE(erf) TS_PROBE(square) TS_PROBE(abs) TS_PROBE(isnan) TS_PROBE(digamma)
        TS_PROBE(floor_divide) TS_PROBE(trunc_divide) TS_PROBE(pow_dx) TS_PROBE(pow_dy) TS_PROBE(gelu_tanh_dx)
#undef TS_PROBE

}  // namespace probe

/// Of a formula's result: what it read. 0 for formulas without a derivative.
template <class Result>
constexpr unsigned reads_of() {
  return probe::BitsOf<Result>::value & 15u;
}

/// Stands where an op has fewer operands.
struct NoFormula {};

/// The bits of formula D's value; 0 when there is no derivative.
template <class D>
constexpr unsigned derivative_bits() {
  if constexpr (std::is_same_v<D, NoFormula>) return 0;
  else {
    using namespace probe;
    using R = decltype(D::of(Probe<kGradient>{}, Probe<1>{}, Probe<2>{}, Probe<4>{}, Probe<8>{}, 0.0, 0.0));
    return BitsOf<R>::value;
  }
}
template <class D>
constexpr bool has_derivative() {
  return derivative_bits<D>() != 0;
}
/// kReadsX ...: what the formula names besides g.
template <class D>
constexpr unsigned derivative_reads() {
  return derivative_bits<D>() & 15u;
}
/// False where the gradient is handed on as it is, and for formulas without a derivative.
template <class D>
constexpr bool is_computed() {
  return derivative_bits<D>() & probe::kComputed;
}

}  // namespace tessera::tensor
