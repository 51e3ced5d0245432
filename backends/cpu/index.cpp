// Reading and writing by index tensors.
//
// A call becomes a nest of loops over places: dimensions of size 1 dropped, neighbours that are one run merged. The
// innermost loops are tight: a strip of places, each with one element or with one row that no index varies over.
// Threads share one dimension of the nest. Reading may share any, and so may writing one number everywhere: whoever comes
// last writes the same. Other writing only one in which different places are different elements whatever the indices say,
// so that equal indices meet in one thread, in order.
#include <algorithm>
#include <complex>
#include <cstring>
#include <mutex>

#include "backends/cpu/convert.h"
#include "backends/cpu/threads.h"
#include "runtime/ops/index_kernel.h"

namespace tessera::tensor::cpu {
namespace {

using Mode = IndexCall::Mode;
constexpr int64_t kGrain = 16384;

constexpr bool combines(Mode mode) { return mode != Mode::Read && mode != Mode::Write; }
/// Modes with the general loops only, for few dtypes (IndexCall).
constexpr bool is_rare(Mode mode) { return combines(mode) && mode != Mode::Accumulate; }
constexpr DTypeSet kRareTypes = DTypeSet(kInt64) | kFloat32 | kFloat64;

// Element arithmetic of the modes that combine: halves in float, integers wrap round.
template <Mode kMode, class T>
inline T combined(T a, T b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(combined<kMode>(float(a), float(b)));
  else if constexpr (kMode == Mode::Maximum) return b > a || b != b ? b : a;
  else if constexpr (kMode == Mode::Minimum) return b < a || b != b ? b : a;
  else if constexpr (std::is_same_v<T, bool>) return kMode == Mode::Accumulate ? a || b : a && b;
  else if constexpr (std::is_integral_v<T>)
    return T(kMode == Mode::Accumulate ? uint64_t(a) + uint64_t(b) : uint64_t(a) * uint64_t(b));
  else return kMode == Mode::Accumulate ? a + b : a * b;
}

template <Mode kMode, class T>
inline void move(T& self, T& value) {
  if constexpr (kMode == Mode::Read) value = self;
  else if constexpr (kMode == Mode::Write && sizeof(T) <= 8) __atomic_store(&self, &value, __ATOMIC_RELAXED);
  else if constexpr (kMode == Mode::Write) self = value;
  else self = combined<kMode>(self, value);
}

// One loop of a call: how far it goes, and what one step moves in each operand.
struct Level {
  int64_t size, self, value, index[kMaxIndices];
};

// The loops of a call, outermost first. Before the row, if there is one, stands the strip.
class Nest {
 public:
  explicit Nest(const IndexCall& c) : indices(c.count) {
    for (int d = 0; d < c.ndim; d++) {
      if (c.sizes[d] == 1) continue;
      Level level{c.sizes[d], c.self_strides[d], c.value_strides[d], {}};
      for (int k = 0; k < indices; k++) level.index[k] = c.index_strides[k][d];
      if (count > 0 && continues(levels[count - 1], level)) level.size *= levels[--count].size;
      levels[count++] = level;
    }
    row = count > 0 && fixed(levels[count - 1]);
    if (count > int(row)) return;
    levels[count] = levels[0];
    levels[0] = Level{1, 0, 0, {}};
    count++;
  }
  const Level& strip() const { return levels[count - 1 - int(row)]; }
  int outer() const { return count - 1 - int(row); }

  const int indices;
  int count = 0;
  bool row;
  Level levels[kMaxLoopDims + 1];

 private:
  bool continues(const Level& a, const Level& b) const {
    bool whole = a.self == b.size * b.self && a.value == b.size * b.value;
    for (int k = 0; k < indices; k++) whole &= a.index[k] == b.size * b.index[k];
    return whole;
  }
  bool fixed(const Level& level) const {
    return std::all_of(level.index, level.index + indices, [](int64_t step) { return step == 0; });
  }
};

template <class T>
struct Cursor {
  T* self;
  T* value;
  const int64_t* index[kMaxIndices];

  void advance(const Level& level, int64_t n, int indices) {
    self += n * level.self;
    value += n * level.value;
    for (int k = 0; k < indices; k++) index[k] += n * level.index[k];
  }
};

// An index out of bounds: which one and where among the places, so that of several the first one is reported.
struct Fault {
  int64_t place = INT64_MAX;
  int which = 0;
  int64_t index = 0;
};

// What resolving an index takes, apart from the call: elements that are written might be its numbers for all that the
// compiler knows, and would have them read again at every place.
template <int kIndices>
struct Resolver {
  explicit Resolver(const IndexCall& c) : count(kIndices ? kIndices : c.count) {
    for (int k = 0; k < count; k++) {
      extent[k] = c.extent[k], step[k] = c.step[k];
      wrap[k] = c.negative == IndexCall::Negative::Wrap ? c.extent[k] : 0;
    }
  }
  /// Adds what index k gives to the offset; false when it is out of bounds.
  bool operator()(int k, int64_t index, int64_t& offset) const {
    index += wrap[k] & (index >> 63);
    offset += index * step[k];
    return uint64_t(index) < uint64_t(extent[k]);
  }

