// The record of an op's body: one more instruction set for Highway's interface, whose vectors are numbers of a code's values, or literals. Each
// function that the bodies and lane-inl.h call adds its instruction to the code. Ops that need a look at elements, or doubles, have no record.
// compile: small, no-exceptions (runs where a chain is planned)
#include "backends/cpu/chain_code.h"

#if defined(__x86_64__)
#include <bit>
#include <type_traits>

#define HWY_COMPILE_ONLY_SCALAR
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "runtime/ops/pointwise_ids.h"

namespace tessera::tensor::cpu {

using Do = ChainCode::Do;

// A vector or a mask. Literals become values of the code where an instruction reads them.
struct Recorded {
  uint32_t bits = 0;     // of a literal, or the value's number
  uint32_t is_value = 0;
};

namespace {

constexpr Recorded kNoRecord{ChainCode::kNone, 1};

thread_local ChainRegion* recording;  // per thread: the region that a body is recorded for, while it is

uint8_t value_of(Recorded x) noexcept { return x.is_value ? uint8_t(x.bits) : recording->code.add_literal(x.bits); }

[[gnu::noinline]] Recorded record(Do what, Recorded a, Recorded b, Recorded c = {}, int immediate = 0) noexcept {
  if (what <= Do::Mul && !a.is_value && !b.is_value) {
    const float x = std::bit_cast<float>(a.bits), y = std::bit_cast<float>(b.bits);
    return {std::bit_cast<uint32_t>(what == Do::Add ? x + y : x * y)};
  }
  const int n = ChainCode::operands(what);
  const uint8_t first = value_of(a), second = n > 1 ? value_of(b) : uint8_t(0), third = n > 2 ? value_of(c) : uint8_t(0);
  return {recording->code.add(what, first, second, third, immediate), 1};
}
[[gnu::noinline]] Recorded record_one(Do what, Recorded a, int immediate = 0) noexcept { return record(what, a, {}, {}, immediate); }

// Predicates of vcmpps; bit 2 negates each.
enum Predicate { kEqual = 0, kLess = 1, kLessOrEqual = 2, kUnordered = 3, kNotLessOrEqual = 6, kOrdered = 7, kNotGreaterOrEqual = 9,
                 kGreaterOrEqual = 13, kGreater = 14 };
constexpr int kNegates = 4;

[[gnu::noinline]] Recorded negate(Recorded m) noexcept {
  const uint8_t value = uint8_t(m.bits);
  if (const auto* made = recording->code.made_by(Do::MaskNot, value)) return {made->in[0], 1};
  if (const auto* made = recording->code.made_by(Do::Compare, value))
    return {recording->code.add(Do::Compare, made->in[0], made->in[1], 0, made->immediate ^ kNegates), 1};
  return record_one(Do::MaskNot, m);
}

// Bodies ask of a mask whether it differs from 0.
[[gnu::noinline]] Recorded compare(Recorded a, Recorded b, int predicate, bool floats) noexcept {
  if (predicate == kEqual && a.is_value && !b.is_value && recording->code.is_mask(uint8_t(a.bits))) return negate(a);
  return record(floats ? Do::Compare : Do::CompareInt, a, b, {}, predicate);
}

// Two comparisons take two instructions, the second under the mask of the first.
[[gnu::noinline]] Recorded both(Recorded a, Recorded b) noexcept {
  if (const auto* made = recording->code.made_by(Do::Compare, uint8_t(a.bits)))
    return {recording->code.add(Do::AndCompare, made->in[0], made->in[1], value_of(b), made->immediate), 1};
  return record(Do::MaskAnd, a, b);
}

// vmaxps and vminps give their second operand if one is NaN or both are equal. So do the bodies, where the first is a number.
[[gnu::noinline]] Recorded choose(Recorded mask, Recorded yes, Recorded no) noexcept {
  const ChainCode& code = recording->code;
  if (const auto* made = code.made_by(Do::MaskNot, uint8_t(mask.bits))) mask.bits = made->in[0], std::swap(yes, no);
  const uint8_t if_set = value_of(yes), if_not = value_of(no);
  if (const auto* made = code.made_by(Do::AndCompare, uint8_t(mask.bits)); made && if_set != ChainCode::kNone && code.is_number(if_set)) {
    const auto* const ordered = code.made_by(Do::Compare, made->in[2]);
    const bool beside_nan = ordered && ordered->immediate == kOrdered && ordered->in[0] == if_not && ordered->in[1] == if_not;
    const bool larger = made->immediate == kNotGreaterOrEqual, smaller = made->immediate == kNotLessOrEqual;
    if (beside_nan && (larger || smaller) && made->in[0] == if_not && made->in[1] == if_set)
      return {recording->code.add(larger ? Do::Max : Do::Min, if_set, if_not, 0, 0), 1};
  }
  return {recording->code.add(Do::Select, if_not, if_set, uint8_t(mask.bits), 0), 1};
}

[[gnu::noinline]] bool guard(Recorded mask) noexcept {
  record_one(Do::Guard, mask);
  return false;  // a body records its long way
}

}  // namespace
}  // namespace tessera::tensor::cpu

