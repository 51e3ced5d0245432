// Where a device's random numbers come from: a seed and a place in its sequence (Philox's key and counter), which travel in
// the call by value. The host only counts on, so drawing needs no word from the device.
//
// In a graph the place is not known when the call is written down: each replay has its own. There the call names two words
// in the device's memory that replay fills first, and its own offset counts from the beginning of the graph. A kernel reads
// both cases through RandomState::now().
#pragma once

#include <cstdint>

#include "runtime/counted.h"
#include "runtime/device/stream.h"

namespace tessera::tensor {

struct RandomState {
  uint64_t seed;
  uint64_t offset;                     // in 32-bit words of each thread's own sequence; a multiple of 4
  const uint64_t* replayed = nullptr;  // in a graph: seed and offset of this replay, in the device's memory

  /// The place to draw from. Kernels on a device call it once, before they draw.
  TS_ON_BOTH RandomState now() const {
    if (replayed == nullptr) return *this;
    return {replayed[0], replayed[1] + offset, nullptr};
  }
};

class DeviceGenerator final : public Counted {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's, as the CPU's generator

  explicit DeviceGenerator(uint64_t seed = kDefaultSeed) : state_{seed, 0} {}

  void manual_seed(uint64_t seed) { state_.seed = seed, state_.offset = 0; }
  uint64_t initial_seed() const { return state_.seed; }
  RandomState state() const { return state_; }
  void set_state(RandomState state) { state_.seed = state.seed, state_.offset = state.offset; }

  /// The place for a kernel of which each thread draws up to `words`; the next kernel comes after it.
  RandomState take(uint64_t words) {
    const uint64_t step = (words + 3) / 4 * 4;
    if (replayed_ != nullptr) {
      const RandomState mine{state_.seed, captured_, replayed_};
      captured_ += step;
      return mine;
    }
    const RandomState mine = state_;
    state_.offset += step;
    return mine;
  }

  /// From now on what is drawn counts from 0 and reads its beginning from two words on the device.
  void begin_capture(const uint64_t* replayed) { replayed_ = replayed, captured_ = 0; }
  /// How far a replay draws.
  uint64_t end_capture() {
    replayed_ = nullptr;
    return captured_;
  }
  bool capturing() const { return replayed_ != nullptr; }

  /// Blocks that the device runs at the same time: how wide grids that draw are. 0 until it was asked.
  unsigned blocks_at_once = 0;

 private:
  RandomState state_;
  const uint64_t* replayed_ = nullptr;
  uint64_t captured_ = 0;
};

}  // namespace tessera::tensor
