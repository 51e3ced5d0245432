// What bodies of the op tables are written in on CUDA: a number of backends/number.h for each element, and the functions of
// namespace m.
#pragma once

#include "backends/number.h"

namespace tessera::tensor::cuda {

template <class T>
using Lane = Num<T>;
namespace m = number_math;

}  // namespace tessera::tensor::cuda
