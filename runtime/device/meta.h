// Refusals of device meta: ops whose result depends on data that is not there, in PyTorch's words.
#pragma once

#include "runtime/tensor.h"

namespace tessera::tensor {

[[noreturn]] void fail_on_meta(const char* op);

/// For an op whose result's shape or value depends on the elements.
inline void refuse_meta(const Tensor& t, const char* op) {
  if (t.device().is_meta()) [[unlikely]]
    fail_on_meta(op);
}

/// nonzero, and what is made of it (a mask as an index): PyTorch has its own words for it.
void refuse_meta_nonzero(const Tensor& t);

/// Whether any element of a bool tensor is true, for checks of values. On meta nothing is known to be wrong.
bool any_true(const Tensor& condition);

}  // namespace tessera::tensor
