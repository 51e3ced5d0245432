// Which steps of a chain become instructions, and which.
#include "backends/cpu/chain_code.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/ops/pointwise_ids.h"

namespace tessera::tensor::cpu {
namespace {

// Predicates of vcmpps.
enum Predicate { kEqual = 0, kLess = 1, kLessOrEqual = 2, kNotEqual = 4, kOrdered = 7, kNotGreaterOrEqual = 9, kNotGreater = 10,
                 kNotLess = 5, kNotLessOrEqual = 6, kGreaterOrEqual = 13, kGreater = 14 };
// Immediates of vrndscaleps, without exceptions.
enum Rounding { kNearest = 8, kDown = 9, kUp = 10, kToZero = 11 };

constexpr uint8_t kAsked = 0x80;

// The kernel of a step on two NaNs, in a run that has each kind of vector.
uint8_t ask(const ChainStep& step, InnerKernel kernel, int a, int b, const int64_t* moves) {
  constexpr int kLanes = 16;
  float numbers[3][kLanes * ChainCode::kVectors], out[kLanes * ChainCode::kVectors];
  Run run;
  run.n = kLanes * 2 + 1, run.params = step.params, run.out = out;
  for (int k = 0; k < 3; k++) {
    const uint32_t nan = k == a ? 0x7fc00001 : 0x7fc00002;
    const float number = k == a || k == b ? std::bit_cast<float>(nan) : 1.0F;
    for (float& x : numbers[k]) x = number;
    run.in[k] = numbers[k], run.step[k] = k < step.operands ? moves[k] : 0;
  }
  kernel(run);
  uint8_t answer = kAsked;
  for (int v = 0; v < ChainCode::kVectors; v++)
    if (std::bit_cast<uint32_t>(out[v * kLanes]) == 0x7fc00002) answer |= uint8_t(1 << v);
  return answer;
}

}  // namespace

uint8_t OperandOrders::of(const ChainStep& step, InnerKernel kernel, int a, int b, const int64_t* moves) {
  int combination = 0;
  for (int k = 0; k < step.operands; k++) combination |= int(moves[k] != 0) << k;
  uint8_t& answer = known_[step.op][combination];
  if (answer == 0) answer = ask(step, kernel, a, b, moves);
  return uint8_t(answer & ~kAsked);
}

bool ChainCode::operator==(const ChainCode& other) const {
  return inputs == other.inputs && instructions == other.instructions && std::memcmp(input, other.input, inputs) == 0 &&
         std::memcmp(instruction, other.instruction, instructions * sizeof(Instruction)) == 0;
}

uint8_t ChainRegion::add_input(Input kind) {
  if (code.inputs == ChainCode::kMostInputs) return ChainCode::kNone;
  code.input[code.inputs] = kind;
  return code.inputs++;
}

uint8_t ChainRegion::add_number(float x) {
  for (uint8_t i = 0; i < code.inputs; i++)
    if (code.input[i] == Input::Number && std::bit_cast<uint32_t>(numbers[i]) == std::bit_cast<uint32_t>(x)) return i;
  const uint8_t value = add_input(Input::Number);
  if (value != ChainCode::kNone) numbers[value] = x;
  return value;
}

// kNone as an operand makes kNone.
uint8_t ChainRegion::emit(Do what, uint8_t a, uint8_t b, uint8_t c, int immediate) {
  if (code.instructions == ChainCode::kMost || a == ChainCode::kNone || b == ChainCode::kNone || c == ChainCode::kNone) return ChainCode::kNone;
  code.instruction[code.instructions] = {what, uint8_t(immediate), {a, b, c}, 0};
  return uint8_t(ChainCode::kFirstResult + code.instructions++);
}

// vmaxps and vminps give their second operand if one is NaN or both are equal: so do the kernels the element, beside a bound.
uint8_t ChainRegion::clamp(Do what, float bound, uint8_t x) { return std::isnan(bound) ? ChainCode::kNone : emit(what, add_number(bound), x); }

// y where the comparison holds and `ordered` is not NaN, else x.
uint8_t ChainRegion::choose(int when_second, uint8_t ordered, uint8_t x, uint8_t y) {
  const uint8_t is_ordered = emit(Do::Compare, ordered, ordered, 0, kOrdered);
  return emit(Do::Select, x, y, emit(Do::AndCompare, x, y, is_ordered, when_second));
}

// Additions and products of two operands that may both be NaN have the kernel's order. A number is never NaN.
uint8_t ChainRegion::translate(const ChainStep& step, const uint8_t* in, InnerKernel kernel) {
  const uint8_t x = in[0], y = in[1], z = in[2];
  int64_t moves[3];
  for (int k = 0; k < step.operands; k++) moves[k] = in[k] >= ChainCode::kFirstResult || code.input[in[k]] >= Input::Memory;
  const auto ordered = [&](Do what, uint8_t first, uint8_t second, uint8_t third, int a, int b) {
    if (in[a] == in[b] || is_number(in[a]) || is_number(in[b])) return emit(what, first, second, third);
    return emit(what, first, second, third, orders_.of(step, kernel, a, b, moves));
  };
  switch (step.op) {
    case pointwise::k_add: return ordered(Do::Add, x, y, 0, 0, 1);
    case pointwise::k_mul: return ordered(Do::Mul, x, y, 0, 0, 1);
    case pointwise::k_sub: return emit(Do::Sub, x, y);
    case pointwise::k_div: return emit(Do::Div, x, y);
    case pointwise::k_add_scaled: return ordered(Do::MulAdd, y, z, x, 1, 2);
    case pointwise::k_addcmul: return ordered(Do::MulAdd, emit(Do::Mul, param(step, 0), y), z, x, 1, 2);
    case pointwise::k_addcdiv:
      return ordered(Do::Add, x, emit(Do::Div, emit(Do::Mul, param(step, 0), y), z), 0, 0, is_number(y) ? 2 : 1);
    case pointwise::k_neg: return emit(Do::Xor, add_number(-0.0F), x);
    case pointwise::k_abs: return emit(Do::And, add_number(std::bit_cast<float>(0x7fffffffU)), x);
    case pointwise::k_square: return emit(Do::Mul, x, x);
    case pointwise::k_cube: return emit(Do::Mul, emit(Do::Mul, x, x), x);
    case pointwise::k_reciprocal: return emit(Do::Div, add_number(1), x);
    case pointwise::k_sqrt: return emit(Do::Sqrt, 0, x);
    case pointwise::k_rsqrt: return emit(Do::Div, add_number(1), emit(Do::Sqrt, 0, x));
    case pointwise::k_floor: return emit(Do::Round, 0, x, 0, kDown);
    case pointwise::k_ceil: return emit(Do::Round, 0, x, 0, kUp);
    case pointwise::k_trunc: return emit(Do::Round, 0, x, 0, kToZero);
    case pointwise::k_round: return emit(Do::Round, 0, x, 0, kNearest);
    case pointwise::k_relu: return clamp(Do::Max, 0, x);
    case pointwise::k_relu6: return clamp(Do::Min, 6, clamp(Do::Max, 0, x));
    case pointwise::k_clamp_min: return emit(Do::Max, param(step, 0), x);
    case pointwise::k_clamp_max: return emit(Do::Min, param(step, 0), x);
    case pointwise::k_clamp_both:
    case pointwise::k_hardtanh: return emit(Do::Min, param(step, 1), emit(Do::Max, param(step, 0), x));
    case pointwise::k_leaky_relu:
      return emit(Do::Select, emit(Do::Mul, x, param(step, 0)), x, emit(Do::Compare, x, add_number(0), 0, kGreater));
    case pointwise::k_maximum: return choose(kNotGreaterOrEqual, x, x, y);
    case pointwise::k_minimum: return choose(kNotLessOrEqual, x, x, y);
    case pointwise::k_fmax: return choose(kNotGreater, y, x, y);
    case pointwise::k_fmin: return choose(kNotLess, y, x, y);
    case pointwise::k_eq: return emit(Do::Compare, x, y, 0, kEqual);
    case pointwise::k_ne: return emit(Do::Compare, x, y, 0, kNotEqual);
    case pointwise::k_lt: return emit(Do::Compare, x, y, 0, kLess);
    case pointwise::k_le: return emit(Do::Compare, x, y, 0, kLessOrEqual);
    case pointwise::k_gt: return emit(Do::Compare, x, y, 0, kGreater);
    case pointwise::k_ge: return emit(Do::Compare, x, y, 0, kGreaterOrEqual);
    case pointwise::k_where_: return emit(Do::Select, z, y, x);
    default: return ChainCode::kNone;
  }
}

uint8_t ChainRegion::add_step(const ChainStep& step, const uint8_t* values, InnerKernel kernel) {
  for (int k = 0; k < step.operands; k++)
    if (code.is_mask(values[k]) != (step.op == pointwise::k_where_ && k == 0)) return ChainCode::kNone;
  for (const Scalar& number : step.params)
    if (std::isnan(number.to_double())) return ChainCode::kNone;
  const uint8_t in[3] = {values[0], values[1], values[2]};
  return translate(step, in, kernel);
}

}  // namespace tessera::tensor::cpu
