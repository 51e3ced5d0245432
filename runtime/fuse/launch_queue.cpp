// compile: small (once for a launch of thousands of elements)
#include "runtime/fuse/launch_queue.h"

#include <algorithm>
#include <cstring>

#include "runtime/context.h"
#include "runtime/device/calls.h"
#include "runtime/device/kernel.h"
#include "runtime/dtype_facts.h"

namespace tessera::tensor {
namespace {

// One that broadcasts: its steps through the shape of the result, neighbours that are one run merged.
bool spread(ChainOperand& operand, const Tensor& t, Ints sizes) {
  operand.kind = ChainOperand::Kind::Spread;
  operand.ndim = 0;
  const size_t n = sizes.size(), own = t.sizes().size();
  for (size_t back = 1; back <= n; back++) {
    const int64_t size = sizes[n - back];
    if (size == 1) continue;
    const bool repeats = back > own || t.sizes()[own - back] == 1;
    const int64_t stride = repeats ? 0 : t.strides()[own - back];
    const int last = operand.ndim - 1;
    if (last >= 0 && stride == operand.strides[last] * operand.sizes[last]) {
      operand.sizes[last] *= size;
      continue;
    }
    if (operand.ndim == ChainOperand::kMostDims) return false;
    operand.sizes[operand.ndim] = size, operand.strides[operand.ndim] = stride;
    operand.ndim++;
  }
  return operand.ndim > 0;
}

// Some kernels have an element's last bit depend on which others share its vector, and a single op begins each row of a broadcast with a
// new vector, short rows (32, pointwise.cpp) apart: a chain does the same where rows are whole vectors.
bool in_whole_vectors(const ChainStep& step) {
  constexpr int64_t kVector = 16, kShortRow = 32;
  int64_t row = 0;
  for (int k = 0; k < step.operands; k++) {
    const ChainOperand& operand = step.in[k];
    if (operand.kind == ChainOperand::Kind::Spread && operand.ndim > 1)
      row = row == 0 ? operand.sizes[0] : std::min(row, operand.sizes[0]);
  }
  return row < kShortRow || row % kVector == 0;
}

// For the length of a flush: on the queue's Context, whose stops wait for its end.
class Finishing {
 public:
  explicit Finishing(Context& context) : scope_(context), context_(context), before_(context.finishes) {
    context.finishes = true;
  }
  ~Finishing() { context_.finishes = before_; }

