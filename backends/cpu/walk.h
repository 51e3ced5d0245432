// Walking a Loop in order: from a linear position to addresses, row by row.
#pragma once

#include "runtime/plan.h"

namespace tessera::cpu {

/// A place in a loop: index per dimension and the address of every operand's element there.
class Walker {
public:
    Walker(const Loop& loop, int64_t position) : loop_(loop) {
        for (int k = 0; k < loop.operands; k++) at_[k] = loop.data[k];
        for (int d = 0; d < loop.ndim; d++) {
            index_[d] = position % loop.sizes[d];
            position /= loop.sizes[d];
            for (int k = 0; k < loop.operands; k++) at_[k] += index_[d] * step(k, d);
        }
    }
    /// Elements left in the innermost row.
    int64_t row_left() const { return loop_.sizes[0] - index_[0]; }
    char* at(int k) const { return at_[k]; }
    /// Moves on by n <= row_left() elements.
    void advance(int64_t n) {
        index_[0] += n;
        for (int k = 0; k < loop_.operands; k++) at_[k] += n * step(k, 0);
        for (int d = 0; index_[d] == loop_.sizes[d] && d + 1 < loop_.ndim; d++) {
            index_[d] = 0;
            index_[d + 1]++;
            for (int k = 0; k < loop_.operands; k++) at_[k] += step(k, d + 1) - loop_.sizes[d] * step(k, d);
        }
    }

private:
    int64_t step(int k, int d) const { return loop_.strides[k][d] * int64_t(item_size(loop_.dtype[k])); }

    const Loop& loop_;
    char* at_[kMaxOperands];
    int64_t index_[kMaxLoopDims];
};

}  // namespace tessera::cpu
