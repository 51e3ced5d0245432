// The plan of a pointwise op: which operand is read with which step.
//
// A Loop is a nest of counted loops over up to five operands, innermost first. plan.cpp makes it from tensors:
// broadcast, drop dimensions of size 1, order them by stride, merge neighbours that are one run of memory.
// A dense case is a Loop of one dimension with steps 0 or 1, and kernels test for that.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace tessera::tensor {

inline constexpr int kMaxOperands = 5;   // operand 0 is the result
inline constexpr int kMaxLoopDims = 64;  // PyTorch's limit on dimensions

struct LoopFields {
  int operands = 0;
  int ndim = 1;  // at least 1; sizes[0] is the innermost
  int64_t numel = 0;
  unsigned host_scalars = 0;  // bit k: operand k is numbers[k], step 0; on any device
  char* data[kMaxOperands];   // of a number: its place in this loop
  DType dtype[kMaxOperands];
  alignas(16) char numbers[kMaxOperands][16];  // by value: a kernel on a device takes them along in its parameters
  int64_t sizes[kMaxLoopDims];
  int64_t strides[kMaxOperands][kMaxLoopDims];  // in elements of that operand
};

struct Loop : LoopFields {
  Loop() = default;
  Loop(const Loop& other) : LoopFields(other) { find_numbers(); }
  Loop& operator=(const Loop& other) {
    LoopFields::operator=(other);
    find_numbers();
    return *this;
  }

  /// Operand k becomes the number in numbers[k].
  void use_number(int k, DType type) {
    data[k] = numbers[k];
    dtype[k] = type;
    host_scalars |= 1u << k;
  }
  /// One run with every step 0 or 1.
  bool dense() const;

 private:
  void find_numbers() {
    for (int k = 0; k < operands; k++)
      if (host_scalars >> k & 1) data[k] = numbers[k];
  }
};

/// The dtype of a result by PyTorch's rules, as torch.result_type. Undefined tensors are skipped.
class PromotionState {
 public:
  void add(const Tensor& t);
  void add(const Scalar& s);
  DType result() const;

 private:
  // Strongest first: tensors with dimensions, 0-dim tensors, Python numbers.
  DType rank_[3] = {kBool, kBool, kBool};
  bool seen_[3] = {false, false, false};
};

/// Operands of any broadcastable shapes to a loop; operand 0 has the full shape. Throws on shapes that differ.
void make_loop(Loop& loop, const Tensor* const* operands, int count);
/// The common shape of all inputs.
Dims broadcast_all(const Tensor* const* inputs, int count);
/// Throws "Expected all tensors to be on the same device, ..." unless they are; 0-dim CPU tensors may join.
Device common_device(const Tensor* const* inputs, int count);

/// RuntimeError if a write to `t` would touch an element twice ("unsupported operation: more than one element ...").
void check_no_internal_overlap(const Tensor& t);
/// RuntimeError if `out` and `in` share memory but are not the same elements.
void check_no_partial_overlap(const Tensor& out, const Tensor& in);

}  // namespace tessera::tensor