  const int count;
  int64_t extent[kIndices ? kIndices : kMaxIndices], step[kIndices ? kIndices : kMaxIndices],
      wrap[kIndices ? kIndices : kMaxIndices];
};

// Places of a strip, one element each; returns how many, fewer than n when an index is out of bounds. kIndices 0: any number.
template <Mode kMode, int kIndices, class T>
int64_t run_elements(const IndexCall& c, const Level& strip, const Cursor<T>& at, int64_t n) {
  const Resolver<kIndices> resolve(c);
  const int64_t* index[kIndices ? kIndices : kMaxIndices];
  std::copy_n(at.index, resolve.count, index);
  T *const self = at.self, *const value = at.value;
  const auto run = [&](auto dense, int64_t self_step) -> int64_t {
    for (int64_t i = 0; i < n; i++) {
      int64_t offset = i * self_step;
      bool inside = true;
      for (int k = 0; k < resolve.count; k++) inside &= resolve(k, index[k][dense ? i : i * strip.index[k]], offset);
      if (!inside) [[unlikely]]
        return i;
      move<kMode>(self[offset], value[dense ? i : i * strip.value]);
    }
    return n;
  };
  bool dense = strip.value == 1;
  for (int k = 0; k < resolve.count; k++) dense &= strip.index[k] == 1;
  return dense ? run(std::true_type(), strip.self) : run(std::false_type(), strip.self);
}

// The commonest strip, and the one where a cycle counts: one index without negative numbers, all elements side by side, as
// gather and scatter along the last dimension have it.
template <Mode kMode, class T>
int64_t run_vector(const Cursor<T>& at, int64_t extent, int64_t n) {
  const int64_t* index = at.index[0];
  T *const self = at.self, *const value = at.value;
  for (int64_t i = 0; i < n; i++) {
    const uint64_t place = uint64_t(index[i]);
    if (place >= uint64_t(extent)) [[unlikely]]
      return i;
    move<kMode>(self[place], value[i]);
  }
  return n;
}

template <Mode kMode, class T>
inline void run_row(T* self, T* value, int64_t n, const Level& row) {
  if (row.self == 1 && row.value == 1) {
    if constexpr (combines(kMode))
      for (int64_t i = 0; i < n; i++) move<kMode>(self[i], value[i]);
    else
      std::memcpy(static_cast<void*>(kMode == Mode::Read ? value : self), kMode == Mode::Read ? self : value,
                  size_t(n) * sizeof(T));
    return;
  }
  if constexpr (kMode == Mode::Write)
    if (row.self == 1 && row.value == 0) return repeat_element(self, value, n, sizeof(T));
  for (int64_t i = 0; i < n; i++) move<kMode>(self[i * row.self], value[i * row.value]);
}

template <Mode kMode, class T>
int64_t run_rows(const IndexCall& c, const Level& strip, const Level& row, int64_t width, const Cursor<T>& at,
                 int64_t n) {
  const Resolver<0> resolve(c);
  for (int64_t i = 0; i < n; i++) {
    int64_t offset = i * strip.self;
    for (int k = 0; k < resolve.count; k++)
      if (!resolve(k, at.index[k][i * strip.index[k]], offset)) [[unlikely]]
        return i;
    run_row<kMode>(at.self + offset, at.value + i * strip.value, width, row);
  }
  return n;
}

template <Mode kMode, class T>
class IndexLoop {
 public:
  explicit IndexLoop(const IndexCall& c) : c_(c), nest_(c) {
    const Level& strip = nest_.strip();
    is_vector_ = nest_.indices == 1 && c.negative == IndexCall::Negative::Refuse && c.step[0] == 1 && strip.self == 0 &&
                 strip.value == 1 && strip.index[0] == 1;
    is_one_value_ = kMode == Mode::Write && sizeof(T) <= 8 &&
                    std::all_of(nest_.levels, nest_.levels + nest_.count, [](const Level& l) { return l.value == 0; });
  }

