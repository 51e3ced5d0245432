// The loops of a call that reads or writes by index tensors; index.cpp says what they do. Included by what instantiates them.
#pragma once
#include <algorithm>
#include <complex>
#include <cstring>
#include <mutex>

#include "backends/cpu/convert.h"
#include "backends/cpu/threads.h"
#include "runtime/context.h"
#include "runtime/ops/index_kernel.h"
#include "runtime/pieces.h"

namespace tessera::tensor::cpu {

using IndexMode = IndexCall::Mode;
constexpr int64_t kIndexGrain = 16384;

constexpr bool combines(IndexMode mode) { return mode != IndexMode::Read && mode != IndexMode::Write; }
/// Sums with tight loops of their own, in index.cpp; what else combines has the general loops, in index_combine.cpp.
constexpr DTypeSet kTightSums = DTypeSet(kInt32) | kInt64 | kFloat32 | kFloat64;
template <IndexMode kMode, class T>
constexpr bool kTight = !combines(kMode) || (kMode == IndexMode::Accumulate && kTightSums.has(dtype_of<T>));

// Element arithmetic of the modes that combine: halves and smaller types in float, integers wrap round.
template <IndexMode kMode, class T>
inline T combined(T a, T b) {
  using Wide = typename WideOf<T>::type;
  if constexpr (!std::is_same_v<T, Wide>)
    return convert_element<T>(combined<kMode>(convert_element<Wide>(a), convert_element<Wide>(b)));
  else if constexpr (kMode == IndexMode::Maximum) return b > a || b != b ? b : a;
  else if constexpr (kMode == IndexMode::Minimum) return b < a || b != b ? b : a;
  else if constexpr (std::is_same_v<T, bool>) return kMode == IndexMode::Accumulate ? a || b : a && b;
  else if constexpr (std::is_integral_v<T>)
    return T(kMode == IndexMode::Accumulate ? uint64_t(a) + uint64_t(b) : uint64_t(a) * uint64_t(b));
  else return kMode == IndexMode::Accumulate ? a + b : a * b;
}

template <IndexMode kMode, class T>
inline void move_element(T& self, T& value) {
  if constexpr (kMode == IndexMode::Read) value = self;
  else if constexpr (kMode == IndexMode::Write && sizeof(T) <= 8) __atomic_store(&self, &value, __ATOMIC_RELAXED);
  else if constexpr (kMode == IndexMode::Write) self = value;
  else self = combined<kMode>(self, value);
}

// One loop of a call: how far it goes, and what one step moves in each operand.
struct IndexLevel {
  int64_t size, self, value, index[kMaxIndices];
};

// The loops of a call, outermost first. Before the row, if there is one, stands the strip.
class IndexNest {
 public:
  explicit IndexNest(const IndexCall& c) : indices(c.count) {
    for (int d = 0; d < c.ndim; d++) {
      if (c.sizes[d] == 1) continue;
      IndexLevel level{c.sizes[d], c.self_strides[d], c.value_strides[d], {}};
      for (int k = 0; k < indices; k++) level.index[k] = c.index_strides[k][d];
      if (count > 0 && continues(levels[count - 1], level)) level.size *= levels[--count].size;
      levels[count++] = level;
    }
    row = count > 0 && fixed(levels[count - 1]);
    if (count > int(row)) return;
    levels[count] = levels[0];
    levels[0] = IndexLevel{1, 0, 0, {}};
    count++;
  }
  const IndexLevel& strip() const { return levels[count - 1 - int(row)]; }
  int outer() const { return count - 1 - int(row); }

  const int indices;
  int count = 0;
  bool row;
  IndexLevel levels[kMaxLoopDims + 1];

 private:
  bool continues(const IndexLevel& a, const IndexLevel& b) const {
    bool whole = a.self == b.size * b.self && a.value == b.size * b.value;
    for (int k = 0; k < indices; k++) whole &= a.index[k] == b.size * b.index[k];
    return whole;
  }
  bool fixed(const IndexLevel& level) const {
    return std::all_of(level.index, level.index + indices, [](int64_t step) { return step == 0; });
  }
};

template <class T>
struct IndexCursor {
  T* self;
  T* value;
  const int64_t* index[kMaxIndices];

