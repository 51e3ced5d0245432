// Digests: the vectors of their standards, and that bytes may come in any pieces.
#include "stdlib/python/native/digest.h"

#include "doctest/doctest.h"

using namespace tessera::stdlib;

namespace {

std::string hexadecimal(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

}  // namespace

TEST_CASE("digests of abc are those of the standards") {
  struct Vector {
    const char *name, *wanted;
  };
  constexpr Vector kVectors[] = {
      {"md5", "900150983cd24fb0d6963f7d28e17f72"},
      {"sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"},
      {"sha224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
      {"sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"sha512",
       "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a"
       "9ac94fa54ca49f"},
      {"sha3_256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"},
  };
  for (const Vector& each : kVectors) {
    CAPTURE(each.name);
    const auto digest = make_digest(each.name);
    digest->update("abc");
    CHECK(hexadecimal(digest->digest(0)) == each.wanted);
  }
  CHECK(make_digest("sha0") == nullptr);
}

TEST_CASE("pieces make no difference") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * 7);
  for (const char* name : {"md5", "sha1", "sha256", "sha512", "sha3_512", "shake_128"}) {
    CAPTURE(name);
    const auto whole = make_digest(name), parts = make_digest(name);
    whole->update(text);
    for (size_t at = 0, step = 1; at < text.size(); at += step, step = step % 97 + 1)
      parts->update(std::string_view(text).substr(at, step));
    CHECK(whole->digest(99) == parts->digest(99));
    CHECK(parts->copy()->digest(99) == parts->digest(99));
  }
}
