#include "lang/types/hash_key.h"

#include <algorithm>
#include <cstring>

#include "lang/types/str.h"

namespace tessera::lang {

bool hash_is_keyed = false;

namespace {

HashKey key;

uint64_t rotated(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

// SipHash with one round for each word and three at the end. Bytes are given one character at a time.
class SipHash {
 public:
  // A character as `width` bytes, least significant first.
  void add(uint32_t character, uint32_t width) noexcept {
    for (uint32_t i = 0; i < width; ++i) {
      word_ |= uint64_t{character >> 8 * i & 0xff} << 8 * (size_ & 7);
      if ((++size_ & 7) == 0) take_word();
    }
  }

  int64_t finish() noexcept {
    word_ |= size_ << 56;
    take_word();
    c_ ^= 0xff;
    for (int i = 0; i < 3; ++i) round();
    const auto hash = static_cast<int64_t>(a_ ^ b_ ^ c_ ^ d_);
    return hash == -1 ? -2 : hash;
  }

 private:
  void take_word() noexcept {
    d_ ^= word_;
    round();
    a_ ^= word_;
    word_ = 0;
  }
  void round() noexcept {
    a_ += b_, c_ += d_;
    b_ = rotated(b_, 13) ^ a_, d_ = rotated(d_, 16) ^ c_;
    a_ = rotated(a_, 32);
    c_ += b_, a_ += d_;
    b_ = rotated(b_, 17) ^ c_, d_ = rotated(d_, 21) ^ a_;
    c_ = rotated(c_, 32);
  }

  uint64_t a_ = key.first ^ 0x736f6d6570736575u, b_ = key.second ^ 0x646f72616e646f6du,
           c_ = key.first ^ 0x6c7967656e657261u, d_ = key.second ^ 0x7465646279746573u;
  uint64_t word_ = 0, size_ = 0;
};

}  // namespace

HashKey hash_key_of_seed(uint32_t seed) noexcept {
  HashKey made;
  if (seed == 0) return made;
  unsigned char bytes[sizeof made];
  for (unsigned char& byte : bytes) {
    seed = seed * 214013 + 2531011;
    byte = static_cast<unsigned char>(seed >> 16);
  }
  std::memcpy(&made, bytes, sizeof made);
  return made;
}

void set_hash_key(const HashKey& given) noexcept {
  key = given;
  hash_is_keyed = true;
}

int64_t keyed_hash_bytes(std::string_view bytes) noexcept {
  if (bytes.empty()) return 0;
  SipHash hash;
  for (const char c : bytes) hash.add(static_cast<unsigned char>(c), 1);
  return hash.finish();
}

int64_t keyed_hash_text(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const char* const end = text.data() + text.size();
  uint32_t most = 0;
  for (const char* p = text.data(); p < end;) most = std::max(most, decode_char(p));
  const uint32_t width = most < 0x100 ? 1 : most < 0x10000 ? 2 : 4;
  SipHash hash;
  for (const char* p = text.data(); p < end;) hash.add(decode_char(p), width);
  return hash.finish();
}

}  // namespace tessera::lang
