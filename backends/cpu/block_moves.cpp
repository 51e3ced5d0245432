// Blocks of elements put together: joined rows, edges around images, numbers of runs.
#include "runtime/ops/block_moves.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/threads.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kGrain = 32768;    // elements of a piece
constexpr int64_t kInCache = 16384;  // bytes of the result that are filled part by part

template <class T>
void join_rows(const JoinCall& c, int64_t width, int64_t begin, int64_t end) {
  constexpr int64_t kThin = 8;  // below it the call for each row would cost more than the row
  const int64_t together = std::max<int64_t>(1, kInCache / (width * int64_t(sizeof(T))));
  for (int64_t row = begin; row < end; row += together) {
    const int64_t n = std::min(together, end - row);
    T* to = static_cast<T*>(c.out) + row * width;
    for (int64_t k = 0; k < c.count; to += c.widths[k++]) {
      const int64_t w = c.widths[k];
      const T* from = static_cast<const T*>(c.parts[k]) + row * w;
      if (w < kThin)
        for (int64_t j = 0; j < w; j++)
          for (int64_t i = 0; i < n; i++) to[i * width + j] = from[i * w + j];
      else
        for (int64_t i = 0; i < n; i++)
          std::memcpy(static_cast<void*>(to + i * width), from + i * w, size_t(w) * sizeof(T));
    }
  }
}

void join(const JoinCall& c) {
  int64_t width = 0;
  for (int64_t k = 0; k < c.count; k++) width += c.widths[k];
  if (width == 0) return;
  with_size(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(c.rows, std::max<int64_t>(1, kGrain / width),
                 [&](int64_t begin, int64_t end) { join_rows<T>(c, width, begin, end); });
  });
}

// The innermost dimension of a padded image: what lies inside is one run, and moves at once.
struct PaddedRow {
  const int64_t* place;
  int64_t width, first = 0, last = 0;  // the longest run of places that follow each other

  PaddedRow(const int64_t* places, int64_t n) : place(places), width(n) {
    for (int64_t start = 0, i = 1; i <= n; i++) {
      if (i < n && place[i] == place[i - 1] + 1) continue;
      if (i - start > last - first) first = start, last = i;
      start = i;
    }
  }
  template <class T>
  void copy(const T* from, T* to) const {
    for (int64_t j = 0; j < first; j++) to[j] = from[place[j]];
    std::memcpy(static_cast<void*>(to + first), from + place[first], size_t(last - first) * sizeof(T));
    for (int64_t j = last; j < width; j++) to[j] = from[place[j]];
  }
};

void pad_edges(const EdgePadCall& c) {
  const int inner = c.dims - 1;
  const PaddedRow padded(c.places[inner], c.out_sizes[inner]);
  int64_t rows = c.batch;
  for (int d = 0; d < inner; d++) rows *= c.out_sizes[d];
  const auto source = [&](int64_t row) {  // its number among the rows of the input
    int64_t from = 0, step = 1;
    for (int d = inner - 1; d >= 0; d--) {
      from += c.places[d][row % c.out_sizes[d]] * step;
      row /= c.out_sizes[d], step *= c.in_sizes[d];
    }
    return from + row * step;
  };
  with_size(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(rows, std::max<int64_t>(1, kGrain / padded.width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row++)
        padded.copy(static_cast<const T*>(c.in) + source(row) * c.in_sizes[inner],
                    static_cast<T*>(c.out) + row * padded.width);
    });
  });
}

// Most runs are short: a few numbers are written for each without a look at its length, which no jump could foresee, and
// what is too much is overwritten by the next one.
void number_runs(const RunNumbersCall& c) {
  constexpr int64_t kAhead = 4;
  parallel_for(c.n, kGrain, [&](int64_t begin, int64_t end) {
    const int64_t last = c.ends[end - 1];
    int64_t at = begin ? c.ends[begin - 1] : 0;
    int64_t i = begin;
    for (; i < end && at + kAhead <= last; at = c.ends[i++]) {
      for (int64_t k = 0; k < kAhead; k++) c.out[at + k] = i;
      for (int64_t k = at + kAhead; k < c.ends[i]; k++) c.out[k] = i;
    }
    for (; i < end; at = c.ends[i++]) std::fill(c.out + at, c.out + c.ends[i], i);
  });
}

const KernelRegistration<JoinCall> register_join{join_kernel, DeviceType::Cpu, join};
const KernelRegistration<EdgePadCall> register_pad{edge_pad_kernel, DeviceType::Cpu, pad_edges};
const KernelRegistration<RunNumbersCall> register_runs{run_numbers_kernel, DeviceType::Cpu, number_runs};

}  // namespace
}  // namespace tessera::tensor::cpu
