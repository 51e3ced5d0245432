// Codes of chains: how instructions are added to them and removed.
#include "backends/cpu/chain_code.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/ops/pointwise_ids.h"

namespace tessera::tensor::cpu {

uint8_t ChainCode::add_literal(uint32_t bits) {
  const uint32_t* const known = std::find(literal, literal + literals, bits);
  if (known == literal + kMostLiterals) return kNone;
  if (known == literal + literals) literal[literals++] = bits;
  return uint8_t(kFirstLiteral + (known - literal));
}

uint8_t ChainCode::add(Do what, uint8_t a, uint8_t b, uint8_t c, int immediate) {
  if (instructions == kMost) return kNone;
  const Instruction made{what, uint8_t(immediate), {a, b, c}, 0};
  for (int k = 0; k < operands(what); k++)
    if (made.in[k] == kNone || is_mask(made.in[k]) != takes_mask(what, k)) return kNone;
  instruction[instructions] = made;
  return uint8_t(kFirstResult + instructions++);
}

int ChainCode::mark_needed(Way way, bool* needed) const {
  int count = 0;
  for (int i = instructions; i-- > 0;) {
    if (!needed[i]) continue;
    const Instruction& reader = instruction[i];
    const bool is_copy = way == Way::Short && reader.what == Do::Select && reader.immediate == kRarely;
    count += !is_copy;
    for (int k = 0; k < (is_copy ? 1 : operands(reader.what)); k++)
      if (reader.in[k] >= kFirstResult) needed[reader.in[k] - kFirstResult] = true;
  }
  return count;
}

int ChainCode::mark_needed(uint8_t result, Way way, bool* needed) const {
  for (int i = 0; i < instructions; i++) needed[i] = i == result - kFirstResult || instruction[i].what == Do::Guard;
  return mark_needed(way, needed);
}

void ChainCode::drop_unread(uint8_t result) {
  bool read[kMost];
  uint8_t now[kMost];
  mark_needed(result, Way::Long, read);
  int n = 0;
  for (int i = 0; i < instructions; i++) {
    if (!read[i]) continue;
    now[i] = uint8_t(kFirstResult + n);
    Instruction& kept = instruction[n++] = instruction[i];
    for (int k = 0; k < operands(kept.what); k++)
      if (kept.in[k] >= kFirstResult) kept.in[k] = now[kept.in[k] - kFirstResult];
  }
  instructions = uint8_t(n);
}

size_t ChainCode::pack(uint8_t* to) const {
  uint8_t* at = to;
  const auto put = [&](const void* from, size_t n) { at = static_cast<uint8_t*>(std::memcpy(at, from, n)) + n; };
  const uint8_t counts[] = {inputs, literals, instructions, uint8_t(total), uint8_t(block / 32)};
  put(counts, sizeof counts);
  put(input, inputs * sizeof *input);
  put(literal, literals * sizeof *literal);
  put(instruction, instructions * sizeof *instruction);
  return size_t(at - to);
}

uint8_t ChainRegion::add_input(Input kind) {
  if (code.inputs == ChainCode::kMostInputs) return ChainCode::kNone;
  code.input[code.inputs] = kind;
  return code.inputs++;
}

uint8_t ChainRegion::add_number(float x) {
  for (uint8_t i = 0; i < code.inputs; i++)
    if (code.input[i] == Input::Number && std::bit_cast<uint32_t>(numbers[i]) == std::bit_cast<uint32_t>(x)) return i;
  const uint8_t value = std::isnan(x) ? ChainCode::kNone : add_input(Input::Number);
  if (value != ChainCode::kNone) numbers[value] = x;
  return value;
}

uint8_t ChainRegion::add_step(const ChainStep& step, const uint8_t* values, InnerKernel kernel, RecordedBodies& bodies) {
  Input kinds[3];
  for (int k = 0; k < step.operands; k++) {
    const bool mask = code.is_mask(values[k]);
    if (mask != (step.op == pointwise::k_where_ && k == 0)) return ChainCode::kNone;
    kinds[k] = mask ? Input::Mask : values[k] < ChainCode::kFirstLiteral ? code.input[values[k]] : Input::Memory;
  }
  const RecordedBody& body = bodies.of(step, kernel, kinds);
  const int first = code.instructions;
  if (body.instructions.empty() || first + body.instructions.size() > ChainCode::kMost) return ChainCode::kNone;
  uint8_t inputs[5], literals[ChainCode::kMostLiterals];
  std::copy_n(values, step.operands, inputs);
  for (int k = 0; k < body.parameters; k++)
    if ((inputs[step.operands + k] = add_number(float(step.params[k].to_double()))) == ChainCode::kNone) return ChainCode::kNone;
  for (size_t k = 0; k < body.literals.size(); k++)
    if ((literals[k] = code.add_literal(body.literals[k])) == ChainCode::kNone) return ChainCode::kNone;
  for (ChainCode::Instruction instruction : body.instructions) {
    for (int k = 0; k < ChainCode::operands(instruction.what); k++) {
      uint8_t& in = instruction.in[k];
      in = in >= ChainCode::kFirstResult ? uint8_t(in + first) : in >= ChainCode::kFirstLiteral ? literals[in - ChainCode::kFirstLiteral] : inputs[in];
    }
    code.instruction[code.instructions++] = instruction;
  }
  length += body.length;
  return uint8_t(ChainCode::kFirstResult + code.instructions - 1);
}

}  // namespace tessera::tensor::cpu
