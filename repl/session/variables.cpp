#include "repl/session/variables.h"

#include <algorithm>

#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "repl/session/prelude.h"
#include "repl/session/results.h"

namespace tessera::repl {
using namespace lang;

std::vector<Variable> variables_of(Interpreter& in) {
  std::vector<Variable> variables;
  dict_for_each(in.main_module()->dict, [&](const Value& key, const Value& value) {
    if (!is_str(key)) return;
    const std::string_view name = text_of(key);
    if (name.starts_with("_") || is_session_name(name) || is_prelude_name(in, name, value)) return;
    variables.push_back({std::string(name), value});
  });
  std::sort(variables.begin(), variables.end(), [](const Variable& a, const Variable& b) { return a.name < b.name; });
  return variables;
}

}  // namespace tessera::repl
