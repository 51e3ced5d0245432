// Masks that select, replace and fill.
// compile: vectors (plain loops over elements)
#include "backends/cpu/mask.h"
#include "backends/cpu/walk.h"
#include "runtime/ops/index_kernel.h"

namespace tessera::tensor::cpu {
namespace {

// Single elements of one block; values at k = 0 belongs to the block's first place that is set.
template <class T>
void move_elements(const MaskRowsCall& c, const uint8_t* mask, T* self, T* values, int64_t n, int64_t count) {
  if (!c.write) return for_set(mask, n, count, [&](int64_t k, int64_t i, bool) { values[k] = self[i]; });
  for_set(mask, n, count, [&](int64_t k, int64_t i, bool set) {
    const T value = values[k];
    self[i] = set ? value : self[i];
  });
}

void move_rows(const MaskRowsCall& c, const uint8_t* mask, char* self, char* values, int64_t n) {
  const int64_t item = int64_t(item_size(c.dtype));
  const size_t bytes = size_t(c.width * item);
  for (int64_t i = 0; i < n; i++) {
    if (!mask[i]) continue;
    char* row = self + i * int64_t(bytes);
    std::memcpy(c.write ? row : values, c.write ? values : row, bytes);
    values += bytes;
  }
}

void move_masked(const MaskRowsCall& c) {
  const int64_t item = int64_t(item_size(c.dtype));
  const std::vector<int64_t> before = counts_before(c.mask, c.rows);
  for_blocks(c.mask, c.rows, [&](int64_t block, const uint8_t* mask, int64_t first, int64_t n) {
    const int64_t start = before[size_t(block)], count = before[size_t(block) + 1] - start;
    char *self = c.self + first * c.width * item, *values = c.values + start * c.width * item;
    if (count == 0) return;
    if (c.width > 1) return move_rows(c, mask, self, values, n);
    with_size(c.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      move_elements(c, mask, reinterpret_cast<T*>(self), reinterpret_cast<T*>(values), n, count);
    });
  });
}

// out = mask ? value : self over a run; a step of 0 repeats the mask or the value.
template <class T>
void fill_run(T* out, const T* self, const uint8_t* mask, const T* value, const int64_t* step, int64_t n) {
  if (step[0] == 1 && step[1] == 1 && step[2] == 1 && step[3] == 0) {
    const T x = *value;
    for (int64_t i = 0; i < n; i++) {
      if constexpr (std::is_integral_v<T>) out[i] = T(self[i] ^ ((self[i] ^ x) & T(-T(mask[i]))));  // becomes vectors
      else out[i] = mask[i] ? x : self[i];
    }
    return;
  }
  if (step[0] == 1 && step[1] == 1 && step[2] == 0 && step[3] == 0) {  // whole rows
    if (*mask) std::fill_n(out, n, *value);
    else if (out != self) std::copy_n(self, n, out);
    return;
  }
  for (int64_t i = 0; i < n; i++) out[i * step[0]] = mask[i * step[2]] ? value[i * step[3]] : self[i * step[1]];
}

void fill_masked(const MaskedFillCall& c) {
  const Loop& loop = c.loop;
  const int64_t step[] = {loop.strides[0][0], loop.strides[1][0], loop.strides[2][0], loop.strides[3][0]};
  with_size(loop.dtype[0], [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(loop.numel, 32768, [&](int64_t begin, int64_t end) {
      Walker w(loop, begin);
      while (begin < end) {
        const int64_t n = std::min(end - begin, w.row_left());
        fill_run(reinterpret_cast<T*>(w.at(0)), reinterpret_cast<const T*>(w.at(1)),
                 reinterpret_cast<const uint8_t*>(w.at(2)), reinterpret_cast<const T*>(w.at(3)), step, n);
        w.advance(n);
        begin += n;
      }
    });
  });
}

const KernelRegistration<MaskRowsCall> register_rows{mask_rows_kernel, DeviceType::Cpu, move_masked};
const KernelRegistration<MaskedFillCall> register_fill{masked_fill_kernel, DeviceType::Cpu, fill_masked};

}  // namespace
}  // namespace tessera::tensor::cpu
