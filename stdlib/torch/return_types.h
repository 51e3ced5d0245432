// Results of several named tensors: torch.return_types.max(values=…, indices=…), a tuple with names.
#pragma once

#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// What a call with out= answers: the tensors of a tuple, with their names.
Value wrap_given(Interpreter& in, const OpEntry& entry, const Value& out);
Value wrap_results(Interpreter& in, const OpEntry& entry, const Results& results);

}  // namespace tessera::stdlib
