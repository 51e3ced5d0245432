// Hashes of texts and bytes under a key, as PYTHONHASHSEED asks for: SipHash-1-3 over the characters as CPython stores them, so a program
// has CPython's hashes, and with them its order of sets, for the same seed. Without a seed `hash_text` needs no key.
//
// The key belongs to the process: it is set before the first interpreter is made and never again.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera::lang {

struct HashKey {
  uint64_t first = 0, second = 0;
};

// The key that CPython makes of a seed.
HashKey hash_key_of_seed(uint32_t seed) noexcept;
void set_hash_key(const HashKey& key) noexcept;

extern bool hash_is_keyed;
int64_t keyed_hash_bytes(std::string_view bytes) noexcept;
int64_t keyed_hash_text(std::string_view text) noexcept;

}  // namespace tessera::lang
