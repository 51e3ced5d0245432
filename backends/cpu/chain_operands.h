// How the operands of a chain's steps come to the kernels: broadcast ones are gathered into buffers, a tile at a time.
#pragma once

#include <algorithm>

#include "backends/cpu/convert.h"
#include "runtime/dtype_facts.h"
#include "runtime/fuse/chain.h"

namespace tessera::tensor::cpu {

// How one operand of a step comes to the kernel.
struct Source {
  const ChainOperand* operand;
  DType takes;
  ConvertRun load = nullptr;    // into a scratch buffer; null: it is read where it is
  alignas(16) char number[16] = {};  // a number as the kernel takes it
  int buffer = -1;              // Step: which buffer has it; -1: the memory at `address`
  int pattern = -1;             // Spread: index of the buffer that keeps the repeating row; -1 if no row repeats
  const char* address = nullptr;
  bool in_block = false;        // as ChainOperand::in_block
};

// The contents of a pattern's buffer: n elements of the repeating row of a block, from element `phase` of the row on.
struct Pattern {
  int64_t phase = -1, block = -1, n = 0;
};

// Where an element of a broadcast operand is.
struct Place {
  const char* from;
  int64_t index[ChainOperand::kMostDims];

  Place(const ChainOperand& o, int64_t at) : from(o.address) {
    for (int d = 0; d < o.ndim; d++) {
      const int64_t next = d + 1 < o.ndim ? at / o.sizes[d] : 0;  // a division takes as long as 100 elements of a loop
      index[d] = at - next * o.sizes[d];
      at = next;
      from += index[d] * o.strides[d] * int64_t(item_size(o.dtype));
    }
  }
  // n elements on, at most to the end of the row.
  void advance(const ChainOperand& o, int64_t n) {
    const int64_t size = int64_t(item_size(o.dtype));
    index[0] += n, from += n * o.strides[0] * size;
    for (int d = 0; d + 1 < o.ndim && index[d] == o.sizes[d]; d++) {
      from += (o.strides[d + 1] - o.sizes[d] * o.strides[d]) * size;
      index[d] = 0, index[d + 1]++;
    }
  }
};

inline void gather(const Source& source, char* to, int64_t at, int64_t n) {
  const ChainOperand& o = *source.operand;
  const int64_t takes = int64_t(item_size(source.takes));
  Place place(o, at);
  for (int64_t m; n > 0; n -= m, to += m * takes) {
    m = std::min(n, o.sizes[0] - place.index[0]);
    source.load(to, 1, place.from, o.strides[0], m);
    place.advance(o, m);
  }
}

// A row that repeats in each block: gathered if the buffer does not hold it.
inline const void* repeat(const Source& source, char* kept, Pattern& pattern, int64_t at, int64_t n) {
  const ChainOperand& o = *source.operand;
  const int64_t block = o.sizes[0] * o.sizes[1], phase = at % o.sizes[0];
  const bool whole = at % block + n <= block;
  if (whole && pattern.phase == phase && pattern.block == at / block && pattern.n >= n) return kept;
  pattern = {phase, at / block, whole ? n : 0};
  gather(source, kept, at, n);
  return kept;
}

// A broadcast operand: where it is if it can be read there, else gathered row by row.
inline const void* spread(const Source& source, char* scratch, int64_t at, int64_t n, int64_t& step) {
  const ChainOperand& o = *source.operand;
  const Place place(o, at);
  if (n <= o.sizes[0] - place.index[0] && !is_half(source.takes)) {  // kernels for halves take one element as a float
    step = o.strides[0];
    if (source.takes == o.dtype && step <= 1) return place.from;
  }
  if (step == 0) n = 1;
  else step = 1;
  gather(source, scratch, at, n);
  return scratch;
}

}  // namespace tessera::tensor::cpu
