// Sorting of rows, stable, with the places that the elements came from.
//
// Elements become records: the order key above, the place below, as one unsigned number as narrow as the row allows. No two
// records are equal, so any way of sorting them is stable. Short rows go through Batcher's network of exchanges without
// jumps, longer ones through a radix sort by bytes, the lowest first, which leaves out bytes that are the same everywhere.
#include <algorithm>
#include <array>

#include "backends/cpu/order_key.h"
#include "backends/cpu/sort.h"
#include "backends/cpu/threads.h"
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

template <class Record>
void sort_short(Record* records, int n) {
  const Exchange *e = &kNetworks.exchanges[size_t(kNetworks.start[size_t(n)])],
                 *end = e + (kNetworks.start[size_t(n) + 1] - kNetworks.start[size_t(n)]);
  for (; e != end; e++) {
    const Record a = records[e->low], b = records[e->high];
    records[e->low] = a < b ? a : b;
    records[e->high] = a < b ? b : a;
  }
}

// ---- long rows ----

// Sorts by `bits` bits from bit `low` on, kDigitBits in a pass. Returns which of the two buffers holds the result.
template <int kDigitBits, class Record>
Record* sort_digits(Record* records, Record* other, int64_t n, int low, int bits) {
  constexpr int kDigits = 1 << kDigitBits, kMostPasses = (64 + kDigitBits - 1) / kDigitBits;
  const int passes = (bits + kDigitBits - 1) / kDigitBits;
  const auto digit = [low](Record r, int pass) { return size_t(r >> (low + pass * kDigitBits)) % kDigits; };
  int64_t counts[kMostPasses][kDigits];
  std::fill_n(counts[0], passes * kDigits, int64_t(0));
  for (int64_t i = 0; i < n; i++)
    for (int pass = 0; pass < passes; pass++) counts[pass][digit(records[i], pass)]++;
  for (int pass = 0; pass < passes; pass++) {
    int64_t* place = counts[pass];
    if (place[digit(records[0], pass)] == n) continue;
    int64_t before = 0;
    for (int d = 0; d < kDigits; d++) before += std::exchange(place[d], before);
    for (int64_t i = 0; i < n; i++) other[place[digit(records[i], pass)]++] = records[i];
    std::swap(records, other);
  }
  return records;
}

// Wider digits save passes, as long as they are few in number beside the records.
template <class Record>
Record* sort_radix(Record* records, Record* other, int64_t n, int low, int bits) {
  if (n >= 1 << 15) return sort_digits<11>(records, other, n, low, bits);
  return sort_digits<8>(records, other, n, low, bits);
}

// ---- rows ----

template <class T>
class RowSorter {
 public:
  using Key = OrderKey<T>;

  explicit RowSorter(const SortCall& call) : call_(call), flip_(call.descending ? ~Key(0) : Key(0)) {}

  void sort(int64_t row) {
    const int64_t n = call_.size;
    const T* in = static_cast<const T*>(call_.in) + row * n;
    if (n <= kShort) return sort_few(row, in);
    Key least = ~Key(0), most = 0;
    for (int64_t i = 0; i < n; i++) {
      const Key key = order_key(in[i]) ^ flip_;
      least = std::min(least, key), most = std::max(most, key);
    }
    const int key_bits = std::bit_width(Key(most - least));
    const bool exact = keys_tell_all(in, n);
    const int place_bits = std::bit_width(uint64_t(n - 1));
    if (key_bits + place_bits <= 32 && place_bits < 32) sort_as<uint32_t>(row, in, least, key_bits, place_bits, exact);
    else if (key_bits + place_bits <= 64) sort_as<uint64_t>(row, in, least, key_bits, place_bits, exact);
    else sort_as<uint128>(row, in, least, key_bits, 64, exact);
  }

 private:
  // Looking for the narrowest record would take longer than the exchanges.
  void sort_few(int64_t row, const T* in) {
    using Record = std::conditional_t<sizeof(Key) == 8, uint128, uint64_t>;
    constexpr int kPlaceBits = std::bit_width(unsigned(kShort - 1));
    const int n = int(call_.size);
    Record records[kShort];
    for (int i = 0; i < n; i++) records[i] = Record(Key(order_key(in[i]) ^ flip_)) << kPlaceBits | Record(i);
    sort_short(records, n);
    T* out = static_cast<T*>(call_.out) + row * n;
    int64_t* index = call_.index + row * n;
    for (int i = 0; i < n; i++) {
      index[i] = int64_t(records[i] % kShort);
      out[i] = in[index[i]];
    }
  }

  template <class Record>
  void sort_as(int64_t row, const T* in, Key least, int key_bits, int place_bits, bool exact) {
    const int64_t n = call_.size;
    Record* records = scratch<Record>(2 * n);
    for (int64_t i = 0; i < n; i++)
      records[i] = Record(Key((order_key(in[i]) ^ flip_) - least)) << place_bits | Record(i);
    if (key_bits) records = sort_radix(records, records + n, n, place_bits, key_bits);
    write(row, in, records, least, place_bits, exact);
  }

  template <class Record>
  Record* scratch(int64_t n) {
    const int64_t bytes = n * int64_t(sizeof(Record));
    if (!scratch_.defined() || scratch_.numel() < bytes) scratch_ = Tensor::empty({bytes}, kUInt8);
    return static_cast<Record*>(scratch_.data_ptr());
  }

  template <class Record>
  void write(int64_t row, const T* in, const Record* records, Key least, int place_bits, bool exact) {
    const int64_t n = call_.size;
    T* out = static_cast<T*>(call_.out) + row * n;
    const uint64_t places = place_bits == 64 ? ~uint64_t(0) : (uint64_t(1) << place_bits) - 1;
    int64_t* index = call_.index + row * n;
    for (int64_t i = 0; i < n; i++) index[i] = int64_t(uint64_t(records[i]) & places);
    if (exact)
      for (int64_t i = 0; i < n; i++) out[i] = element_of<T>(Key(Key(records[i] >> place_bits) + least) ^ flip_);
    else
      for (int64_t i = 0; i < n; i++) out[i] = in[index[i]];
  }

  const SortCall& call_;
  const Key flip_;
  Tensor scratch_;
};

}  // namespace

void sort_rows(const SortCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(c.rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(c.size, 1)), [&](int64_t begin, int64_t end) {
      RowSorter<T> sorter(c);
      for (int64_t row = begin; row < end; row++) sorter.sort(row);
    });
  });
}

namespace {
const KernelRegistration<SortCall> registration{sort_kernel, DeviceType::Cpu, sort_rows};
}  // namespace
}  // namespace tessera::tensor::cpu
