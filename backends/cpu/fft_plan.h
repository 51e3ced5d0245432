// What a Fourier transform of a length needs beside its data: how the length is taken apart, and roots of unity.
//
// A length is transformed in one of three ways:
//   Passes    lengths without a prime factor above 13, up to kMostPasses: one pass over the data for each radix (Stockham's
//             order), always on several lines side by side, so that all arithmetic is on whole vectors.
//   Split     one long line n = columns * rows as a matrix: its columns are transformed as lines side by side, turned by
//             roots, and then its rows are. Both parts are Passes and stay in the cache.
//   Chirp     any other length: a convolution, by transforms of a longer smooth length (Bluestein).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::tensor::cpu {

/// Complex numbers as two arrays.
template <class T>
struct Parts {
  std::vector<T> re, im;
};

template <class T>
struct FftPlan {
  using Pointer = std::shared_ptr<const FftPlan>;
  enum Way { Passes, Split, Chirp };

  struct Pass {
    int radix;
    int64_t rest;          // length / radix of what the pass takes apart
    size_t roots, twiddles;  // where they start in `table`
  };

  Way way;
  int64_t n;
  std::vector<Pass> passes;
  std::vector<T> table;  // of each pass: cos and sin of 2 pi k / radix, then rest x (radix - 1) pairs
  Pointer columns, rows;
  Parts<T> turn;  // Split: exp(-2 pi i j k / n) at [k * rows->n + j]
  Pointer inner;
  Parts<T> chirp, spectrum;  // Chirp: exp(-pi i k^2 / n), and the transform of its conjugate over inner->n

  /// About how much memory it has, without its parts.
  size_t bytes() const;
};

inline constexpr int64_t kMostPasses = 8192;

bool has_passes(int64_t n);

/// Plans are kept, those used last and no more than some megabytes, for all threads of the process.
template <class T>
typename FftPlan<T>::Pointer passes_plan(int64_t n);
/// The best way for one line.
template <class T>
typename FftPlan<T>::Pointer line_plan(int64_t n);
/// exp(-2 pi i k / n) for k up to n / 2, n even: what joins the halves of a transform of real numbers.
template <class T>
std::shared_ptr<const Parts<T>> half_roots(int64_t n);

}  // namespace tessera::tensor::cpu
