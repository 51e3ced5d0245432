// One transform in place, for who makes plans: the spectrum of a chirp is one.
#pragma once

#include <cstdint>

namespace tessera::tensor::cpu {

void transform_parts(int64_t n, double* re, double* im);

}  // namespace tessera::tensor::cpu
