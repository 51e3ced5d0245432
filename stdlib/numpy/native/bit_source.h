// Where random bits come from: the two generators that NumPy's users meet. The order in which words are split and
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
};

class MersenneSource final : public BitSource {
 public:
  uint64_t next64() override {
    const uint64_t high = twister.next();
    return high << 32 | twister.next();
  }
  uint32_t next32() override { return twister.next(); }
  double real() override { return twister.real(); }

  Mersenne twister;
};

// O'Neill's PCG XSL RR 128/64. Half of a word that a 32-bit draw leaves over is kept for the next such draw.
class Pcg64 final : public BitSource {
 public:
  using Wide = unsigned __int128;

  void seed(std::span<const uint32_t> entropy);  // through NumPy's SeedSequence
  uint64_t next64() override;
  uint32_t next32() override;
  double real() override { return static_cast<double>(next64() >> 11) * (1.0 / 9007199254740992.0); }

 private:
  void step();

  Wide state_ = 0, increment_ = 1;
  uint32_t spare_ = 0;
  bool has_spare_ = false;
};

// The words that NumPy's SeedSequence derives from entropy: hashed into a pool of `pool_size` words, then drawn out of the pool. Mixing the
// pool takes pool_size^2 steps.
void seed_sequence(std::span<const uint32_t> entropy, std::span<uint32_t> words, size_t pool_size = 4);

}  // namespace tessera::stdlib
