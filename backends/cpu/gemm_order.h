// In which order the products of one element are added up. It is oneMKL's, on processors with AVX-512, so that
// the sums have the bits that PyTorch prints; found by experiment against PyTorch 2.15 over sizes of 1 to 4000, batches too,
// and written down in docs/threads.md. A product of a matrix and a vector has an order of its own: gemv.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/device/backend.h"

namespace tessera::tensor::cpu {

/// How k is cut into parts: each is summed from zero in its order, the sums are added one after the other.
class SumParts {
 public:
  enum class Cut : uint8_t {
    Halved,   // whole parts while two are left, what remains in halves
    Repeated  // whole parts, the last one is short; two parts are halves
  };
  SumParts(int64_t k, int64_t most, Cut cut) : k_(k), cut_(cut), size_(most) {
    switch (cut) {
      case Cut::Halved:
        whole_ = std::max<int64_t>(0, k / most - 1);
        count_ = whole_ + (k - whole_ * most > most ? 2 : 1);
        break;
      case Cut::Repeated:
        if (k > most && k < 2 * most) size_ = (k + 1) / 2;
        count_ = std::max<int64_t>(1, (k + size_ - 1) / size_);
        break;
    }
  }
  int64_t count() const { return count_; }
  /// Where a part begins; of `count` it is k.
  int64_t start(int64_t part) const {
    if (part == count_) return k_;
    if (cut_ == Cut::Repeated || part <= whole_) return part * size_;
    return whole_ * size_ + (k_ - whole_ * size_ + 1) / 2;
  }
  /// The length of the longest.
  int64_t longest() const { return count_ == 1 ? k_ : size_; }

 private:
  int64_t k_;
  Cut cut_;
  int64_t size_, whole_ = 0, count_ = 1;
};

inline constexpr int64_t kLongestSum = 384;

/// The parts of a product whose rows, columns and transposition are as they were asked for.
template <class T>
SumParts sum_parts(const GemmCall& c) {
  const bool large = c.n >= 192 && c.m >= (c.transpose_b ? 16 : 192);
  if (large) return {c.k, kLongestSum, SumParts::Cut::Repeated};
  return {c.k, sizeof(T) == 8 && c.transpose_b ? kLongestSum / 2 : kLongestSum, SumParts::Cut::Halved};
}

/// Few rows times the columns of a matrix that is stored by columns are dot products, each summed on sixteen lanes.
inline bool is_by_dots(const GemmCall& c) {
  return c.dtype == kFloat32 && c.transpose_b && !c.transpose_a && c.m < 16 && c.k >= 24 * c.m && c.n > 1 && c.m > 1;
}

}  // namespace tessera::tensor::cpu
