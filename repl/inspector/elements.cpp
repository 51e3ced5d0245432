// compile: small (once for a look of a person)
// compile: speed (loops over all elements)
#include "repl/inspector/elements.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>

#include "backends/cpu/threads.h"
#include "runtime/ops.h"
#include "stdlib/torch/state.h"

namespace tessera::repl {
using namespace tensor;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kChunk = 4096;        // elements that are read together: they stay in the processor's nearest cache
constexpr int64_t kChunksOfPart = 256;  // of what a thread does at a time: half a millisecond's work

// --- The order of reading: dimensions by falling stride, those that lie one in another as one. Elements that a layout shows
// several times (stride 0) are read once.
struct Order {
  Dims sizes, strides;
  int64_t count = 1;    // elements that are read
  int64_t repeats = 1;  // how often each stands in the tensor

  explicit Order(const Tensor& t) {
    std::vector<std::pair<int64_t, int64_t>> dims;
    for (size_t d = 0; d < t.sizes().size(); ++d) {
      const int64_t size = t.sizes()[d], stride = t.strides()[d];
      if (size == 1) continue;
      if (stride == 0) repeats *= size;
      else dims.emplace_back(stride, size), count *= size;
    }
    std::sort(dims.rbegin(), dims.rend());
    for (const auto& [stride, size] : dims) {
      if (!sizes.empty() && strides.back() == stride * size) {
        sizes[sizes.size() - 1] *= size;
        strides[strides.size() - 1] = stride;
      } else {
        sizes.push_back(size);
        strides.push_back(stride);
      }
    }
    if (sizes.empty()) sizes.push_back(1), strides.push_back(1);
  }
};

template <class T>
void gather(char* to, const char* from, int64_t n, int64_t stride) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * int64_t(sizeof(T)), from + i * stride * int64_t(sizeof(T)), sizeof(T));
}

using Gather = void (*)(char* to, const char* from, int64_t n, int64_t stride);
Gather gather_for(size_t item) {
  switch (item) {
    case 1: return gather<uint8_t>;
    case 2: return gather<uint16_t>;
    case 4: return gather<uint32_t>;
    case 8: return gather<uint64_t>;
    default: return gather<std::complex<double>>;
  }
}

// Which chunks of an Order are read: every `step`-th of those that begin in [begin, end).
struct Part {
  int64_t begin, end, step;
};

// f(bytes, n) for the chunks of a part; false: somebody wants it to stop.
using OnChunk = std::function<void(const char* elements, int64_t n)>;
bool for_chunks(const Tensor& t, const Order& order, const Part& part, const Stopping& stopping, const OnChunk& f) {
  const auto item = static_cast<int64_t>(item_size(t.dtype()));
  const Gather gather = gather_for(item_size(t.dtype()));
  const size_t last = order.sizes.size() - 1;
  const int64_t inner = order.sizes[last], stride = order.strides[last];
  const auto gathered = std::make_unique<char[]>(static_cast<size_t>(kChunk * item));
  Dims at(order.sizes.size(), 0);
  int64_t read = 0;
  for (int64_t begin = part.begin; begin < part.end; begin += kChunk * part.step) {
    if (++read % 64 == 0 && stopping && stopping()) return false;
    const int64_t n = std::min(kChunk, order.count - begin);
    int64_t from = 0, rest = begin;
    for (size_t d = order.sizes.size(); d-- > 0; rest /= order.sizes[d]) at[d] = rest % order.sizes[d];
    for (size_t d = 0; d <= last; ++d) from += at[d] * order.strides[d];
    if (stride == 1 && inner - at[last] >= n) {
      f(t.impl()->address() + from * item, n);
      continue;
    }
    for (int64_t done = 0; done < n;) {
      const int64_t run = std::min(n - done, inner - at[last]);
      gather(gathered.get() + done * item, t.impl()->address() + from * item, run, stride);
      done += run;
      at[last] += run;
      from += run * stride;
      for (size_t d = last; d > 0 && at[d] == order.sizes[d]; --d) {  // on to the next row
        from += order.strides[d - 1] - order.sizes[d] * order.strides[d];
        at[d] = 0;
        ++at[d - 1];
      }
    }
    f(gathered.get(), n);
  }
  return true;
}

