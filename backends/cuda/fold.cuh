// The skeleton of kernels that make one result of many elements: reductions, statistics of channels, gradients of weights.
//
// A team of threads has a result each: side by side along the elements where these are neighbours in memory, else side by
// side along the results. Where there are few results, parts of each go to several blocks and a second kernel merges them.
// How the elements are cut depends on sizes alone and parts are merged in order: a result has the same bits in every run.
//
// What is folded is a policy, which goes to the kernel by value:
//
//     struct Policy {
//       using Total = ...;                                        // trivially copyable, a multiple of 4 bytes
//       using Number = ...;                                       // what kRounds counts for
//       Total start() const;                                      // of nothing
//       Total take(const Share&, int64_t result) const;           // of a thread's elements in some rounds
//       Total take_one(int64_t start, int64_t offset, int64_t index, int64_t result) const;
//       Total merge(const Total&, const Total&) const;
//       void finish(int64_t result, const Total&) const;          // by one thread
//     };
#pragma once

#include <algorithm>

#include "backends/cuda/pack.cuh"
#include "backends/cuda/scratch.h"
#include "backends/cuda/team.cuh"

namespace tessera::tensor::cuda {

struct FoldShape {
  Nest kept, reduced;  // offsets of a result's elements: that of the result plus that of the element
  int64_t results, length;
  int vector = 1;           // elements side by side in memory that are read at once; what is left of these comes singly
  bool one_by_one = false;  // elements have to be converted in some rare way
  TeamShape team{};
  int64_t part = 0;  // elements of a result that a block has
  unsigned blocks = 1, parts = 1;

  static constexpr int kThreadsOfAll = 256;

  /// `vector`: what memory allows if neighbours along the innermost reduced dimension are read together.
  FoldShape(const Nest& kept, const Nest& reduced, int64_t results, int64_t length, bool columns, int vector,
            int thread_elements)
      : kept(kept), reduced(reduced), results(results), length(length), vector(columns ? 1 : vector) {
    if (columns) {
      team.size = power_of_two((length + kPack - 1) / kPack, 1, 8);
      team.columns = power_of_two(results, 1, kThreadsOfAll / team.size);
      team.size = kThreadsOfAll / team.columns;
    } else {
      const bool is_short = length <= 32 * kPack;
      const int64_t wanted = is_short ? (length + kPack - 1) / kPack : (length + thread_elements - 1) / thread_elements;
      team.size = power_of_two(wanted, is_short ? 1 : 32, kThreadsOfAll);
    }
    team.threads = kThreadsOfAll;
    const int64_t all_blocks = (results + team.teams() - 1) / team.teams();
    const int64_t unit = int64_t(team.size) * thread_elements;
    const int64_t useful = length / (2 * unit), wanted = kManyBlocks / std::max<int64_t>(1, all_blocks);
    const int64_t cut = std::clamp<int64_t>(std::min(useful, wanted), 1, kManyBlocks);
    part = ((length + cut - 1) / cut + unit - 1) / unit * unit;
    parts = length > 0 ? unsigned((length + part - 1) / part) : 1;
    blocks = unsigned(std::min<int64_t>(all_blocks, 1 << 20));
  }

  /// Sums down the columns of contiguous rows of n elements.
  static FoldShape down_columns(int64_t rows, int64_t n, int thread_elements) {
    const int64_t one = 1;
    return FoldShape(Nest(1, &n, &one), Nest(1, &rows, &n), n, rows, true, 1, thread_elements);
  }

 private:
  static constexpr int64_t kManyBlocks = 1024;  // as many as fill a large GPU twice
};

template <class P>
__global__ void __launch_bounds__(FoldShape::kThreadsOfAll)
    fold_kernel(const __grid_constant__ FoldShape shape, const __grid_constant__ P policy, typename P::Total* partial) {
  const Team team(shape.team);
  const auto merge = [&](const auto& a, const auto& b) { return policy.merge(a, b); };
  const int64_t begin = int64_t(blockIdx.y) * shape.part;
  const int64_t end = begin + shape.part < shape.length ? begin + shape.part : shape.length;
  int64_t singly = end - (shape.vector == 1 ? 0 : (end - begin) & (shape.vector - 1));
  if (shape.one_by_one) singly = begin;
  for (int64_t first = int64_t(blockIdx.x) * team.teams; first < shape.results;
       first += int64_t(gridDim.x) * team.teams) {
    const int64_t result = first + team.number;
    const bool exists = result < shape.results;
    auto total = policy.start();
    Share at(team.rank, team.size, shape.vector, shape.kept.offset(result), shape.reduced.stride(),
             shape.reduced.is_line() ? nullptr : &shape.reduced);
    const int64_t piece = int64_t(team.size) * kThreadElements<typename P::Number>;
    for (int64_t base = begin; base < singly; base += piece) {
      at.go_to(base, exists ? singly : base);
      total = merge(total, policy.take(at, result));
    }
    for (int64_t i = singly + team.rank; exists && i < end; i += team.size)
      total = merge(total, policy.take_one(at.start, at.start + shape.reduced.offset(i), i, result));
    total = team.combine(total, merge);
    if (team.rank != 0 || !exists) continue;
    if (partial != nullptr) partial[int64_t(blockIdx.y) * shape.results + result] = total;
    else policy.finish(result, total);
  }
}

/// partial [parts, results], merged from first to last.
template <class P>
__global__ void __launch_bounds__(FoldShape::kThreadsOfAll)
    merge_kernel(const __grid_constant__ P policy, const typename P::Total* partial, int64_t results, int parts,
                 TeamShape shape) {
  const Team team(shape);
  const auto merge = [&](const auto& a, const auto& b) { return policy.merge(a, b); };
  for (int64_t first = int64_t(blockIdx.x) * team.teams; first < results; first += int64_t(gridDim.x) * team.teams) {
    const int64_t result = first + team.number;
    auto total = policy.start();
    const int each = (parts + team.size - 1) / team.size, begin = team.rank * each;
    for (int p = begin; result < results && p < begin + each && p < parts; p++)
      total = merge(total, partial[p * results + result]);
    total = team.combine(total, merge);
    if (team.rank == 0 && result < results) policy.finish(result, total);
  }
}

template <class P>
void fold(const Launch& given, const FoldShape& shape, const P& policy) {
  using Total = typename P::Total;
  if (shape.results == 0) return;
  const Place place(given);
  const unsigned threads = FoldShape::kThreadsOfAll;
  if (shape.parts == 1)
    return launch<fold_kernel<P>>(place, {shape.blocks, threads}, shape, policy, static_cast<Total*>(nullptr));
  const Scratch scratch(given, size_t(shape.parts) * size_t(shape.results) * sizeof(Total));
  Total* const partial = static_cast<Total*>(scratch.get());
  launch<fold_kernel<P>>(place, {dim3(shape.blocks, shape.parts), threads}, shape, policy, partial);
  TeamShape team;
  team.columns = power_of_two(shape.results, 1, 32);
  team.size = int(threads) / team.columns;
  const int64_t blocks = std::min<int64_t>((shape.results + team.columns - 1) / team.columns, 1 << 20);
  launch<merge_kernel<P>>(place, {unsigned(blocks), threads}, policy, static_cast<const Total*>(partial), shape.results,
                          int(shape.parts), team);
}

}  // namespace tessera::tensor::cuda
