// Writes by index that combine: sums, products, extremes. What meets in one element is combined in the order of the places,
// whatever the device does: places are sorted by the element that they name, and a thread goes through each run of equal
// ones. Long runs are cut where the sorted list is, in chunks; what the chunks give is combined in order by a second kernel.
// Sums of whole numbers need no order: there the places add up with atomics.
#include "backends/cuda/element.cuh"
#include "backends/cuda/half.cuh"
#include "backends/cuda/index_keys.cuh"

namespace tessera::tensor::cuda {
namespace {

using Mode = IndexCall::Mode;

template <class T>
struct Complex {
  T re, im;
};
template <class T>
inline constexpr bool is_pair = false;
template <class T>
inline constexpr bool is_pair<Complex<T>> = true;

/// Element `at` as the number in which it is combined: halves and float8 as float, complex numbers of halves as two floats, whole
/// numbers in 64 bits.
template <class T>
__device__ inline T load_number(const char* data, int64_t at, DType dtype) {
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == DType::Float16) return float(reinterpret_cast<const Float16*>(data)[at]);
    if (dtype == DType::BFloat16) return float(reinterpret_cast<const Brain16*>(data)[at]);
    if (dtype != DType::Float32) return load_as<float>(data, at, dtype);
  } else if constexpr (std::is_same_v<T, Complex<float>>) {
    if (dtype == DType::Complex64) return reinterpret_cast<const T*>(data)[at];
    const Cx<float> x = load_as<Cx<float>>(data, at, dtype);
    return {x.re, x.im};
  } else if constexpr (std::is_same_v<T, int64_t>) {
    switch (dtype) {
      case DType::Bool:
      case DType::UInt8: return reinterpret_cast<const uint8_t*>(data)[at];
      case DType::Int8: return reinterpret_cast<const int8_t*>(data)[at];
      case DType::Int16: return reinterpret_cast<const int16_t*>(data)[at];
      case DType::UInt16: return reinterpret_cast<const uint16_t*>(data)[at];
      case DType::Int32: return reinterpret_cast<const int32_t*>(data)[at];
      case DType::UInt32: return reinterpret_cast<const uint32_t*>(data)[at];
      default: break;
    }
  }
  return reinterpret_cast<const T*>(data)[at];
}

template <class T>
__device__ inline void store_number(char* data, int64_t at, DType dtype, T x) {
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == DType::Float16) return void(reinterpret_cast<Float16*>(data)[at] = Float16(x));
    if (dtype == DType::BFloat16) return void(reinterpret_cast<Brain16*>(data)[at] = Brain16(x));
    if (dtype != DType::Float32) return store_as<float>(data, at, dtype, x);
  } else if constexpr (std::is_same_v<T, Complex<float>>) {
    if (dtype != DType::Complex64) return store_as<Cx<float>>(data, at, dtype, Cx<float>(x.re, x.im));
  } else if constexpr (std::is_same_v<T, int64_t>) {
    switch (dtype) {
      case DType::Bool: return void(reinterpret_cast<bool*>(data)[at] = x != 0);
      case DType::UInt8:
      case DType::Int8: return void(reinterpret_cast<uint8_t*>(data)[at] = uint8_t(x));
      case DType::Int16:
      case DType::UInt16: return void(reinterpret_cast<uint16_t*>(data)[at] = uint16_t(x));
      case DType::Int32:
      case DType::UInt32: return void(reinterpret_cast<uint32_t*>(data)[at] = uint32_t(x));
      default: break;
    }
  }
  reinterpret_cast<T*>(data)[at] = x;
}

template <class T>
__device__ inline T combined(Mode mode, T a, T b) {
  if constexpr (is_pair<T>) {
    if (mode == Mode::Multiply) return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return {a.re + b.re, a.im + b.im};
  } else {
    if (mode == Mode::Maximum) return b > a || b != b ? b : a;
    if (mode == Mode::Minimum) return b < a || b != b ? b : a;
    if constexpr (std::is_same_v<T, int64_t>) {  // wraps round
      return mode == Mode::Multiply ? T(uint64_t(a) * uint64_t(b)) : T(uint64_t(a) + uint64_t(b));
    } else {
      return mode == Mode::Multiply ? a * b : a + b;
    }
  }
}

