// The tensors that live in an interpreter, and what can be said of each: what `:tensors` shows, and a page or a notebook as
// well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/core/interpreter.h"

namespace tessera::repl {

// Of the numbers of a tensor; absent for those without (bool, empty, meta).
struct Statistics {
  double least = 0, mean = 0, largest = 0, deviation = 0;
  int64_t nans = 0, infinities = 0;
};

struct TensorRow {
  std::string name;  // "x", "model.0.weight", "batch[1]": how a script reaches it from the main module's names
  lang::Value value;
  std::string shape, dtype, device;  // "[2, 3]", "float32", "cpu"
  int64_t bytes = 0;                 // of its own elements
  bool requires_grad = false, contiguous = true;
  std::string grad_fn;    // "AddBackward0"; empty: none
  std::string shares;     // the first row's name that stands on the same storage; empty: none
  std::optional<Statistics> statistics;
};

struct DeviceTotal {
  std::string device;
  int64_t tensors = 0, bytes = 0;  // each storage counted once
};

struct LiveTensors {
  std::vector<TensorRow> rows;
  std::vector<DeviceTotal> totals;
};

// Reached from the names of the main module: variables, and what lists, dicts and layers among them hold. Runs no script.
LiveTensors live_tensors(lang::Interpreter& in);

}  // namespace tessera::repl
