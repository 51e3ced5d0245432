// The n-th element of each row, without sorting it; the most frequent one; and places among sorted edges.
// compile: vectors (plain loops over elements)
#include <algorithm>
#include <atomic>

#include "backends/cpu/order_key.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "runtime/context.h"
#include "runtime/ops/sorting.h"
#include "runtime/pieces.h"

namespace tessera::tensor::cpu {
namespace {

template <class Key>
struct NthKey {
  Key key;
  int64_t which, equal;  // of the equal ones, and how many they are
};

constexpr int64_t kPart = 32768;  // the fewest keys worth a thread
constexpr int kMostParts = 8;

/// f(part, begin, end) for the parts of [0, n), each on a thread of its own if there is one.
template <class F>
void for_parts(int64_t n, int parts, const F& f) {
  run_split(parts, {.grain = 1, .tasks = true}, RangeBody([&](int64_t first, int64_t last) {
              for (int64_t p = first; p < last; p++) f(p, n * p / parts, n * (p + 1) / parts);
            }));
}

constexpr int kMostBits = 10;

/// What one thread finds in its part of the keys.
template <class Key>
struct KeyPart {
  Key least, most;
  int64_t kept;
  int64_t counts[1 << kMostBits];

  void find_range(const Key* keys, int64_t n) {
    Key low = keys[0], high = keys[0];
    in_pieces(n, [&](int64_t i, int64_t end) {
      for (; i < end; i++) low = std::min(low, keys[i]), high = std::max(high, keys[i]);
    });
    least = low, most = high;
  }
  void count(const Key* keys, int64_t n, Key from, int shift, int bits) {
    std::fill_n(counts, int64_t(1) << bits, int64_t(0));
    in_pieces(n, [&](int64_t i, int64_t end) {
      for (; i < end; i++) counts[size_t((keys[i] - from) >> shift)]++;
    });
  }
  void keep(Key* keys, int64_t n, Key from, int shift, Key bucket) {
    int64_t count = 0;
    in_pieces(n, [&](int64_t i, int64_t end) {
      for (; i < end; i++) {
        const Key key = keys[i];
        keys[count] = key;
        count += (key - from) >> shift == bucket;
      }
    });
    kept = count;
  }
};

// Counts the keys by their leading bits, keeps those of the bucket that the n-th one lies in, and again. Changes `keys`.
template <class Key>
NthKey<Key> nth_key(Key* keys, int64_t n, int64_t nth) {
  constexpr int64_t kFew = 128;
  const int most_parts = std::min(Context::current().threads, kMostParts);
  const auto parts_of = [&](int64_t count) { return int(std::clamp<int64_t>(count / kPart, 1, most_parts)); };
  const Scratch<KeyPart<Key>> scratch(n > kFew ? parts_of(n) : 0);
  KeyPart<Key>* const part = scratch.data();
  while (n > kFew) {
    const int parts = parts_of(n);
    for_parts(n, parts, [=](int64_t p, int64_t begin, int64_t end) { part[p].find_range(keys + begin, end - begin); });
    Key least = part[0].least, most = part[0].most;
    for (int p = 1; p < parts; p++) least = std::min(least, part[p].least), most = std::max(most, part[p].most);
    const int bits = n < 4096 ? 8 : kMostBits, shift = std::max(0, int(std::bit_width(Key(most - least))) - bits);
    for_parts(n, parts, [=](int64_t p, int64_t begin, int64_t end) {
      part[p].count(keys + begin, end - begin, least, shift, bits);
    });
    int64_t* const counts = part[0].counts;
    for (int p = 1; p < parts; p++)
      for (int64_t b = 0; b < int64_t(1) << bits; b++) counts[b] += part[p].counts[b];
    Key bucket = 0;
    for (; nth >= counts[size_t(bucket)]; bucket++) nth -= counts[size_t(bucket)];
    if (shift == 0) return {Key(least + bucket), nth, counts[size_t(bucket)]};
    for_parts(n, parts, [=](int64_t p, int64_t begin, int64_t end) {
      part[p].keep(keys + begin, end - begin, least, shift, bucket);
    });
    int64_t kept = 0;
    for (int p = 0; p < parts; kept += part[p++].kept) std::copy_n(keys + n * p / parts, part[p].kept, keys + kept);
    n = kept;
  }
  std::sort(keys, keys + n);
  const auto [first, last] = std::equal_range(keys, keys + n, keys[nth]);
  return {*first, keys + nth - first, last - first};
}

// Where quickselect with a median of three leaves the nth element, when others equal it.
template <class T>
int64_t quickselect_place(const T* row, int64_t n, int64_t nth) {
  struct Item {
    OrderKey<T> key;
    int64_t place;
  };
  const Scratch<Item> items(n);
  Item* a = items.data();
  in_pieces(n, [&](int64_t i, int64_t end) {
    for (; i < end; i++) a[i] = {order_key(row[i]), i};
  });
  const auto look = [](int64_t i) {
    if (i % kPieceElements == 0) [[unlikely]]
      Context::current().poll();
  };
  const auto order = [&](int64_t i, int64_t j) {
    if (a[i].key > a[j].key) std::swap(a[i], a[j]);
  };
  int64_t left = 0, right = n - 1;
  while (right > left) {
    if (right == left + 1) {
      order(left, right);
      break;
    }
    // Pivot to `left`, something smaller beside it, something larger at the end.
    std::swap(a[left + (right - left) / 2], a[left + 1]);
    order(left + 1, right);
    order(left, right);
    order(left + 1, left);
    const auto pivot = a[left].key;
    int64_t i = left + 1, j = right;
    while (true) {
      while (a[++i].key < pivot) look(i);
      while (a[--j].key > pivot) look(j);
      if (j < i) break;
      std::swap(a[i], a[j]);
    }
    std::swap(a[left], a[j]);
    if (j <= nth) left = i;
    if (j >= nth) right = j - 1;
  }
  return a[nth].place;
}

template <class T>
class RowSelect {
 public:
  using Key = OrderKey<T>;

