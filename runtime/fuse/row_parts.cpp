// How the steps of a queue with reductions become parts.
// compile: small (the parts compute tens of thousands of elements)
#include "runtime/fuse/row_parts.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/ops/pointwise_rows.h"

namespace tessera::tensor {

using Kind = ChainStep::Kind;
using OperandKind = ChainOperand::Kind;

static bool reads_step(const ChainOperand& operand) { return operand.kind == OperandKind::Step || operand.kind == OperandKind::Row; }

RowParts::RowParts(std::span<ChainStep> steps, int64_t numel, int64_t length) : steps_(steps), rows_(numel / length), length_(length) {
  find_readers();
  distribute();
  settle_crossing();
  views_.reserve(parts_.size());
  for (Part& part : parts_) {
    make_chain(part);
    if (part.reduction != kNone) make_reduce(part);
    views_.push_back({part.chain, part.of_rows ? 1 : length_, part.reduction == kNone ? nullptr : &part.reduce, part.reads_block});
  }
}

void RowParts::find_readers() {
  for (size_t i = 0; i < steps_.size(); i++)
    for (int k = 0; steps_[i].needed && k < steps_[i].operands; k++)
      if (reads_step(steps_[i].in[k])) readers_[steps_[i].in[k].step] |= only(int(i));
}

// One operation without a function on memory: computing it again takes less than writing and reading its result.
bool RowParts::is_cheap_again(int i) const {
  const ChainStep& step = steps_[size_t(i)];
  if (step.kind != Kind::Elements || step.to || step.op == ChainStep::kConvert) return false;
  for (int k = 0; k < step.operands; k++)
    if (step.in[k].kind == OperandKind::Step) return false;
  return real_class(kPointwiseRows[step.op].row_class) == PointwiseClass::Number;
}

void RowParts::add_part(Set steps, int reduction, bool of_rows) {
  Part& part = parts_.emplace_back();
  part.steps = steps, part.reduction = reduction, part.of_rows = of_rows;
  const Set all = steps | (reduction == kNone ? 0 : only(reduction));
  for (Set rest = all; rest; rest &= rest - 1) part_steps_[std::countr_zero(rest)] = all;
}

// Reductions and steps of rows run as soon as they can: they read no step without a part.
void RowParts::distribute() {
  for (int i = 0; i < int(steps_.size()); i++) {
    const ChainStep& step = steps_[size_t(i)];
    if (!step.needed) continue;
    if (step.kind == Kind::Elements) open_ |= only(i);
    else if (step.kind == Kind::Reduction) add_reduction(i);
    else add_step_of_rows(i);
  }
  if (open_) add_part(std::exchange(open_, 0), kNone, false);
}

void RowParts::add_step_of_rows(int i) {
  Set steps = only(i);
  if (!parts_.empty() && parts_.back().of_rows) {
    steps |= parts_.back().steps;
    parts_.pop_back();
  }
  add_part(steps, kNone, true);
}

// A chain gives its elements to the reduction if no other part reads them, or those that do compute them again.
void RowParts::add_reduction(int i) {
  const ChainOperand& operand = steps_[size_t(i)].in[0];
  const int source = operand.step;
  if (operand.kind != OperandKind::Step) return add_part(0, i, false);
  if (is_cheap_again(source)) {
    open_ &= ~only(source);
    return add_part(only(source), i, false);
  }
  if (!(open_ & only(source))) return add_part(0, i, false);
  const Set taken = take_operands_of(source);
  const bool stays = !steps_[size_t(source)].to && !(readers_[source] & ~(taken | only(i)));
  add_part(taken, stays ? i : kNone, false);
  if (!stays) add_part(0, i, false);
}

RowParts::Set RowParts::read_by(Set steps) const {
  Set read = 0;
  for (; steps; steps &= steps - 1) {
    const ChainStep& step = steps_[size_t(std::countr_zero(steps))];
    for (int k = 0; k < step.operands; k++)
      if (step.in[k].kind == OperandKind::Step) read |= only(step.in[k].step);
  }
  return read;
}

// Takes a step and what it reads from the open ones.
RowParts::Set RowParts::take_operands_of(int i) {
  Set taken = only(i), before = 0;
  while (taken != before) before = taken, taken |= read_by(taken) & open_;
  open_ &= ~taken;
  return taken;
}

bool RowParts::crosses_parts(int i) const { return !is_cheap_again(i) && (readers_[i] & ~part_steps_[i]) != 0; }

// A result that crosses parts has a block's length of its memory in use, in the caches; results of rows have all of it.
void RowParts::settle_crossing() {
  for (int i = 0; i < int(steps_.size()); i++) {
    ChainStep& step = steps_[size_t(i)];
    const bool elements = step.kind == Kind::Elements;
    if (!step.needed || step.to || (elements && !crosses_parts(i))) continue;
    step.to = static_cast<char*>(step.result->settle());
    step.settled = true;
    step.to_block = elements;
  }
}

bool RowParts::was_read(const ChainOperand& operand, const Part& by) const {
  for (const Part& part : parts_) {
    if (&part == &by) return false;
    if (part.reduction != kNone && !part.steps && part.reduce.in == operand.address) return true;
    for (const ChainStep& step : part.chain)
      for (const ChainOperand& other : step.in)
        if (other.kind == OperandKind::Flat && other.address == operand.address) return true;
  }
  return false;
}

// The steps of a part know each other; all others are memory.
void RowParts::make_operand(ChainOperand& operand, const Part& part) const {
  if (operand.kind == OperandKind::Flat) operand.is_warm = was_read(operand, part);
  if (!reads_step(operand)) return;
  const ChainStep& read = steps_[operand.step];
  if (operand.kind == OperandKind::Step && (part.steps & only(operand.step))) {
    operand.step = uint8_t(std::popcount(part.steps & (only(operand.step) - 1)));
    return;
  }
  operand.address = read.to;
  operand.is_warm = true;
  operand.in_block = read.to_block;
  if (std::exchange(operand.kind, OperandKind::Flat) == OperandKind::Step) return;
  operand.kind = OperandKind::Spread;
  operand.ndim = 2;
  operand.sizes[0] = length_, operand.strides[0] = 0;
  operand.sizes[1] = rows_, operand.strides[1] = 1;
}

// Steps that are cheap to compute (is_cheap_again) are repeated in each part that reads their results.
void RowParts::make_chain(Part& part) {
  for (Set read = part.of_rows ? 0 : read_by(part.steps); read; read &= read - 1)
    if (is_cheap_again(std::countr_zero(read))) part.steps |= only(std::countr_zero(read));
  part.chain.reserve(size_t(std::popcount(part.steps)));
  for (Set rest = part.steps; rest; rest &= rest - 1) {
    ChainStep& step = part.chain.emplace_back(steps_[size_t(std::countr_zero(rest))]);
    for (int k = 0; k < step.operands; k++) make_operand(step.in[k], part);
  }
}

void RowParts::make_reduce(Part& part) {
  const ChainStep& step = steps_[size_t(part.reduction)];
  const ChainOperand& operand = step.in[0];
  ReduceCall& c = part.reduce;
  c.op = step.op;
  c.in_dtype = c.compute = c.out_dtype = step.dtype;
  c.out = step.to;
  c.out_index = nullptr;
  c.in = part.steps ? c.out : reads_step(operand) ? steps_[operand.step].to : operand.address;
  part.reads_block = !part.steps && reads_step(operand) && steps_[operand.step].to_block;
  c.kept = c.reduced = 1;
  c.kept_sizes[0] = c.kept_numel = rows_, c.kept_strides[0] = length_;
  c.reduced_sizes[0] = c.reduced_numel = length_, c.reduced_strides[0] = 1;
  c.param = step.params[0];
}

// A block of 128 KB of floats stays in the second-level cache beside what its parts leave for each other. Without chains of elements nothing
// stays, and each reduction has all threads.
RowsCall RowParts::call(std::unique_ptr<ChainCache>* cache) const {
  constexpr int64_t kElements = 32768, kVector = 16;
  const bool has_elements = std::any_of(parts_.begin(), parts_.end(), [](const Part& p) { return !p.of_rows && p.steps; });
  const int64_t block = std::max(kVector, kElements / length_ / kVector * kVector);
  return {views_, rows_, has_elements ? block : rows_, cache};
}

}  // namespace tessera::tensor
