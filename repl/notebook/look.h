// One tensor as it is drawn: numbers, histogram, heat map. What JSON and pictures are made of.
#pragma once

#include <string>

#include "lang/core/interpreter.h"
#include "repl/inspector/drawing.h"
#include "repl/inspector/live_tensors.h"

namespace tessera::repl {

inline constexpr size_t kMostHeatCells = 64;              // of a side
inline constexpr int64_t kMostCopied = int64_t(1) << 24;  // elements that are copied from a device to be read

struct Look {
  TensorRow row;        // with statistics where the numbers can be read
  tensor::Tensor host;  // undefined: only parts of it could be read, or nothing
  Histogram bars;       // may have no counts
  Grid heat;            // of the first matrix of several; may be empty
  Range range;          // of its colours
};

Look look_at(lang::Interpreter& in, TensorRow row);

// "[0, 0, :, :]": of what a heat map or table is where there are several matrices; else empty.
std::string which_matrix(const tensor::Tensor& t);

}  // namespace tessera::repl
