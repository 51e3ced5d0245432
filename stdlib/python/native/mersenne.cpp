// MT19937 after Matsumoto and Nishimura. CPython seeds it by array from the 32-bit digits of a number.
#include "stdlib/python/native/mersenne.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "stdlib/python/native/digest.h"

namespace tessera::stdlib {

void Mersenne::start(uint32_t value) {
  words_[0] = value;
  for (uint32_t i = 1; i < kWords; ++i) words_[i] = 1812433253U * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
  position_ = kWords;
}

void Mersenne::seed_words(const uint32_t* key, size_t count) {
  start(19650218U);
  size_t i = 1, j = 0;
  for (size_t k = std::max(kWords, count); k > 0; --k) {
    words_[i] = (words_[i] ^ ((words_[i - 1] ^ (words_[i - 1] >> 30)) * 1664525U)) + key[j] + static_cast<uint32_t>(j);
    if (++i >= kWords) {
      words_[0] = words_[kWords - 1];
      i = 1;
    }
    if (++j >= count) j = 0;
  }
  for (size_t k = kWords - 1; k > 0; --k) {
    words_[i] = (words_[i] ^ ((words_[i - 1] ^ (words_[i - 1] >> 30)) * 1566083941U)) - static_cast<uint32_t>(i);
    if (++i >= kWords) {
      words_[0] = words_[kWords - 1];
      i = 1;
    }
  }
  words_[0] = 0x80000000U;
}

void Mersenne::seed(uint64_t value) {
  const uint32_t key[2] = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
  seed_words(key, key[1] ? 2 : 1);
}

// The bytes are a number, most significant first; its 32-bit digits go in least significant first.
void Mersenne::seed_text(std::string_view utf8) {
  const std::unique_ptr<Digest> sha512 = make_digest("sha512");
  sha512->update(utf8);
  const std::string digest = sha512->digest(0);
  std::vector<uint8_t> bytes(utf8.begin(), utf8.end());
  bytes.insert(bytes.end(), digest.begin(), digest.end());
  std::vector<uint32_t> key((bytes.size() + 3) / 4, 0);
  for (size_t i = 0; i < bytes.size(); ++i)
    key[i / 4] |= static_cast<uint32_t>(bytes[bytes.size() - 1 - i]) << (8 * (i % 4));
  while (key.size() > 1 && key.back() == 0) key.pop_back();
  seed_words(key.data(), key.size());
}

void Mersenne::refill() {
  constexpr uint32_t kHalf = 397;
  const auto mix = [](uint32_t high, uint32_t low) {
    const uint32_t y = (high & 0x80000000U) | (low & 0x7FFFFFFFU);
    return (y >> 1) ^ (y & 1 ? 0x9908B0DFU : 0U);
  };
  constexpr size_t kTurn = kWords - kHalf;  // from here on, the words half a state ahead are new ones
  for (size_t i = 0; i < kTurn; ++i) words_[i] = words_[i + kHalf] ^ mix(words_[i], words_[i + 1]);
  for (size_t i = kTurn; i + 1 < kWords; ++i) words_[i] = words_[i - kTurn] ^ mix(words_[i], words_[i + 1]);
  words_[kWords - 1] = words_[kHalf - 1] ^ mix(words_[kWords - 1], words_[0]);
  position_ = 0;
}

uint64_t Mersenne::bits(uint32_t count) {
  if (count == 0) return 0;
  if (count <= 32) return next() >> (32 - count);
  const uint64_t low = next();
  return low | (static_cast<uint64_t>(next() >> (64 - count)) << 32);
}

uint64_t Mersenne::below(uint64_t n) {
  uint32_t width = 0;
  while (width < 64 && (n >> width) != 0) ++width;
  uint64_t drawn = bits(width);
  while (drawn >= n) drawn = bits(width);
  return drawn;
}

void Mersenne::set_state(const uint32_t* words, uint32_t position) {
  std::memcpy(words_, words, sizeof words_);
  position_ = position;
}

}  // namespace tessera::stdlib
