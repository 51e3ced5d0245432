// BLAKE2b and BLAKE2s (RFC 7693), with key, salt, personal words and the parameters of tree hashing.
// compile: small (digests are rare)
#include <algorithm>

#include "stdlib/python/native/digest_blocks.h"

namespace tessera::stdlib {
namespace {

constexpr uint8_t kOrder[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

template <class Word>
constexpr Word kStart[8] = {};
template <>
constexpr uint64_t kStart<uint64_t>[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                          0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                          0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
template <>
constexpr uint32_t kStart<uint32_t>[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

template <class Word>
class Blake2 final : public BlockDigest<Blake2<Word>, sizeof(Word) * 16, true> {
  static constexpr bool kWide = sizeof(Word) == 8;
  static constexpr size_t kBlock = sizeof(Word) * 16;

 public:
  explicit Blake2(const Blake2Options& options) : last_node_(options.last_node) {
    this->digest_size = options.digest_size, this->block_size = kBlock;
    std::string words;
    words += static_cast<char>(options.digest_size);
    words += static_cast<char>(options.key.size());
    words += static_cast<char>(options.fanout);
    words += static_cast<char>(options.depth);
    append_little(words, options.leaf_size);
    if (kWide) {
      append_little(words, options.node_offset);
      words += static_cast<char>(options.node_depth);
      words += static_cast<char>(options.inner_size);
      words.append(14, '\0');
    } else {
      std::string offset;
      append_little(offset, options.node_offset);
      words += offset.substr(0, 6);
      words += static_cast<char>(options.node_depth);
      words += static_cast<char>(options.inner_size);
    }
    for (const std::string_view part : {options.salt, options.person}) {
      words += part;
      words.append(sizeof(Word) * 2 - part.size(), '\0');
    }
    for (size_t i = 0; i < 8; ++i) h_[i] = kStart<Word>[i] ^ load_little<Word>(words.data() + i * sizeof(Word));
    if (options.key.empty()) return;
    std::string first(options.key);
    first.resize(kBlock, '\0');
    this->update(first);
  }

  void block(const char* p) {
    done_ += kBlock;
    compress(p, false);
  }

  std::string digest(size_t) const override {
    Blake2 end = *this;
    std::fill(end.buffer_ + end.held_, end.buffer_ + kBlock, '\0');
    end.done_ += end.held_;
    end.compress(end.buffer_, true);
    std::string out;
    for (const Word w : end.h_) append_little(out, w);
    out.resize(this->digest_size);
    return out;
  }

 private:
  void compress(const char* p, bool last) {
    Word m[16], v[16];
    for (size_t i = 0; i < 16; ++i) m[i] = load_little<Word>(p + i * sizeof(Word));
    for (size_t i = 0; i < 8; ++i) v[i] = h_[i], v[i + 8] = kStart<Word>[i];
    v[12] ^= static_cast<Word>(done_);
    if (!kWide) v[13] ^= static_cast<Word>(done_ >> 32);
    if (last) v[14] = ~v[14];
    if (last && last_node_) v[15] = ~v[15];
    constexpr unsigned kTurns[4] = {kWide ? 32 : 16, kWide ? 24 : 12, kWide ? 16 : 8, kWide ? 63 : 7};
    auto mix = [&](size_t a, size_t b, size_t c, size_t d, Word x, Word y) {
      v[a] += v[b] + x, v[d] = rotate_right(static_cast<Word>(v[d] ^ v[a]), kTurns[0]);
      v[c] += v[d], v[b] = rotate_right(static_cast<Word>(v[b] ^ v[c]), kTurns[1]);
      v[a] += v[b] + y, v[d] = rotate_right(static_cast<Word>(v[d] ^ v[a]), kTurns[2]);
      v[c] += v[d], v[b] = rotate_right(static_cast<Word>(v[b] ^ v[c]), kTurns[3]);
    };
    for (int round = 0; round < (kWide ? 12 : 10); ++round) {
      const uint8_t* s = kOrder[round % 10];
      for (size_t i = 0; i < 4; ++i) mix(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
      for (size_t i = 0; i < 4; ++i)
        mix(i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
    for (size_t i = 0; i < 8; ++i) h_[i] ^= v[i] ^ v[i + 8];
  }

  Word h_[8];
  uint64_t done_ = 0;
  bool last_node_;
};

}  // namespace

std::unique_ptr<Digest> make_blake2b(const Blake2Options& options) {
  return std::make_unique<Blake2<uint64_t>>(options);
}
std::unique_ptr<Digest> make_blake2s(const Blake2Options& options) {
  return std::make_unique<Blake2<uint32_t>>(options);
}

}  // namespace tessera::stdlib