  void advance(const IndexLevel& level, int64_t n, int indices) {
    self += n * level.self;
    value += n * level.value;
    for (int k = 0; k < indices; k++) index[k] += n * level.index[k];
  }
};

// An index out of bounds: which one and where among the places, so that of several the first one is reported.
struct IndexFault {
  int64_t place = INT64_MAX;
  int which = 0;
  int64_t index = 0;
};

// What resolving an index takes, apart from the call: elements that are written might be its numbers for all that the
// compiler knows, and would have them read again at every place.
template <int kIndices>
struct IndexResolver {
  explicit IndexResolver(const IndexCall& c) : count(kIndices ? kIndices : c.count) {
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

// The values of the first index whose rows a thread writes.
struct IndexTargets {
  int64_t begin = 0, end = INT64_MAX;
};

// Places of a strip, one element each; returns how many, fewer than n when an index is out of bounds. kIndices 0: any number.
template <IndexMode kMode, int kIndices, class T>
int64_t run_elements(const IndexCall& c, const IndexLevel& strip, const IndexCursor<T>& at, int64_t n) {
  const IndexResolver<kIndices> resolve(c);
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
      move_element<kMode>(self[offset], value[dense ? i : i * strip.value]);
    }
    return n;
  };
  bool dense = strip.value == 1;
  for (int k = 0; k < resolve.count; k++) dense &= strip.index[k] == 1;
  return dense ? run(std::true_type(), strip.self) : run(std::false_type(), strip.self);
}

// The commonest strip, and the one where a cycle counts: one index without negative numbers, all elements side by side, as
// gather and scatter along the last dimension have it.
template <IndexMode kMode, class T>
int64_t run_vector(const IndexCursor<T>& at, int64_t extent, int64_t n) {
  const int64_t* index = at.index[0];
  T *const self = at.self, *const value = at.value;
  for (int64_t i = 0; i < n; i++) {
    const uint64_t place = uint64_t(index[i]);
    if (place >= uint64_t(extent)) [[unlikely]]
      return i;
    move_element<kMode>(self[place], value[i]);
  }
  return n;
}

// Combines `n` values with the row `self`. The function is not inlined: within the loops that call it the compiler has no register left for a
// vector. A block is read whole before it is written: reads that alternate with writes took four times as long, probably because the processor
// mistakes a read for one of a store just before it.
template <IndexMode kMode, class T>
[[gnu::noinline]] void combine_row(T* self, T* value, int64_t n) {
  constexpr int64_t kBlock = 64 / int64_t(sizeof(T));
  for (; n >= kBlock; n -= kBlock, self += kBlock, value += kBlock) {
    T block[kBlock];
    for (int64_t i = 0; i < kBlock; i++) block[i] = self[i];
    for (int64_t i = 0; i < kBlock; i++) move_element<kMode>(block[i], value[i]);
    std::memcpy(static_cast<void*>(self), block, sizeof block);
  }
  for (int64_t i = 0; i < n; i++) move_element<kMode>(self[i], value[i]);
}

template <IndexMode kMode, class T>
inline void run_row(T* self, T* value, int64_t n, const IndexLevel& row) {
  if (row.self == 1 && row.value == 1) {
    if constexpr (combines(kMode)) combine_row<kMode>(self, value, n);
    else
      std::memcpy(static_cast<void*>(kMode == IndexMode::Read ? value : self), kMode == IndexMode::Read ? self : value,
                  size_t(n) * sizeof(T));
    return;
  }
  if constexpr (kMode == IndexMode::Write)
    if (row.self == 1 && row.value == 0) return repeat_element(self, value, n, sizeof(T));
  for (int64_t i = 0; i < n; i++) move_element<kMode>(self[i * row.self], value[i * row.value]);
}

template <IndexMode kMode, class T>
int64_t run_rows(const IndexCall& c, const IndexLevel& strip, const IndexLevel& row, int64_t width,
                 IndexTargets targets, const IndexCursor<T>& at, int64_t n) {
  const IndexResolver<0> resolve(c);
  for (int64_t i = 0; i < n; i++) {
    int64_t offset = i * strip.self;
    for (int k = 0; k < resolve.count; k++)
      if (!resolve(k, at.index[k][i * strip.index[k]], offset)) [[unlikely]]
        return i;
    if constexpr (kTight<kMode, T>) {
      int64_t first = at.index[0][i * strip.index[0]];
      first += resolve.wrap[0] & (first >> 63);
      if (first < targets.begin || first >= targets.end) continue;
    }
    run_row<kMode>(at.self + offset, at.value + i * strip.value, width, row);
  }
  return n;
}

template <IndexMode kMode, class T>
class IndexLoop {
 public:
  explicit IndexLoop(const IndexCall& c) : c_(c), nest_(c) {
    const IndexLevel& strip = nest_.strip();
    is_vector_ = nest_.indices == 1 && c.negative == IndexCall::Negative::Refuse && c.step[0] == 1 && strip.self == 0 &&
                 strip.value == 1 && strip.index[0] == 1;
    is_one_value_ =
        kMode == IndexMode::Write && sizeof(T) <= 8 &&
        std::all_of(nest_.levels, nest_.levels + nest_.count, [](const IndexLevel& l) { return l.value == 0; });
  }

