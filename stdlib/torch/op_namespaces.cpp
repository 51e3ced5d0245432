// compile: small (runs once for a name)
#include "stdlib/torch/op_namespaces.h"

#include <algorithm>

#include "lang/core/object_cast.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "stdlib/torch/op_call.h"

namespace tessera::stdlib {
namespace {

constexpr Namespace kNamespaces[] = {
    {"torch", kFunction, ""},
    {"torch.nn.functional", kFunctional, ""},
    {"torch.linalg", kLinalg, "linalg_"},
    {"torch.special", kSpecial, "special_"},
    {"torch.fft", kFft, "fft_"},
    {"", kMethod, ""},
};

// Entries of a registered name that have all the flags.
std::vector<const OpEntry*> entries_with(std::string_view registered, uint32_t flags) {
  std::vector<const OpEntry*> found;
  for (const OpEntry* entry : find_op(registered))
    if ((entry->flags & flags) == flags) found.push_back(entry);
  return found;
}

// The entries that a name means there, and how.
bool find_entries(const Namespace& where, std::string_view name, OpFunction& function) {
  const std::string prefixed = std::string(name.starts_with(where.prefix) ? "" : where.prefix) + std::string(name);
  function.entries = entries_with(prefixed, where.flag);
  if (function.entries.empty() && !where.prefix.empty()) function.entries = entries_with(name, where.flag);
  if (function.entries.empty() && name.size() > 1 && name.back() == '_') {
    function.entries = entries_with(name.substr(0, name.size() - 1), where.flag | kInplace);
    function.is_inplace = true;
  }
  function.name = prefixed;
  function.is_method = where.flag == kMethod;
  function.is_functional = where.flag == kFunctional;
  return !function.entries.empty();
}

Value missing_op(Interpreter& in, Module& module, Str* name) {
  return find_in_namespace(in, *find_namespace(module.name->view()), name->view());
}

void op_names(Interpreter& in, Module& module, Dict* names) {
  for (const std::string& name : names_in_namespace(*find_namespace(module.name->view())))
    dict_set_str(in, names, intern(in, name), Value::none());
}

}  // namespace

const Namespace* find_namespace(std::string_view module) {
  const auto* found = std::find_if(std::begin(kNamespaces), std::end(kNamespaces),
                                   [&](const Namespace& each) { return each.module == module; });
  return found == std::end(kNamespaces) ? nullptr : found;
}

const Namespace& tensor_namespace() { return *find_namespace(""); }

Value find_in_namespace(Interpreter& in, const Namespace& where, std::string_view name) {
  OpFunction function;
  if (!find_entries(where, name, function)) return Value();
  const Value made = make_op_function(in, std::move(function));
  if (!where.module[0]) return made;
  object_cast<NativeFunction>(made)->module = intern(in, where.module);
  return made;
}

std::vector<std::string> names_in_namespace(const Namespace& where) {
  std::vector<std::string> names;
  for (const OpEntry* entry : all_ops()) {
    std::string_view name = entry->name;
    if (!where.prefix.empty() && name.starts_with(where.prefix)) name.remove_prefix(where.prefix.size());
    if (!entry->has(where.flag)) continue;
    names.emplace_back(name);
    if (entry->has(kInplace)) names.push_back(std::string(name) + "_");
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void show_ops_in(Module& module) {
  module.missing = missing_op;
  module.names = op_names;
}

}  // namespace tessera::stdlib
