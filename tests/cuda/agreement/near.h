// When elements and errors of two devices are the same.
#pragma once

#include <functional>
#include <string>

#include "tests/cuda/agreement/calls.h"

namespace tessera::agreement {

/// Empty, or the first element that is another. Floating results may differ by what their dtype allows, and where `nearby`
/// (results on the CPU of operands whose last bits are others) shows that the call makes more of a rounding, by that; `wider`:
/// how much else, of the greatest element.
std::string elements_differ(const Tensor& expected, const Tensor& got, const std::function<TensorList()>& nearby,
                            double wider = 0);

/// t with each floating element moved by its last bit up or down, in another pattern for each trial, without gaps.
Tensor last_bits_changed(const Tensor& t, int trial);

/// Whether two errors are others: PyTorch names classes by their device ("torch.cuda.FloatTensor"), and which of several indices that are out of range is told follows the order of the threads.
bool errors_differ(const std::string& cpu, const std::string& cuda);

}  // namespace tessera::agreement
