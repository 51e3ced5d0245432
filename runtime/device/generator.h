// Where a device's random numbers come from: a seed and a place in its sequence (Philox's key and counter), which travel in
// the call by value. The host only counts on, so drawing needs no word from the device and can be captured in a graph.
#pragma once

#include <cstdint>

#include "runtime/counted.h"

namespace tessera::tensor {

struct RandomState {
  uint64_t seed;
  uint64_t offset;  // in 32-bit words of each thread's own sequence; a multiple of 4
};

class DeviceGenerator final : public Counted {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's, as the CPU's generator

  void manual_seed(uint64_t seed) { state_ = {seed, 0}; }
  uint64_t initial_seed() const { return state_.seed; }
  RandomState state() const { return state_; }
  void set_state(RandomState state) { state_ = state; }

  /// The place for a kernel of which each thread draws up to `words`; the next kernel comes after it.
  RandomState take(uint64_t words) {
    const RandomState mine = state_;
    state_.offset += (words + 3) / 4 * 4;
    return mine;
  }

 private:
  RandomState state_{kDefaultSeed, 0};
};

}  // namespace tessera::tensor