int64_t step_for(int64_t count, int64_t most) {
  const int64_t chunks = (count + kChunk - 1) / kChunk,
                wanted = std::max<int64_t>(1, most / kChunk + (most % kChunk != 0 ? 1 : 0));
  return (chunks + wanted - 1) / wanted;
}

// --- Sums over chunks, four elements at a time: one pass over the memory gives all that is asked for.
using Four = double __attribute__((vector_size(32)));
using FourFloats = float __attribute__((vector_size(16)));
using FourWords = uint32_t __attribute__((vector_size(16)));

struct Tally {
  int64_t finite = 0, nans = 0, infinities = 0;
  double least = kInfinity, largest = -kInfinity;
  double shift = 0, sum = 0, squares = 0;  // of the differences to `shift`: a large mean hides no small deviation
  FourWords first = {1, 1, 1, 1}, second = {0, 0, 0, 0};
};

template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  using Type = FourFloats;
};
template <>
struct Lanes<double> {
  using Type = Four;
};

template <class T>
void add_one_by_one(Tally& t, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(x[i]);
    if (std::isnan(v)) ++t.nans;
    else if (std::isinf(v)) ++t.infinities;
    else {
      if (t.finite++ == 0) t.shift = v;
      t.least = std::min(t.least, v);
      t.largest = std::max(t.largest, v);
      t.sum += v - t.shift;
      t.squares += (v - t.shift) * (v - t.shift);
    }
  }
}

// Four at a time as long as all are finite; a chunk with others in it is gone through one by one.
template <class T>
void add_numbers(Tally& t, const T* x, int64_t n) {
  using V = typename Lanes<T>::Type;
  if (t.finite == 0) {
    add_one_by_one(t, x, 1);
    ++x, --n;
  }
  V least, largest, odd{};
  least = odd + std::numeric_limits<T>::infinity();
  largest = -least;
  Four sum{}, squares{};
  const Four shift = Four{} + t.shift;
  const int64_t whole = n / 4 * 4;
  for (int64_t i = 0; i < whole; i += 4) {
    V v;
    std::memcpy(&v, x + i, sizeof v);
    least = v < least ? v : least;
    largest = v > largest ? v : largest;
    odd += v - v;
    const Four wide = __builtin_convertvector(v, Four) - shift;
    sum += wide;
    squares += wide * wide;
  }
  const V none = odd + odd;  // 0 in every lane where all was finite
  if (!(none[0] == 0 && none[1] == 0 && none[2] == 0 && none[3] == 0)) return add_one_by_one(t, x, n);
  for (int l = 0; whole > 0 && l < 4; ++l) {
    t.least = std::min<double>(t.least, least[l]);
    t.largest = std::max<double>(t.largest, largest[l]);
    t.sum += sum[l];
    t.squares += squares[l];
  }
  t.finite += whole;
  add_one_by_one(t, x + whole, n - whole);
}

// Fletcher's sums over the bytes, in four lanes: they see a change of any element, and of the order.
void add_bytes(Tally& t, const void* data, size_t bytes) {
  const char* const from = static_cast<const char*>(data);
  FourWords first = t.first, second = t.second, w;
  size_t i = 0;
  for (; i + sizeof w <= bytes; i += sizeof w) {
    std::memcpy(&w, from + i, sizeof w);
    first += w;
    second += first;
  }
  if (i < bytes) {
    w = FourWords{};
    std::memcpy(&w, from + i, bytes - i);
    first += w;
    second += first;
  }
  t.first = first;
  t.second = second;
}

