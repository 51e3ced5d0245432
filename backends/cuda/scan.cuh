// The skeleton of kernels that go along lines [outer, n, inner] and write what they have met so far. Where elements of a line
// are neighbours a team of threads takes four each at a time, else a thread goes down each line and neighbouring lines side by
// side. Few long lines are cut into parts: the totals of all parts come first, then what stands before each, then the parts.
//
//     struct Policy {
//       using Total = ...;                                  // trivially copyable, a multiple of 4 bytes
//       Total start() const;                                // of nothing
//       Total merge(const Total&, const Total&) const;      // the first comes before the second
//       void load(Total (&to)[4], const ScanPack&) const;   // start() where there is no element
//       void store(const Total (&from)[4], const ScanPack&) const;
//     };
#pragma once

#include <algorithm>

#include "backends/cuda/pack.cuh"
#include "backends/cuda/scratch.h"
#include "backends/cuda/team.cuh"

namespace tessera::tensor::cuda {

/// Four elements of a line, one after the other in the order of the scan.
struct ScanPack {
  int64_t offset, step;  // of the first one, and from one to the next (negative from the end)
  int64_t index;         // of the first one, in memory's order
  int count;             // elements that there are
  bool vector;           // all four can be read at once

  __device__ bool has(int j) const { return j < count; }
  __device__ int64_t index_of(int j) const { return step < 0 ? index - j : index + j; }
};

struct ScanShape {
  int64_t lines, n, inner;
  FastDivide<uint64_t> by_inner;
  bool backwards, vector;
  TeamShape team{};  // of rows
  int64_t part = 0;  // elements of a line that one team or thread handles
  int64_t parts = 1;

  static constexpr int kThreadsOfAll = 256;

  ScanShape(int64_t outer, int64_t n, int64_t inner, bool backwards, VectorRule rule)
      : lines(outer * inner),
        n(n),
        inner(inner),
        by_inner(uint64_t(inner)),
        backwards(backwards),
        vector(inner == 1 && rule.step(n).vector() == kPack) {
    const bool rows = inner == 1;
    team.threads = kThreadsOfAll;
    team.size = rows ? power_of_two((n + kPack - 1) / kPack, 1, kThreadsOfAll) : 1;
    // As many teams as fill a large GPU, none of which is there for a few elements.
    const int64_t wanted = (rows ? 1024 * team.teams() : 65536) / std::max<int64_t>(1, lines);
    const int64_t useful = n / (rows ? int64_t(team.size) * kPack * 4 : 128);
    const int64_t cut = std::clamp<int64_t>(std::min(wanted, useful), 1, 1024), unit = int64_t(team.size) * kPack;
    part = ((n + cut - 1) / cut + unit - 1) / unit * unit;
    parts = n > 0 ? (n + part - 1) / part : 1;
  }