  explicit RowSelect(const SelectCall& call)
      : call_(call), scratch_(Tensor::empty({call.size}, sizeof(Key) == 8 ? kFloat64 : kFloat32)) {}

  void run(int64_t row) {
    const T* in = static_cast<const T*>(call_.in) + row * call_.size;
    const int64_t place = place_of(in, call_.size);
    call_.index[row] = place;
    static_cast<T*>(call_.out)[row] = in[place];
  }

 private:
  int64_t place_of(const T* in, int64_t n) const {
    Key* keys = static_cast<Key*>(scratch_.data_ptr());
    const bool median = call_.rule == SelectCall::Rule::Median;
    std::atomic<bool> broken = false;
    parallel_for(
        n, kPart, [ =, &broken ](int64_t begin, int64_t end) __attribute__((noinline)) {
          Key most = 0;
          for (int64_t i = begin; i < end; i++) keys[i] = order_key(in[i]), most = std::max(most, keys[i]);
          if (most == ~Key(0)) broken = true;
        });
    if (!std::is_integral_v<T> && median && broken) return occurrence(in, n, ~Key(0), 0);
    const auto [key, which, equal] = nth_key(keys, n, call_.nth);
    if (equal == 1 || median) return occurrence(in, n, key, which);
    return quickselect_place(in, n, call_.nth);
  }
  // Blocks are passed over without jumps.
  static int64_t occurrence(const T* in, int64_t n, Key key, int64_t which) {
    constexpr int64_t kBlock = 256;
    int64_t i = 0;
    for (; i + kBlock <= n; i += kBlock) {
      int count = 0;
      if (i % kPieceElements == 0) Context::current().poll();
      for (int64_t j = i; j < i + kBlock; j++) count += order_key(in[j]) == key;
      if (which < count) break;
      which -= count;
    }
    for (;; i++)
      if (order_key(in[i]) == key && which-- == 0) return i;
  }

  const SelectCall& call_;
  const Tensor scratch_;
};

void select_rows(const SelectCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(c.rows, std::max<int64_t>(1, 8192 / c.size), [&](int64_t begin, int64_t end) {
      RowSelect<T> select(c);
      for (int64_t row = begin; row < end; row++) select.run(row);
    });
  });
}

template <class T>
int64_t mode_place(const T* row, int64_t n) {
  using Number = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  int64_t best = 0, best_count = 0, start = 0;
  in_pieces(n, [&](int64_t i, int64_t end) {
    for (; i < end; i++) {
      if (convert_element<Number>(row[i]) != convert_element<Number>(row[start])) start = i;
      if (i - start + 1 > best_count) best = i, best_count = i - start + 1;
    }
  });
  return best;
}

void mode_rows(const ModeCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(c.rows, std::max<int64_t>(1, 8192 / c.size), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; r++)
        c.place[r] = mode_place(static_cast<const T*>(c.sorted) + r * c.size, c.size);
    });
  });
}

// Halving without jumps. What is no number lies above everything.
template <bool kRight, class T>
int64_t place_among(const T* edges, int64_t n, T x) {
  using Number = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  const auto before = [x = Number(x)](T edge) { return kRight ? !(Number(edge) > x) : !(Number(edge) >= x); };
  const T* at = edges;
  for (; n > 1; n -= n / 2) at += before(at[n / 2 - 1]) ? n / 2 : 0;
  return at - edges + (n == 1 && before(*at));
}

template <bool kRight>
void search(const SearchCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t grain = c.size < 1 << 16 ? 2048 : 256;  // edges that no cache holds
    parallel_for(c.rows * c.per_row, grain, [&](int64_t begin, int64_t end) {
      const T* values = static_cast<const T*>(c.values);
      for (int64_t i = begin; i < end; i++)
        c.out[i] = place_among<kRight>(static_cast<const T*>(c.edges) + i / c.per_row * c.size, c.size, values[i]);
    });
  });
}
void search_rows(const SearchCall& c) { c.right ? search<true>(c) : search<false>(c); }

const KernelRegistration<SelectCall> register_select{select_kernel, DeviceType::Cpu, select_rows};
const KernelRegistration<ModeCall> register_mode{mode_kernel, DeviceType::Cpu, mode_rows};
const KernelRegistration<SearchCall> register_search{search_kernel, DeviceType::Cpu, search_rows};

}  // namespace
}  // namespace tessera::tensor::cpu
