// What would mend a refused operation, in the words of the failing line; said only where the shapes and types show that it does.
#pragma once

#include <string>

#include "stdlib/torch/error_operands.h"

namespace tessera::stdlib {

// "hint: a @ b.T would fit", or empty.
std::string hint_for(const Refusal& refusal, const std::string& message);

// For exceptions that the language itself raises about tensors and layers: calling a tensor, a list plus a tensor, ...
// `frame`: where it was raised.
std::string hint_for_language_error(Interpreter& in, const Value& exception, const std::string& message,
                                    const lang::Frame& frame);

}  // namespace tessera::stdlib
