// Reading and writing by index tensors: one thread for some places at a time. Rows that lie side by side in both tensors
// move in pieces of up to 16 bytes. What meets when it is written is the business of index_meet.cu and index_combine.cu.
#include "backends/cuda/index_plan.cuh"

namespace tessera::tensor::cuda {

IndexNest::IndexNest(const IndexCall& call) : indices(call.count) {
  for (int d = call.ndim - 1; d >= 0; d--) {
    if (call.sizes[d] == 1) continue;
    IndexLevel level{call.sizes[d], call.self_strides[d], call.value_strides[d], {}};
    for (int k = 0; k < indices; k++) level.index[k] = call.index_strides[k][d];
    push(level);
  }
}

void IndexNest::push(const IndexLevel& level) {
  if (count > 0) {
    IndexLevel& inner = levels[count - 1];
    bool whole = level.self == inner.size * inner.self && level.value == inner.size * inner.value;
    for (int k = 0; k < indices; k++) whole &= level.index[k] == inner.size * inner.index[k];
    if (whole) {
      inner.size *= level.size;
      return;
    }
  }
  if (count == kMaxNestDims)
    fail_with(TensorErrorKind::Runtime,
              "tensors with more than 16 dimensions that do not merge are not supported on CUDA");
  levels[count++] = level;
}

namespace {

template <class Element, class Number, int kIndices>
__global__ void __launch_bounds__(kThreads)
    move_places(const __grid_constant__ IndexPlan<Number, kIndices> plan, Element* self, Element* values, bool read) {
  constexpr int kPer = kIndices == 1 ? 2 : 1;
  const int64_t step = int64_t(gridDim.x) * kThreads * kPer;
  for (int64_t first = int64_t(blockIdx.x) * kThreads * kPer + threadIdx.x; first < plan.total; first += step) {
    int64_t at_self[kPer], at_value[kPer];
    bool inside[kPer], moves[kPer];
#pragma unroll
    for (int u = 0; u < kPer; u++) {
      const int64_t place = first + u * kThreads;
      inside[u] = place < plan.total && plan.find(Number(place), at_self[u], at_value[u]);
      moves[u] = inside[u] || (place < plan.total && read && !plan.rule.skip_negative);
    }
    Element element[kPer];
#pragma unroll
    for (int u = 0; u < kPer; u++) {
      element[u] = Element{};  // what is read out of bounds
      if (inside[u]) element[u] = read ? self[at_self[u]] : values[at_value[u]];
    }
#pragma unroll
    for (int u = 0; u < kPer; u++)
      if (moves[u]) (read ? values + at_value[u] : self + at_self[u])[0] = element[u];
  }
}

// A call whose innermost level is a row of both tensors, in wider elements.
struct Widened {
  IndexCall call;
  IndexNest nest;
  int64_t bytes;  // of an element

  Widened(const IndexCall& given, const IndexNest& narrow)
      : call(given), nest(narrow), bytes(int64_t(item_size(given.dtype))) {
    if (nest.count == 0) return;
    IndexLevel& row = nest.levels[0];
    if (!nest.fixed(row) || row.self != 1 || row.value != 1) return;
    uint64_t all = uint64_t(uintptr_t(call.self)) | uint64_t(uintptr_t(call.values)) | uint64_t(row.size * bytes);
    for (int d = 1; d < nest.count; d++)
      all |= uint64_t(nest.levels[d].self * bytes) | uint64_t(nest.levels[d].value * bytes);
    for (int k = 0; k < call.count; k++) all |= uint64_t(call.step[k] * bytes);
    int64_t times = 1;
    while (bytes * times < 16 && all % uint64_t(bytes * times * 2) == 0) times *= 2;
    bytes *= times;
    row.size /= times;
    for (int d = 1; d < nest.count; d++) nest.levels[d].self /= times, nest.levels[d].value /= times;
    for (int k = 0; k < call.count; k++) call.step[k] /= times;
  }
};

template <class Element, class Number, int kIndices>
void launch_move(const Widened& w, SkipNegative skip) {
  const Place place(w.call.launch);
  launch<move_places<Element, Number, kIndices>>(
      place, {blocks_for(w.nest.places(), 2), kThreads}, IndexPlan<Number, kIndices>(w.call, w.nest, skip),
      reinterpret_cast<Element*>(w.call.self), reinterpret_cast<Element*>(w.call.values),
      w.call.mode == IndexCall::Mode::Read);
}
template <class Element>
void move_as(const Widened& w, SkipNegative skip) {
  const bool small = w.nest.places() <= INT32_MAX;
  if (small && w.nest.indices == 1) launch_move<Element, uint32_t, 1>(w, skip);
  else if (small) launch_move<Element, uint32_t, kMaxIndices>(w, skip);
  else launch_move<Element, uint64_t, kMaxIndices>(w, skip);
}

}  // namespace

void move_by_index(const IndexCall& call, const IndexNest& nest, SkipNegative skip) {
  if (nest.places() == 0) return;
  const Widened w(call, nest);
  switch (w.bytes) {
    case 1: return move_as<uint8_t>(w, skip);
    case 2: return move_as<uint16_t>(w, skip);
    case 4: return move_as<uint32_t>(w, skip);
    case 8: return move_as<uint64_t>(w, skip);
    default: return move_as<ulonglong2>(w, skip);
  }
}

namespace {

void index_elements(const IndexCall& call) {
  const IndexNest nest(call);
  if (nest.places() == 0) return;
  switch (call.mode) {
    case IndexCall::Mode::Read: return move_by_index(call, nest, SkipNegative::No);
    case IndexCall::Mode::Write: return write_by_index(call, nest);
    default: return combine_by_index(call, nest);
  }
}

const CudaKernel<IndexCall> entry("index", index_elements);

}  // namespace
}  // namespace tessera::tensor::cuda