  void run() {
    int64_t total = 1;
    for (int d = 0; d < nest_.count; d++) total *= nest_.levels[d].size;
    if (total == 0) return;
    const int shared = total <= kGrain ? -1 : shared_level();
    if (shared < 0) {
      walk(0, 0, nest_.levels[0].size);
    } else {
      const int64_t size = nest_.levels[shared].size;
      parallel_for(size, std::max<int64_t>(1, kGrain * size / total),
                   [&](int64_t begin, int64_t end) { walk(shared, begin, end); });
    }
    if (fault_.place != INT64_MAX)
      fail_out_of_bounds(c_.complaint, fault_.index, c_.dim[fault_.which], c_.extent[fault_.which]);
  }

 private:
  // The outermost level worth sharing; of a row only its parts that fill some lines of the cache.
  int shared_level() const {
    for (int d = 0; d < nest_.count; d++) {
      const Level& level = nest_.levels[d];
      const bool apart = kMode == Mode::Read || is_one_value_ || level.self != 0;
      if (apart && level.size >= (nest_.row && d == nest_.count - 1 ? 256 : 8)) return d;
    }
    return -1;
  }

  int64_t run_strip(const Cursor<T>& at, int64_t n, int64_t width) const {
    if (nest_.row) return run_rows<kMode>(c_, nest_.strip(), nest_.levels[nest_.count - 1], width, at, n);
    if constexpr (!is_rare(kMode)) {
      if (is_vector_) return run_vector<kMode>(at, c_.extent[0], n);
      if (nest_.indices == 1) return run_elements<kMode, 1>(c_, nest_.strip(), at, n);
      if (nest_.indices == 2) return run_elements<kMode, 2>(c_, nest_.strip(), at, n);
    }
    return run_elements<kMode, 0>(c_, nest_.strip(), at, n);
  }

  // All places of which the coordinate in level `shared` is in [begin, end).
  void walk(int shared, int64_t begin, int64_t end) {
    const Level* levels = nest_.levels;
    const int outer = nest_.outer();
    const auto size_of = [&](int d) { return d == shared ? end - begin : levels[d].size; };
    Cursor<T> at{reinterpret_cast<T*>(c_.self), reinterpret_cast<T*>(c_.values), {}};
    std::copy_n(c_.index, nest_.indices, at.index);
    at.advance(levels[shared], begin, nest_.indices);
    int64_t counter[kMaxLoopDims + 1];
    std::fill_n(counter, outer, int64_t(0));
    const int64_t n = size_of(outer), width = size_of(nest_.count - 1);
    for (int d = 0; d >= 0;) {
      counter[outer] = run_strip(at, n, width);
      if (counter[outer] < n) {
        if (shared <= outer) counter[shared] += begin;
        return note_fault(at, counter, counter[outer] - (shared == outer ? begin : 0));
      }
      for (d = outer - 1; d >= 0; d--) {
        at.advance(levels[d], 1, nest_.indices);
        if (++counter[d] < size_of(d)) break;
        at.advance(levels[d], -counter[d], nest_.indices);
        counter[d] = 0;
      }
    }
  }

  void note_fault(const Cursor<T>& at, const int64_t* counter, int64_t in_strip) {
    const Resolver<0> resolve(c_);
    Fault fault{0, 0, 0};
    for (int d = 0; d <= nest_.outer(); d++) fault.place = fault.place * nest_.levels[d].size + counter[d];
    for (int64_t offset = 0; fault.which < nest_.indices; fault.which++) {
      fault.index = at.index[fault.which][in_strip * nest_.strip().index[fault.which]];
      if (!resolve(fault.which, fault.index, offset)) break;
    }
    const std::lock_guard lock(fault_mutex_);
    if (fault.place < fault_.place) fault_ = fault;
  }

  const IndexCall& c_;
  const Nest nest_;
  bool is_vector_, is_one_value_;
  std::mutex fault_mutex_;
  Fault fault_;
};

template <Mode kMode, DTypeSet kTypes>
void combine_elements(const IndexCall& c) {
  with_type<kTypes>(c.dtype, [&](auto tag) { IndexLoop<kMode, typename decltype(tag)::type>(c).run(); });
}

void index_elements(const IndexCall& c) {
  switch (c.mode) {
    case Mode::Accumulate: return combine_elements<Mode::Accumulate, kAllTypes>(c);
    case Mode::Multiply: return combine_elements<Mode::Multiply, kRareTypes | kComplexTypes>(c);
    case Mode::Maximum: return combine_elements<Mode::Maximum, kRareTypes>(c);
    case Mode::Minimum: return combine_elements<Mode::Minimum, kRareTypes>(c);
    case Mode::Read:
    case Mode::Write: break;
  }
  with_size(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (c.mode == Mode::Read) IndexLoop<Mode::Read, T>(c).run();
    else IndexLoop<Mode::Write, T>(c).run();
  });
}

const KernelRegistration<IndexCall> register_index{index_kernel, DeviceType::Cpu, index_elements};

}  // namespace
}  // namespace tessera::tensor::cpu
