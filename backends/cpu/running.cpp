// What has been met so far: counts of small numbers, and the best element of a line with its place.
#include <algorithm>
#include <mutex>
#include <vector>

#include "backends/cpu/order_key.h"
#include "backends/cpu/parallel_2d.h"
#include "runtime/ops/sorting.h"

namespace tessera::tensor::cpu {
namespace {

// Two tables in turn: equal numbers one after the other do not wait for each other. Threads add up whole numbers, in any order.
void count_small(const CountSmallCall& c) {
  constexpr uint64_t kSmall = CountSmallCall::kSmall;
  std::mutex mutex;
  parallel_for(c.n, 65536, [&](int64_t begin, int64_t end) {
    uint32_t even[kSmall + 1] = {}, odd[kSmall + 1] = {};  // the last one is for all that are not small
    int64_t i = begin;
    for (; i + 2 <= end; i += 2) {
      const uint64_t x = uint64_t(c.in[i]), y = uint64_t(c.in[i + 1]);
      even[std::min(x, kSmall)]++, odd[std::min(y, kSmall)]++;
    }
    if (i < end) even[std::min(uint64_t(c.in[i]), kSmall)]++;
    const std::lock_guard lock(mutex);
    for (uint64_t k = 0; k <= kSmall; k++) c.out[k] += int64_t(even[k]) + odd[k];
  });
}

constexpr int64_t kStrip = 512;

// The best of some lines so far. NaN has the highest key in both directions.
template <class T>
struct Leader {
  OrderKey<T> key = 0;
  int64_t place = 0;
  T value{};

  void meet(T x, int64_t at, OrderKey<T> flip) {
    OrderKey<T> k = order_key(x) ^ flip;
    if constexpr (!std::is_integral_v<T>) k = float(x) != float(x) ? ~OrderKey<T>(0) : k;
    if (k >= key) key = k, place = at, value = x;
  }
};

// Elements [first, first + count) of the inner dimension, side by side.
template <class T>
void run_strip(const RunningExtremeCall& c, int64_t outer, int64_t first, int64_t count) {
  const OrderKey<T> flip = c.largest ? 0 : ~OrderKey<T>(0);
  Leader<T> leaders[kStrip];
  for (int64_t i = 0; i < c.n; i++) {
    const int64_t at = (outer * c.n + i) * c.inner + first;
    const T* in = static_cast<const T*>(c.in) + at;
    T* out = static_cast<T*>(c.out) + at;
    for (int64_t j = 0; j < count; j++) {
      leaders[j].meet(in[j], i, flip);
      out[j] = leaders[j].value, c.index[at + j] = leaders[j].place;
    }
  }
}

constexpr int64_t kBlock = 16;
constexpr int64_t kLongPart = 32768;  // elements of a part of a line that threads share

/// Whether nothing in a block is as good as the best so far: the usual case, and no chain of comparisons that wait for each other.
template <class T>
bool is_behind(const T* block, T best, bool largest) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return false;
  else {
    int behind = 0;
    if (largest)
      for (int64_t j = 0; j < kBlock; j++) behind += block[j] < best;
    else
      for (int64_t j = 0; j < kBlock; j++) behind += block[j] > best;
    return behind == kBlock;
  }
}

/// Elements [begin, end) of a line; `leader` is that of what stands before them, and that of all of them afterwards.
template <class T>
[[gnu::noinline]] void run_part(const RunningExtremeCall& c, int64_t outer, int64_t begin, int64_t end,
                                Leader<T>& leader, bool writes) {
  const OrderKey<T> flip = c.largest ? 0 : ~OrderKey<T>(0);
  const T* in = static_cast<const T*>(c.in) + outer * c.n;
  T* out = static_cast<T*>(c.out) + outer * c.n;
  int64_t* index = c.index + outer * c.n;
  bool first = !writes || begin == 0;
  for (int64_t i = begin; i < end; first = false) {
    const int64_t stop = std::min(i + kBlock, end);
    if (!first && stop - i == kBlock && is_behind(in + i, leader.value, c.largest)) {
      if (writes) {
        std::fill_n(out + i, kBlock, leader.value);
        std::fill_n(index + i, kBlock, leader.place);
      }
      i = stop;
      continue;
    }
    for (; i < stop; i++) {
      leader.meet(in[i], i, flip);
      if (writes) out[i] = leader.value, index[i] = leader.place;
    }
  }
}

/// A long line: of each part the best is looked for, then all parts are written, each from the best before it on.
template <class T>
void run_long_line(const RunningExtremeCall& c, int64_t parts) {
  std::vector<Leader<T>> leaders(size_t(parts) + 1);
  const auto start = [&](int64_t part) { return c.n * part / parts; };
  parallel_for(parts - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; p++) run_part(c, 0, start(p), start(p + 1), leaders[size_t(p) + 1], false);
  });
  for (int64_t p = 1; p < parts; p++) {
    const Leader<T> before = leaders[size_t(p) - 1];
    Leader<T>& leader = leaders[size_t(p)];
    if (p > 1 && before.key > leader.key) leader = before;
  }
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; p++) {
      Leader<T> leader = leaders[size_t(p)];
      run_part(c, 0, start(p), start(p + 1), leader, true);
    }
  });
}

void run_extreme(const RunningExtremeCall& c) {
  with_type<RunningExtremeCall::kTypes>(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t parts = Context::current().threads == 1 ? 1 : c.n / kLongPart;
    if constexpr (sizeof(T) >= 4)
      if (c.outer * c.inner == 1 && parts > 1) return run_long_line<T>(c, parts);
    const int64_t strip = strip_for_threads(c.outer * c.inner, kStrip, 2);
    parallel_2d(c.outer, c.inner, strip, c.n, [&](const Tile& t) {
      for (int64_t o = t.outer_begin; o < t.outer_end; o++) {
        Leader<T> leader;
        if (c.inner == 1) run_part(c, o, 0, c.n, leader, true);
        else run_strip<T>(c, o, t.inner_begin, t.inner_end - t.inner_begin);
      }
    });
  });
}

const KernelRegistration<CountSmallCall> register_counts{count_small_kernel, DeviceType::Cpu, count_small};
const KernelRegistration<RunningExtremeCall> register_extreme{running_extreme_kernel, DeviceType::Cpu, run_extreme};

}  // namespace
}  // namespace tessera::tensor::cpu
