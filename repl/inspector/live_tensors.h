// The tensors that live in an interpreter, and what can be said of each: what `:tensors` shows, and a page or a notebook as
// well. Looking changes nothing: no script runs, no gradient is recorded, no version, generator or mode moves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/core/interpreter.h"
#include "runtime/tensor.h"

namespace tessera::repl {

// Of the finite numbers of a tensor: truth values count as 0 and 1, complex numbers by their magnitudes.
struct Statistics {
  double least = 0, mean = 0, largest = 0;  // NaN where no number is finite
  double deviation = 0;                     // torch.std's; NaN below two numbers
  int64_t nans = 0, infinities = 0;
  bool sampled = false;     // of evenly spread parts: all of it would take too long
  bool magnitudes = false;  // the tensor is complex
};

// What changes when somebody writes.
struct Fingerprint {
  const void* data = nullptr;
  uint32_t version = 0;
  uint64_t checksum = 0;  // of the elements that were looked at
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct TensorRow {
  std::string name;       // "x", "model.0.weight", "batch[1]", "x.grad": how it is reached from the main module's names
  lang::Value value;      // what has that name; Undefined for gradients
  tensor::Tensor tensor;  // its elements, which an array of NumPy has as well
  std::string type;       // "Tensor", "Parameter", "ndarray"
  std::string shape, dtype, device;  // "[2, 3]", "float32", "cpu"
  int64_t bytes = 0;                 // of its own elements
  bool requires_grad = false, contiguous = true;
  std::string grad_fn;                   // "AddBackward0"; empty: none
  std::string shares;                    // the row's name whose memory this stands on; empty: its own
  bool is_same = false;                  // ... and it is that very tensor, under another name
  std::optional<Statistics> statistics;  // none: empty, without memory, out of reach
  Fingerprint fingerprint;
};

struct DeviceTotal {
  std::string device;
  int64_t tensors = 0, bytes = 0;  // memory that several share is counted once, as long as all of it is
};

struct LiveTensors {
  std::vector<TensorRow> rows;      // in the order in which the names were given
  std::vector<DeviceTotal> totals;  // the CPU first
  int64_t more = 0;                 // tensors that were seen and have no row
  bool gave_up = false;             // there was more to look through than is looked through
  bool stopped = false;             // Ctrl-C came meanwhile

  // Lets the tensors go and keeps what was said of them, to be compared with later.
  void forget_tensors();
};

struct LookFor {
  bool statistics = true;
  // Elements that are read: of one tensor, and of all together. Of a larger one, and when the rest is less than it has,
  // evenly spread parts are taken.
  int64_t elements_of_one = int64_t(1) << 27, elements_of_all = int64_t(1) << 28, elements_of_sample = int64_t(1) << 22;
  int64_t elements_of_copied = int64_t(1) << 24;  // of one that lies on a device
};

// Reached from the names of the main module: variables, and what lists, dicts, layers, optimizers and other objects among
// them hold.
LiveTensors live_tensors(lang::Interpreter& in, const LookFor& look = {});

// Would a write to all of one's storage be seen in the other's?
bool share_memory(const tensor::Tensor& a, const tensor::Tensor& b);
// A row of one tensor alone.
TensorRow describe_tensor(std::string name, const lang::Value& value, const tensor::Tensor& tensor);

}  // namespace tessera::repl
