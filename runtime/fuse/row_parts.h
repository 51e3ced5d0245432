// The steps of a queue that has reduced rows, as the parts of a RowsCall. A reduction ends the part that computes its elements; steps that it
// does not read wait for a later part.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "runtime/device/calls.h"
#include "runtime/fuse/chain.h"

namespace tessera::tensor {

class RowParts {
 public:
  /// Steps of `numel` elements in rows of `length`, of which some are needed; those that tensors outside of the queue hold have their
  /// addresses. Gives addresses to the results that one part leaves for another, whose storages are settled. The results are pending, each of
  /// its own step.
  RowParts(std::span<ChainStep> steps, int64_t numel, int64_t length);
  RowParts(const RowParts&) = delete;

  /// Refers to this object and its steps.
  RowsCall call(std::unique_ptr<ChainCache>* cache) const;

 private:
  static constexpr int kMost = ChainCall::kMostSteps, kNone = -1;
  // Steps by their numbers in the queue, as bits.
  using Set = uint32_t;
  static_assert(kMost <= 32);
  static Set only(int i) { return Set(1) << i; }

  struct Part {
    Set steps = 0;
    int reduction = kNone;  // number of a step
    bool of_rows = false, reads_block = false;
    std::vector<ChainStep> chain = {};
    ReduceCall reduce;  // its fields are set where there is a reduction
  };

  void find_readers();
  void distribute();
  void add_part(Set steps, int reduction, bool of_rows);
  void add_step_of_rows(int i);
  void add_reduction(int i);
  Set take_operands_of(int i);
  bool is_cheap_again(int i) const;
  bool crosses_parts(int i) const;
  void settle_crossing();
  Set read_by(Set steps) const;
  bool was_read(const ChainOperand& operand, const Part& by) const;
  void make_operand(ChainOperand& operand, const Part& part) const;
  void make_chain(Part& part);
  void make_reduce(Part& part);

  std::span<ChainStep> steps_;
  const int64_t rows_, length_;
  std::deque<Part> parts_;
  std::vector<RowsPart> views_;
  Set open_ = 0;                // without a part
  Set readers_[kMost] = {};     // needed ones
  Set part_steps_[kMost] = {};  // of a step's part, its reduction included; none: without a part
};

}  // namespace tessera::tensor
