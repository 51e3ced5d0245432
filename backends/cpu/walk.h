// Walking a Loop in order: from a linear position to addresses, row by row.
#pragma once

#include "runtime/plan.h"

namespace tessera::tensor::cpu {

/// A place in a loop: index per dimension and the address of every operand's element there.
class Walker {
 public:
  Walker(const Loop& loop, int64_t position) : loop_(loop), operands_(loop.operands) {
    for (int k = 0; k < operands_; k++) {
      at_[k] = loop.data[k];
      size_[k] = int64_t(item_size(loop.dtype[k]));
      step_[k] = loop.strides[k][0] * size_[k];
      turn_[k] = loop.ndim > 1 ? loop.strides[k][1] * size_[k] - loop.sizes[0] * step_[k] : 0;
    }
    for (int d = 0; d < loop.ndim; d++) {
      index_[d] = position % loop.sizes[d];
      position /= loop.sizes[d];
      for (int k = 0; k < operands_; k++) at_[k] += index_[d] * loop.strides[k][d] * size_[k];
    }
  }
  /// Elements left in the innermost row.
  int64_t row_left() const { return loop_.sizes[0] - index_[0]; }
  char* at(int k) const { return at_[k]; }
  /// Moves on by n <= row_left() elements.
  void advance(int64_t n) {
    index_[0] += n;
    for (int k = 0; k < operands_; k++) at_[k] += n * step_[k];
    if (index_[0] < loop_.sizes[0] || loop_.ndim == 1) return;
    index_[0] = 0;
    index_[1]++;
    for (int k = 0; k < operands_; k++) at_[k] += turn_[k];
    for (int d = 1; index_[d] == loop_.sizes[d] && d + 1 < loop_.ndim; d++) {
      index_[d] = 0;
      index_[d + 1]++;
      for (int k = 0; k < operands_; k++)
        at_[k] += (loop_.strides[k][d + 1] - loop_.sizes[d] * loop_.strides[k][d]) * size_[k];
    }
  }

 private:
  const Loop& loop_;
  const int operands_;
  char* at_[kMaxOperands];
  int64_t size_[kMaxOperands], step_[kMaxOperands];
  int64_t turn_[kMaxOperands];  // from the end of a row to the start of the next
  int64_t index_[kMaxLoopDims];
};

}  // namespace tessera::tensor::cpu
