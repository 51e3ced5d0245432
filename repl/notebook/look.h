// One tensor as it is drawn: numbers, histogram, heat map. What JSON and pictures are made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/core/interpreter.h"
#include "repl/inspector/drawing.h"
#include "repl/inspector/live_tensors.h"

namespace tessera::repl {

inline constexpr size_t kMostHeatCells = 64;              // of a side
inline constexpr int64_t kMostCopied = int64_t(1) << 24;  // elements that are copied from a device to be read

struct TensorLook {
  TensorRow row;            // with statistics where the numbers can be read
  tensor::Tensor host;      // undefined: only parts of it could be read, or nothing
  Histogram bars;           // may have no counts
  std::vector<int64_t> at;  // which matrix of several is drawn
  Grid heat;                // of that; may be empty
  Range range;              // of its colours
};

// `at`: indices of the leading dimensions; those that are missing or beyond them become 0 and the last.
TensorLook look_at(lang::Interpreter& in, TensorRow row, const std::vector<int64_t>& at = {});

// "[0, 3, :, :]": of what a heat map or table is where there are several matrices; else empty.
std::string which_matrix(const std::vector<int64_t>& at);
// That matrix of a tensor; itself where it has no more than two dimensions.
tensor::Tensor matrix_at(const tensor::Tensor& t, std::vector<int64_t>& at);

}  // namespace tessera::repl
