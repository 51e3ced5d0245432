// Derivatives against finite differences. Inputs have to be float64 leaves; the answer is empty when all agree, or names the
// first place where they do not.
#pragma once

#include <functional>
#include <string>

#include "runtime/tensor.h"

namespace tessera::tensor {

struct GradcheckOptions {
  double step = 1e-6;
  double absolute = 1e-5, relative = 1e-3;
};

using DifferentiableFunction = std::function<TensorList(const TensorList&)>;

std::string gradcheck(const DifferentiableFunction& f, const TensorList& inputs, const GradcheckOptions& options = {});
/// The derivative of the derivative: what create_graph gives.
std::string gradgradcheck(const DifferentiableFunction& f, const TensorList& inputs,
                          const GradcheckOptions& options = {});

}  // namespace tessera::tensor
