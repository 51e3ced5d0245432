// Stable sorting of rows with the places that the elements came from.
#include "runtime/ops/sorting.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/cpu/threads.h"

namespace tessera::tensor::cpu {
namespace {

template <class T>
auto comparable(const T& x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return float(x);
  else return x;
}

// NaN stands above every number.
template <class T>
bool below(const T& a, const T& b) {
  const auto x = comparable(a), y = comparable(b);
  if constexpr (std::is_floating_point_v<decltype(x)>) return x < y || (std::isnan(y) && !std::isnan(x));
  else return x < y;
}

template <class T>
void sort_row(const SortCall& c, int64_t row) {
  const T* in = static_cast<const T*>(c.in) + row * c.size;
  T* out = static_cast<T*>(c.out) + row * c.size;
  int64_t* index = c.index + row * c.size;
  std::iota(index, index + c.size, int64_t(0));
  if (c.descending) std::stable_sort(index, index + c.size, [&](int64_t a, int64_t b) { return below(in[b], in[a]); });
  else std::stable_sort(index, index + c.size, [&](int64_t a, int64_t b) { return below(in[a], in[b]); });
  for (int64_t i = 0; i < c.size; i++) out[i] = in[index[i]];
}

void sort_rows(const SortCall& c) {
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(c.rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(c.size, 1)), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row++) sort_row<T>(c, row);
    });
  });
}

const KernelRegistration<SortCall> registration{sort_kernel, DeviceType::Cpu, sort_rows};

}  // namespace
}  // namespace tessera::tensor::cpu
