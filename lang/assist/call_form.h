// How something is called: its signature as text, and where each parameter stands in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/assist/known.h"

namespace tessera::lang {

struct CallForm {
  struct Parameter {
    std::string name;
    size_t begin = 0, end = 0;  // in `text`
    bool positional = true, keyword = true;
    bool rest = false;  // *args or **kwargs
  };
  std::string text;  // "torch.add(input, other, *, alpha=1)"
  std::vector<Parameter> parameters;
};

// Of every overload, best first; none where nothing is known. `name` is what the text calls it.
std::vector<CallForm> call_forms(Interpreter& in, const Known& callee, std::string_view name, const Assist& assist);

// Of an op's schema: "add.alpha(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". `bound`: without its first argument.
CallForm form_of_schema(std::string_view schema, std::string_view name, bool bound);

// Which parameter an argument belongs to: the `position`-th, or the one of this keyword. -1: none.
int parameter_at(const CallForm& form, size_t position, std::string_view keyword);

}  // namespace tessera::lang
