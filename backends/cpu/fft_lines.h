// Where the lines of a transform start: one dimension across, along which they go side by side, and the rest around it.
#pragma once

#include <algorithm>

#include "runtime/ops/fft.h"

namespace tessera::tensor::cpu {

/// The first element of a line on both sides.
struct LineStart {
  int64_t in, out;
};

struct Lines {
  int64_t across = 1, in_across = 0, out_across = 0;

  explicit Lines(const FftCall& c) {
    for (size_t d = 0; d < c.lines.size(); d++) add(c.lines[d], c.in_strides[d], c.out_strides[d]);
    if (sizes_.empty()) return;
    size_t best = 0;
    for (size_t d = 1; d < sizes_.size(); d++) {
      const int64_t count = std::min<int64_t>(sizes_[d], 16), most = std::min<int64_t>(sizes_[best], 16);
      if (count > most || (count == most && ins_[d] < ins_[best])) best = d;
    }
    across = sizes_[best], in_across = ins_[best], out_across = outs_[best];
    for (Dims* list : {&sizes_, &ins_, &outs_}) list->erase(best);
  }

  int64_t outer() const {
    int64_t n = 1;
    for (const int64_t s : sizes_) n *= s;
    return n;
  }
  int64_t count() const { return across * outer(); }
  /// Line `first` across, in the outer place number i.
  LineStart start(int64_t i, int64_t first) const {
    LineStart at{first * in_across, first * out_across};
    for (size_t d = sizes_.size(); d-- > 0; i /= sizes_[d])
      at.in += i % sizes_[d] * ins_[d], at.out += i % sizes_[d] * outs_[d];
    return at;
  }

 private:
  // A dimension that goes on where the last one ends is one with it.
  void add(int64_t size, int64_t in, int64_t out) {
    if (size == 1) return;
    if (!sizes_.empty() && ins_.back() == size * in && outs_.back() == size * out) {
      sizes_.back() *= size, ins_.back() = in, outs_.back() = out;
      return;
    }
    sizes_.push_back(size), ins_.push_back(in), outs_.push_back(out);
  }

  Dims sizes_, ins_, outs_;
};

}  // namespace tessera::tensor::cpu
