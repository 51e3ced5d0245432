// Samples of an entry: calls as text, in the entry itself, from which the tests of all ops are made (tests/ops/samples_test.cpp).
//
// One call a line, its arguments in schema order, by keyword at the end: `f[3,4], 1, i[3,2]<4, sparse=True`. After ` -> ` stands
// what a call must be refused with: `IndexError: Dimension out of range ...` (the beginning of the message).
//
//     f[2,3]     floating, between -2 and 2, no two alike, none near an integer        p[2,3], g[2,3]  the same, 0.15 to 0.85, 1.2 to 3.1
//     i[4]<9     int64, from 0 to 8                                                    b[2,2]    bool
//     c[2]       complex                                                               i{2,0,1}  these integers (f{...}, b{...} too)
//     f[2,3].t   stored transposed (the last two dimensions)                           f[2]:int32  of that dtype
//     f[3,3].s   Hermitian, positive definite      f[3,3].l, .u  lower, upper triangular      f[3,3].z  zeros
//     (f[2], f[3])  a list of tensors       [1, 2]  a list of numbers       2, 0.5, 1j, True, None, 'mean', float32
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace tessera::tensor {

struct Sample {
  std::string call;           // "f[3,4], 1"
  std::string error_kind;     // "IndexError", or empty: the call works
  std::string error_message;  // its beginning
};

/// The entry's samples in order. Pointwise rows and reductions of the tables have some by their class.
std::vector<Sample> samples_of(const OpEntry& entry);

/// The arguments of a sample, all of them, defaults included. `floats` is what f[...] and p[...] are made of.
/// Throws TensorError(Assertion) for a sample that cannot be read.
std::vector<OpArg> sample_args(const OpEntry& entry, const Sample& sample, DType floats = kFloat32, uint64_t seed = 0);

}  // namespace tessera::tensor
