#include "stdlib/numpy/native/bit_source.h"

#include <bit>
#include <cstddef>
#include <vector>

namespace tessera::stdlib {
namespace {

// A running multiplicative hash: its constant changes with each word that goes through.
class Hash {
 public:
  Hash(uint32_t start, uint32_t factor) : constant_(start), factor_(factor) {}

  uint32_t operator()(uint32_t word) {
    word ^= constant_;
    constant_ *= factor_;
    word *= constant_;
    return word ^ word >> 16;
  }

 private:
  uint32_t constant_, factor_;
};

uint32_t mix(uint32_t x, uint32_t y) {
  const uint32_t mixed = 0xCA01F9DDU * x - 0x4973F715U * y;
  return mixed ^ mixed >> 16;
}

}  // namespace

void seed_sequence(std::span<const uint32_t> entropy, std::span<uint32_t> words, size_t pool_size) {
  std::vector<uint32_t> pool(pool_size);
  Hash in(0x43B0D7E5U, 0x931E8875U);
  for (size_t i = 0; i < pool_size; ++i) pool[i] = in(i < entropy.size() ? entropy[i] : 0);
  for (size_t from = 0; from < pool_size; ++from)
    for (size_t to = 0; to < pool_size; ++to)
      if (from != to) pool[to] = mix(pool[to], in(pool[from]));
  for (size_t from = pool_size; from < entropy.size(); ++from)
    for (uint32_t& word : pool) word = mix(word, in(entropy[from]));

  Hash out(0x8B51F9DDU, 0x58F38DEDU);
  for (size_t i = 0; i < words.size(); ++i) words[i] = out(pool[i % pool_size]);
}

void Pcg64::seed(std::span<const uint32_t> entropy) {
  uint32_t words[8];
  seed_sequence(entropy, words);
  const auto pair = [&](size_t i) { return uint64_t{words[i]} | uint64_t{words[i + 1]} << 32; };
  const Wide start = Wide{pair(0)} << 64 | pair(2), sequence = Wide{pair(4)} << 64 | pair(6);
  has_spare_ = false;
  increment_ = sequence << 1 | 1;
  state_ = 0;
  step();
  state_ += start;
  step();
}

void Pcg64::step() {
  constexpr Wide kFactor = Wide{0x2360ED051FC65DA4U} << 64 | 0x4385DF649FCCF645U;
  state_ = state_ * kFactor + increment_;
}

uint64_t Pcg64::next64() {
  step();
  return std::rotr(static_cast<uint64_t>(state_ >> 64) ^ static_cast<uint64_t>(state_),
                   static_cast<int>(state_ >> 122));
}

uint32_t Pcg64::next32() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const uint64_t word = next64();
  has_spare_ = true;
  spare_ = static_cast<uint32_t>(word >> 32);
  return static_cast<uint32_t>(word);
}

}  // namespace tessera::stdlib
