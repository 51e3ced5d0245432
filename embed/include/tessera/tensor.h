// The tensor library alone, without the language: tensors, operations and autograd as C++ functions, in C++20. Link
// Tessera::tensor. docs/tensor-library.md has a tour and a training loop.
//
//   using namespace tessera::tensor;
//   const Tensor x = Tensor::from_values<float>({1, 2, 3, 4}, {2, 2});
//   set_requires_grad(x, true);
//   const Tensor loss = sum(x * x);
//   backward({loss});
//   std::cout << tensor_text(grad_of(x));
//
// What is here may change with a minor version, other than <tessera/tessera.h>. A program may use both; a tensor goes from
// one to the other through DLPack (to_dlpack, from_dlpack) without a copy.
#pragma once

#include "runtime/autograd/engine.h"
#include "runtime/autograd/function.h"
#include "runtime/context.h"
#include "runtime/dlpack.h"
#include "runtime/format.h"
#include "runtime/ops.h"
#include "runtime/ops/op.h"
#include "runtime/ops/pointwise_functions.h"
#include "runtime/random.h"
#include "runtime/tensor.h"
