// What kernels on a device found wrong. A kernel there cannot throw, and nobody waits for it: it writes the first fault
// into its device's error word and goes on with a harmless value. The next synchronisation (a copy to the host, item(),
// synchronize()) reads the word and raises. The device stays usable. Kernels on the CPU throw at once instead.
#pragma once

#include <cstdint>

#include "runtime/device/device.h"

namespace tessera::tensor {

struct ErrorWord {
  enum Kind : uint32_t {
    None,
    Index,           // an index beyond its dimension: value, dim, size
    EmbeddingIndex,  // the same, in a table of embeddings
    Target,          // a class label beyond the number of classes: value
    DivisionByZero,
    Probability,   // a weight or probability that is negative, infinite or not a number
    ScatterIndex,  // as Index, in the words of scatter and gather, of index_copy, and of take
    CopyIndex,
    TakeIndex,
  };
  uint32_t kind = None;  // the kernel that finds None here may fill in the rest
  int32_t dim = 0;
  int64_t value = 0;
  int64_t size = 0;
  uint32_t launch = 0;  // whose kernel it was (ErrorTarget::launch)
};

/// Raises what the word says, in PyTorch's words; a note says which line of the script gave the launch, where that is known.
[[noreturn]] void raise(const ErrorWord& word);

/// Raises what a kernel on the device has reported since the last time; the word is cleared.
void raise_reported(Device device);

}  // namespace tessera::tensor
