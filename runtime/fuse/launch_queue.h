// The launches of a Context that wait, in the order of their calls (README.md, "Launches that wait").
#pragma once

#include <memory>
#include <vector>

#include "runtime/fuse/chain.h"
#include "runtime/fuse/pending.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

class Context;

class LaunchQueue {
 public:
  explicit LaunchQueue(Context& context) : context_(context) {}
  LaunchQueue(const LaunchQueue&) = delete;
  ~LaunchQueue();

  /// Takes a launch whose numbers are set; `tensors` are its other operands (null: a number), contiguous, of shapes that broadcast to
  /// `sizes`. Returns the result, or nothing: the launch is to run at once.
  Tensor put_off(ChainStep& step, const Tensor* const* tensors, Ints sizes);
  /// The same for a launch that overwrites `self`, which has these sizes. Returns false if the launch is to run at once.
  bool put_off_in_place(ChainStep& step, const Tensor* const* tensors, const Tensor& self);
  /// The same for a reduction of the rows of a tensor: the call has its layout, op, type of the arithmetic and number, and no addresses.
  Tensor put_off_reduction(const ReduceCall& call, const Tensor& t, Ints sizes, DType type);
  /// The same for the conversion of a tensor.
  Tensor put_off_conversion(const Tensor& t, DType to);
  /// Reduces the tensor, into `out`, tile by tile as its launches compute it, without its result in memory. The call has its layout and no
  /// addresses. Returns false if the elements have to be in memory first.
  bool reduce(ReduceCall& call, const Tensor& t, const Tensor& out);
  /// Announces that the caller, who has the only handle, lets go of the tensor after the next reduction.
  void expect_end_of(const Tensor& t) { dying_ = t.impl()->refs.unique() ? t.impl() : nullptr; }
  void flush();
  /// Whether a launch that waits writes the storage or (`reads`) reads it, or may do so: others know its address.
  bool concerns(const Storage& storage, bool reads) const;

 private:
  static constexpr size_t kMostSteps = ChainCall::kMostSteps;
  static constexpr size_t kMostHeld = size_t(256) << 20, kMuch = size_t(1) << 20;  // bytes of operands that single ops might have let go
  static constexpr int64_t kMostWork = int64_t(1) << 27;  // elements times steps: a tenth of a second

  bool takes(int64_t numel) const;
  bool is_of_rows(int64_t numel, const ChainStep& step, const Tensor* const* tensors) const;
  Tensor pending_result(const ChainStep& step, Ints sizes);
  Tensor put_off_rows(ChainStep& step, const Tensor* const* tensors, Ints sizes);
  bool find_operand_of_rows(ChainOperand& operand, const Tensor& t, Ints sizes) const;
  bool reads_row_by_row(const Tensor& t, const ChainOperand& operand) const;
  bool may_add_reduction(const Tensor& t, int64_t length) const;
  void begin_waiting();
  void end_waiting();
  void make_room(Ints sizes, const ChainStep& step, const Tensor* const* tensors);
  bool waits(const Storage& storage) const { return storage.is_pending() || step_of(storage) >= 0; }
  bool reads_as_step(const Tensor& t) const;
  bool find_operands(ChainStep& step, const Tensor* const* tensors, Ints sizes) const;
  bool find_operand(ChainOperand& operand, const Tensor& t, Ints sizes) const;
  int step_of(const Storage& storage) const;
  bool may_be_overwritten(const Tensor& t, const ChainStep& step) const;
  size_t held_by(const ChainStep& step, const Tensor* const* tensors) const;
  void append(const ChainStep& step, Storage& result);
  bool may_reduce(const Tensor& t);
  bool is_cheap_again() const;
  void find_needed();
  void find_operands_of_needed();
  bool is_free_for(size_t i, const ChainOperand& operand) const;
  void take_warm_block(size_t i);
  void run();
  void run_chain(const ReduceCall* reduce);
  void run_rows();
  bool is_chain() const;
  void run_one(const ChainStep& step) const;
  void clear();

  Context& context_;
  std::vector<ChainStep> steps_;
  int64_t numel_ = 0, row_length_ = 0;  // elements; a length of 0: no rows have been reduced
  size_t held_ = 0;
  std::unique_ptr<ChainCache> cache_;
  const TensorImpl* dying_ = nullptr;
};

}  // namespace tessera::tensor
