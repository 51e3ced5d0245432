// Writes by index that may meet in one element: the last place has it, as on the CPU. Where keys are few beside the places,
// each key notes the largest place that has it; else places are sorted by their keys.
#include "backends/cuda/index_keys.cuh"

namespace tessera::tensor::cuda {
namespace {

using KeyPlan = IndexPlan<uint32_t, kMaxIndices>;

__device__ inline bool key_of(const KeyPlan& plan, int64_t low, int64_t place, int64_t& key) {
  int64_t value;
  const bool inside = plan.find(uint32_t(place), key, value);
  key -= low;
  return inside;
}

__global__ void __launch_bounds__(kThreads)
    note_owners(const __grid_constant__ KeyPlan plan, int64_t low, int64_t* targets, unsigned* owners) {
  each_in_grid(plan.total, [&](int64_t i) {
    int64_t key;
    const bool inside = key_of(plan, low, i, key);
    targets[i] = inside ? key : -1;
    if (inside) atomicMax(owners + key, unsigned(i) + 1);
  });
}

__global__ void __launch_bounds__(kThreads) keep_owners(int64_t* targets, const unsigned* owners, int64_t n) {
  each_in_grid(n, [&](int64_t i) {
    if (targets[i] >= 0 && owners[targets[i]] != unsigned(i) + 1) targets[i] = -1;
  });
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
    write_keys(const __grid_constant__ KeyPlan plan, int64_t low, int64_t none, Key* keys, uint32_t* places) {
  each_in_grid(plan.total, [&](int64_t i) {
    int64_t key;
    const bool inside = key_of(plan, low, i, key);
    keys[i] = Key(inside ? key : none);
    places[i] = uint32_t(i);
  });
}

__global__ void __launch_bounds__(kThreads)
    keep_last(KeyList keys, const uint32_t* places, int64_t n, int64_t none, int64_t* targets) {
  each_in_grid(n, [&](int64_t i) {
    const int64_t key = keys[i];
    targets[places[i]] = key == none || (i + 1 < n && keys[i + 1] == key) ? -1 : key;
  });
}

// For each place the unit of self that it writes, or -1.
void find_targets(const IndexCall& call, const Place& place, const MeetingPlaces& meeting, int64_t* targets) {
  const Grid grid{blocks_for(meeting.n, 1), kThreads};
  if (meeting.span <= (1 << 22) || meeting.span / 8 <= meeting.n) {
    const Scratch owners(call.launch, size_t(meeting.span) * 4);
    check_call(cudaMemsetAsync(owners.get(), 0, size_t(meeting.span) * 4, place.stream()));
    launch<note_owners>(place, grid, meeting.plan(call), meeting.low, targets, owners.as<unsigned>());
    launch<keep_owners>(place, grid, targets, owners.as<unsigned>(), meeting.n);
    return;
  }
  const SortedPlaces sorted(call, place, meeting);
  launch<keep_last>(place, grid, KeyList(sorted), sorted.places(), meeting.n, meeting.span, targets);
}

}  // namespace

SortedPlaces::SortedPlaces(const IndexCall& call, const Place& place, const MeetingPlaces& meeting) {
  const int bits = std::bit_width(uint64_t(meeting.span));
  const auto sort = [&](auto& pairs) {
    pairs.emplace(call.launch, meeting.n);
    using Key = std::remove_pointer_t<decltype(pairs->keys())>;
    launch<write_keys<Key>>(place, {blocks_for(meeting.n, 1), kThreads}, meeting.plan(call), meeting.low, meeting.span,
                            pairs->keys(), pairs->payload());
    pairs->sort(place, bits);
  };
  if (bits <= 32) sort(narrow);
  else sort(wide);
}

void write_by_index(const IndexCall& call, const IndexNest& nest) {
  bool one_value = true;  // whoever comes last writes the same
  for (int d = 0; d < nest.count; d++) one_value &= nest.levels[d].value == 0;
  if (one_value) return move_by_index(call, nest, SkipNegative::No);
  const MeetingPlaces meeting(call, nest);
  if (meeting.n == 1) return move_by_index(call, nest, SkipNegative::No);
  const Place place(call.launch);
  const Scratch targets(call.launch, size_t(meeting.n) * sizeof(int64_t));
  find_targets(call, place, meeting, targets.as<int64_t>());
  // The same places by one index, which has been looked at.
  IndexCall found = call;
  found.self += meeting.low * meeting.unit * int64_t(item_size(call.dtype));
  found.negative = IndexCall::Negative::Refuse;
  found.count = 1;
  found.index[0] = targets.as<int64_t>();
  found.extent[0] = meeting.span;
  found.step[0] = meeting.unit;
  IndexNest by_target;
  by_target.indices = 1;
  int64_t stride = 1;
  for (int d = 0; d < nest.count; d++) {
    const IndexLevel& level = nest.levels[d];
    const bool apart = nest.apart(level);
    by_target.push({level.size, apart ? level.self : 0, level.value, {apart ? 0 : stride}});
    if (!apart) stride *= level.size;
  }
  move_by_index(found, by_target, SkipNegative::Yes);
}

}  // namespace tessera::tensor::cuda
