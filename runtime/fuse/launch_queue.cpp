// The launches of a Context that wait, and their runs.
// compile: small (each launch has tens of thousands of elements)
#include "runtime/fuse/launch_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/context.h"
#include "runtime/device/calls.h"
#include "runtime/device/kernel.h"
#include "runtime/dtype_facts.h"
#include "runtime/fuse/row_parts.h"
#include "runtime/ops/pointwise_rows.h"

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

// Whether a launch that overwrites `t` changes what another operand reads: only the same element in the same tile may.
bool reads_other_elements(const ChainOperand& operand, const Tensor& t) {
  return operand.storage == &t.storage() &&
         (operand.kind != ChainOperand::Kind::Flat || operand.address != t.impl()->address() || operand.dtype != t.dtype());
}

// Merges the dimensions of a step, whose broadcast operands have merged them one by one: a dimension ends where one of theirs does.
void split_dimensions(Loop& loop, const ChainStep& step, int64_t numel) {
  int64_t done = 1;  // elements in the dimensions before
  int at[3] = {};
  int64_t before[3] = {1, 1, 1};  // elements before dimension `at` of the operand
  for (loop.ndim = 0; done < numel; loop.ndim++) {
    int64_t end = numel;
    for (int k = 0; k < step.operands; k++) {
      const ChainOperand& operand = step.in[k];
      if (operand.kind == ChainOperand::Kind::Spread) end = std::min(end, before[k] * operand.sizes[at[k]]);
    }
    loop.sizes[loop.ndim] = end / done;
    loop.strides[0][loop.ndim] = done;
    for (int k = 0; k < step.operands; k++) {
      const ChainOperand& operand = step.in[k];
      int64_t& stride = loop.strides[k + 1][loop.ndim];
      stride = operand.kind == ChainOperand::Kind::Number ? 0 : done;
      if (operand.kind != ChainOperand::Kind::Spread) continue;
      stride = operand.strides[at[k]] * (done / before[k]);
      if (before[k] * operand.sizes[at[k]] == end) before[k] = end, at[k]++;
    }
    done = end;
  }
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

// Sets the queue of the thread again at the end of a block.
struct Restored {
  LaunchQueue*& place;
  LaunchQueue* before;
  ~Restored() { place = before; }
};

}  // namespace

void PendingLaunches::flush() {
  if (queue_ != nullptr) queue_->flush();
}

bool PendingLaunches::concern(const Storage& out, const Storage* const* in, int count) {
  if (queue_ == nullptr) return false;
  return queue_->concerns(out, true) || std::any_of(in, in + count, [](const Storage* s) { return s && queue_->concerns(*s, false); });
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
  end_waiting();
}

void LaunchQueue::begin_waiting() {
  PendingLaunches::queue_ = this;
  context_.waiting_rows = row_length_ > 0 ? numel_ / row_length_ : 0;
}

void LaunchQueue::end_waiting() {
  if (PendingLaunches::queue_ == this) PendingLaunches::queue_ = nullptr;
  context_.waiting_rows = 0;
}

int LaunchQueue::step_of(const Storage& storage) const {
  for (size_t i = steps_.size(); i-- > 0;)
    if (steps_[i].result == &storage) return int(i);
  return -1;
}

bool LaunchQueue::concerns(const Storage& storage, bool reads) const {
  if (storage.is_pending() || storage.is_exposed() || step_of(storage) >= 0) return true;
  return reads && std::any_of(steps_.begin(), steps_.end(), [&](const ChainStep& step) {
    return std::any_of(step.in, step.in + step.operands, [&](const ChainOperand& o) { return o.storage == &storage; });
  });
}

// Results of this queue, in place too, are read step by step where they lie in the same order; of another part or type they are to be in
// memory.
bool LaunchQueue::reads_as_step(const Tensor& t) const {
  const int i = step_of(t.storage());
  return i >= 0 && steps_[size_t(i)].kind == ChainStep::Kind::Elements && t.is_contiguous() && t.numel() == numel_ && t.offset() == 0 &&
         t.dtype() == steps_[size_t(i)].dtype;
}

