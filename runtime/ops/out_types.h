// How PyTorch refuses the dtype of a tensor that is to take a result.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace tessera::tensor {

/// Throws unless `out` may take results of dtype `result` of the op of that name ("max", or a form of it, "max.dim"): most ops convert where can_cast allows it,
/// some want the very dtype, and each family says so in words of its own.
void check_out_type(std::string_view op, DType result, DType out);
/// Does an out= tensor of this op take over the strides of its result when it is resized?
bool gives_out_strides(std::string_view op);
/// "long int": as C++ calls the numbers, in the words of some refusals.
const char* cpp_name(DType t);
/// "torch.FloatTensor", "CPUBoolType": some types have a class in PyTorch, others only a name.
std::string class_text(DType t);
/// Refuses an in-place call whose result does not have the shape of what it writes to.
void check_inplace_shape(std::string_view op, Ints self, Ints result);

}  // namespace tessera::tensor
