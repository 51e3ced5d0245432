// Converting runs of elements between dtypes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/dtype.h"

namespace tessera::tensor::cpu {

/// Calls to[i * to_step] = convert(from[i * from_step]) for i < n; steps in elements. Empty (false) unless made by `converter`.
class ConvertRun {
 public:
  struct Pair {
    DType to, from;
  };
  using Function = void (*)(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t n, Pair types);

  ConvertRun() = default;
  ConvertRun(std::nullptr_t) {}
  ConvertRun(Function run, Pair types) : run_(run), types_(types) {}

  explicit operator bool() const { return run_ != nullptr; }
  void operator()(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t n) const {
    run_(to, to_step, from, from_step, n, types_);
  }

 private:
  Function run_ = nullptr;
  Pair types_{};  // for functions that serve several pairs
};
/// Conversions between all of kElementTypes; elements of one type, packed ones too, are moved.
ConvertRun converter(DType to, DType from);

/// The same for dense runs, with vectors; null for pairs of dtypes that have none. Chosen for this processor.
using DenseRun = void (*)(void* to, const void* from, int64_t n);
DenseRun dense_converter(DType to, DType from);
/// to[i] = from[-i] for i < n, elements of `size` bytes.
void copy_backwards(void* to, const void* from, int64_t n, size_t size);
/// memcpy by stores that do not read the line before; ordered for other threads by hwy::FlushStream.
void copy_past_caches(void* to, const void* from, int64_t bytes);
/// to[i] = *value for i < n, elements of `size` bytes.
void repeat_element(void* to, const void* value, int64_t n, size_t size);

}  // namespace tessera::tensor::cpu