 private:
  ContextScope scope_;
  Context& context_;
  const bool before_;
};

}  // namespace

void PendingLaunches::flush() {
  if (queue_ != nullptr) queue_->flush();
}

bool PendingLaunches::try_flush() noexcept {
  if (queue_ == nullptr) return true;
  try {
    queue_->flush();
  } catch (...) {
    return false;
  }
  return true;
}

LaunchQueue::~LaunchQueue() {
  try {
    flush();
  } catch (...) {
    clear();  // no memory for what a host still holds
  }
  if (PendingLaunches::queue_ == this) PendingLaunches::queue_ = nullptr;
}

int LaunchQueue::step_of(const Storage& storage) const {
  for (size_t i = steps_.size(); i-- > 0;)
    if (steps_[i].result == &storage) return int(i);
  return -1;
}

// Results of this queue are read step by step where they lie in the same order; of another part or type they are to be in memory.
bool LaunchQueue::reads_as_step(const Tensor& t) const {
  if (!t.storage().is_pending() || t.storage().queue() != this) return false;
  const int i = step_of(t.storage());
  return i >= 0 && t.is_contiguous() && t.numel() == numel_ && t.offset() == 0 && t.dtype() == steps_[size_t(i)].dtype;
}

bool LaunchQueue::find_operand(ChainOperand& operand, const Tensor& t, Ints sizes) const {
  operand.dtype = t.dtype();
  if (!t.is_contiguous() || !t.device().is_cpu() || t.has_math_bits() || is_complex(t.dtype())) return false;
  if (t.storage().is_pending()) {
    operand.kind = ChainOperand::Kind::Step;
    operand.step = uint8_t(step_of(t.storage()));
    return true;
  }
  if (t.storage().is_exposed()) return false;  // it may be written while the launch waits
  operand.storage = &t.storage();
  operand.address = t.impl()->address();
  operand.kind = ChainOperand::Kind::Flat;
  return t.numel() == numel_ || spread(operand, t, sizes);
}

// Bytes of large storages that a step would hold and no other does.
size_t LaunchQueue::held_by(const ChainStep& step, const Tensor* const* tensors) const {
  size_t bytes = 0;
  for (int k = 0; k < step.operands; k++) {
    const Storage* const storage = tensors[k] ? &tensors[k]->storage() : nullptr;
    if (!storage || storage->bytes() < kMuch || storage->is_pending()) continue;
    const auto holds = [&](const ChainStep& other) {
      return std::any_of(other.in, other.in + other.operands, [&](const ChainOperand& o) { return o.storage == storage; });
    };
    if (std::none_of(steps_.begin(), steps_.end(), holds)) bytes += storage->bytes();
  }
  return bytes;
}

Tensor LaunchQueue::put_off(ChainStep& step, const Tensor* const* tensors, Ints sizes) {
  const int64_t numel = numel_of(sizes);
  if (numel < std::max<int64_t>(context_.fuses_from, 2) || numel > kMostWork / 2) return {};
  if (PendingLaunches::queue_ != nullptr && PendingLaunches::queue_ != this) PendingLaunches::flush();
  if (numel != numel_ || steps_.size() == kMostSteps || numel * int64_t(steps_.size() + 1) > kMostWork) flush();
  const size_t held = held_by(step, tensors);
  if (held_ + held > kMostHeld) flush();
  for (int k = 0; k < step.operands; k++)
    if (tensors[k] && tensors[k]->storage().is_pending() && !reads_as_step(*tensors[k])) tensors[k]->impl()->address();
  Tensor result;
  try {
    result = Tensor::adopt(TensorImpl::create_pending(sizes, step.dtype, *this));  // may flush, for room
  } catch (const TensorError&) {
    return {};  // without the queue a dying operand may lend its memory
  }
  numel_ = numel;
  steps_.reserve(kMostSteps);
  for (int k = 0; k < step.operands; k++)
    if (tensors[k] && !find_operand(step.in[k], *tensors[k], sizes)) return {};
  if (!in_whole_vectors(step)) return {};
  for (int k = 0; k < step.operands; k++)
    if (step.in[k].storage) step.in[k].storage->retain();
  step.result = &result.storage();
  step.result->retain();
  steps_.push_back(step);
  held_ += held;
  PendingLaunches::queue_ = this;
  return result;
}

Tensor LaunchQueue::put_off_conversion(const Tensor& t, DType to) {
  if (!t.device().is_cpu() || is_complex(to)) return {};
  ChainStep step;
  step.dtype = step.lane = to;
  step.operands = 1;
  const Tensor* const tensors[] = {&t};
  return put_off(step, tensors, t.sizes());
}

void LaunchQueue::flush() {
  if (steps_.empty()) return;
  if (PendingLaunches::queue_ == this) PendingLaunches::queue_ = nullptr;
  try {
    run();
  } catch (...) {  // they wait on
    for (ChainStep& step : steps_)
      if (step.to) step.result->give_memory_back(*this), step.to = nullptr;
    PendingLaunches::queue_ = this;
    throw;
  }
  clear();
}

// From the last step to the first: who else holds a result needs it, and a step needs its operands.
void LaunchQueue::find_needed() {
  for (ChainStep& step : steps_) step.needed = !step.result->unique();
  for (size_t i = steps_.size(); i-- > 0;) {
    const ChainStep& step = steps_[i];
    if (!step.needed) continue;
    for (int k = 0; k < step.operands; k++)
      if (step.in[k].kind == ChainOperand::Kind::Step) steps_[step.in[k].step].needed = true;
  }
}

void LaunchQueue::run() {
  find_needed();
  for (ChainStep& step : steps_)
    if (!step.result->unique()) step.to = static_cast<char*>(step.result->take_memory());
  const Finishing finishing(context_);
  if (steps_.size() == 1 && is_plain(steps_[0])) {
    if (steps_[0].needed) run_one(steps_[0]);
  } else {
    chain_kernel(kCpu, ChainCall{steps_, numel_});
  }
}

bool LaunchQueue::is_plain(const ChainStep& step) {
  for (int k = 0; k < step.operands; k++)
    if (step.in[k].kind == ChainOperand::Kind::Spread) return false;
  return true;
}

void LaunchQueue::run_one(const ChainStep& step) {
  Loop loop;
  loop.operands = step.operands + 1;
  loop.ndim = 1;
  loop.numel = loop.sizes[0] = numel_;
  loop.data[0] = step.to, loop.dtype[0] = step.dtype, loop.strides[0][0] = 1;
  for (int k = 0; k < step.operands; k++) {
    const ChainOperand& operand = step.in[k];
    const bool number = operand.kind == ChainOperand::Kind::Number;
    loop.strides[k + 1][0] = number ? 0 : 1;
    loop.data[k + 1] = operand.address, loop.dtype[k + 1] = operand.dtype;
    if (!number) continue;
    std::memcpy(loop.numbers[k + 1], operand.number, sizeof operand.number);
    loop.use_number(k + 1, operand.dtype);
  }
  if (step.op == ChainStep::kConvert) copy_kernel(kCpu, CopyCall{loop});
  else pointwise_kernel(kCpu, PointwiseCall{step.op, step.lane, loop, step.params});
}

void LaunchQueue::clear() {
  for (ChainStep& step : steps_) {
    for (ChainOperand& operand : step.in)
      if (operand.storage) operand.storage->release();
    step.result->release();
  }
  steps_.clear();
  held_ = 0;
}

}  // namespace tessera::tensor
