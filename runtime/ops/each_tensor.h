// Every tensor among the arguments of a call, those in lists included.
#pragma once

#include <vector>

#include "runtime/ops/argument.h"

namespace tessera::tensor {

/// Calls f(Tensor&) for each defined tensor, in the order of the arguments. f may put another tensor in its place.
template <class F>
void each_tensor(std::vector<OpArg>& args, F&& f) {
  const auto visit = [&](Tensor& t) {
    if (t.defined()) f(t);
  };
  for (OpArg& arg : args) {
    if (auto* t = std::get_if<Tensor>(&arg)) visit(*t);
    if (auto* list = std::get_if<TensorList>(&arg))
      for (Tensor& t : *list) visit(t);
    if (auto* list = std::get_if<std::vector<OptionalTensor>>(&arg))
      for (OptionalTensor& t : *list)
        if (t) visit(*t);
  }
}

}  // namespace tessera::tensor
