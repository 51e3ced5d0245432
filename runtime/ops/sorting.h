// Ops that order the items of a dimension: sort and what follows from it.
#pragma once

#include <optional>
#include <tuple>

#include "runtime/device/backend.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// Sorts rows of `size` elements, contiguous; `index` gets where each came from. Stable; NaN is the largest.
struct SortCall {
  DType dtype;
  const void* in;
  void* out;
  int64_t* index;
  int64_t rows, size;
  bool descending;
  Launch launch{};
};
extern Kernel<SortCall> sort_kernel;

/// The first k of each row in (descending, when largest) order. Which of equal elements are taken, and in what order, is
/// that of std::partial_sort where k * 64 <= size, else of std::nth_element and, when sorted, std::sort, as in PyTorch.
struct TopkCall {
  DType dtype;
  const void* in;
  void* out;
  int64_t* index;
  int64_t rows, size, k;
  bool largest, sorted;
  Launch launch{};
};
extern Kernel<TopkCall> topk_kernel;

/// The element of each row that would stand at place nth if the row were sorted.
struct SelectCall {
  /// Kth: of equal elements the one that quickselect leaves there. Median: the one that a stable sort would put there, and
  /// the first NaN if there is one.
  enum class Rule { Kth, Median };

  Rule rule;
  DType dtype;
  const void* in;
  void* out;
  int64_t* index;
  int64_t rows, size, nth;
  Launch launch{};
};
extern Kernel<SelectCall> select_kernel;

/// The most frequent element of each sorted row, the smallest of several: its last place in `place`.
struct ModeCall {
  DType dtype;
  const void* sorted;
  int64_t* place;
  int64_t rows, size;
  Launch launch{};
};
extern Kernel<ModeCall> mode_kernel;

/// For every value the first place in its row of edges that is not below it, or above it (right). One row of edges may
/// serve all values; else each row of `per_row` values has one. All of one dtype.
struct SearchCall {
  bool right;
  DType dtype;
  const void* edges;
  const void* values;
  int64_t* out;
  int64_t rows, size, per_row;
  Launch launch{};
};
extern Kernel<SearchCall> search_kernel;

/// How often each number below kSmall occurs, and in out[kSmall] how many there are that are negative or not so small.
struct CountSmallCall {
  static constexpr int64_t kSmall = 4096;
  const int64_t* in;
  int64_t n;
  int64_t* out;  // kSmall + 1 zeros
  Launch launch{};
};
extern Kernel<CountSmallCall> count_small_kernel;

/// The largest (smallest) element so far along a dimension and where it stands, the last of equal ones; NaN beats all.
/// All are outer x n x inner without gaps.
struct RunningExtremeCall {
  static constexpr DTypeSet kTypes = DTypeSet(kFloat32) | kFloat64 | kInt64 | DType::UInt64;
  bool largest;
  DType dtype;
  const void* in;
  void* out;
  int64_t* index;
  int64_t outer, n, inner;
  Launch launch{};
};
extern Kernel<RunningExtremeCall> running_extreme_kernel;

using ValuesAndIndices = std::tuple<Tensor, Tensor>;

ValuesAndIndices sort(const Tensor& self, int64_t dim = -1, bool descending = false);
Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false);
ValuesAndIndices topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true);
ValuesAndIndices kthvalue(const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false);
ValuesAndIndices median(const Tensor& self, int64_t dim, bool keepdim = false);
Tensor median(const Tensor& self);
/// The first place in each row of sorted values that is not below the value, or above it (right).
Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);
ValuesAndIndices mode(const Tensor& self, int64_t dim = -1, bool keepdim = false);

}  // namespace tessera::tensor