#undef HWY_NAMESPACE
#undef HWY_TARGET
#undef HWY_INLINE
#define HWY_NAMESPACE N_RECORDED
#define HWY_TARGET HWY_AVX3
#define HWY_INLINE inline
#define TS_RECORDED_LANES

// The part of Highway's interface that lane-inl.h and its neighbours call.
namespace hwy::N_RECORDED {

using tessera::tensor::cpu::both;
using tessera::tensor::cpu::choose;
using tessera::tensor::cpu::compare;
using tessera::tensor::cpu::Do;
using tessera::tensor::cpu::guard;
using tessera::tensor::cpu::negate;
using tessera::tensor::cpu::record;
using tessera::tensor::cpu::record_one;
using tessera::tensor::cpu::Recorded;

template <class T>
struct ScalableTag {
  using Element = T;
};
template <class D>
using TFromD = typename D::Element;
template <class T>
struct Vector {
  Recorded r;
};
template <class T>
struct Truth {
  Recorded r;
};
template <class D>
using Vec = Vector<TFromD<D>>;
template <class D>
using Mask = Truth<TFromD<D>>;
template <class D>
using RebindToSigned = ScalableTag<MakeSigned<TFromD<D>>>;
template <class D>
using RebindToUnsigned = ScalableTag<MakeUnsigned<TFromD<D>>>;

template <class T>
Vector<T> NoRecord() {
  return {tessera::tensor::cpu::kNoRecord};
}
template <class D>
Vec<D> Set(D, TFromD<D> x) {
  if constexpr (sizeof x == 4) return {{std::bit_cast<uint32_t>(x)}};
  else return NoRecord<TFromD<D>>();
}
template <class D>
Vec<D> Zero(D d) {
  return Set(d, 0);
}
template <class D>
Vec<D> SignBit(D) {
  return {{0x80000000U}};
}
template <class D, class T>
Vec<D> BitCast(D, Vector<T> x) {
  return {x.r};
}
template <class D, class T>
Mask<D> RebindMask(D, Truth<T> m) {
  return {m.r};
}

// Of floats, and of integers.
#define TS_VECTORS(NAME, OF_FLOATS, OF_INTS)                                                                     \
  template <class T>                                                                                             \
  Vector<T> NAME(Vector<T> a, Vector<T> b) {                                                                     \
    return {record(std::is_floating_point_v<T> ? Do::OF_FLOATS : Do::OF_INTS, a.r, b.r)};                        \
  }
TS_VECTORS(Add, Add, AddInt)
TS_VECTORS(Sub, Sub, SubInt)
TS_VECTORS(Mul, Mul, Mul)
TS_VECTORS(Div, Div, Div)
TS_VECTORS(Min, Min, Min)
TS_VECTORS(Max, Max, Max)
TS_VECTORS(And, And, And)
TS_VECTORS(Or, Or, Or)
TS_VECTORS(Xor, Xor, Xor)
TS_VECTORS(ScaleByPower, Scale, Scale)
#undef TS_VECTORS
#define TS_COMPARISON(NAME, PREDICATE)                                                                             \
  template <class T>                                                                                               \
  Truth<T> NAME(Vector<T> a, Vector<T> b) {                                                                        \
    return {compare(a.r, b.r, tessera::tensor::cpu::PREDICATE, std::is_floating_point_v<T>)};                      \
  }
TS_COMPARISON(Eq, kEqual)
TS_COMPARISON(Lt, kLess)
TS_COMPARISON(Le, kLessOrEqual)
TS_COMPARISON(Gt, kGreater)
TS_COMPARISON(Ge, kGreaterOrEqual)
#undef TS_COMPARISON
#define TS_FUSED(NAME)                                     \
  template <class T>                                       \
  Vector<T> NAME(Vector<T> a, Vector<T> b, Vector<T> c) {  \
    return {record(Do::NAME, a.r, b.r, c.r)};              \
  }
TS_FUSED(MulAdd)
TS_FUSED(NegMulAdd)
TS_FUSED(MulSub)
#undef TS_FUSED
// vrndscaleps without exceptions.
#define TS_ROUNDING(NAME, IMMEDIATE)                 \
  template <class T>                                 \
  Vector<T> NAME(Vector<T> x) {                      \
    return {record_one(Do::Round, x.r, IMMEDIATE)};  \
  }
TS_ROUNDING(Round, 8)
TS_ROUNDING(Floor, 9)
TS_ROUNDING(Ceil, 10)
TS_ROUNDING(Trunc, 11)
#undef TS_ROUNDING
template <class T>
Vector<T> Sqrt(Vector<T> x) {
  return {record_one(Do::Sqrt, x.r)};
}
template <int kBits, class T>
Vector<T> ShiftLeft(Vector<T> x) {
  return {record_one(Do::ShiftLeft, x.r, kBits)};
}
template <int kBits, class T>
Vector<T> ShiftRight(Vector<T> x) {
  return {record_one(Do::ShiftRight, x.r, kBits)};
}
template <class T>
Vector<T> Neg(Vector<T> x) {
  return {record(Do::Xor, x.r, {0x80000000U})};
}
template <class T>
Vector<T> Abs(Vector<T> x) {
  return {record(Do::And, x.r, {0x7fffffffU})};
}
template <class T>
Vector<T> CopySign(Vector<T> x, Vector<T> sign) {
  return {record(Do::CopySign, x.r, sign.r, {0x80000000U})};
}
template <class T>
Truth<T> IsNaN(Vector<T> x) {
  return {compare(x.r, x.r, tessera::tensor::cpu::kUnordered, true)};
}
template <class T>
Truth<T> Not(Truth<T> m) {
  return {negate(m.r)};
}
template <class T>
Truth<T> Ne(Vector<T> a, Vector<T> b) {
  return Not(Eq(a, b));
}
template <class T>
Truth<T> And(Truth<T> a, Truth<T> b) {
  return {both(a.r, b.r)};
}
template <class T>
Truth<T> Or(Truth<T> a, Truth<T> b) {
  return Not(And(Not(a), Not(b)));
}
template <class T>
Truth<T> Xor(Truth<T> a, Truth<T> b) {
  return {record(Do::MaskXor, a.r, b.r)};
}
template <class T>
Vector<T> IfThenElse(Truth<T> m, Vector<T> yes, Vector<T> no) {
  return {choose(m.r, yes.r, no.r)};
}
template <class T>
bool UsuallyAll(Truth<T> m) {
  return guard(m.r);
}
template <class T>
Vector<T> IfThenElseRarely(Truth<T> m, Vector<T> yes, Vector<T> no) {
  return {record(Do::Select, no.r, yes.r, m.r, tessera::tensor::cpu::ChainCode::kRarely)};
}
// Of doubles only.
template <class D>
Vec<D> Log(D, Vec<D> x) {
  return x;
}
template <class D>
Vec<D> Exp(D, Vec<D> x) {
  return x;
}

}  // namespace hwy::N_RECORDED

