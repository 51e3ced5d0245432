// The skeleton of kernels over lines of contiguous tensors [outer, n, inner]: what backends/cpu/line-inl.h is to the CPU.
// A team of threads has a line each. What fits into its registers is read once, however often a kernel goes along the line;
// longer lines are read again from memory.
//
//     each_line<T>(lines, [&](const Line& line) {
//       Elements<T, 1> x(line, dtype, missing, c.in);
//       T total = 0;
//       x.each([&](const auto& v, const Share& at) { ... total += v[0].v[r][j] ... });
//       total = line.team.combine(total, add);
//       x.each([&](const auto& v, const Share& at) { ... store_values(y, c.out, dtype, at); });
//     });
#pragma once

#include "backends/cuda/pack.cuh"
#include "backends/cuda/team.cuh"

namespace tessera::tensor::cuda {

/// How lines are cut into teams; a kernel's parameter.
struct Lines {
  int64_t count, n, inner;
  FastDivide<uint64_t> by_inner;
  TeamShape shape;
  int vector;

  /// The rule counts if elements of a line are neighbours.
  template <class T>
  static Lines of(int64_t outer, int64_t n, int64_t inner, VectorRule rule) {
    Lines made{outer * inner, n, inner, FastDivide<uint64_t>(uint64_t(inner)), {}, 1};
    const auto fits = [&](int64_t least,
                          int most) {  // few elements a thread while a warp is not full, then all registers
      const int64_t wanted =
          n <= 32 * kPack ? (n + kPack - 1) / kPack : (n + kThreadElements<T> - 1) / kThreadElements<T>;
      return power_of_two(wanted, int(least), most);
    };
    const int64_t least = n > 32 * kPack ? 32 : 1;
    TeamShape& shape = made.shape;
    if (inner == 1) {
      made.vector = rule.step(n).vector();
      shape.size = fits(least, kMaxTeam);
      shape.threads = shape.size > 256 ? shape.size : 256;
    } else {
      shape.columns = power_of_two(made.count, 1, 32);
      shape.size = fits(1, kMaxTeam / shape.columns);
      if (shape.columns == 32 && shape.size < 8) shape.columns = 256 / shape.size;
      if (shape.columns * shape.size < 32) shape.size = 32 / shape.columns;
      shape.threads = shape.columns * shape.size;
    }
    return made;
  }
  Grid grid() const {
    const int64_t blocks = (count + shape.teams() - 1) / shape.teams();
    return {unsigned(blocks < 1 << 20 ? blocks : 1 << 20), unsigned(shape.threads)};
  }
};

/// One line, or (so that all threads of a block go the same way) none.
struct Line {
  const Team& team;
  int64_t number, n, inner;
  int64_t start;  // of its elements, `inner` apart
  int vector;
  bool exists;

  __device__ bool first_thread() const { return exists && team.rank == 0; }
};

template <class F>
__device__ void each_line(const Lines& lines, const F& f) {
  const Team team(lines.shape);
  for (int64_t first = int64_t(blockIdx.x) * team.teams; first < lines.count;
       first += int64_t(gridDim.x) * team.teams) {
    const int64_t number = first + team.number;
    int64_t start = number * lines.n;
    if (lines.inner != 1) {
      const auto at = lines.by_inner.divide(uint64_t(number));
      start = int64_t(at.quotient) * lines.n * lines.inner + int64_t(at.rest);
    }
    f(Line{team, number, lines.n, lines.inner, start, lines.vector, number < lines.count});
  }
}

/// The elements of a line in kInputs tensors of one dtype.
template <class T, int kInputs>
class Elements {
 public:
  template <class... Tensors>
  __device__ Elements(const Line& line, DType dtype, T missing, Tensors... tensors)
      : line_(line),
        share_(line.team.rank, line.team.size, line.vector, line.start, line.inner),
        dtype_(dtype),
        missing_(missing),
        tensors_{tensors...} {}

  /// f(values of each tensor, share) until all have been met. A round without any element is left out by `share.any(r)`.
  template <class F>
  __device__ void each(const F& f) {
    const int64_t piece = int64_t(line_.team.size) * kThreadElements<T>;
    for (int64_t base = 0; base < line_.n; base += piece) {
      share_.go_to(base, line_.exists ? line_.n : 0);
      if (loaded_ != base) {
#pragma unroll
        for (int k = 0; k < kInputs; k++) load_values(values_[k], tensors_[k], dtype_, share_, missing_);
        loaded_ = base;
      }
      f(values_, share_);
    }
  }

 private:
  const Line& line_;
  Share share_;
  const DType dtype_;
  const T missing_;
  const void* const tensors_[kInputs];
  int64_t loaded_ = -1;  // what the registers hold
  Values<T> values_[kInputs];
};

/// f(r, j) for the elements of each round that has some.
template <class T, class F>
__device__ void each_value(const Share& at, const F& f) {
#pragma unroll
  for (int r = 0; r < kRounds<T>; r++) {
    if (!at.any(r)) continue;
#pragma unroll
    for (int j = 0; j < kPack; j++) f(r, j);
  }
}

struct Plus {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
/// Two sums that are made together.
template <class T>
struct TwoSums {
  T first, second;
  friend __device__ TwoSums operator+(const TwoSums& a, const TwoSums& b) {
    return {a.first + b.first, a.second + b.second};
  }
};

}  // namespace tessera::tensor::cuda
