// Sorting of rows, stable, with the places that the elements came from.
//
// Elements become records: the order key above, the place below, as one unsigned number as narrow as the row allows. No two
// records are equal, so any way of sorting them is stable. Short rows go through Batcher's network of exchanges without
// jumps, longer ones through a radix sort by bytes, the lowest first, which leaves out bytes that are the same everywhere.
// compile: vectors (plain loops over elements)
#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "backends/cpu/order_key.h"
#include "backends/cpu/sort.h"
#include "backends/cpu/threads.h"
#include "runtime/context.h"
#include "runtime/ops/sorting.h"

namespace tessera::tensor::cpu {
namespace {

__extension__ typedef unsigned __int128 uint128;

// ---- short rows ----

constexpr int kShort = 32;

struct Exchange {
  uint8_t low, high;
};

// Batcher's odd-even merge sort: calls f(i, j) for the exchanges that sort n items.
template <class F>
constexpr void for_exchanges(int n, F f) {
  for (int p = 1; p < n; p *= 2)
    for (int k = p; k >= 1; k /= 2)
      for (int j = k % p; j + k < n; j += 2 * k)
        for (int i = 0; i < std::min(k, n - j - k); i++)
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) f(i + j, i + j + k);
}

constexpr int count_exchanges() {
  int count = 0;
  for (int n = 0; n <= kShort; n++) for_exchanges(n, [&](int, int) { count++; });
  return count;
}

// The exchanges of every short length, one list behind the other.
struct Networks {
  std::array<int, kShort + 2> start{};
  std::array<Exchange, size_t(count_exchanges())> exchanges{};
  constexpr Networks() {
    int at = 0;
    for (int n = 0; n <= kShort; n++) {
      start[size_t(n)] = at;
      for_exchanges(n, [&](int i, int j) { exchanges[size_t(at++)] = {uint8_t(i), uint8_t(j)}; });
    }
    start[kShort + 1] = at;
  }
};
constexpr Networks kNetworks;

// kRows rows at once, their records side by side.
template <int kRows, class Record>
void sort_short(Record* records, int n) {
  const Exchange *e = &kNetworks.exchanges[size_t(kNetworks.start[size_t(n)])],
                 *end = e + (kNetworks.start[size_t(n) + 1] - kNetworks.start[size_t(n)]);
  for (; e != end; e++) {
    Record *const low = records + e->low * kRows, *const high = records + e->high * kRows;
    Record a[kRows], b[kRows];  // read before anything is written: the compiler does not know that they lie apart
    for (int r = 0; r < kRows; r++) a[r] = low[r], b[r] = high[r];
    for (int r = 0; r < kRows; r++) low[r] = a[r] < b[r] ? a[r] : b[r];
    for (int r = 0; r < kRows; r++) high[r] = a[r] < b[r] ? b[r] : a[r];
  }
}

// The order of the keys of kRows rows. A key of 32 bits and a place make a number that a double holds: of these every
// processor compares several at once. Looking for the narrowest record would take longer than the exchanges.
template <int kRows, class Key>
void order_short(const Key* keys, int n, int64_t* index) {
  constexpr bool kNarrow = sizeof(Key) == 4;
  using Record = std::conditional_t<kNarrow, double, uint128>;
  using Number = std::conditional_t<kNarrow, int64_t, uint128>;
  Record records[kShort * kRows];
  for (int r = 0; r < kRows; r++)
    for (int i = 0; i < n; i++) records[i * kRows + r] = Record(Number(keys[r * n + i]) * kShort + Number(i));
  sort_short<kRows>(records, n);
  for (int r = 0; r < kRows; r++)
    for (int i = 0; i < n; i++) index[r * n + i] = int64_t(Number(records[i * kRows + r]) % kShort);
}

// ---- long rows ----

constexpr int64_t kPartGrain = 32768;
constexpr int kMostParts = 16;

// f(i) from begin to end; between chunks of about a millisecond the program may be stopped.
template <class F>
inline void for_chunks(int64_t begin, int64_t end, const F& f) {
  constexpr int64_t kChunk = int64_t(1) << 18;
  while (begin < end) {
    const int64_t stop = std::min(end, begin + kChunk);
    for (; begin < stop; begin++) f(begin);
    if (begin < end) Context::current().poll();
  }
}

// Sorts by `bits` bits from bit `low` on, kDigitBits in a pass. Returns which of the two buffers holds the result.
template <int kDigitBits, class Record>
Record* sort_digits(Record* records, Record* other, int64_t n, int low, int bits) {
  constexpr int kDigits = 1 << kDigitBits, kMostPasses = (64 + kDigitBits - 1) / kDigitBits;
  const int passes = (bits + kDigitBits - 1) / kDigitBits;
  const auto digit = [low](Record r, int pass) { return size_t(r >> (low + pass * kDigitBits)) % kDigits; };
  int64_t counts[kMostPasses][kDigits];
  std::fill_n(counts[0], passes * kDigits, int64_t(0));
  for_chunks(0, n, [&](int64_t i) {
    for (int pass = 0; pass < passes; pass++) counts[pass][digit(records[i], pass)]++;
  });
  for (int pass = 0; pass < passes; pass++) {
    int64_t* place = counts[pass];
    if (place[digit(records[0], pass)] == n) continue;
    int64_t before = 0;
    for (int d = 0; d < kDigits; d++) before += std::exchange(place[d], before);
    for_chunks(0, n, [&](int64_t i) { other[place[digit(records[i], pass)]++] = records[i]; });
    std::swap(records, other);
  }
  return records;
}

// f(part, begin, end) for the parts of [0, n), each on a thread of its own if there is one.
template <class F>
void for_parts(int64_t n, int parts, const F& f) {
  const auto body = [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; p++) f(p, n * p / parts, n * (p + 1) / parts);
  };
  run_split(parts, {.grain = 1, .tasks = true}, RangeBody(body));
}

