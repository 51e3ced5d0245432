// Pointwise ops that run one after the other on each tile, as data: what a launch queue hands to the backend.
//
// All steps have results of one number of elements, which lie row by row, so that one position serves all of them. A result that
// no tensor outside of the queue holds gets no memory of its own: each tile keeps the result in a buffer. Once a queue has reduced rows, it also
// has steps of one element for each row; a RowsCall runs all of it block by block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/device/kernel.h"
#include "runtime/scalar.h"
#include "runtime/storage.h"

namespace tessera::tensor {

struct ChainOperand {
  enum class Kind : uint8_t {
    Number,  // by value, of the step's lane
    Flat,    // as many elements as the result, in its order
    Spread,  // broadcast
    Step,    // the result of an earlier step, of as many elements
    Row,     // the result of an earlier step that has one element for each row; only in a queue
  };
  static constexpr int kMostDims = 4;

  Kind kind = Kind::Number;
  DType dtype = kFloat32;
  uint8_t step = 0;
  uint8_t ndim = 0;                               // Spread: at least 1
  bool in_block = false;                          // Flat: left by an earlier part of a RowsCall for its block alone
  bool is_warm = false;                           // Flat: an earlier part of a RowsCall has its block in the caches
  char* address = nullptr;                        // Flat, Spread
  Storage* storage = nullptr;                     // Flat, Spread: one reference
  alignas(16) char number[16] = {};               // Number
  int64_t sizes[kMostDims], strides[kMostDims];  // Spread: innermost first, in elements
};

struct ChainStep {
  static constexpr int kConvert = -1;
  enum class Kind : uint8_t {
    Elements,   // of the queue's number of elements
    Rows,       // one element for each row, of such elements
    Reduction,  // of each row to one element
  };

  int op = kConvert;      // a PointwiseId, or its operand becomes the result's dtype; a ReduceId, with its number in params[0]
  Kind kind = Kind::Elements;
  DType lane = kFloat32;  // the type of the arithmetic
  DType dtype = kFloat32;
  uint8_t operands = 0;  // inputs
  bool needed = true;    // by somebody outside or by a later step that is
  Scalar params[2];
  ChainOperand in[3];
  Storage* result = nullptr;  // one reference; null: a later step overwrites it
  char* to = nullptr;         // where it goes; null: it stays in its tile
  bool to_block = false;      // later parts of a RowsCall alone read it: blocks may share memory
  bool settled = false;       // its storage was pending before this flush
};

struct ReduceCall;  // runtime/device/calls.h

/// Machine code and the like that a backend keeps from one chain to the next. The backend makes it, the owner of the queue destroys it.
struct ChainCache {
  virtual ~ChainCache() = default;
};

/// The kernel throws nothing but std::bad_alloc, and then before anything is written.
struct ChainCall {
  static constexpr int kMostSteps = 32;

  std::span<const ChainStep> steps;
  int64_t numel;
  const ReduceCall* reduce = nullptr;  // reduces the result of the last step
  std::unique_ptr<ChainCache>* cache = nullptr;  // null: no machine code is generated
  int chains_to_plan = 1;  // that use the cache before the first one ends, this one included; 0: an earlier chain has counted this one
  Launch launch{};
};
extern Kernel<ChainCall> chain_kernel;

/// A chain, a reduction of each row, or a reduction that gets its elements from the chain.
struct RowsPart {
  std::span<const ChainStep> steps;  // none: the reduction reads memory
  int64_t in_row;                    // elements of a step's result in each row
  const ReduceCall* reduce;          // of all rows; null: none
  bool in_block = false;             // the reduction reads what an earlier part has left for its block
};

/// Parts that run one after the other on each block of rows, so that one part finds in the caches what another has written. No part reads
/// rows of a result that another block writes. Throws as ChainCall.
struct RowsCall {
  std::span<const RowsPart> parts;
  int64_t rows, block;  // rows, and rows in a block: a multiple of the elements of a vector
  std::unique_ptr<ChainCache>* cache = nullptr;
  Launch launch{};
};
extern Kernel<RowsCall> rows_kernel;

}  // namespace tessera::tensor
