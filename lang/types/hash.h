// Hashes of immediate values and how hashes are combined: CPython's numbers, because they decide the order of sets.
#pragma once

#include <cmath>
#include <cstdint>

namespace tessera::lang {

constexpr uint64_t kHashModulus = (uint64_t{1} << 61) - 1;

// The number modulo 2**61 - 1, with its sign; -1 is not a hash.
inline int64_t hash_int(int64_t value) noexcept {
  if (value > -static_cast<int64_t>(kHashModulus) && value < static_cast<int64_t>(kHashModulus)) {
    return value == -1 ? -2 : value;
  }
  const bool negative = value < 0;
  const uint64_t magnitude =
      (negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value)) % kHashModulus;
  const int64_t result = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return result == -1 ? -2 : result;
}

int64_t hash_float(double value) noexcept;

constexpr int64_t kHashNone = 0x5a17e5;

inline int64_t hash_pointer(const void* p) noexcept {
  const uint64_t bits = reinterpret_cast<uintptr_t>(p);
  return static_cast<int64_t>(bits >> 4 | bits << 60);
}

// Of a tuple: xxHash's rounds over the items' hashes.
class TupleHash {
 public:
  void add(int64_t hash) noexcept {
    sum_ += static_cast<uint64_t>(hash) * 14029467366897019727u;
    sum_ = (sum_ << 31 | sum_ >> 33) * 11400714785074694791u;
  }
  int64_t finish(uint64_t count) const noexcept {
    const uint64_t result = sum_ + (count ^ (2870177450012600261u ^ 3527539u));
    return result == ~uint64_t{0} ? 1546275796 : static_cast<int64_t>(result);
  }

 private:
  uint64_t sum_ = 2870177450012600261u;
};

}  // namespace tessera::lang
