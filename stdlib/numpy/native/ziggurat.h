// Marsaglia and Tsang's ziggurat with 256 layers: the normal and the exponential numbers of NumPy's Generator.
#pragma once

#include "stdlib/numpy/native/bit_source.h"

namespace tessera::stdlib {

double ziggurat_normal(BitSource& bits);
double ziggurat_exponential(BitSource& bits);
float ziggurat_normal32(BitSource& bits);  // of 32-bit words
float ziggurat_exponential32(BitSource& bits);

}  // namespace tessera::stdlib
