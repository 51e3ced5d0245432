// Going by masks, for the ops of masks and for indexing.
#pragma once

#include "runtime/tensor.h"

namespace tessera::tensor {

/// How many elements are not zero; waits for the device. The tensor is row-major without gaps.
int64_t count_set(const Tensor& dense);
/// values = the rows of `self` where the mask is set, or the reverse. All three row-major without gaps; the mask's
/// dimensions are self's first ones.
void move_masked_rows(bool write, const Tensor& mask, const Tensor& self, const Tensor& values);
/// out = mask ? value : self, broadcast; all of one dtype but the mask. `out` may be self. A number may lie on the host.
void fill_where(const Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value);

}  // namespace tessera::tensor
