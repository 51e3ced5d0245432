// Numbers of the usual distributions out of random bits, by NumPy's methods, so that a seed gives the same ones.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "stdlib/numpy/native/bit_source.h"

namespace tessera::stdlib {

// A generator and how numbers are made of its bits: RandomState's ways are frozen, Generator's are the newer ones.
class Draws {
 public:
  Draws(bool legacy, std::string_view kind);

  void seed(uint32_t value);                       // RandomState's, of one number
  void seed_words(std::span<const uint32_t> key);  // RandomState's of several; Generator's entropy
  Mersenne* twister() { return is_mersenne_ ? &static_cast<MersenneSource&>(*bits_).twister : nullptr; }
  BitSource& bits() { return *bits_; }
  bool legacy() const { return legacy_; }

  double real() { return bits_->real(); }
  double normal();
  double exponential();
  float real32() { return bits_->real32(); }
  float normal32();
  float exponential32();
  float gamma32(float shape);
  double gamma(double shape);
  double beta(double a, double b);
  int64_t poisson(double mean);
  int64_t binomial(int64_t count, double chance);
  int64_t geometric(double chance);

  // Whole numbers from 0 to `last`; `width` is the element size in bits, for small ones share a 32-bit draw.
  void integers(uint64_t last, int width, std::span<uint64_t> out);
  uint64_t integer(uint64_t last);
  uint64_t interval(uint64_t last);  // what shuffling draws: under a mask, in either generator

  // The normal number that the polar method made besides the one it gave.
  bool has_spare = false;
  double spare = 0;

 private:
  template <class Word>
  uint64_t narrow(uint64_t last, uint32_t& word, int& left);
  uint64_t bounded32(uint32_t last);
  uint64_t bounded64(uint64_t last);
  int64_t poisson_by_product(double mean);
  int64_t poisson_by_rejection(double mean);
  int64_t binomial_by_inversion(int64_t count, double chance);
  int64_t binomial_by_rejection(int64_t count, double chance);

  bool legacy_, is_mersenne_;
  std::unique_ptr<BitSource> bits_;
};

}  // namespace tessera::stdlib
