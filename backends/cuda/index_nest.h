// A call that goes by indices as a nest of loops over places, made on the host: dimensions of size 1 dropped, neighbours
// that are one run merged, the innermost one first.
#pragma once

#include "backends/cuda/cuda.h"
#include "runtime/ops/index_kernel.h"

namespace tessera::tensor::cuda {

inline constexpr int kMaxNestDims = 16;  // after neighbours are merged

struct IndexLevel {
  int64_t size, self, value, index[kMaxIndices];  // strides in elements
};

struct IndexNest {
  int count = 0, indices = 0;
  IndexLevel levels[kMaxNestDims];

  IndexNest() = default;
  explicit IndexNest(const IndexCall& call);

  int64_t places() const {
    int64_t n = 1;
    for (int d = 0; d < count; d++) n *= levels[d].size;
    return n;
  }
  void push(const IndexLevel& level);

  /// No index varies over the level.
  bool fixed(const IndexLevel& level) const {
    for (int k = 0; k < indices; k++)
      if (level.index[k] != 0) return false;
    return true;
  }
  /// Different places along the level are different elements, whatever the indices say.
  bool apart(const IndexLevel& level) const { return fixed(level) && level.self != 0; }
};

/// What a kernel does with an element besides moving it.
enum class SkipNegative { No, Yes };

/// Reads or writes of the call, without a look at what meets. With SkipNegative an index below 0 names nothing: its places
/// are passed over.
void move_by_index(const IndexCall& call, const IndexNest& nest, SkipNegative skip);

/// Writes that may meet: the last place has the element. index_meet.cu
void write_by_index(const IndexCall& call, const IndexNest& nest);
/// self = self combined with the values, in the order of the places. index_combine.cu
void combine_by_index(const IndexCall& call, const IndexNest& nest);

}  // namespace tessera::tensor::cuda