// The same by several threads: each counts and moves the records of its part, behind those of the parts before it.
template <class Record>
Record* sort_digits_in_parts(Record* records, Record* other, int64_t n, int low, int bits, int parts) {
  constexpr int kDigitBits = 11, kDigits = 1 << kDigitBits;
  std::vector<std::array<int64_t, kDigits>> counts(static_cast<size_t>(parts));
  for (const int end = low + bits; low < end; low += kDigitBits) {
    const auto digit = [low](Record r) { return size_t(r >> low) % kDigits; };
    for_parts(n, parts, [&](int64_t p, int64_t first, int64_t last) {
      auto& count = counts[size_t(p)];
      count.fill(0);
      for_chunks(first, last, [&](int64_t i) { count[digit(records[i])]++; });
    });
    int64_t before = 0;
    for (size_t d = 0; d < kDigits; d++)
      for (auto& count : counts) before += std::exchange(count[d], before);
    for_parts(n, parts, [&](int64_t p, int64_t first, int64_t last) {
      auto& place = counts[size_t(p)];
      for_chunks(first, last, [&](int64_t i) { other[place[digit(records[i])]++] = records[i]; });
    });
    std::swap(records, other);
  }
  return records;
}

// Wider digits save passes, as long as they are few in number beside the records.
template <class Record>
Record* sort_radix(Record* records, Record* other, int64_t n, int low, int bits, int parts) {
  if (parts > 1) return sort_digits_in_parts(records, other, n, low, bits, parts);
  if (n >= 1 << 15) return sort_digits<11>(records, other, n, low, bits);
  return sort_digits<8>(records, other, n, low, bits);
}

// Sorts keys; `index` gets where each came from.
template <class Key>
class KeySorter {
 public:
  explicit KeySorter(int parts) : parts_(parts) {}

  void sort(Key* keys, int64_t* index, int64_t n) {
    Key leasts[kMostParts], mosts[kMostParts];
    const auto find_range = [&](int64_t p, int64_t first, int64_t last) __attribute__((noinline)) {
      Key low = ~Key(0), high = 0;
      for_chunks(first, last, [&](int64_t i) { low = std::min(low, keys[i]), high = std::max(high, keys[i]); });
      leasts[p] = low, mosts[p] = high;
    };
    if (parts_ == 1) find_range(0, 0, n);
    else for_parts(n, parts_, find_range);
    const Key least = *std::min_element(leasts, leasts + parts_), most = *std::max_element(mosts, mosts + parts_);
    const int key_bits = std::bit_width(Key(most - least)), place_bits = std::bit_width(uint64_t(n - 1));
    if (key_bits + place_bits <= 32 && place_bits < 32) sort_as<uint32_t>(keys, index, n, least, key_bits, place_bits);
    else if (key_bits + place_bits <= 64) sort_as<uint64_t>(keys, index, n, least, key_bits, place_bits);
    else sort_as<uint128>(keys, index, n, least, key_bits, 64);
  }

