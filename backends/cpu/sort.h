// Sorting rows, for kernels that need it in passing.
#pragma once

#include "runtime/ops/sorting.h"

namespace tessera::tensor::cpu {

void sort_rows(const SortCall& c);

}  // namespace tessera::tensor::cpu