struct RunPlan {
  Mode mode;
  DType dtype;
  char* self;
  const char* values;
  KeyList keys;
  const uint32_t* places;
  int64_t n, none, low, unit;
  int chunk_shift;
  PlaceDims<uint32_t> keyed;
  int64_t keyed_values[kMaxNestDims];
  PlaceDims<uint64_t> rest;
  int64_t rest_self[kMaxNestDims], rest_values[kMaxNestDims];
  FastDivide<uint64_t> columns;
  void *heads, *pieces;  // of each chunk: what a run that goes on has so far, what one that came in adds

  RunPlan(const IndexCall& call, const MeetingPlaces& meeting, const SortedPlaces& sorted)
      : mode(call.mode),
        dtype(call.dtype),
        self(call.self),
        values(call.values),
        keys(sorted),
        places(sorted.places()),
        n(meeting.n),
        none(meeting.span),
        low(meeting.low),
        unit(meeting.unit),
        columns(uint64_t(meeting.rest.places())) {
    // About the root of the list: no thread has more of them, nor more chunks.
    chunk_shift = 6;
    while (chunk_shift < 12 && (int64_t(1) << 2 * chunk_shift) < n) chunk_shift++;
    for (int d = 0; d < meeting.keyed.count; d++) {
      keyed.push(meeting.keyed.levels[d].size);
      keyed_values[d] = meeting.keyed.levels[d].value;
    }
    for (int d = 0; d < meeting.rest.count; d++) {
      rest.push(meeting.rest.levels[d].size);
      rest_self[d] = meeting.rest.levels[d].self, rest_values[d] = meeting.rest.levels[d].value;
    }
  }
  int64_t chunks() const { return ((n - 1) >> chunk_shift) + 1; }

  __device__ int64_t value_of(int64_t i) const {
    int64_t at = 0;
    keyed.each(places[i], [&](int d, uint32_t coordinate) { at += int64_t(coordinate) * keyed_values[d]; });
    return at;
  }
  __device__ void column(uint64_t c, int64_t& at_self, int64_t& at_value) const {
    at_self = at_value = 0;
    rest.each(c, [&](int d, uint64_t coordinate) {
      at_self += int64_t(coordinate) * rest_self[d];
      at_value += int64_t(coordinate) * rest_values[d];
    });
  }
};

// A thread for each place of the sorted list in each column; the first of a run, or of what a chunk has of it, works.
template <class T>
__global__ void __launch_bounds__(kThreads) combine_runs(const __grid_constant__ RunPlan plan) {
  const uint64_t total = uint64_t(plan.n) * plan.columns.divisor(), step = uint64_t(gridDim.x) * kThreads;
  for (uint64_t t = uint64_t(blockIdx.x) * kThreads + threadIdx.x; t < total; t += step) {
    const auto [first, c] = plan.columns.divide(t);
    int64_t i = int64_t(first);
    const int64_t key = plan.keys[i];
    if (key == plan.none) continue;
    const bool begins = i == 0 || plan.keys[i - 1] != key;
    const int64_t chunk = i >> plan.chunk_shift;
    if (!begins && i != chunk << plan.chunk_shift) continue;
    int64_t at_self, at_value;
    plan.column(c, at_self, at_value);
    at_self += (key + plan.low) * plan.unit;
    const int64_t behind = (chunk + 1) << plan.chunk_shift, end = behind < plan.n ? behind : plan.n;
    T total_so_far = begins ? load_number<T>(plan.self, at_self, plan.dtype)
                            : load_number<T>(plan.values, plan.value_of(i++) + at_value, plan.dtype);
    for (; i < end && plan.keys[i] == key; i++)
      total_so_far =
          combined(plan.mode, total_so_far, load_number<T>(plan.values, plan.value_of(i) + at_value, plan.dtype));
    const uint64_t in_chunk = uint64_t(chunk) * plan.columns.divisor() + c;
    if (!begins) static_cast<T*>(plan.pieces)[in_chunk] = total_so_far;
    else if (i == end && end < plan.n && plan.keys[end] == key) static_cast<T*>(plan.heads)[in_chunk] = total_so_far;
    else store_number(plan.self, at_self, plan.dtype, total_so_far);
  }
}

