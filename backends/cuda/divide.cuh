// Division by a number that is the same for all threads, as a multiplication: FastDivide<uint32_t> where numbers are below
// 2^31, FastDivide<uint64_t> below 2^63. The multiplier is found on the host (Granlund and Montgomery, "Division by Invariant
// Integers using Multiplication", 1994).
#pragma once

#include "backends/cuda/launch.cuh"

namespace tessera::tensor::cuda {

template <class T>
class FastDivide {
 public:
  static_assert(std::is_same_v<T, uint32_t> || std::is_same_v<T, uint64_t>);
  static constexpr int kBits = int(sizeof(T)) * 8;

  FastDivide() = default;  // in arrays of which some are used
  /// 1 <= divisor <= 2^(kBits - 1).
  explicit FastDivide(T divisor) : divisor_(divisor), shift_(0) {
    while (shift_ < kBits - 1 && (T(1) << shift_) < divisor) shift_++;
    // 2^kBits * (2^shift - divisor) / divisor + 1, which fits since 2^(shift - 1) < divisor <= 2^shift.
    const T above = T((T(1) << shift_) - divisor);
    if constexpr (kBits == 32) multiplier_ = T((uint64_t(above) << 32) / divisor + 1);
    else multiplier_ = high_quotient(above, divisor) + 1;
  }

  /// n / divisor for n < 2^(kBits - 1).
  __device__ T quotient(T n) const {
    if constexpr (kBits == 32) return (__umulhi(n, multiplier_) + n) >> shift_;
    else return (__umul64hi(n, multiplier_) + n) >> shift_;
  }
  struct Result {
    T quotient, rest;
  };
  __device__ Result divide(T n) const {
    const T q = quotient(n);
    return {q, T(n - q * divisor_)};
  }
  __device__ T divisor() const { return divisor_; }

 private:
  // high * 2^64 / divisor for high < divisor, bit by bit.
  static uint64_t high_quotient(uint64_t high, uint64_t divisor) {
    uint64_t quotient = 0, rest = high;
    for (int bit = 0; bit < 64; bit++) {
      const bool over = rest >> 63;
      rest <<= 1;
      quotient <<= 1;
      if (over || rest >= divisor) rest -= divisor, quotient |= 1;
    }
    return quotient;
  }

  T divisor_, multiplier_;
  int shift_;
};

/// n % divisor for every n and divisor that T has; by 0 nothing is cut off.
template <class T>
class FastRemainder {
 public:
  explicit FastRemainder(T divisor) : divisor_(divisor), by_(divisor == 0 || divisor > kHalf ? T(1) : divisor) {}

  __device__ T operator()(T n) const {
    if (divisor_ == 0) return n;
    if (divisor_ > kHalf) return n < divisor_ ? n : n - divisor_;
    const T rest = by_.divide(n >> 1).rest * 2 + (n & 1);  // FastDivide takes all bits but one
    return rest < divisor_ ? rest : rest - divisor_;
  }

 private:
  static constexpr T kHalf = T(1) << (sizeof(T) * 8 - 1);
  T divisor_;
  FastDivide<T> by_;
};

}  // namespace tessera::tensor::cuda