 private:
  template <class Record>
  void sort_as(Key* keys, int64_t* index, int64_t n, Key least, int key_bits, int place_bits) {
    Record* records = scratch<Record>(2 * n);
    parallel_for(n, kPartGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) records[i] = Record(Key(keys[i] - least)) << place_bits | Record(i);
    });
    if (key_bits) records = sort_radix(records, records + n, n, place_bits, key_bits, parts_);
    const uint64_t places = place_bits == 64 ? ~uint64_t(0) : (uint64_t(1) << place_bits) - 1;
    parallel_for(n, kPartGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        index[i] = int64_t(uint64_t(records[i]) & places);
        keys[i] = Key(Key(records[i] >> place_bits) + least);
      }
    });
  }

  template <class Record>
  Record* scratch(int64_t n) {
    const int64_t bytes = n * int64_t(sizeof(Record));
    if (!scratch_.defined() || scratch_.numel() < bytes) {
      scratch_ = Tensor::empty({bytes}, kUInt8);
      touch_pages(static_cast<char*>(scratch_.data_ptr()), bytes);
    }
    return static_cast<Record*>(scratch_.data_ptr());
  }

  // Has the system clear the pages of new memory piece by piece. The first pass of a radix sort writes to all of them within its first
  // chunk: hundreds of milliseconds without a poll, where the pages are huge.
  static void touch_pages(char* memory, int64_t bytes) {
    constexpr int64_t kPage = 4096, kPiece = int64_t(4) << 20;
    const auto body = [=](int64_t begin, int64_t end) {
      for (int64_t page = begin; page < end; page++) static_cast<volatile char*>(memory)[page * kPage] = 0;
    };
    run_split((bytes + kPage - 1) / kPage, {.grain = kPiece / kPage, .tasks = true}, RangeBody(body));
  }

  const int parts_;
  Tensor scratch_;
};

// ---- rows ----

template <class T>
class RowSorter {
 public:
  using Key = OrderKey<T>;

  // Threads that have no row of their own share a long one.
  explicit RowSorter(const SortCall& call)
      : call_(call),
        flip_(call.descending ? ~Key(0) : Key(0)),
        keys_of_(call.rows > 1 ? 1
                               : int(std::clamp<int64_t>(call.size / kPartGrain, 1,
                                                         std::min(Context::current().threads, kMostParts)))) {}

  void sort(int64_t begin, int64_t end) {
    if (call_.size <= kShort) {
      if constexpr (sizeof(Key) == 4)
        for (; begin + 8 <= end; begin += 8) sort_few<8>(begin);
      for (; begin < end; begin++) sort_few<1>(begin);
    }
    for (; begin < end; begin++) sort_many(begin);
  }

 private:
  const T* in(int64_t row) const { return static_cast<const T*>(call_.in) + row * call_.size; }
  T* out(int64_t row) const { return static_cast<T*>(call_.out) + row * call_.size; }
  int64_t* index(int64_t row) const { return call_.index + row * call_.size; }

  template <int kRows>
  void sort_few(int64_t row) {
    const int n = int(call_.size);
    Key keys[kShort * kRows] = {};
    for (int i = 0; i < n * kRows; i++) keys[i] = order_key(in(row)[i]) ^ flip_;
    order_short<kRows>(keys, n, index(row));
    for (int r = 0; r < kRows; r++)
      for (int i = 0; i < n; i++) out(row)[r * n + i] = in(row + r)[index(row)[r * n + i]];
  }

  void sort_many(int64_t row) {
    const int64_t n = call_.size;
    if (!keys_.defined()) keys_ = Tensor::empty({n}, sizeof(Key) == 8 ? kFloat64 : kFloat32);
    Key* keys = static_cast<Key*>(keys_.data_ptr());
    const T* from = in(row);
    T* to = out(row);
    std::atomic<bool> tell_all = true;
    parallel_for(
        n, kPartGrain, [ =, flip = flip_, &tell_all ](int64_t begin, int64_t end) __attribute__((noinline)) {
          for (int64_t i = begin; i < end; i++) keys[i] = order_key(from[i]) ^ flip;
          if (!keys_tell_all(from + begin, end - begin)) tell_all = false;
        });
    keys_of_.sort(keys, index(row), n);
    const int64_t* places = index(row);
    parallel_for(
        n, kPartGrain,
        [ =, flip = flip_, in_keys = bool(tell_all) ](int64_t begin, int64_t end) __attribute__((noinline)) {
          if (in_keys)
            for (int64_t i = begin; i < end; i++) to[i] = element_of<T>(keys[i] ^ flip);
          else
            for (int64_t i = begin; i < end; i++) to[i] = from[places[i]];
        });
  }

  const SortCall& call_;
  const Key flip_;
  KeySorter<Key> keys_of_;
  Tensor keys_;
};

}  // namespace

void sort_rows(const SortCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(c.rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(c.size, 1)),
                 [&](int64_t begin, int64_t end) { RowSorter<T>(c).sort(begin, end); });
  });
}

namespace {
const KernelRegistration<SortCall> registration{sort_kernel, DeviceType::Cpu, sort_rows};
}  // namespace
}  // namespace tessera::tensor::cpu