// Goes on from that of the parts before.
uint64_t checksum_of(const Tally& t, uint64_t sum) {
  for (int l = 0; l < 4; ++l) {
    sum = std::rotl(sum, 13) * 0x9e3779b97f4a7c15u + t.first[l];
    sum = std::rotl(sum, 13) * 0x9e3779b97f4a7c15u + t.second[l];
  }
  return sum;
}

template <class T>
double number(T x) {
  if constexpr (is_complex_type<T>)
    return std::hypot(convert_element<double>(x.real()), convert_element<double>(x.imag()));
  else return convert_element<double>(x);
}

// Reads a chunk of any type as doubles.
using Widen = void (*)(double* to, const char* from, int64_t n);
Widen widen_for(DType dtype) {
  return with_type<kElementTypes>(raw_type(dtype), [](auto tag) -> Widen {
    using T = typename decltype(tag)::type;
    return [](double* to, const char* from, int64_t n) {
      for (int64_t i = 0; i < n; ++i) to[i] = number(reinterpret_cast<const T*>(from)[i]);
    };
  });
}

// What tallies of several parts say together (Chan's update: no part's mean hides the deviation of another).
struct Moments {
  int64_t nans = 0, infinities = 0;
  double least = kInfinity, largest = -kInfinity, count = 0, mean = 0, spread = 0;

  void add(const Tally& t) {
    nans += t.nans;
    infinities += t.infinities;
    if (t.finite == 0) return;
    least = std::min(least, t.least);
    largest = std::max(largest, t.largest);
    const double n = static_cast<double>(t.finite), off = t.sum / n, far = t.shift + off - mean;
    const double all = count + n;
    spread += std::max(0.0, t.squares - t.sum * off) + far * far * count * n / all;
    mean += far * n / all;
    count = all;
  }
};

// The tensor's own sizes count each element as often as it stands there; the counts of a sample are its own.
Statistics statistics_of(const Moments& m, const Order& order, const Tensor& t, bool sampled) {
  Statistics s;
  s.sampled = sampled;
  s.magnitudes = is_complex(t.dtype());
  s.nans = m.nans * order.repeats;
  s.infinities = m.infinities * order.repeats;
  s.least = s.mean = s.largest = s.deviation = kNan;
  if (m.count == 0) return s;
  s.least = m.least;
  s.largest = m.largest;
  s.mean = m.least == m.largest ? m.least : m.mean;  // sums of many would round
  const double repeats = static_cast<double>(order.repeats), all = m.count * repeats;
  if (all > 1) s.deviation = m.least == m.largest ? 0 : std::sqrt(m.spread * repeats / (all - 1));
  if (t.is_neg() && !s.magnitudes) {
    std::swap(s.least, s.largest);
    s.least = -s.least, s.largest = -s.largest, s.mean = -s.mean;
  }
  return s;
}

// False: stopped.
bool tally_part(const Tensor& t, const Order& order, const Part& part, const Stopping& stopping, Tally& tally) {
  const Widen widen = widen_for(t.dtype());
  return for_chunks(t, order, part, stopping, [&](const char* elements, int64_t n) {
    add_bytes(tally, elements, static_cast<size_t>(n) * item_size(t.dtype()));
    if (t.dtype() == kFloat32) return add_numbers(tally, reinterpret_cast<const float*>(elements), n);
    double wide[kChunk];
    widen(wide, elements, n);
    add_numbers(tally, wide, n);
  });
}

// Runs pending launches: one of them may write these elements.
const char* settled_address(const Tensor& t) {
  PendingLaunches::flush();
  return t.impl()->address();
}

bool has_memory(const Tensor& t) {
  return t.defined() && t.numel() > 0 && !t.device().is_meta() && settled_address(t) != nullptr;
}

// A view of rows that lie evenly in a contiguous tensor.
Tensor parts_of(const Tensor& t, int64_t most) {
  const int64_t length = std::min(kChunk, most), rows = most / length;
  return t.view_of({rows, length}, {(t.numel() - length) / std::max<int64_t>(1, rows - 1), 1});
}

}  // namespace

