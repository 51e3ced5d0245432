// Where random bits come from: NumPy's bit generators. The order in which words are split and
// joined is part of each, for it decides the numbers that a seed gives.
#pragma once

#include <cstdint>
#include <span>

#include "stdlib/python/native/mersenne.h"

namespace tessera::stdlib {

class BitSource {
 public:
  virtual ~BitSource() = default;
  virtual uint64_t next64() = 0;
  virtual uint32_t next32() = 0;
  virtual double real() = 0;  // [0, 1) with 53 bits
  float real32() { return static_cast<float>(next32() >> 8) * (1.0F / 16777216.0F); }
  virtual uint64_t raw() { return next64(); }
  virtual void seed(std::span<const uint32_t> entropy) = 0;  // through NumPy's SeedSequence
  virtual std::span<uint64_t> state() = 0;                   // the words that are the whole state
};

// A source of 64-bit words. Half of a word that a 32-bit draw leaves over is kept for the next such draw: the last two words of the state
// are whether there is one, and it.
template <size_t kWords>
class WideSource : public BitSource {
 public:
  uint32_t next32() final {
    uint64_t& has = words_[kWords];
    if (has != 0) {
      has = 0;
      return static_cast<uint32_t>(words_[kWords + 1]);
    }
    const uint64_t word = next64();
    has = 1;
    words_[kWords + 1] = word >> 32;
    return static_cast<uint32_t>(word);
  }
  double real() final { return static_cast<double>(next64() >> 11) * (1.0 / 9007199254740992.0); }
  std::span<uint64_t> state() final { return words_; }

 protected:
  uint64_t words_[kWords + 2] = {};
};

class MersenneSource final : public BitSource {
 public:
  uint64_t next64() override {
    const uint64_t high = twister.next();
    return high << 32 | twister.next();
  }
  uint32_t next32() override { return twister.next(); }
  double real() override { return twister.real(); }
  uint64_t raw() override { return twister.next(); }
  void seed(std::span<const uint32_t> entropy) override;
  std::span<uint64_t> state() override { return {}; }

  Mersenne twister;
};

// O'Neill's PCG XSL RR 128/64, or with `cheap` the DXSM form of a shorter multiplier. The state: number and increment, low halves first.
class Pcg64 final : public WideSource<4> {
 public:
  using Wide = unsigned __int128;

  explicit Pcg64(bool cheap) : cheap_(cheap) {}
  void seed(std::span<const uint32_t> entropy) override;
  uint64_t next64() override;

 private:
  Wide get(size_t i) const { return Wide{words_[i + 1]} << 64 | words_[i]; }
  void set(size_t i, Wide value) { words_[i] = static_cast<uint64_t>(value), words_[i + 1] = static_cast<uint64_t>(value >> 64); }
  void step();

  const bool cheap_;
};

// Salmon's Philox 4x64-10. The state: counter, key, the four words of the last block, how many of them are used.
class Philox final : public WideSource<11> {
 public:
  void seed(std::span<const uint32_t> entropy) override;
  uint64_t next64() override;
};

// Doty-Humphrey's SFC64.
class Sfc64 final : public WideSource<4> {
 public:
  void seed(std::span<const uint32_t> entropy) override;
  uint64_t next64() override;
};

// The words that NumPy's SeedSequence derives from entropy: hashed into a pool of `pool_size` words, then drawn out of the pool. Mixing the
// pool takes pool_size^2 steps.
void seed_sequence(std::span<const uint32_t> entropy, std::span<uint32_t> words, size_t pool_size = 4);

}  // namespace tessera::stdlib
