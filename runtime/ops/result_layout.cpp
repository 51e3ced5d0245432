#include "runtime/ops/result_layout.h"

#include <algorithm>

#include "runtime/ops/memory_format.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

// No gaps and no element twice, in whatever order: what dense_strides keeps.
bool is_dense(const Tensor& t) {
  if (t.is_contiguous()) return true;
  const Dims strides = dense_strides(t);
  return Ints(strides) == t.strides();
}

bool all_in(std::span<const Tensor* const> operands, const Dims& strides) {
  return std::all_of(operands.begin(), operands.end(), [&](const Tensor* t) { return lies_in(*t, strides); });
}

// The steps of t in a result's dimensions; 0 where it is repeated.
Dims steps_of(const Tensor& t, Ints sizes) {
  Dims steps(sizes.size(), 0);
  const size_t lead = sizes.size() - size_t(t.dim());
  for (int64_t d = 0; d < t.dim(); d++)
    steps[lead + size_t(d)] = t.size(d) == 1 && sizes[lead + size_t(d)] != 1 ? 0 : t.strides()[size_t(d)];
  return steps;
}

// Negative where a belongs further in than b, positive the other way around, 0 where no operand tells.
int compare(std::span<const Dims> steps, Ints sizes, size_t a, size_t b) {
  for (const Dims& s : steps) {
    if (s[a] == 0 || s[b] == 0) continue;
    if (s[a] != s[b]) return s[a] < s[b] ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

}  // namespace

Dims result_strides(std::span<const Tensor* const> operands, Ints sizes) {
  const bool same_shape =
      std::all_of(operands.begin(), operands.end(), [&](const Tensor* t) { return t && t->sizes() == sizes; });
  if (same_shape) {
    if (numel_of(sizes) == 0) return {};
    if (all_in(operands, {})) return {};
    if (sizes.size() == 4)  // of volumes PyTorch does not know it here
      if (Dims last = strides_in(*operands[0], "torch.channels_last"); all_in(operands, last)) return last;
    if (std::all_of(operands.begin(), operands.end(),
                    [&](const Tensor* t) { return t->strides() == operands[0]->strides() && is_dense(*t); }))
      return operands[0]->strides();
  }
  std::vector<Dims> steps;
  for (const Tensor* t : operands)
    if (t) steps.push_back(steps_of(*t, sizes));
  const size_t n = sizes.size();
  std::vector<size_t> inner_first(n);
  for (size_t i = 0; i < n; i++) inner_first[i] = n - 1 - i;
  for (size_t i = 1; i < n; i++) {  // not a sort by a total order: where nothing tells, one looks further
    for (size_t at = i, d = i; d-- > 0;) {
      const int order = compare(steps, sizes, inner_first[d], inner_first[at]);
      if (order < 0) break;
      if (order > 0) std::swap(inner_first[d], inner_first[at]), at = d;
    }
  }
  Dims strides(n, 0);
  int64_t step = 1;
  bool is_rows = true;
  for (size_t i = 0; i < n; i++) {
    is_rows &= inner_first[i] == n - 1 - i;
    strides[inner_first[i]] = step;
    step *= sizes[inner_first[i]];
  }
  return is_rows ? Dims() : strides;
}

}  // namespace tessera::tensor
