#include "backends/cuda/elementwise_plan.h"

#include "backends/cuda/cuda.h"

namespace tessera::tensor::cuda {
namespace {

constexpr int64_t kMost = INT32_MAX;
constexpr int kRowDims = 4;

bool is_number(const Loop& loop, int k) { return loop.host_scalars >> k & 1; }

int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

// How far the operand goes along a dimension; kMost + 1 for what is further.
int64_t reach_along(const Loop& loop, int k, int d) {
  const int64_t steps = loop.sizes[d] - 1, step = distance(loop.strides[k][d]);
  return steps == 0 || step == 0 ? 0 : step > kMost / steps ? kMost + 1 : steps * step;
}

// Offsets and counts have 32 bits, with a sign.
bool is_near(const Loop& loop) {
  if (loop.numel > kMost) return false;
  for (int k = 0; k < loop.operands; k++) {
    if (is_number(loop, k)) continue;
    int64_t reach = 0;
    for (int d = 0; d < loop.ndim; d++) reach += reach_along(loop, k, d);
    if (reach > kMost) return false;
  }
  return true;
}

// The dimension to cut: along which an operand goes furthest, the cut_along of these.
int widest_dimension(const Loop& loop) {
  int widest = 0;
  int64_t most = -1;
  for (int d = 0; d < loop.ndim; d++) {
    int64_t reach = 0;
    for (int k = 0; k < loop.operands; k++)
      if (!is_number(loop, k) && reach_along(loop, k, d) > reach) reach = reach_along(loop, k, d);
    if (loop.sizes[d] == 1 || reach < most || (reach == most && loop.sizes[d] <= loop.sizes[widest])) continue;
    widest = d, most = reach;
  }
  return widest;
}

// How many elements of the operand stand between an address that groups begin at and its first one; -1: no element does.
int64_t misplaced(const char* data, DType type, int group) {
  const uintptr_t size = item_size(type), bytes = size * uintptr_t(group) < 16 ? size * uintptr_t(group) : 16;
  const uintptr_t past = reinterpret_cast<uintptr_t>(data) % bytes;
  return past % size == 0 ? int64_t(past / size) : -1;
}

// Elements before the first group, the same for all that run: the number that is missing to where groups begin. An operand
// of more bytes than the arithmetic has groups of several vectors, which may begin at any of them.
int edge_before(const Loop& loop, int group, char* const* others, int other_count) {
  for (int edge = 0; edge < group; edge++) {
    const auto fits = [&](const char* data, DType type) {
      return data == nullptr || misplaced(data + edge * int64_t(item_size(type)), type, group) == 0;
    };
    bool all = fits(loop.data[0], loop.dtype[0]);
    for (int k = 1; k < loop.operands; k++)
      all = all && (is_number(loop, k) || loop.strides[k][0] == 0 || fits(loop.data[k], loop.dtype[k]));
    for (int k = 0; k < other_count; k++) all = all && fits(others[k], loop.dtype[0]);
    if (all) return edge;
  }
  return -1;
}

// Rows of whole groups, each of which begins where groups do.
bool has_whole_rows(const Loop& loop, int group) {
  if (loop.ndim > kRowDims || loop.sizes[0] % group != 0 || !is_near(loop)) return false;
  for (int k = 0; k < loop.operands; k++) {
    if (is_number(loop, k) || loop.strides[k][0] == 0) continue;
    for (int d = 1; d < loop.ndim; d++)
      if (loop.strides[k][d] % group != 0) return false;
  }
  return true;
}

// Of the bits of a set (TypeBits, element.cuh), which has none for the small types behind the 32nd row of dtypes.def.
bool has_type(unsigned set, DType type) { return int(type) < 32 && (set >> int(type) & 1) != 0; }

}  // namespace

DensePlan plan_dense(const Loop& loop, int group, unsigned loads, unsigned stores, char* const* others,
                     int other_count) {
  DensePlan plan;
  if (loop.strides[0][0] != 1 || !has_type(stores, loop.dtype[0])) return plan;
  for (int k = 1; k < loop.operands; k++) {
    if (is_number(loop, k)) continue;
    if (!has_type(loads, loop.dtype[k]) || uint64_t(loop.strides[k][0]) > 1) return plan;
  }
  if (loop.ndim > 1 && !has_whole_rows(loop, group)) return plan;
  const int before = edge_before(loop, group, others, other_count);
  if (before < 0 || (loop.ndim > 1 && before != 0)) return plan;
  plan.is_dense = true;
  plan.dims = loop.ndim > 1 ? loop.ndim : 0;
  plan.edges[0] = int(before < loop.numel ? before : loop.numel);
  plan.groups = (loop.numel - plan.edges[0]) / group;
  plan.edges[1] = int(loop.numel - plan.edges[0] - plan.groups * group);
  return plan;
}

bool is_one_part(const Loop& loop) { return loop.ndim <= kMaxNestDims && is_near(loop); }

// A dimension is halved; where there are too many, the outermost one is taken step by step.
void each_part(const Loop& loop, const std::function<void(const Loop&)>& f) {
  if (is_one_part(loop)) return f(loop);
  const bool deep = loop.ndim > kMaxNestDims;
  const int cut_along = deep ? loop.ndim - 1 : widest_dimension(loop);
  const int64_t size = loop.sizes[cut_along];
  const int64_t cut = deep ? 1 : (size + 1) / 2;
  for (int64_t begin = 0; begin < size; begin += cut) {
    Loop part = loop;
    part.sizes[cut_along] = begin + cut < size ? cut : size - begin;
    part.numel = loop.numel / size * part.sizes[cut_along];
    for (int k = 0; k < loop.operands; k++)
      if (!is_number(loop, k))
        part.data[k] = loop.data[k] + begin * loop.strides[k][cut_along] * int64_t(item_size(loop.dtype[k]));
    if (deep) part.ndim--;
    each_part(part, f);
  }
}

}  // namespace tessera::tensor::cuda
