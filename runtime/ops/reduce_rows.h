// ReduceFacts: the designated initialisers behind the formulas of a row of reduce.def.
#pragma once

#include "runtime/ops/facts.h"
#include "runtime/ops/kernel_name.h"
#include "runtime/ops/reduce.h"

namespace tessera::tensor::reduction {

/// In designated initialisers; what is left out is as for most rows.
struct ReduceFacts {
  KernelName kernel = {};      // in '"max_values_cpu" not implemented for ...'; null: the row's name and "_cpu"
  bool takes_small = false;    // float8 and complex32 too, beside all and any
  bool takes_complex = false;  // its parts are reduced each for itself
  const char* complex_words = nullptr;  // PyTorch's CPU refuses complex numbers in these; its CUDA takes them
  bool refuses_integers = false;        // unless a dtype is given
  /// If the result is complex or has another dtype than the elements: row `prepared` reduces prepare(x).
  Tensor (*prepare)(const Tensor& x) = nullptr;
  int prepared = -1;
  void (*run_complex)(const Tensor& out, const Request& request) = nullptr;
  /// The derivative where all elements were asked for (kOfAll).
  Tensor (*of_all_dx)(const Tensor& g, const Tensor& x, const Tensor& y) = nullptr;
  bool whole_has_out = false;  // out= also without dimensions
  OpFacts op = {};
};

}  // namespace tessera::tensor::reduction
