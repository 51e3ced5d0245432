// What digests share that work on whole blocks: the bytes that wait for the rest of theirs.
#pragma once

#include <cstring>

#include "stdlib/python/native/digest.h"

namespace tessera::stdlib {

template <class Word>
constexpr Word rotate_left(Word x, unsigned n) {
  return static_cast<Word>(x << n | x >> (sizeof(Word) * 8 - n));
}
template <class Word>
constexpr Word rotate_right(Word x, unsigned n) {
  return static_cast<Word>(x >> n | x << (sizeof(Word) * 8 - n));
}

template <class Word>
Word load_little(const char* p) {
  Word w;
  std::memcpy(&w, p, sizeof w);
  return w;
}
template <class Word>
Word load_big(const char* p) {
  Word w = 0;
  for (size_t i = 0; i < sizeof(Word); ++i) w = static_cast<Word>(w << 8 | static_cast<unsigned char>(p[i]));
  return w;
}
template <class Word>
void append_little(std::string& out, Word w) {
  for (size_t i = 0; i < sizeof(Word); ++i) out += static_cast<char>(w >> 8 * i);
}
template <class Word>
void append_big(std::string& out, Word w) {
  for (size_t i = sizeof(Word); i-- > 0;) out += static_cast<char>(w >> 8 * i);
}

// Derived has `void block(const char*)` and a constant kBlock. With kKeepLast a full block waits until more bytes come.
template <class Derived, size_t kBlock, bool kKeepLast = false>
class BlockDigest : public Digest {
 public:
  void update(std::string_view bytes) final {
    total_ += bytes.size();
    if (bytes.empty()) return;
    while (held_ + bytes.size() > (kKeepLast ? kBlock : kBlock - 1)) {
      const size_t part = kBlock - held_;
      if (held_ == 0) {
        static_cast<Derived*>(this)->block(bytes.data());
      } else {
        std::memcpy(buffer_ + held_, bytes.data(), part);
        static_cast<Derived*>(this)->block(buffer_);
        held_ = 0;
      }
      bytes.remove_prefix(part);
    }
    if (!bytes.empty()) std::memcpy(buffer_ + held_, bytes.data(), bytes.size());
    held_ += bytes.size();
  }
  std::unique_ptr<Digest> copy() const final { return std::make_unique<Derived>(static_cast<const Derived&>(*this)); }

 protected:
  // The end of MD5 and SHA: a one, zeros, the number of bits in the last `length` bytes of a block.
  void pad(size_t length, bool big) {
    const uint64_t bits = total_ * 8;
    std::string tail(1, '\x80');
    while ((held_ + tail.size() + length) % kBlock != 0) tail += '\0';
    tail.append(length - 8, '\0');
    big ? append_big(tail, bits) : append_little(tail, bits);
    update(tail);
  }

  char buffer_[kBlock] = {};
  size_t held_ = 0;
  uint64_t total_ = 0;
};

}  // namespace tessera::stdlib
