// Reading and writing by index tensors, and the places of nonzero elements.
#include "runtime/ops/index_kernel.h"

#include <complex>
#include <cstring>

#include "runtime/plan.h"

namespace tessera::tensor::cpu {
namespace {

using Mode = IndexCall::Mode;

// Element arithmetic of accumulation; halves add in float.
template <class T>
void add_to(T& to, const T& x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) to = T(float(to) + float(x));
  else if constexpr (std::is_same_v<T, bool>) to = to || x;
  else to = T(to + x);
}

// The offset that the indices add at one place; false when one is out of bounds.
template <class Position>
bool offset_at(const IndexCall& c, const Position& at, int64_t& offset) {
  offset = 0;
  for (int k = 0; k < c.count; k++) {
    int64_t i = *at(k);
    const int64_t given = i;
    if (i < 0 && c.negative == IndexCall::Negative::Wrap) i += c.extent[k];
    if (i < 0 || i >= c.extent[k]) [[unlikely]] {
      *c.bad_value = given;
      *c.bad_index = k;
      return false;
    }
    offset += i * c.step[k];
  }
  return true;
}

template <class T>
void move_row(const IndexCall& c, T* self, T* values, int64_t n, int64_t self_step, int64_t value_step) {
  if (c.mode == Mode::Read) {
    if (self_step == 1 && value_step == 1)
      return void(std::memcpy(static_cast<void*>(values), self, size_t(n) * sizeof(T)));
    for (int64_t i = 0; i < n; i++) values[i * value_step] = self[i * self_step];
  } else if (c.mode == Mode::Write) {
    for (int64_t i = 0; i < n; i++) self[i * self_step] = values[i * value_step];
  } else {
    for (int64_t i = 0; i < n; i++) add_to(self[i * self_step], values[i * value_step]);
  }
}

template <class T>
class IndexLoop {
 public:
  explicit IndexLoop(const IndexCall& c)
      : c_(c), self_(reinterpret_cast<T*>(c.self)), values_(reinterpret_cast<T*>(c.values)) {
    // Trailing dimensions that no index tensor varies over are moved as one row.
    rows_ = c.ndim;
    if (c.ndim > 0 && fixed(c.ndim - 1)) rows_--;
    for (int k = 0; k < c.count; k++) index_[k] = c.index[k];
  }

  void run() {
    int64_t places = 1;
    for (int d = 0; d < c_.ndim; d++)
      if (c_.sizes[d] == 0) return;
    for (int d = 0; d < rows_; d++) places *= c_.sizes[d];
    int64_t at[kMaxLoopDims] = {};
    for (int64_t p = 0; p < places; p++) {
      int64_t offset;
      if (!offset_at(
              c_, [&](int k) { return index_[k]; }, offset))
        return;
      row(self_ + offset);
      for (int d = rows_ - 1; d >= 0; d--) {
        if (++at[d] < c_.sizes[d]) {
          advance(d, 1);
          break;
        }
        advance(d, 1 - c_.sizes[d]);
        at[d] = 0;
      }
    }
  }

 private:
  bool fixed(int d) const {
    for (int k = 0; k < c_.count; k++)
      if (c_.index_strides[k][d] != 0 && c_.sizes[d] != 1) return false;
    return true;
  }
  void row(T* self) {
    if (rows_ == c_.ndim) return move_row(c_, self, values_, 1, 1, 1);
    move_row(c_, self, values_, c_.sizes[rows_], c_.self_strides[rows_], c_.value_strides[rows_]);
  }
  void advance(int d, int64_t n) {
    self_ += n * c_.self_strides[d];
    values_ += n * c_.value_strides[d];
    for (int k = 0; k < c_.count; k++) index_[k] += n * c_.index_strides[k][d];
  }

  const IndexCall& c_;
  T* self_;
  T* values_;
  const int64_t* index_[kMaxIndices];
  int rows_;
};

void index_elements(const IndexCall& c) {
  if (c.mode == Mode::Accumulate) {
    if (c.dtype == DType::Complex64) return IndexLoop<std::complex<float>>(c).run();
    if (c.dtype == DType::Complex128) return IndexLoop<std::complex<double>>(c).run();
    return with_type(c.dtype, [&](auto tag) { IndexLoop<typename decltype(tag)::type>(c).run(); });
  }
  switch (item_size(c.dtype)) {
    case 1: return IndexLoop<uint8_t>(c).run();
    case 2: return IndexLoop<uint16_t>(c).run();
    case 4: return IndexLoop<uint32_t>(c).run();
    case 8: return IndexLoop<uint64_t>(c).run();
    default: break;
  }
  // Copies never add, so any type of 16 bytes serves.
  IndexLoop<std::complex<double>>(c).run();
}

void find_nonzero(const NonzeroCall& c) {
  int64_t total = 1;
  for (int d = 0; d < c.ndim; d++) total *= c.sizes[d];
  int64_t at[kMaxLoopDims] = {}, found = 0;
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = reinterpret_cast<const T*>(c.in);
    for (int64_t p = 0; p < total; p++) {
      if (convert_element<bool>(*in)) {
        for (int d = 0; c.out && d < c.ndim; d++) c.out[found * c.ndim + d] = at[d];
        found++;
      }
      for (int d = c.ndim - 1; d >= 0; d--) {
        if (++at[d] < c.sizes[d]) {
          in += c.strides[d];
          break;
        }
        in -= (c.sizes[d] - 1) * c.strides[d];
        at[d] = 0;
      }
    }
  });
  *c.count = found;
}

const KernelRegistration<IndexCall> register_index{index_kernel, DeviceType::Cpu, index_elements};
const KernelRegistration<NonzeroCall> register_nonzero{nonzero_kernel, DeviceType::Cpu, find_nonzero};

}  // namespace
}  // namespace tessera::tensor::cpu