#include "backends/cpu/lane-inl.h"

namespace tessera::tensor::cpu::N_RECORDED {
namespace {

#define TS_FN inline
#include "backends/cpu/functors.inc"

Recorded result(Lane<float> x) { return x.v.r; }
Recorded result(LaneMask<float> m) { return m.m.r; }

[[gnu::noinline]] Lane<float> parameter(const ChainStep& step, int k) noexcept {
  return hn::Vec<Tag<float>>{{recording->add_number(float(step.params[k].to_double())), 1}};
}

template <class Op>
Recorded record_body(const ChainStep& step, Lane<float> x, Lane<float> y, Lane<float> z) {
  if constexpr (Op::kClass == OpClass::Bits) {
    return kNoRecord;
  } else {
    const Lane<float> p = Op::kParams > 0 ? parameter(step, 0) : x, q = Op::kParams > 1 ? parameter(step, 1) : x;
    return result(Op::call(x, y, z, p, q));
  }
}

Recorded record_op(const ChainStep& step, const uint8_t* values) {
  const auto lane = [](uint8_t value) { return Lane<float>(hn::Vec<Tag<float>>{{value, 1}}); };
  const Lane<float> x = lane(values[0]), y = lane(values[1]), z = lane(values[2]);
  switch (step.op) {
#define TS_EACH_OP(NAME) \
  case pointwise::k_##NAME: return record_body<F_##NAME>(step, x, y, z);
#include "runtime/ops/pointwise.def"
#undef TS_EACH_OP
    default: return kNoRecord;
  }
}

}  // namespace
}  // namespace tessera::tensor::cpu::N_RECORDED

namespace tessera::tensor::cpu {

uint8_t ChainRegion::record(const ChainStep& step, const uint8_t* values) {
  recording = this;
  const uint8_t result = value_of(N_RECORDED::record_op(step, values));
  recording = nullptr;
  return result;
}

}  // namespace tessera::tensor::cpu
#else

namespace tessera::tensor::cpu {

uint8_t ChainRegion::record(const ChainStep&, const uint8_t*) { return ChainCode::kNone; }

}  // namespace tessera::tensor::cpu
#endif
