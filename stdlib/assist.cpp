#include "stdlib/assist.h"

#include "stdlib/embedded.h"
#include "stdlib/torch/op_call.h"

namespace tessera::stdlib {
namespace {

std::vector<std::string> module_names(Interpreter&) {
  std::vector<std::string> names;
  for (const EmbeddedModule& module : embedded_modules()) names.emplace_back(module.name);
  return names;
}

}  // namespace

lang::Assist library_assist() {
  lang::Assist assist;
  assist.schemas = schemas_of;
  assist.modules = module_names;
  return assist;
}

}  // namespace tessera::stdlib
