// The Mersenne Twister with CPython's ways of seeding and drawing, so that a seed gives the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera::stdlib {

class Mersenne {
 public:
  static constexpr size_t kWords = 624;

  Mersenne() { seed(0); }
  void seed(uint64_t value);              // an int's absolute value
  void seed_text(std::string_view utf8);  // a str: the text followed by its SHA-512, as one big number
  void seed_words(const uint32_t* key, size_t count);
  void seed_plain(uint32_t value) { start(value); }  // without mixing: NumPy's way

  uint32_t next() {
    if (position_ >= kWords) [[unlikely]]
      refill();
    uint32_t y = words_[position_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9D2C5680U;
    y ^= (y << 15) & 0xEFC60000U;
    return y ^ (y >> 18);
  }
  double real() {  // [0, 1) with 53 bits
    const uint32_t high = next() >> 5, low = next() >> 6;
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
  }
  uint64_t bits(uint32_t count);  // getrandbits, 0 to 64
  uint64_t below(uint64_t n);     // [0, n), n > 0

  const uint32_t* state() const { return words_; }
  uint32_t position() const { return position_; }
  void set_state(const uint32_t* words, uint32_t position);

 private:
  void start(uint32_t value);
  void refill();

  uint32_t words_[kWords];
  uint32_t position_ = kWords;
};

}  // namespace tessera::stdlib
