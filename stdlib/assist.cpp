#include "stdlib/assist.h"

#include <algorithm>
#include <iterator>

#include "lang/objects/attribute.h"
#include "lang/types/dict.h"
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

Type* tensor_type(Interpreter& in) { return in.named_type("Tensor"); }  // null: nothing has imported torch

bool is_tensor_object(Interpreter& in, const Value& value) {
  const Type* const tensor = tensor_type(in);
  return tensor != nullptr && value.is_object() && value.as_object()->type->is_subtype_of(tensor);
}

const char* kind_of_object(Interpreter& in, const Value& value) { return is_tensor_object(in, value) ? "tensor" : nullptr; }

std::string note_of_object(Interpreter& in, const Value& value) {
  return is_tensor_object(in, value) && tensor_of(value).defined() ? describe(tensor_of(value)) : "";
}

Type* type_of_answer(Interpreter& in, const Value& function) {
  for (const std::string& schema : schemas_of(in, function))
    if (schema.ends_with("-> Tensor") || schema.ends_with("-> Tensor(a)") || schema.ends_with("-> Tensor(a!)")) return tensor_type(in);
  return nullptr;
}

// The attributes of a tensor that may warn when they are read are tensors.
Type* type_of_attribute(Interpreter& in, const Type* type, std::string_view name) {
  static constexpr std::string_view kNames[] = {"T", "H", "mT", "mH", "real", "imag", "data", "grad"};
  Type* const tensor = tensor_type(in);
  if (tensor == nullptr || !type->is_subtype_of(tensor)) return nullptr;
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ? tensor : nullptr;
}

// Layers (torch.nn.Module) keep their parameters, buffers and layers in dicts.
Dict* dict_of_layer(Interpreter& in, const Value& layer, std::string_view name) {
  if (!layer.is_object() || layer.as_object()->type->attributes_offset == 0) return nullptr;
  const Value* const found = lang::find_own_attribute(layer.as_object(), intern(in, name));
  return found != nullptr && is_dict(*found) ? as_dict(*found) : nullptr;
}

std::vector<Dict*> dicts_of_layer(Interpreter& in, const Value& object) {
  std::vector<Dict*> dicts;
  for (const char* name : {"_parameters", "_buffers", "_modules"})
    if (Dict* const dict = dict_of_layer(in, object, name)) dicts.push_back(dict);
  return dicts;
}

Dict* layers_of_layer(Interpreter& in, const Value& object) { return dict_of_layer(in, object, "_modules"); }

void add_state_keys(Interpreter& in, const Value& layer, const std::string& before, std::vector<std::string>& into, int depth) {
  if (depth > 64) return;  // a layer that holds itself
  for (const char* name : {"_parameters", "_buffers"})
    if (Dict* const dict = dict_of_layer(in, layer, name))
      dict_for_each(dict, [&](const Value& key, const Value& value) {
        if (is_str(key) && !value.is_none()) into.push_back(before + std::string(text_of(key)));
      });
  if (Dict* const layers = layers_of_layer(in, layer))
    dict_for_each(layers, [&](const Value& key, const Value& value) {
      if (is_str(key)) add_state_keys(in, value, before + std::string(text_of(key)) + ".", into, depth + 1);
    });
}

std::vector<std::string> keys_of_answer(Interpreter& in, const Value& object, std::string_view method) {
  std::vector<std::string> keys;
  if (method == "state_dict") add_state_keys(in, object, "", keys, 0);
  return keys;
}

}  // namespace

lang::Assist library_assist() {
  lang::Assist assist;
  assist.schemas = schemas_of;
  assist.schemas_of_name = schemas_of_name;
  assist.type_of_answer = type_of_answer;
  assist.type_of_attribute = type_of_attribute;
  assist.kind = kind_of_object;
  assist.note = note_of_object;
  assist.attribute_dicts = dicts_of_layer;
  assist.items = layers_of_layer;
  assist.keys_of_answer = keys_of_answer;
  assist.modules = module_names;
  return assist;
}

}  // namespace tessera::stdlib