// A thread for each chunk that a run begins in and goes beyond, in each column.
template <class T>
__global__ void __launch_bounds__(kThreads) combine_chunks(const __grid_constant__ RunPlan plan, int64_t chunks) {
  const uint64_t columns = plan.columns.divisor(), total = uint64_t(chunks) * columns,
                 step = uint64_t(gridDim.x) * kThreads;
  for (uint64_t t = uint64_t(blockIdx.x) * kThreads + threadIdx.x; t < total; t += step) {
    const auto [chunk, c] = plan.columns.divide(t);
    const int64_t first = int64_t(chunk) << plan.chunk_shift;
    int64_t next = first + (int64_t(1) << plan.chunk_shift);
    if (next >= plan.n) continue;
    const int64_t key = plan.keys[next - 1];
    if (key == plan.none || plan.keys[next] != key) continue;
    if (first > 0 && plan.keys[first - 1] == key) continue;  // it began before
    int64_t at_self, at_value;
    plan.column(c, at_self, at_value);
    at_self += (key + plan.low) * plan.unit;
    T total_so_far = static_cast<const T*>(plan.heads)[t];
    uint64_t at = t + columns;
    for (; next < plan.n && plan.keys[next] == key; next += int64_t(1) << plan.chunk_shift, at += columns)
      total_so_far = combined(plan.mode, total_so_far, static_cast<const T*>(plan.pieces)[at]);
    store_number(plan.self, at_self, plan.dtype, total_so_far);
  }
}

template <class T>
void combine_as(const IndexCall& call, const IndexNest& nest) {
  const Place place(call.launch);
  const MeetingPlaces meeting(call, nest);
  const SortedPlaces sorted(call, place, meeting);
  RunPlan plan(call, meeting, sorted);
  const int64_t chunks = plan.chunks(), columns = meeting.rest.places();
  const Scratch partial(call.launch, size_t(chunks > 1 ? chunks * columns * 2 : 1) * sizeof(T));
  plan.heads = partial.get();
  plan.pieces = partial.as<T>() + chunks * columns;
  launch<combine_runs<T>>(place, {blocks_for(meeting.n * columns, 1), kThreads}, plan);
  if (chunks > 1) launch<combine_chunks<T>>(place, {blocks_for(chunks * columns, 1), kThreads}, plan, chunks);
}

// Whole numbers: the order of a sum does not matter. Unsigned, so that it wraps round.
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_whole(const __grid_constant__ IndexPlan<uint64_t, kMaxIndices> plan, T* self, const T* values) {
  each_in_grid(plan.total, [&](int64_t i) {
    int64_t at_self, at_value;
    if (plan.find(uint64_t(i), at_self, at_value)) atomicAdd(self + at_self, values[at_value]);
  });
}
template <class T>
void add_whole_numbers(const IndexCall& call, const IndexNest& nest) {
  const Place place(call.launch);
  launch<add_whole<T>>(place, {blocks_for(nest.places(), 1), kThreads},
                       IndexPlan<uint64_t, kMaxIndices>(call, nest, SkipNegative::No), reinterpret_cast<T*>(call.self),
                       reinterpret_cast<const T*>(call.values));
}

}  // namespace

void combine_by_index(const IndexCall& call, const IndexNest& nest) {
  if (call.mode == Mode::Accumulate && call.dtype == DType::Int64)
    return add_whole_numbers<unsigned long long>(call, nest);
  if (call.mode == Mode::Accumulate && call.dtype == DType::Int32) return add_whole_numbers<unsigned>(call, nest);
  switch (call.dtype) {
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32: return combine_as<float>(call, nest);
    case DType::Float64: return combine_as<double>(call, nest);
    case DType::Complex32:
    case DType::BComplex32:
    case DType::Complex64: return combine_as<Complex<float>>(call, nest);
    case DType::Complex128: return combine_as<Complex<double>>(call, nest);
    default: return is_float8(call.dtype) ? combine_as<float>(call, nest) : combine_as<int64_t>(call, nest);
  }
}

}  // namespace tessera::tensor::cuda
