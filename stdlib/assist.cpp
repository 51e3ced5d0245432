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

std::vector<std::string> schemas_of_name(std::string_view module, std::string_view name) {
  const OpFlag flag = module == "torch" ? tensor::kFunction : tensor::kFunctional;
  std::vector<std::string> schemas;
  if (module != "torch" && module != "torch.nn.functional") return schemas;
  for (const OpEntry* entry : tensor::find_op(name))
    if (entry->has(flag)) schemas.emplace_back(entry->schema_text);
  return schemas;
}

std::string tensor_note(Interpreter&, const Value& tensor) {
  return tensor_of(tensor).defined() ? describe(tensor_of(tensor)) : "";
}

}  // namespace

lang::Assist library_assist() {
  lang::Assist assist;
  assist.schemas = schemas_of;
  assist.schemas_of_name = schemas_of_name;
  assist.tensor_note = tensor_note;
  assist.modules = module_names;
  return assist;
}

}  // namespace tessera::stdlib
