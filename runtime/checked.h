// Arithmetic on sizes, strides and places that cannot wrap around: scripts choose these numbers, up to 2^63 - 1.
//
// `checked_*` for what becomes a size: an overflow is PyTorch's error. `saturated_*` for what is only compared with
// something, or is asked of the allocator, which refuses 2^63 - 1 elements in its own words: the nearest int64 will do.
// A tensor's own numbers need neither: its numel and its strides fit (tensor.cpp), and so does every place in it.
#pragma once

#include <cstdint>

#include "runtime/error.h"
#include "runtime/shape.h"

namespace tessera::tensor {

inline int64_t saturated_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}
inline int64_t saturated_mul(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : product;
}
inline int64_t saturated_sub(int64_t a, int64_t b) {
  int64_t difference;
  return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

/// The size of several dimensions in one.
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]]
    fail(TensorErrorKind::Runtime, "numel: integer multiplication overflow");
  return product;
}
/// The size of several parts together.
inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]]
    fail(TensorErrorKind::Runtime, "Storage size calculation overflowed with sizes=", Ints({a, b}));
  return sum;
}

/// Bytes from a storage's start to the end of the last element of such a layout, none if it has no element.
/// Throws "Storage size calculation overflowed with sizes=[...] and strides=[...]".
int64_t storage_bytes_needed(Ints sizes, Ints strides, int64_t offset, int64_t item);

/// Before a list of so many tensors is made: PyTorch's refusal, long before memory runs out.
void check_list_length(int64_t count);

}  // namespace tessera::tensor