// Results of rows are read in blocks, so only each element by its own row.
bool LaunchQueue::reads_row_by_row(const Tensor& t, const ChainOperand& operand) const {
  const int i = step_of(t.storage());
  if (i < 0 || steps_[size_t(i)].kind == ChainStep::Kind::Elements) return false;
  return t.offset() == 0 && t.dtype() == steps_[size_t(i)].dtype && operand.ndim == 2 && operand.sizes[0] == row_length_ &&
         operand.strides[0] == 0 && operand.sizes[1] * row_length_ == numel_ && operand.strides[1] == 1;
}

bool LaunchQueue::find_operand(ChainOperand& operand, const Tensor& t, Ints sizes) const {
  operand.dtype = t.dtype();
  if (!t.is_contiguous() || !t.device().is_cpu() || t.has_math_bits() || is_complex(t.dtype())) return false;
  if (const int step = step_of(t.storage()); step >= 0) {
    operand.kind = reads_as_step(t) ? ChainOperand::Kind::Step : ChainOperand::Kind::Row;
    operand.step = uint8_t(step);
    return true;
  }
  if (t.storage().is_exposed()) return false;  // it may be written while the launch waits
  operand.storage = &t.storage();
  operand.address = t.impl()->address();
  operand.kind = ChainOperand::Kind::Flat;
  return t.numel() == numel_ || spread(operand, t, sizes);
}

bool LaunchQueue::find_operands(ChainStep& step, const Tensor* const* tensors, Ints sizes) const {
  for (int k = 0; k < step.operands; k++)
    if (tensors[k] && !find_operand(step.in[k], *tensors[k], sizes)) return false;
  return in_whole_vectors(step);
}

