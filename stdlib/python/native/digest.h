// Message digests: MD5, SHA-1, SHA-2, SHA-3 with SHAKE, BLAKE2.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tessera::stdlib {

class Digest {
 public:
  virtual ~Digest() = default;
  virtual void update(std::string_view bytes) = 0;
  // Of all bytes so far; more may follow. `size` is for SHAKE alone, others have their own.
  virtual std::string digest(size_t size) const = 0;
  virtual std::unique_ptr<Digest> copy() const = 0;

  size_t digest_size = 0, block_size = 0;
};

struct Blake2Options {
  size_t digest_size = 0;
  std::string_view key, salt, person;
  uint32_t fanout = 1, depth = 1, leaf_size = 0, node_depth = 0, inner_size = 0;
  uint64_t node_offset = 0;
  bool last_node = false;
};

// Null: no such digest. "md5", "sha256", "sha3_512", "shake_128" …
std::unique_ptr<Digest> make_digest(std::string_view name);
std::unique_ptr<Digest> make_blake2b(const Blake2Options& options);
std::unique_ptr<Digest> make_blake2s(const Blake2Options& options);

}  // namespace tessera::stdlib