HostCopy on_host(lang::Interpreter& in, const Tensor& t, int64_t most) {
  if (!has_memory(t)) return {};
  if (t.device().is_cpu()) return {t};
  const bool is_part = t.numel() > most;
  if (is_part && !t.is_contiguous()) return {};
  const ContextScope scope(stdlib::torch_state(in).context);
  const GradMode no_grad(false);
  try {
    return {to_device(is_part ? parts_of(t, most) : t, kCpu), is_part};
  } catch (const std::exception&) {  // the device is lost, memory is short, Ctrl-C: there is nothing to show
    return {};
  }
}

Survey survey(const Tensor& t, int64_t most, const Stopping& stopping) {
  if (!has_memory(t) || !t.device().is_cpu()) return {};
  const Order order(t);
  // Threads share the parts; how many there are depends on the tensor alone, and so does what comes out.
  const int64_t step = step_for(order.count, most), length = kChunk * kChunksOfPart * step;
  std::vector<Tally> tallies(static_cast<size_t>((order.count + length - 1) / length));
  std::atomic<bool> stopped{false};
  const auto run = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last && !stopped; ++i) {
      const Part part{i * length, std::min(order.count, (i + 1) * length), step};
      if (!tally_part(t, order, part, stopping, tallies[static_cast<size_t>(i)])) stopped = true;
    }
  };
  const auto parts = static_cast<int64_t>(tallies.size());
  if (parts == 1) run(0, 1);
  else cpu::run_split(parts, {.grain = 1, .tasks = true}, cpu::RangeBody(run));
  if (stopped) return {};
  Moments moments;
  uint64_t checksum = 0;
  for (const Tally& tally : tallies) {
    moments.add(tally);
    checksum = checksum_of(tally, checksum);
  }
  return {statistics_of(moments, order, t, step > 1), checksum};
}

ElementReader::ElementReader(const Tensor& t)
    : data_(settled_address(t)), sign_(t.is_neg() && !is_complex(t.dtype()) ? -1.0 : 1.0) {
  with_type<kElementTypes>(raw_type(t.dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    read_ = [](const char* data, int64_t distance) { return number(reinterpret_cast<const T*>(data)[distance]); };
  });
}

std::optional<std::vector<int64_t>> first_not_finite(const Tensor& t, int64_t most, const Stopping& stopping) {
  const ElementReader read(t);
  std::vector<int64_t> at(t.sizes().size(), 0);
  int64_t from = 0;
  for (int64_t i = 0; i < std::min(most, t.numel()); ++i) {
    if (!std::isfinite(read[from])) return at;
    if (i % (1 << 18) == 0 && stopping && stopping()) break;
    for (size_t d = at.size(); d-- > 0;) {  // on to the next
      from += t.strides()[d];
      if (++at[d] < t.sizes()[d]) break;
      from -= t.sizes()[d] * t.strides()[d];
      at[d] = 0;
    }
  }
  return {};
}

std::vector<int64_t> count_in_bins(const Tensor& t, double low, double high, size_t bins, int64_t most,
                                   const Stopping& stopping) {
  std::vector<int64_t> counts(bins, 0);
  if (!has_memory(t) || !t.device().is_cpu()) return counts;
  const Order order(t);
  const double sign = t.is_neg() && !is_complex(t.dtype()) ? -1.0 : 1.0;
  const double scale = high > low ? static_cast<double>(bins) / (high - low) : 0;
  const Widen widen = widen_for(t.dtype());
  for_chunks(t, order, {0, order.count, step_for(order.count, most)}, stopping, [&](const char* elements, int64_t n) {
    double wide[kChunk];
    widen(wide, elements, n);
    for (int64_t i = 0; i < n; ++i) {
      const double v = sign * wide[i];
      if (v >= low && v <= high) ++counts[std::min(bins - 1, static_cast<size_t>((v - low) * scale))];
    }
  });
  for (int64_t& count : counts) count *= order.repeats;
  return counts;
}

}  // namespace tessera::repl