// True if neither the launches that wait nor this one read elements of `t` in another order.
bool LaunchQueue::may_be_overwritten(const Tensor& t, const ChainStep& step) const {
  if (!t.is_contiguous() || t.offset() != 0 || t.has_math_bits() || t.storage().is_exposed()) return false;
  const auto disturbs = [&](const ChainStep& other) {
    return std::any_of(other.in, other.in + other.operands, [&](const ChainOperand& o) { return reads_other_elements(o, t); });
  };
  return std::none_of(steps_.begin(), steps_.end(), disturbs) && !disturbs(step);
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

// Nothing is put off once the program is to stop.
bool LaunchQueue::takes(int64_t numel) const {
  return numel >= std::max<int64_t>(context_.fuses_from, 2) && numel <= kMostWork / 2 && !context_.stopping();
}

// Runs launches that this one cannot join.
void LaunchQueue::make_room(Ints sizes, const ChainStep& step, const Tensor* const* tensors) {
  const int64_t numel = numel_of(sizes);
  if (PendingLaunches::queue_ != nullptr && PendingLaunches::queue_ != this) PendingLaunches::flush();
  if (numel != numel_ || steps_.size() == kMostSteps || numel * int64_t(steps_.size() + 1) > kMostWork) flush();
  numel_ = numel;
  if (held_ + held_by(step, tensors) > kMostHeld) flush();
  for (int k = 0; k < step.operands; k++) {
    if (!tensors[k] || !waits(tensors[k]->storage()) || reads_as_step(*tensors[k])) continue;
    ChainOperand rows;
    if (row_length_ > 0 && tensors[k]->is_contiguous() && spread(rows, *tensors[k], sizes) && reads_row_by_row(*tensors[k], rows)) continue;
    flush();
    tensors[k]->impl()->address();
  }
}

// A result of the step, whose making may flush the queue.
Tensor LaunchQueue::pending_result(const ChainStep& step, Ints sizes) {
  try {
    return Tensor::adopt(TensorImpl::create_pending(sizes, step.dtype, *this));
  } catch (const TensorError&) {
    return {};  // without the queue a dying operand may lend its memory
  }
}

Tensor LaunchQueue::put_off(ChainStep& step, const Tensor* const* tensors, Ints sizes) {
  if (is_of_rows(numel_of(sizes), step, tensors)) return put_off_rows(step, tensors, sizes);
  if (!takes(numel_of(sizes))) return {};
  make_room(sizes, step, tensors);
  Tensor result = pending_result(step, sizes);
  if (!result.defined() || !find_operands(step, tensors, sizes)) return {};
  held_ += held_by(step, tensors);
  append(step, result.storage());
  return result;
}

// True if the step makes one element for each row of such results and of tensors in memory.
bool LaunchQueue::is_of_rows(int64_t numel, const ChainStep& step, const Tensor* const* tensors) const {
  if (row_length_ == 0 || numel * row_length_ != numel_ || PendingLaunches::queue_ != this || steps_.size() == kMostSteps) return false;
  bool reads_rows = false;
  for (int k = 0; k < step.operands; k++) {
    if (!tensors[k]) continue;
    const Tensor& t = *tensors[k];
    const int i = step_of(t.storage());
    if (i < 0 ? t.storage().is_pending() : steps_[size_t(i)].kind == ChainStep::Kind::Elements) return false;
    if (i >= 0 && (!t.is_contiguous() || t.numel() != numel || t.offset() != 0 || t.dtype() != steps_[size_t(i)].dtype)) return false;
    reads_rows |= i >= 0;
  }
  return reads_rows;
}

Tensor LaunchQueue::put_off_rows(ChainStep& step, const Tensor* const* tensors, Ints sizes) {
  const size_t before = steps_.size();
  Tensor result = pending_result(step, sizes);
  if (!result.defined() || steps_.size() != before) return {};
  step.kind = ChainStep::Kind::Rows;
  for (int k = 0; k < step.operands; k++)
    if (tensors[k] && !find_operand_of_rows(step.in[k], *tensors[k], sizes)) return {};
  append(step, result.storage());
  return result;
}

bool LaunchQueue::find_operand_of_rows(ChainOperand& operand, const Tensor& t, Ints sizes) const {
  operand.dtype = t.dtype();
  if (!t.is_contiguous() || !t.device().is_cpu() || t.has_math_bits() || is_complex(t.dtype())) return false;
  if (const int step = step_of(t.storage()); step >= 0) {
    operand.kind = ChainOperand::Kind::Step;
    operand.step = uint8_t(step);
    return true;
  }
  if (t.storage().is_exposed()) return false;
  operand.storage = &t.storage();
  operand.address = t.impl()->address();
  operand.kind = ChainOperand::Kind::Flat;
  return t.numel() == numel_of(sizes) || (t.numel() == 1 && spread(operand, t, sizes));
}

bool LaunchQueue::put_off_in_place(ChainStep& step, const Tensor* const* tensors, const Tensor& self) {
  if (!takes(self.numel()) || step.dtype != self.dtype()) return false;
  if (row_length_ > 0) flush();  // parts may run in another order than their steps came
  make_room(self.sizes(), step, tensors);
  if (!find_operands(step, tensors, self.sizes())) return false;
  const int before = step_of(self.storage());
  if (before < 0 ? !may_be_overwritten(self, step) : !reads_as_step(self)) return false;
  held_ += held_by(step, tensors);
  append(step, self.storage());
  if (before >= 0) std::exchange(steps_[size_t(before)].result, nullptr)->release();
  return true;
}

// Rows that are whole vectors, of the type of the arithmetic.
static bool takes_source(const ReduceCall& call, const Tensor& t) {
  constexpr int64_t kShortest = 64, kVector = 16;
  const int64_t length = call.reduced_sizes[0];
  if (t.dtype() != call.compute || !is_floating(t.dtype())) return false;
  if (call.reduced != 1 || call.reduced_strides[0] != 1 || length < kShortest) return false;
  return call.kept == 0 || (call.kept == 1 && call.kept_strides[0] == length && length % kVector == 0);
}

// True if the reduction can be a step of the launches that wait, or of none: their results are of one size, and each is pending.
bool LaunchQueue::may_add_reduction(const Tensor& t, int64_t length) const {
  if (steps_.empty()) return true;
  if (PendingLaunches::queue_ != this || t.numel() != numel_ || steps_.size() == kMostSteps) return false;
  if (numel_ * int64_t(steps_.size() + 1) > kMostWork || (row_length_ > 0 && row_length_ != length)) return false;
  if (waits(t.storage()) && !reads_as_step(t)) return false;
  return std::all_of(steps_.begin(), steps_.end(), [](const ChainStep& step) { return step.result && step.result->is_pending(); });
}

Tensor LaunchQueue::put_off_reduction(const ReduceCall& call, const Tensor& t, Ints sizes, DType type) {
  constexpr int64_t kLongest = 4096;  // elements of a row, of which the caches hold some
  if (!takes(t.numel()) || call.kept != 1 || type != t.dtype() || !t.device().is_cpu() || t.has_math_bits()) return {};
  if (!takes_source(call, t) || call.reduced_sizes[0] > kLongest || !t.is_contiguous()) return {};
  if (PendingLaunches::queue_ != nullptr && PendingLaunches::queue_ != this) PendingLaunches::flush();
  if (!may_add_reduction(t, call.reduced_sizes[0])) flush();
  ChainStep step;
  step.kind = ChainStep::Kind::Reduction;
  step.op = call.op, step.lane = step.dtype = type;
  step.params[0] = call.param;
  step.operands = 1;
  const Tensor* const tensors[] = {&t};
  if (held_ + held_by(step, tensors) > kMostHeld) flush();
  if (waits(t.storage()) && !reads_as_step(t)) t.impl()->address();
  Tensor result = pending_result(step, sizes);
  numel_ = t.numel();
  if (!result.defined() || !find_operand(step.in[0], t, t.sizes())) return {};
  held_ += held_by(step, tensors);
  dying_ = nullptr;
  row_length_ = call.reduced_sizes[0];
  append(step, result.storage());
  return result;
}

// True if `t` is the result of the last launch, no tensor but the one that is about to die holds it, and no other result that the chain
// reads on its way has an owner outside of the queue, or all are soon computed once more: then a reduction may compute the elements without
// writing them.
bool LaunchQueue::may_reduce(const Tensor& t) {
  if (std::exchange(dying_, nullptr) != t.impl() || row_length_ > 0) return false;
  if (PendingLaunches::queue_ != this || !reads_as_step(t) || t.storage().references() != 2) return false;
  if (steps_.back().result != &t.storage()) return false;
  for (ChainStep& step : steps_) step.needed = false, step.to = nullptr;
  steps_.back().needed = true;
  find_operands_of_needed();
  return is_cheap_again() || std::none_of(steps_.begin(), steps_.end() - 1,
                                          [](const ChainStep& step) { return step.needed && step.result && !step.result->unique(); });
}

// A few steps without functions: computing them again takes less than writing and reading their result.
bool LaunchQueue::is_cheap_again() const {
  constexpr int kFew = 3;
  int count = 0;
  for (const ChainStep& step : steps_) {
    if (!step.needed) continue;
    if (++count > kFew || step.op == ChainStep::kConvert) return false;
    if (real_class(kPointwiseRows[step.op].row_class) != PointwiseClass::Number) return false;
  }
  return true;
}

bool LaunchQueue::reduce(ReduceCall& call, const Tensor& t, const Tensor& out) {
  if (!may_reduce(t) || !takes_source(call, t) || !out.storage().unique()) return false;
  call.in_dtype = t.dtype(), call.out_dtype = out.dtype();
  call.in = call.out = out.impl()->address(), call.out_index = nullptr;
  PendingLaunches::queue_ = nullptr;
  const Restored restored{PendingLaunches::queue_, this};
  run_chain(&call);
  return true;
}

void LaunchQueue::append(const ChainStep& step, Storage& result) {
  steps_.reserve(kMostSteps);
  steps_.push_back(step);
  steps_.back().result = &result;
  result.retain();
  for (const ChainOperand& operand : steps_.back().in)
    if (operand.storage) operand.storage->retain();
  begin_waiting();
}

Tensor LaunchQueue::put_off_conversion(const Tensor& t, DType to) {
  if (!t.device().is_cpu() || is_complex(to) || !(kAllTypes.has(to) && kAllTypes.has(t.dtype()))) return {};
  ChainStep step;
  step.dtype = step.lane = to;
  step.operands = 1;
  const Tensor* const tensors[] = {&t};
  return put_off(step, tensors, t.sizes());
}

void LaunchQueue::flush() {
  if (steps_.empty()) return;
  end_waiting();
  try {
    run();
  } catch (...) {  // they wait on
    for (ChainStep& step : steps_)
      if (std::exchange(step.settled, false)) step.result->wait_again(*this);
    begin_waiting();
    throw;
  }
  clear();
}

// From the last step to the first: who else holds a result needs it, and a step needs its operands.
void LaunchQueue::find_needed() {
  for (ChainStep& step : steps_) step.needed = step.result && !step.result->unique();
  find_operands_of_needed();
}

void LaunchQueue::find_operands_of_needed() {
  for (size_t i = steps_.size(); i-- > 0;) {
    const ChainStep& step = steps_[i];
    if (!step.needed) continue;
    for (int k = 0; k < step.operands; k++)
      if (step.in[k].kind == ChainOperand::Kind::Step || step.in[k].kind == ChainOperand::Kind::Row) steps_[step.in[k].step].needed = true;
  }
}

// True if the operand's storage has no other owner than this queue, and what the launches read of it they read before step i writes the
// same element.
bool LaunchQueue::is_free_for(size_t i, const ChainOperand& operand) const {
  if (!operand.storage || operand.storage->data() != operand.address) return false;
  uint32_t held = 0;
  for (size_t k = 0; k < steps_.size(); k++)
    for (const ChainOperand& other : steps_[k].in) {
      if (other.storage != operand.storage) continue;
      if (k > i || other.kind != ChainOperand::Kind::Flat || other.address != operand.address) return false;
      if (item_size(other.dtype) != item_size(steps_[i].dtype)) return false;
      held++;
    }
  return held == operand.storage->references();
}

// Chooses a block for the result of step i that is in the caches: the block of an operand that dies, as single ops do, or of the first
// pending result without an owner outside of the queue: for it the allocator gave the block that was freed last. Parts of rows may run in
// another order than their steps came, so what dies is not known there.
void LaunchQueue::take_warm_block(size_t i) {
  Storage& result = *steps_[i].result;
  for (size_t k = 0; k <= i; k++) {
    for (const ChainOperand& operand : steps_[k].in)
      if (row_length_ == 0 && is_free_for(i, operand) && result.exchange_blocks(*operand.storage)) return;
    Storage* const other = steps_[k].result;
    if (k < i && other && other->is_pending() && other->unique() && result.exchange_blocks(*other)) return;
  }
}

void LaunchQueue::run() {
  find_needed();
  for (size_t i = 0; i < steps_.size(); i++) {
    ChainStep& step = steps_[i];
    step.to = nullptr;
    if (!step.result || step.result->unique()) continue;
    step.settled = step.result->is_pending();
    if (step.settled) take_warm_block(i);
    step.to = static_cast<char*>(step.settled ? step.result->settle() : step.result->data());
  }
  const Finishing finishing(context_);
  if (row_length_ > 0) return run_rows();
  if (is_chain()) return run_chain(nullptr);
  for (const ChainStep& step : steps_)
    if (step.needed) run_one(step);
}

void LaunchQueue::run_chain(const ReduceCall* reduce) {
  chain_kernel(kCpu, ChainCall{steps_, numel_, reduce, context_.generates_code ? &cache_ : nullptr});
}

void LaunchQueue::run_rows() {
  const RowParts parts(steps_, numel_, row_length_);
  rows_kernel(kCpu, parts.call(context_.generates_code ? &cache_ : nullptr));
}

// Single ops run by their own kernels.
bool LaunchQueue::is_chain() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const ChainStep& step) {
    return step.needed && std::any_of(step.in, step.in + step.operands,
                                      [](const ChainOperand& o) { return o.kind == ChainOperand::Kind::Step; });
  });
}

void LaunchQueue::run_one(const ChainStep& step) const {
  Loop loop;
  loop.operands = step.operands + 1;
  loop.numel = numel_;
  loop.data[0] = step.to, loop.dtype[0] = step.dtype;
  split_dimensions(loop, step, numel_);
  for (int k = 0; k < step.operands; k++) {
    const ChainOperand& operand = step.in[k];
    loop.data[k + 1] = operand.address, loop.dtype[k + 1] = operand.dtype;
    if (operand.kind != ChainOperand::Kind::Number) continue;
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
    if (step.result) step.result->release();
  }
  steps_.clear();
  held_ = 0;
  row_length_ = 0;
}

}  // namespace tessera::tensor
