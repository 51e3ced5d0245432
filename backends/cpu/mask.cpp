// Where tensors are not zero: the count, and the coordinates.
// compile: vectors (plain loops over elements)
#include "backends/cpu/mask.h"

#include "runtime/ops/index_kernel.h"

namespace tessera::tensor::cpu {
namespace {

void count_nonzero(const CountNonzeroCall& c) {
  with_type<kAllTypes>(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *c.count = counts_before(static_cast<const T*>(c.in), c.n).back();
  });
}

// The coordinates of elements that follow each other: the last one counts, the others change at the end of a row.
class Coordinates {
 public:
  Coordinates(Ints sizes, int64_t place) : sizes_(sizes), at_(sizes.size()) {
    for (size_t d = sizes.size(); d-- > 0; place /= sizes[d]) at_[d] = place % sizes[d];
  }
  int64_t row_left() const { return sizes_.back() - at_.back(); }
  void advance(int64_t n) {
    at_.back() += n;
    for (size_t d = sizes_.size(); --d > 0 && at_[d] == sizes_[d];) at_[d] = 0, at_[d - 1]++;
  }
  const Dims& at() const { return at_; }

 private:
  Ints sizes_;
  Dims at_;
};

// `column`: from one coordinate of a place to the next.
void write_places(const uint8_t* mask, int64_t first, int64_t n, Ints sizes, int64_t* out, int64_t count,
                  int64_t column) {
  if (sizes.size() == 1) return for_set(mask, n, count, [&](int64_t k, int64_t i, bool) { out[k] = first + i; });
  const int64_t ndim = int64_t(sizes.size());
  Coordinates place(sizes, first);
  for (int64_t i = 0; i < n && count > 0;) {
    const int64_t row = std::min(n - i, place.row_left()), found = count_set(mask + i, row);
    const Dims& at = place.at();
    for_set(mask + i, row, found, [&](int64_t k, int64_t j, bool) {
      for (int64_t d = 0; d < ndim - 1; d++) out[d * column + k] = at[d];
      out[(ndim - 1) * column + k] = at.back() + j;
    });
    out += found, count -= found, i += row;
    place.advance(row);
  }
}

void find_nonzero(const NonzeroCall& c) {
  const Ints sizes(c.sizes, size_t(c.ndim));
  const int64_t n = numel_of(sizes);
  if (c.ndim == 0 || c.count == 0) return;
  with_type<kAllTypes>(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = static_cast<const T*>(c.in);
    const std::vector<int64_t> before = counts_before(in, n);
    for_blocks(in, n, [&](int64_t block, const uint8_t* mask, int64_t first, int64_t count) {
      const int64_t start = before[size_t(block)], found = before[size_t(block) + 1] - start;
      write_places(mask, first, count, sizes, c.out + start, found, c.count);
    });
  });
}

const KernelRegistration<CountNonzeroCall> register_count{count_nonzero_kernel, DeviceType::Cpu, count_nonzero};
const KernelRegistration<NonzeroCall> register_nonzero{nonzero_kernel, DeviceType::Cpu, find_nonzero};

}  // namespace
}  // namespace tessera::tensor::cpu