  __device__ int64_t start_of(int64_t line) const {
    if (inner == 1) return line * n;
    const auto at = by_inner.divide(uint64_t(line));
    return int64_t(at.quotient) * n * inner + int64_t(at.rest);
  }
  /// Elements i to i + 3 of the line, of which those below `end` are there.
  __device__ ScanPack pack(int64_t start, int64_t i, int64_t end) const {
    const int64_t index = backwards ? n - 1 - i : i, rest = end - i;
    return {start + index * inner, backwards ? -inner : inner, index,
            rest > kPack ? kPack
            : rest < 0   ? 0
                         : int(rest),
            vector};
  }
};

/// Each of four with all before it.
template <class P>
__device__ void scan_pack(const P& policy, typename P::Total (&v)[kPack]) {
#pragma unroll
  for (int j = 1; j < kPack; j++) v[j] = policy.merge(v[j - 1], v[j]);
}

/// `carries` [parts, lines]: what stands before each part; null: nothing does. `totals`: of each part, and nothing is written.
template <class P>
__global__ void __launch_bounds__(ScanShape::kThreadsOfAll)
    scan_rows(const __grid_constant__ ScanShape shape, const __grid_constant__ P policy,
              const typename P::Total* carries, typename P::Total* totals) {
  using Total = typename P::Total;
  const Team team(shape.team);
  const auto merge = [&](const Total& a, const Total& b) { return policy.merge(a, b); };
  const int64_t begin = int64_t(blockIdx.y) * shape.part;
  const int64_t end = begin + shape.part < shape.n ? begin + shape.part : shape.n;
  for (int64_t first = int64_t(blockIdx.x) * team.teams; first < shape.lines;
       first += int64_t(gridDim.x) * team.teams) {
    const int64_t line = first + team.number, start = shape.start_of(line);
    const bool exists = line < shape.lines;
    Total carry = policy.start();
    if (carries != nullptr && exists) carry = carries[int64_t(blockIdx.y) * shape.lines + line];
    for (int64_t base = begin; base < end; base += int64_t(team.size) * kPack) {
      const ScanPack at = shape.pack(start, base + team.rank * kPack, exists ? end : base);
      Total v[kPack], all;
      policy.load(v, at);
      scan_pack(policy, v);
      const Total before = merge(carry, team.before(v[kPack - 1], policy.start(), all, merge));
      carry = merge(carry, all);
      if (totals != nullptr) continue;
#pragma unroll
      for (int j = 0; j < kPack; j++) v[j] = merge(before, v[j]);
      policy.store(v, at);
    }
    if (totals != nullptr && exists && team.rank == 0) totals[int64_t(blockIdx.y) * shape.lines + line] = carry;
  }
}

template <class P>
__global__ void __launch_bounds__(ScanShape::kThreadsOfAll)
    scan_columns(const __grid_constant__ ScanShape shape, const __grid_constant__ P policy,
                 const typename P::Total* carries, typename P::Total* totals) {
  using Total = typename P::Total;
  const int64_t begin = int64_t(blockIdx.y) * shape.part;
  const int64_t end = begin + shape.part < shape.n ? begin + shape.part : shape.n;
  for (int64_t line = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; line < shape.lines;
       line += int64_t(gridDim.x) * blockDim.x) {
    const int64_t start = shape.start_of(line);
    Total carry = carries != nullptr ? carries[int64_t(blockIdx.y) * shape.lines + line] : policy.start();
    for (int64_t i = begin; i < end; i += kPack) {
      const ScanPack at = shape.pack(start, i, end);
      Total v[kPack];
      policy.load(v, at);
      v[0] = policy.merge(carry, v[0]);
      scan_pack(policy, v);
      carry = v[kPack - 1];
      if (totals == nullptr) policy.store(v, at);
    }
    if (totals != nullptr) totals[int64_t(blockIdx.y) * shape.lines + line] = carry;
  }
}

/// Of [parts, lines] totals what stands before each, in its place.
template <class P>
__global__ void __launch_bounds__(ScanShape::kThreadsOfAll)
    scan_totals(const __grid_constant__ P policy, typename P::Total* totals, int64_t lines, int64_t parts,
                TeamShape shape) {
  using Total = typename P::Total;
  const Team team(shape);
  const auto merge = [&](const Total& a, const Total& b) { return policy.merge(a, b); };
  for (int64_t first = int64_t(blockIdx.x) * team.teams; first < lines; first += int64_t(gridDim.x) * team.teams) {
    const int64_t line = first + team.number;
    Total carry = policy.start();
    for (int64_t base = 0; base < parts; base += team.size) {
      const int64_t part = base + team.rank;
      const bool exists = line < lines && part < parts;
      Total all;
      const Total before =
          team.before(exists ? totals[part * lines + line] : policy.start(), policy.start(), all, merge);
      if (exists) totals[part * lines + line] = merge(carry, before);
      carry = merge(carry, all);
    }
  }
}

template <class P>
void scan(const Launch& given, const ScanShape& shape, const P& policy) {
  using Total = typename P::Total;
  if (shape.lines == 0 || shape.n == 0) return;
  const Place place(given);
  const unsigned threads = ScanShape::kThreadsOfAll;
  const int64_t together = shape.inner == 1 ? shape.team.teams() : int64_t(threads);
  const unsigned blocks = unsigned(std::min<int64_t>((shape.lines + together - 1) / together, 1 << 20));
  const Grid grid{dim3(blocks, unsigned(shape.parts)), threads};
  const auto go = [&](const Total* carries, Total* totals) {
    if (shape.inner == 1) launch<scan_rows<P>>(place, grid, shape, policy, carries, totals);
    else launch<scan_columns<P>>(place, grid, shape, policy, carries, totals);
  };
  if (shape.parts == 1) return go(nullptr, nullptr);
  const Scratch scratch(given, size_t(shape.parts) * size_t(shape.lines) * sizeof(Total));
  Total* const totals = static_cast<Total*>(scratch.get());
  go(nullptr, totals);
  TeamShape team;
  team.threads = int(threads);
  team.size = power_of_two(shape.parts, 1, int(threads));
  const int64_t teams = team.teams();
  launch<scan_totals<P>>(place, {unsigned(std::min<int64_t>((shape.lines + teams - 1) / teams, 1 << 20)), threads},
                         policy, totals, shape.lines, shape.parts, team);
  go(totals, nullptr);
}

}  // namespace tessera::tensor::cuda
