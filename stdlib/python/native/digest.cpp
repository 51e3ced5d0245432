// MD5 (RFC 1321), SHA-1 and SHA-2 (FIPS 180-4), SHA-3 (FIPS 202).
// compile: small (digests are rare)
#include "stdlib/python/native/digest.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "stdlib/python/native/digest_blocks.h"

namespace tessera::stdlib {
namespace {

class Md5 final : public BlockDigest<Md5, 64> {
 public:
  Md5() { digest_size = 16, block_size = 64; }

  void block(const char* p) {
    static constexpr uint8_t kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    static const std::array<uint32_t, 64> kSines = [] {
      std::array<uint32_t, 64> t{};
      for (size_t i = 0; i < 64; ++i)
        t[i] = static_cast<uint32_t>(std::floor(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
      return t;
    }();
    uint32_t m[16], a = s_[0], b = s_[1], c = s_[2], d = s_[3];
    for (int i = 0; i < 16; ++i) m[i] = load_little<uint32_t>(p + 4 * i);
    for (uint32_t i = 0; i < 64; ++i) {
      uint32_t f, g;
      if (i < 16) f = (b & c) | (~b & d), g = i;
      else if (i < 32) f = (d & b) | (~d & c), g = (5 * i + 1) % 16;
      else if (i < 48) f = b ^ c ^ d, g = (3 * i + 5) % 16;
      else f = c ^ (b | ~d), g = 7 * i % 16;
      const uint32_t sum = a + f + kSines[i] + m[g];
      a = d, d = c, c = b;
      b += rotate_left(sum, kShifts[i / 16][i % 4]);
    }
    s_[0] += a, s_[1] += b, s_[2] += c, s_[3] += d;
  }

  std::string digest(size_t) const override {
    Md5 end = *this;
    end.pad(8, false);
    std::string out;
    for (const uint32_t w : end.s_) append_little(out, w);
    return out;
  }

 private:
  uint32_t s_[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
};

class Sha1 final : public BlockDigest<Sha1, 64> {
 public:
  Sha1() { digest_size = 20, block_size = 64; }

  void block(const char* p) {
    uint32_t w[80], a = s_[0], b = s_[1], c = s_[2], d = s_[3], e = s_[4];
    for (int i = 0; i < 16; ++i) w[i] = load_big<uint32_t>(p + 4 * i);
    for (int i = 16; i < 80; ++i) w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; ++i) {
      const uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                         : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                         : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                  : (b ^ c ^ d) + 0xca62c1d6;
      const uint32_t next = rotate_left(a, 5) + f + e + w[i];
      e = d, d = c, c = rotate_left(b, 30), b = a, a = next;
    }
    s_[0] += a, s_[1] += b, s_[2] += c, s_[3] += d, s_[4] += e;
  }

  std::string digest(size_t) const override {
    Sha1 end = *this;
    end.pad(8, true);
    std::string out;
    for (const uint32_t w : end.s_) append_big(out, w);
    return out;
  }

 private:
  uint32_t s_[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
};

constexpr uint64_t kRoundWords[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

// Both widths of SHA-2: words of 32 bits (the upper halves of the constants) in 64 rounds, or of 64 bits in 80.
template <class Word>
class Sha2 final : public BlockDigest<Sha2<Word>, sizeof(Word) * 16> {
  static constexpr bool kWide = sizeof(Word) == 8;

 public:
  Sha2(const std::array<uint64_t, 8>& start, size_t size) {
    for (size_t i = 0; i < 8; ++i) s_[i] = static_cast<Word>(start[i]);
    this->digest_size = size, this->block_size = sizeof(Word) * 16;
  }

  void block(const char* p) {
    constexpr int kRounds = kWide ? 80 : 64;
    Word w[kRounds], v[8];
    for (int i = 0; i < 16; ++i) w[i] = load_big<Word>(p + sizeof(Word) * static_cast<size_t>(i));
    for (int i = 16; i < kRounds; ++i) w[i] = w[i - 16] + small0(w[i - 15]) + w[i - 7] + small1(w[i - 2]);
    std::copy(s_, s_ + 8, v);
    // Eight rounds at a time: instead of moving the eight words on, each round names them one further.
    for (int i = 0; i < kRounds; i += 8) {
      for (int k = 0; k < 8; ++k) {
        Word &a = v[(8 - k) & 7], &b = v[(9 - k) & 7], &c = v[(10 - k) & 7], &d = v[(11 - k) & 7];
        Word &e = v[(12 - k) & 7], &f = v[(13 - k) & 7], &g = v[(14 - k) & 7], &h = v[(15 - k) & 7];
        const Word constant = static_cast<Word>(kWide ? kRoundWords[i + k] : kRoundWords[i + k] >> 32);
        h += large1(e) + ((e & f) ^ (~e & g)) + constant + w[i + k];
        d += h;
        h += large0(a) + ((a & b) ^ (a & c) ^ (b & c));
      }
    }
    for (int i = 0; i < 8; ++i) s_[i] += v[i];
  }

  std::string digest(size_t) const override {
    Sha2 end = *this;
    end.pad(sizeof(Word) * 2, true);
    std::string out;
    for (const Word w : end.s_) append_big(out, w);
    out.resize(this->digest_size);
    return out;
  }

 private:
  static Word large0(Word x) {
    return kWide ? rotate_right(x, 28) ^ rotate_right(x, 34 % (sizeof(Word) * 8)) ^
                       rotate_right(x, 39 % (sizeof(Word) * 8))
                 : rotate_right(x, 2) ^ rotate_right(x, 13) ^ rotate_right(x, 22);
  }
  static Word large1(Word x) {
    return kWide ? rotate_right(x, 14) ^ rotate_right(x, 18) ^ rotate_right(x, 41 % (sizeof(Word) * 8))
                 : rotate_right(x, 6) ^ rotate_right(x, 11) ^ rotate_right(x, 25);
  }
  static Word small0(Word x) {
    return kWide ? rotate_right(x, 1) ^ rotate_right(x, 8) ^ (x >> 7)
                 : rotate_right(x, 7) ^ rotate_right(x, 18) ^ (x >> 3);
  }
  static Word small1(Word x) {
    return kWide ? rotate_right(x, 19) ^ rotate_right(x, 61 % (sizeof(Word) * 8)) ^ (x >> 6)
                 : rotate_right(x, 17) ^ rotate_right(x, 19) ^ (x >> 10);
  }

  Word s_[8];
};

constexpr std::array<uint64_t, 8> kSha224 = {0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939,
                                             0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4};
constexpr std::array<uint64_t, 8> kSha256 = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::array<uint64_t, 8> kSha384 = {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17,
                                             0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511,
                                             0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};
constexpr std::array<uint64_t, 8> kSha512 = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                             0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                             0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

class Sha3 final : public Digest {
 public:
  // `suffix`: the bits that tell SHA-3 (01) from SHAKE (1111), with the first bit of the padding.
  Sha3(size_t rate, size_t size, uint8_t suffix) : suffix_(suffix) { block_size = rate, digest_size = size; }

  void update(std::string_view bytes) override {
    for (const char c : bytes) {
      mix(at_++, static_cast<unsigned char>(c));
      if (at_ == block_size) permute(), at_ = 0;
    }
  }

  std::string digest(size_t size) const override {
    if (digest_size != 0) size = digest_size;
    Sha3 end = *this;
    end.mix(at_, suffix_);
    end.mix(block_size - 1, 0x80);
    std::string out;
    for (size_t i = 0; i < size; ++i) {
      if (i % block_size == 0) end.permute();
      const size_t at = i % block_size;
      out += static_cast<char>(end.lanes_[at / 8] >> 8 * (at % 8));
    }
    return out;
  }
  std::unique_ptr<Digest> copy() const override { return std::make_unique<Sha3>(*this); }

 private:
  void mix(size_t at, uint8_t byte) { lanes_[at / 8] ^= uint64_t{byte} << 8 * (at % 8); }

  void permute() {
    uint8_t lfsr = 1;
    for (int round = 0; round < 24; ++round) {
      uint64_t c[5], moved[25];
      for (size_t x = 0; x < 5; ++x)
        c[x] = lanes_[x] ^ lanes_[x + 5] ^ lanes_[x + 10] ^ lanes_[x + 15] ^ lanes_[x + 20];
      for (size_t i = 0; i < 25; ++i) lanes_[i] ^= c[(i + 4) % 5] ^ rotate_left(c[(i + 1) % 5], 1);
      moved[0] = lanes_[0];
      for (size_t t = 0, x = 1, y = 0; t < 24; ++t) {
        const unsigned by = static_cast<unsigned>((t + 1) * (t + 2) / 2 % 64);
        const size_t nx = y, ny = (2 * x + 3 * y) % 5;
        moved[nx + 5 * ny] = by == 0 ? lanes_[x + 5 * y] : rotate_left(lanes_[x + 5 * y], by);
        x = nx, y = ny;
      }
      for (size_t y = 0; y < 25; y += 5) {
        for (size_t x = 0; x < 5; ++x)
          lanes_[y + x] = moved[y + x] ^ (~moved[y + (x + 1) % 5] & moved[y + (x + 2) % 5]);
      }
      for (int j = 0; j < 7; ++j) {  // the round's constant, a bit at places 2**j - 1
        lfsr = static_cast<uint8_t>(lfsr << 1 ^ (lfsr >> 7) * 0x71);
        if (lfsr & 2) lanes_[0] ^= uint64_t{1} << ((1 << j) - 1);
      }
    }
  }

  uint8_t suffix_;
  size_t at_ = 0;
  uint64_t lanes_[25] = {};
};

}  // namespace

std::unique_ptr<Digest> make_digest(std::string_view name) {
  if (name == "md5") return std::make_unique<Md5>();
  if (name == "sha1") return std::make_unique<Sha1>();
  if (name == "sha224") return std::make_unique<Sha2<uint32_t>>(kSha224, 28);
  if (name == "sha256") return std::make_unique<Sha2<uint32_t>>(kSha256, 32);
  if (name == "sha384") return std::make_unique<Sha2<uint64_t>>(kSha384, 48);
  if (name == "sha512") return std::make_unique<Sha2<uint64_t>>(kSha512, 64);
  if (name == "sha3_224") return std::make_unique<Sha3>(144, 28, 0x06);
  if (name == "sha3_256") return std::make_unique<Sha3>(136, 32, 0x06);
  if (name == "sha3_384") return std::make_unique<Sha3>(104, 48, 0x06);
  if (name == "sha3_512") return std::make_unique<Sha3>(72, 64, 0x06);
  if (name == "shake_128") return std::make_unique<Sha3>(168, 0, 0x1f);
  if (name == "shake_256") return std::make_unique<Sha3>(136, 0, 0x1f);
  return nullptr;
}

}  // namespace tessera::stdlib
