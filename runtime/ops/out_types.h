// How PyTorch refuses the dtype of a tensor that is to take a result.
#pragma once

#include <string_view>

#include "runtime/ops/facts.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// Throws unless `out` may take results of dtype `result` by the rule of an op, `name` in messages.
void check_out_type(const OutRule& rule, std::string_view name, DType result, DType out);
/// The words of a rule with the dtypes in their places.
std::string out_words(const char* words, std::string_view name, DType result, DType out);
/// OpFacts::check_in_place for addmm and its kin: throws unless self has the shape of the result.
void check_sum_in_place(const OpCall& call, const Tensor& self, const Meta& result);

}  // namespace tessera::tensor