  void run() {
    int64_t total = 1;
    for (int d = 0; d < nest_.count; d++) total *= nest_.levels[d].size;
    if (total == 0) return;
    const int shared = total <= kIndexGrain ? -1 : shared_level();
    if (shared < 0) {
      int64_t parts = 1;
      if constexpr (kTight<kMode, T>)
        if (nest_.row && c_.step[0] != 0)
          parts = std::min<int64_t>({Context::current().threads, kMostParts, total / kIndexGrain});
      if (parts <= 1) walk(0, 0, nest_.levels[0].size);
      else if constexpr (kTight<kMode, T>) share_targets(parts);
    } else {
      const int64_t size = nest_.levels[shared].size;
      parallel_for(size, std::max<int64_t>(1, kIndexGrain * size / total),
                   [&](int64_t begin, int64_t end) { walk(shared, begin, end); });
    }
    if (fault_.place != INT64_MAX)
      fail_out_of_bounds(c_.complaint, fault_.index, c_.dim[fault_.which], c_.extent[fault_.which]);
  }

 private:
  // The outermost level worth sharing; of a row only its parts that fill some lines of the cache.
  int shared_level() const {
    for (int d = 0; d < nest_.count; d++) {
      const IndexLevel& level = nest_.levels[d];
      const bool apart = kMode == IndexMode::Read || is_one_value_ || level.self != 0;
      if (apart && level.size >= (nest_.row && d == nest_.count - 1 ? 256 : 8)) return d;
    }
    return -1;
  }

  int64_t run_strip(const IndexCursor<T>& at, int64_t n, int64_t width, IndexTargets targets) const {
    if (nest_.row) return run_rows<kMode>(c_, nest_.strip(), nest_.levels[nest_.count - 1], width, targets, at, n);
    if (is_vector_) return run_vector<kMode>(at, c_.extent[0], n);
    if constexpr (kTight<kMode, T>) {
      if (nest_.indices == 1) return run_elements<kMode, 1>(c_, nest_.strip(), at, n);
      if (nest_.indices == 2) return run_elements<kMode, 2>(c_, nest_.strip(), at, n);
    }
    return run_elements<kMode, 0>(c_, nest_.strip(), at, n);
  }

  // A strip in pieces between which the program can be stopped; `credit` is the elements until the next look.
  int64_t run_pieces(IndexCursor<T> at, int64_t n, int64_t width, IndexTargets targets, int64_t& credit) const {
    const int64_t cost = nest_.row ? std::max<int64_t>(1, width) : 1;
    if (cost * n <= credit) {
      credit -= cost * n;
      return run_strip(at, n, width, targets);
    }
    const int64_t piece = std::max<int64_t>(1, kPieceElements / cost);
    credit = kPieceElements;
    for (int64_t done = 0; done < n; done += piece) {
      Context::current().poll();
      const int64_t some = std::min(piece, n - done), got = run_strip(at, some, width, targets);
      if (got < some) return done + got;
      at.advance(nest_.strip(), some, nest_.indices);
    }
    return n;
  }

  // Each thread goes over all places and writes the rows that are its own, so that equal indices meet in one thread, in order:
  // to read an index costs little beside a row. The error, if there is one, is the same for all.
  void share_targets(int64_t parts) {
    const int64_t extent = c_.extent[0];
    run_split(parts, {.grain = 1, .tasks = true}, RangeBody([&](int64_t begin, int64_t end) {
                walk(0, 0, nest_.levels[0].size, {extent * begin / parts, extent * end / parts});
              }));
  }

  // All places of which the coordinate in level `shared` is in [begin, end).
  [[gnu::noinline]] void walk(int shared, int64_t begin, int64_t end, IndexTargets targets = {}) {
    const IndexLevel* levels = nest_.levels;
    const int outer = nest_.outer();
    const auto size_of = [&](int d) { return d == shared ? end - begin : levels[d].size; };
    IndexCursor<T> at{reinterpret_cast<T*>(c_.self), reinterpret_cast<T*>(c_.values), {}};
    std::copy_n(c_.index, nest_.indices, at.index);
    at.advance(levels[shared], begin, nest_.indices);
    int64_t counter[kMaxLoopDims + 1];
    std::fill_n(counter, outer, int64_t(0));
    const int64_t n = size_of(outer), width = size_of(nest_.count - 1);
    int64_t credit = kPieceElements;
    for (int d = 0; d >= 0;) {
      counter[outer] = run_pieces(at, n, width, targets, credit);
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

  void note_fault(const IndexCursor<T>& at, const int64_t* counter, int64_t in_strip) {
    const IndexResolver<0> resolve(c_);
    IndexFault fault{0, 0, 0};
    for (int d = 0; d <= nest_.outer(); d++) fault.place = fault.place * nest_.levels[d].size + counter[d];
    for (int64_t offset = 0; fault.which < nest_.indices; fault.which++) {
      fault.index = at.index[fault.which][in_strip * nest_.strip().index[fault.which]];
      if (!resolve(fault.which, fault.index, offset)) break;
    }
    const std::lock_guard lock(fault_mutex_);
    if (fault.place < fault_.place) fault_ = fault;
  }

  static constexpr int64_t kMostParts = 8;  // more threads would mostly read indices

  const IndexCall& c_;
  const IndexNest nest_;
  bool is_vector_, is_one_value_;
  std::mutex fault_mutex_;
  IndexFault fault_;
};

}  // namespace tessera::tensor::cpu
