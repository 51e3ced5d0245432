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

namespace {

// 64-bit words that a SeedSequence derives, low halves first.
template <size_t kCount>
void derive(std::span<const uint32_t> entropy, uint64_t (&to)[kCount]) {
  uint32_t words[2 * kCount];
  seed_sequence(entropy, words);
  for (size_t i = 0; i < kCount; ++i) to[i] = uint64_t{words[2 * i]} | uint64_t{words[2 * i + 1]} << 32;
}

}  // namespace

void MersenneSource::seed(std::span<const uint32_t> entropy) {
  uint32_t words[Mersenne::kWords];
  seed_sequence(entropy, words);
  words[0] = 0x80000000U;
  twister.set_state(words, Mersenne::kWords - 1);
}

void Pcg64::seed(std::span<const uint32_t> entropy) {
  uint64_t words[4];
  derive(entropy, words);
  words_[4] = 0;
  set(2, (Wide{words[2]} << 64 | words[3]) << 1 | 1);
  set(0, 0);
  step();
  set(0, get(0) + (Wide{words[0]} << 64 | words[1]));
  step();
}

void Pcg64::step() {
  constexpr Wide kFactor = Wide{0x2360ED051FC65DA4U} << 64 | 0x4385DF649FCCF645U;
  constexpr Wide kCheap = 0xDA942042E4DD58B5U;
  set(0, get(0) * (cheap_ ? kCheap : kFactor) + get(2));
}

uint64_t Pcg64::next64() {
  if (cheap_) {
    constexpr uint64_t kFactor = 0xDA942042E4DD58B5U;
    uint64_t high = words_[1];
    const uint64_t low = words_[0] | 1;
    step();
    high ^= high >> 32;
    high *= kFactor;
    high ^= high >> 48;
    return high * low;
  }
  step();
  const Wide state = get(0);
  return std::rotr(static_cast<uint64_t>(state >> 64) ^ static_cast<uint64_t>(state), static_cast<int>(state >> 122));
}

void Philox::seed(std::span<const uint32_t> entropy) {
  uint64_t key[2];
  derive(entropy, key);
  for (uint64_t& word : words_) word = 0;
  words_[4] = key[0], words_[5] = key[1];
  words_[10] = 4;
}

uint64_t Philox::next64() {
  uint64_t& used = words_[10];
  if (used < 4) return words_[6 + used++];
  for (size_t i = 0; i < 4; ++i)
    if (++words_[i] != 0) break;
  uint64_t c[4] = {words_[0], words_[1], words_[2], words_[3]}, key[2] = {words_[4], words_[5]};
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key[0] += 0x9E3779B97F4A7C15U, key[1] += 0xBB67AE8584CAA73BU;
    const unsigned __int128 a = static_cast<unsigned __int128>(0xD2E7470EE14C6C93U) * c[0];
    const unsigned __int128 b = static_cast<unsigned __int128>(0xCA5A826395121157U) * c[2];
    const uint64_t next[4] = {static_cast<uint64_t>(b >> 64) ^ c[1] ^ key[0], static_cast<uint64_t>(b),
                              static_cast<uint64_t>(a >> 64) ^ c[3] ^ key[1], static_cast<uint64_t>(a)};
    for (size_t i = 0; i < 4; ++i) c[i] = next[i];
  }
  for (size_t i = 0; i < 4; ++i) words_[6 + i] = c[i];
  used = 1;
  return words_[6];
}

void Sfc64::seed(std::span<const uint32_t> entropy) {
  uint64_t words[3];
  derive(entropy, words);
  for (size_t i = 0; i < 3; ++i) words_[i] = words[i];
  words_[3] = 1;
  words_[4] = 0;
  for (int i = 0; i < 12; ++i) next64();
}

uint64_t Sfc64::next64() {
  uint64_t &a = words_[0], &b = words_[1], &c = words_[2], &count = words_[3];
  const uint64_t made = a + b + count++;
  a = b ^ b >> 11;
  b = c + (c << 3);
  c = std::rotl(c, 24) + made;
  return made;
}

}  // namespace tessera::stdlib
