// The elements of a tensor as numbers, on whatever device and in whatever layout: what statistics, histograms and heat maps
// read. Nothing here records, draws, writes or throws for odd tensors; there is then nothing to read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "repl/inspector/live_tensors.h"

namespace tessera::repl {

using Stopping = std::function<bool()>;  // asked now and then, by any thread; true: no more work

// The tensor itself where the host can read it, else a copy of it in the host's memory, or of evenly spread parts of one that
// has more than `most` elements. Undefined: there are none to be read, or the memory for them is lacking.
struct HostCopy {
  tensor::Tensor tensor;
  bool is_part = false;
};
HostCopy on_host(lang::Interpreter& in, const tensor::Tensor& t, int64_t most);

struct Survey {
  std::optional<Statistics> statistics;
  uint64_t checksum = 0;
};
// Of a tensor that on_host gave. Reads about `most` elements: all, or evenly spread parts.
Survey survey(const tensor::Tensor& t, int64_t most, const Stopping& stopping);

// Reads single elements by their distance from the first; a complex one's magnitude. Of a tensor that on_host gave.
class ElementReader {
 public:
  explicit ElementReader(const tensor::Tensor& t);
  double operator[](int64_t distance) const { return sign_ * read_(data_, distance); }

 private:
  double (*read_)(const char* data, int64_t distance);
  const char* data_;
  double sign_;
};

// Where the first element stands that is not finite, in reading order, among the first `most`. Of a tensor that on_host gave.
std::optional<std::vector<int64_t>> first_not_finite(const tensor::Tensor& t, int64_t most, const Stopping& stopping);

// How many elements fall into each of `bins` equal parts of [low, high]; the last takes `high` too. Reads about `most`.
std::vector<int64_t> count_in_bins(const tensor::Tensor& t, double low, double high, size_t bins, int64_t most,
                                   const Stopping& stopping);

}  // namespace tessera::repl
