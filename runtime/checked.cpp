#include "runtime/checked.h"

namespace tessera::tensor {

int64_t storage_bytes_needed(Ints sizes, Ints strides, int64_t offset, int64_t item) {
  bool overflow = false;
  int64_t last = offset;  // place of the last element
  for (size_t d = 0; d < sizes.size(); d++) {
    if (sizes[d] == 0) return 0;
    int64_t step = 0;
    overflow |= sizes[d] < 0 || __builtin_mul_overflow(sizes[d] - 1, strides[d], &step);
    overflow = overflow || __builtin_add_overflow(last, step, &last);
  }
  int64_t bytes = 0;
  overflow = overflow || __builtin_add_overflow(last, 1, &bytes) || __builtin_mul_overflow(bytes, item, &bytes);
  check(!overflow, TensorErrorKind::Runtime, "Storage size calculation overflowed with sizes=", sizes,
        " and strides=", strides);
  return bytes;
}

void check_list_length(int64_t count) {
  constexpr int64_t kMost = int64_t(1) << 26;  // tensors of some hundred bytes each
  check(count <= kMost, TensorErrorKind::Runtime, "cannot create std::vector larger than max_size()");
}

}  // namespace tessera::tensor
