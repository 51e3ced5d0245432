// The generator behind torch.manual_seed on the CPU: MT19937, and the ways in which PyTorch turns its words into
// numbers. For the same seed the numbers are PyTorch's, bit by bit.
//
// A word is 32 bits; a 64-bit word is two, the upper half first. Nothing else moves the state, so two draws of n and m
// numbers equal one of n + m. The exception is written at fill_normal.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/counted.h"
#include "runtime/device/generator.h"
#include "runtime/device/device.h"
#include "runtime/dtype.h"

namespace tessera::tensor {

class Generator final : public Counted {
 public:
  /// The seed of a torch.Generator() that nobody seeded.
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  explicit Generator(uint64_t seed = kDefaultSeed) { manual_seed(seed); }
  /// A generator of a device. Where that has a place in a sequence of its own, numbers are drawn there from it; else the
  /// host draws them as for the CPU.
  Generator(Device device, CountedPtr<DeviceGenerator> place);

  Device device() const { return device_; }
  /// Null where the host draws.
  DeviceGenerator* place() const { return place_.get(); }

  void manual_seed(uint64_t seed);
  /// Takes a seed from the system and answers it.
  uint64_t seed();
  uint64_t initial_seed() const { return place_ ? place_->initial_seed() : seed_; }

  uint32_t word32() {
    if (next_ == kWords) refill();
    return temper(state_[next_++]);
  }
  uint64_t word64() {
    const uint64_t high = word32();
    return high << 32 | word32();
  }
  float unit32() { return float(word32() & 0xffffff) * 0x1p-24f; }
  double unit64() { return double(word64() & ((uint64_t(1) << 53) - 1)) * 0x1p-53; }
  /// A standard normal number. Two are made at a time; the second waits for the next call.
  double normal();

  /// `n` numbers of [0, 1), as many calls of unit32() would give them.
  void fill_unit(float* out, int64_t n);
  void fill_unit(double* out, int64_t n);

  /// The bytes of PyTorch's get_state(), readable by it and back: of a place on a device seed and offset.
  static constexpr size_t kStateBytes = 5056;
  static constexpr size_t kPlaceBytes = 16;
  std::vector<uint8_t> state() const;
  /// Throws TensorError (RuntimeError) for anything that is not such a state.
  void set_state(std::span<const uint8_t> bytes);

 private:
  static constexpr uint32_t kWords = 624;
  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void refill();

  uint32_t state_[kWords];
  uint32_t next_;
  bool fresh_;  // just seeded: PyTorch's state bytes tell this from "used up"
  uint64_t seed_;
  std::optional<double> spare_;
  Device device_;
  CountedPtr<DeviceGenerator> place_;
};

/// One uniform number of [0, 1) with the resolution of T, float or double.
template <class T>
T draw_unit(Generator& g) {
  if constexpr (std::is_same_v<T, double>) return g.unit64();
  else return g.unit32();
}

/// u * (high - low) + low with one rounding at the end.
template <class T>
T scale_unit(T u, T low, T high) {
  return std::fma(u, high - low, low);
}

/// Normal numbers for 16 elements or more in one run of memory: uniforms in pairs of eight, the last 16 drawn anew when
/// n is no multiple of 16. Fewer elements, or elements with gaps, take Generator::normal() each.
void fill_normal(Generator& g, float* out, int64_t n, double mean, double deviation);
void fill_normal(Generator& g, double* out, int64_t n, double mean, double deviation);
/// Of halves the uniforms are float32, and each block draws its own.
void fill_normal(Generator& g, Half* out, int64_t n, double mean, double deviation);
void fill_normal(Generator& g, BFloat16* out, int64_t n, double mean, double deviation);
inline constexpr int64_t kNormalBlock = 16;

/// The integer in [low, low + span) for one element: a 64-bit word where span needs it. span 0 stands for 2^64.
inline int64_t draw_below(Generator& g, int64_t low, uint64_t span) {
  if (span == 0) return int64_t(g.word64());
  const uint64_t word = span >= (uint64_t(1) << 32) ? g.word64() : g.word32();
  return int64_t(word % span + uint64_t(low));
}

/// -log(1 - u) / rate.
inline double draw_exponential(Generator& g, double rate) { return -1.0 / rate * std::log(1.0 - g.unit64()); }

}  // namespace tessera::tensor
