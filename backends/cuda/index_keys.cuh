// Places that may meet in one element get keys: equal keys, one element. Only the levels of a nest along which places can
// meet at all take part; over the others (rows) the same holds for each coordinate.
#pragma once

#include <bit>
#include <numeric>
#include <optional>

#include "backends/cuda/index_plan.cuh"
#include "backends/cuda/radix_sort.h"

namespace tessera::tensor::cuda {

class MeetingPlaces {
 public:
  IndexNest keyed, rest;
  int64_t unit = 0;  // a key is an offset in self less `low`, in these many elements
  int64_t low = 0;
  int64_t span = 1;  // keys are below it; it is the key of a place that names nothing
  int64_t n = 1;     // places that have keys

  MeetingPlaces(const IndexCall& call, const IndexNest& nest) {
    keyed.indices = rest.indices = nest.indices;
    for (int d = 0; d < nest.count; d++) (nest.apart(nest.levels[d]) ? rest : keyed).push(nest.levels[d]);
    n = keyed.places();
    if (n > INT32_MAX)
      fail_with(TensorErrorKind::Runtime, "more than 2147483647 indices that may meet are not supported on CUDA");
    for (int d = 0; d < keyed.count; d++) unit = std::gcd(unit, keyed.levels[d].self);
    for (int k = 0; k < call.count; k++) unit = std::gcd(unit, call.step[k]);
    if (unit == 0) unit = 1;
    const auto reach = [&](int64_t size, int64_t stride) {
      if (size > 0) (stride < 0 ? low : span) += (size - 1) * (stride / unit);
    };
    for (int d = 0; d < keyed.count; d++) reach(keyed.levels[d].size, keyed.levels[d].self);
    for (int k = 0; k < call.count; k++) reach(call.extent[k], call.step[k]);
    span -= low;
  }

  /// The call over the places that have keys, its offsets in units.
  IndexPlan<uint32_t, kMaxIndices> plan(const IndexCall& call) const {
    IndexCall in_units = call;
    for (int k = 0; k < call.count; k++) in_units.step[k] /= unit;
    IndexNest nest = keyed;
    for (int d = 0; d < nest.count; d++) nest.levels[d].self /= unit;
    return IndexPlan<uint32_t, kMaxIndices>(in_units, nest, SkipNegative::No);
  }
};

/// Keys in order, each with the number of its place; of equal ones the first place comes first.
struct SortedPlaces {
  std::optional<Pairs<uint32_t>> narrow;
  std::optional<Pairs<uint64_t>> wide;

  SortedPlaces(const IndexCall& call, const Place& place, const MeetingPlaces& meeting);
  const uint32_t* places() const { return narrow ? narrow->payload() : wide->payload(); }
};

/// Either width of keys, as a kernel reads them.
struct KeyList {
  const uint32_t* narrow;
  const uint64_t* wide;

  explicit KeyList(const SortedPlaces& sorted)
      : narrow(sorted.narrow ? sorted.narrow->keys() : nullptr), wide(sorted.wide ? sorted.wide->keys() : nullptr) {}
  __device__ int64_t operator[](int64_t i) const { return narrow ? int64_t(narrow[i]) : int64_t(wide[i]); }
};

}  // namespace tessera::tensor::cuda
